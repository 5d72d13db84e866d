"""What layouts share: parameters, and a text of keys that differ between releases.

Source: Triton 3.4 to 3.9, `TritonGPUAttrDefs.td`, `lib/Dialect/TritonGPU/IR/Dialect.cpp`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, NamedTuple, Self, TypeAlias, cast

from typing_extensions import override
from xdsl.dialects.builtin import ArrayAttr, BoolAttr, DictionaryAttr, IntAttr, IntegerAttr
from xdsl.ir import Attribute, Data, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.triton.printer import release_of
from xtile.dialects.triton.versions import NEWEST, OLDEST, Release
from xtile.layouts.linear import LinearLayout

Numbers: TypeAlias = tuple[int, ...]
Bases: TypeAlias = tuple[Numbers, ...]
"""The image of each bit, an index in each dimension."""


# --- parameters ---


@irdl_attr_definition
class NumbersAttr(Data[Numbers]):
    """Some numbers, as a parameter of a layout."""

    name = "ttg.numbers"

    @classmethod
    @override
    def parse_parameter(cls, parser: AttrParser) -> Numbers:
        with parser.in_angle_brackets():
            return tuple(
                parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
            )

    @override
    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_value(printer, self.data)


@irdl_attr_definition
class BasesAttr(Data[Bases]):
    """The images of bits, as a parameter of a layout."""

    name = "ttg.bases"

    @classmethod
    @override
    def parse_parameter(cls, parser: AttrParser) -> Bases:
        def parse_image() -> Numbers:
            return tuple(
                parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
            )

        with parser.in_angle_brackets():
            return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_image))

    @override
    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_value(printer, self.data)


def numbers(values: Sequence[int]) -> NumbersAttr:
    """Some numbers as a parameter."""
    return NumbersAttr(tuple(values))


def bases(images: Sequence[Sequence[int]]) -> BasesAttr:
    """The images of bits as a parameter."""
    return BasesAttr(tuple(tuple(image) for image in images))


# --- text ---


class Key(NamedTuple):
    """A key of a layout's text.

    Attributes:
        name: How the text spells it.
        field: What of the layout stands behind it; where this is None, the key is left out.
        since: The first release that has it.
        until: The last release that has it.
    """

    name: str
    field: str
    since: Release = OLDEST
    until: Release = NEWEST


class Given:
    """The keys that a text gives, and what stands behind them.

    Args:
        values: Each key's value.

    Raises:
        VerifyException: What stands behind a key that is asked for is something else.
    """

    def __init__(self, values: Mapping[str, Attribute]) -> None:
        self._values = values

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def number(self, name: str, default: int | None = None) -> int:
        """A number that is not negative."""
        if default is not None and name not in self._values:
            return default
        return _number(name, self.attribute(name))

    def numbers(self, name: str) -> Numbers:
        """Numbers such as `[1, 4]`."""
        return _numbers(name, self.attribute(name))

    def bases(self, name: str) -> Bases:
        """The images of bits, such as `[[0, 1], [0, 2]]`."""
        value = self.attribute(name)
        if not isa(value, ArrayAttr[Attribute]):
            raise VerifyException(f"{name} is {value}; expected images such as [[0, 1], [0, 2]]")
        return tuple(_numbers(f"an image of {name}", image) for image in value)

    def flag(self, name: str, default: bool | None = None) -> bool:
        """`true` or `false`."""
        if default is not None and name not in self._values:
            return default
        value = self.attribute(name)
        if not isa(value, BoolAttr):
            raise VerifyException(f"{name} is {value}; expected true or false")
        return bool(value.value.data)

    def attribute(self, name: str) -> Attribute:
        """Any attribute."""
        if name not in self._values:
            raise VerifyException(f"{name} is missing")
        return self._values[name]


def _number(name: str, value: Attribute) -> int:
    if not isinstance(value, IntegerAttr) or value.value.data < 0:
        raise VerifyException(f"{name} is {value}; expected a number that is not negative")
    return value.value.data


def _numbers(name: str, value: Attribute) -> Numbers:
    if not isa(value, ArrayAttr[Attribute]):
        raise VerifyException(f"{name} is {value}; expected numbers such as [1, 4]")
    return tuple(_number(f"a number of {name}", element) for element in value)


class EncodingAttr(ParametrizedAttribute, ABC):
    """A layout, whose text has keys in braces.

    Its rank is the number of dimensions of tensors that have it.
    """

    SINCE: ClassVar[Release] = OLDEST
    """The release that it came in with."""

    KEYS: ClassVar[tuple[Key, ...]] = ()
    """The keys in the order in which they are printed; all are read, of any release."""

    @classmethod
    @abstractmethod
    def of_keys(cls, given: Given) -> Self:
        """The layout that a text names.

        Raises:
            VerifyException: There is no such layout.
        """

    @property
    @abstractmethod
    def rank(self) -> int:
        """The number of dimensions."""

    @property
    @abstractmethod
    def block_bases(self) -> Bases:
        """The image of each bit of a block's number, in the blocks' boxes."""

    def lost_in(self, release: Release) -> str | None:
        """Why a release cannot say what this layout means; None where it can."""
        if release < self.SINCE:
            return f"#{self.name} came in with Triton {self.SINCE}"
        try:
            for key in self.KEYS:
                if key.since <= release <= key.until:
                    getattr(self, key.field)
        except VerifyException as error:
            return str(error)
        return None

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        start = parser.pos
        with parser.in_angle_brackets():
            given = parse_keys(parser, {key.name for key in cls.KEYS})
        return read_layout(parser, start, lambda: cls.of_keys(Given(given))).parameters

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_keys(printer, self, self.KEYS)


class DistributedEncodingAttr(EncodingAttr, ABC):
    """A layout of values in registers."""

    @property
    @abstractmethod
    def lanes(self) -> int:
        """The lanes of a warp."""

    @property
    @abstractmethod
    def warps(self) -> int:
        """The warps of a block."""

    @abstractmethod
    def layout(self, shape: Sequence[int]) -> LinearLayout:
        """Which register of which lane, subgroup and block holds which element of a tensor.

        Raises:
            LayoutError: Tensors of this shape cannot have it.
        """


class SharedEncodingAttr(EncodingAttr, ABC):
    """A layout of local memory."""

    @property
    def alignment(self) -> int:
        """Of what number of bytes an allocation's address is a multiple."""
        return 16


def read_layout(parser: AttrParser, start: int, make: Callable[[], EncodingAttr]) -> EncodingAttr:
    """Returns the layout that `make` makes; what it finds wrong is an error from `start` on."""
    try:
        return make()
    except (VerifyException, ValueError) as error:
        parser.raise_error(str(error), start, max(start + 1, parser.pos))


def parse_keys(parser: AttrParser, known: set[str]) -> dict[str, Attribute]:
    """Reads `{key = value, ...}`.

    Raises:
        ParseError: It is malformed, or a key is not known or there twice.
    """
    given: dict[str, Attribute] = {}

    def parse_key() -> None:
        start = parser.pos
        name = parser.parse_identifier_or_str_literal()
        if name not in known or name in given:
            problem = "is there twice" if name in given else "is no key of this layout"
            message = f"'{name}' {problem}; it has {', '.join(sorted(known))}"
            parser.raise_error(message, start, start + len(name))
        parser.parse_punctuation("=")
        given[name] = parser.parse_attribute()

    parser.parse_comma_separated_list(parser.Delimiter.BRACES, parse_key)
    return given


def print_keys(printer: Printer, layout: EncodingAttr, keys: Sequence[Key]) -> None:
    """Prints the keys that the printer's release has."""
    release = release_of(printer)
    values = {
        key.name: value
        for key in keys
        if key.since <= release <= key.until and (value := getattr(layout, key.field)) is not None
    }
    print_value(printer, values)


def print_value(printer: Printer, value: object) -> None:
    """Prints what stands behind a key: numbers, images, keys in braces, or an attribute."""
    match value:
        case NumbersAttr() | BasesAttr():
            print_value(printer, value.data)
        case IntAttr():
            printer.print_int(value.data)
        case bool():
            printer.print_string("true" if value else "false")
        case int():
            printer.print_int(value)
        case Attribute():
            printer.print_attribute(value)
        case Mapping():
            items = cast("Mapping[str, object]", value).items()
            with printer.in_braces():
                printer.print_list(items, lambda item: _print_item(printer, *item))
        case _:
            elements = cast("Sequence[object]", value)
            with printer.in_square_brackets():
                printer.print_list(elements, lambda element: print_value(printer, element))


def _print_item(printer: Printer, name: str, value: object) -> None:
    printer.print_string(f"{name} = ")
    print_value(printer, value)


def dictionary(values: Attribute, name: str) -> Given:
    """The keys of braces within braces.

    Raises:
        VerifyException: It is something else.
    """
    if not isinstance(values, DictionaryAttr):
        raise VerifyException(f"{name} is {values}; expected keys in braces")
    return Given(values.data)


# --- what verifiers check ---


def is_power_of_two(number: int) -> bool:
    """Whether a number is 1, 2, 4 and so on."""
    return number > 0 and number & (number - 1) == 0


def verify_order(order: Numbers, name: str = "order") -> None:
    """Checks that an order names each dimension once."""
    if sorted(order) != list(range(len(order))):
        raise VerifyException(
            f"{name} is {list(order)}; it must name each of the dimensions 0 to {len(order) - 1} "
            "once"
        )


def verify_powers_of_two(values: Mapping[str, Numbers]) -> None:
    """Checks that all numbers are powers of two."""
    for name, given in values.items():
        if not all(map(is_power_of_two, given)):
            raise VerifyException(f"{name} is {list(given)}; these must be powers of two")


def verify_ranks(values: Mapping[str, Sequence[object]]) -> None:
    """Checks that all are as many."""
    if len({len(given) for given in values.values()}) > 1:
        ranks = ", ".join(f"{name} has {len(given)}" for name, given in values.items())
        raise VerifyException(f"all of a layout must have one rank, but {ranks}")


def verify_bases(images: Mapping[str, Bases], rank: int) -> None:
    """Checks that each image has an index in each dimension, a power of two or 0."""
    for name, given in images.items():
        for image in given:
            if len(image) != rank:
                raise VerifyException(
                    f"{name} has {list(image)}; there are {rank} dimensions, so it has as many"
                )


def verify_permutation(images: Mapping[str, Bases]) -> None:
    """Checks that bits are the bits of the indices, each once, without gaps, or 0."""
    seen: set[tuple[int, int]] = set()
    for name, given in images.items():
        for image in given:
            moved = [(dimension, index) for dimension, index in enumerate(image) if index]
            if len(moved) > 1 or not all(is_power_of_two(index) for _, index in moved):
                raise VerifyException(
                    f"{name} has {list(image)}; each image is a power of two in one dimension, or 0"
                )
            if moved and moved[0] in seen:
                raise VerifyException(f"{list(image)} is the image of two bits; it may be of one")
            seen.update(moved)
    for dimension, index in sorted(seen):
        if index > 1 and (dimension, index // 2) not in seen:
            raise VerifyException(
                f"no bit's image is {index // 2} in dimension {dimension}, where one is {index}; "
                "every index must be reached"
            )
