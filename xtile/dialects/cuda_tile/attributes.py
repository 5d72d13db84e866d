"""The dialect's attributes, apart from those of debug information.

Source: NVIDIA/cuda-tile 13.3.0, `AttrDefs.td` and `Attributes.cpp`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import ClassVar, Generic, TypeVar, cast

from typing_extensions import override
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntAttr,
    IntegerAttr,
    IntegerType,
    NoneAttr,
    i32,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa
from xdsl.utils.str_enum import StrEnum

from xtile.dialects.cuda_tile.enumerations import (
    ComparisonOrdering,
    ComparisonPredicate,
    IntegerOverflow,
    PaddingValue,
    RoundingMode,
    Signedness,
    SymbolVisibility,
    number_of,
)
from xtile.dialects.cuda_tile.hint_text import parse_hints, print_hints
from xtile.dialects.cuda_tile.versions import V13_1, Version
from xtile.dialects.shared_attributes import NONE

_EnumT = TypeVar("_EnumT", bound=StrEnum)


@cache
def _by_name(enumeration: Iterable[StrEnum]) -> Mapping[str | None, StrEnum]:
    return {member.value: member for member in enumeration}


def parse_member(parser: AttrParser, enumeration: Iterable[_EnumT], what: str) -> _EnumT:
    """Reads a member of an enumeration.

    Args:
        parser: Stands before its name.
        enumeration: What it is a member of, or those members that may stand here.
        what: What it says, for messages.

    Raises:
        ParseError: There is no such member.
    """
    start = parser.pos
    name = parser.parse_optional_identifier()
    members = cast("Mapping[str | None, _EnumT]", _by_name(enumeration))
    if name not in members:
        known = ", ".join(f"'{member}'" for member in members)
        end = parser.pos if name is None else start + len(name)
        parser.raise_error(f"expected {what} to be one of {known}", start, end)
    return members[name]


class _Bracketed(ABC, Generic[_EnumT]):
    """How an enumeration is written: `#cuda_tile.name<member>`."""

    SINCE: ClassVar[Version] = V13_1

    name: str
    data: _EnumT

    def print_parameter(self, printer: Printer) -> None:
        """Prints the member."""
        printer.print_string(f"<{self.data.value}>")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> _EnumT:
        """Reads the member.

        Raises:
            ParseError: There is no such member.
        """
        with parser.in_angle_brackets():
            # EnumAttribute has the enumeration in a field that no type checker sees.
            enumeration = cast("type[_EnumT]", getattr(cls, "enum_type"))  # noqa: B009
            return parse_member(parser, enumeration, cls.name.partition(".")[2])


@irdl_attr_definition
class SignednessAttr(_Bracketed[Signedness], EnumAttribute[Signedness]):
    """How an integer is interpreted: `#cuda_tile.signedness<signed>`."""

    name = "cuda_tile.signedness"


@irdl_attr_definition
class IntegerOverflowAttr(_Bracketed[IntegerOverflow], EnumAttribute[IntegerOverflow]):
    """What is promised of an integer result: `#cuda_tile.overflow<no_signed_wrap>`."""

    name = "cuda_tile.overflow"


@irdl_attr_definition
class RoundingModeAttr(_Bracketed[RoundingMode], EnumAttribute[RoundingMode]):
    """How a result is rounded: `#cuda_tile.rounding<nearest_even>`."""

    name = "cuda_tile.rounding"


@irdl_attr_definition
class ComparisonOrderingAttr(_Bracketed[ComparisonOrdering], EnumAttribute[ComparisonOrdering]):
    """What a comparison with NaN gives: `#cuda_tile.comparison_ordering<ordered>`."""

    name = "cuda_tile.comparison_ordering"


@irdl_attr_definition
class ComparisonPredicateAttr(_Bracketed[ComparisonPredicate], EnumAttribute[ComparisonPredicate]):
    """What is compared: `#cuda_tile.comparison_predicate<less_than>`."""

    name = "cuda_tile.comparison_predicate"


@irdl_attr_definition
class PaddingValueAttr(_Bracketed[PaddingValue], EnumAttribute[PaddingValue]):
    """What a load gives outside of a tensor: `#cuda_tile.padding_value<zero>`."""

    name = "cuda_tile.padding_value"


@irdl_attr_definition
class SymbolVisibilityAttr(_Bracketed[SymbolVisibility], EnumAttribute[SymbolVisibility]):
    """Who can name a global variable: `#cuda_tile.symbol_visibility<public>`."""

    name = "cuda_tile.symbol_visibility"


@cache
def enumerated(member: StrEnum) -> IntegerAttr[IntegerType]:
    """A member of an enumeration that the dialect keeps as a number of 32 bits.

    These are AtomicRMWMode, MemoryScope and MemoryOrderingSemantics.
    """
    return IntegerAttr(number_of(member), i32)


def member_of(enumeration: type[_EnumT], attribute: Attribute) -> _EnumT:
    """The member that a number of 32 bits stands for.

    Raises:
        ValueError: It is another attribute, or the number of no member.
    """
    members = list(enumeration)
    if isa(attribute, IntegerAttr) and 0 <= attribute.value.data < len(members):
        return members[attribute.value.data]
    known = ", ".join(f"{number} ({member.value})" for number, member in enumerate(members))
    raise ValueError(f"{attribute} is no {enumeration.__name__}; expected one of {known}")


@irdl_attr_definition
class OptimizationHintsAttr(ParametrizedAttribute):
    """What a compiler may do for each architecture.

    `#cuda_tile.optimization_hints<sm_90 = {num_cta_in_cga = 2, num_worker_warps_per_cta = 8}>`

    The keys are architectures such as `sm_100`, or `default`; the values are dictionaries.
    """

    name = "cuda_tile.optimization_hints"

    SINCE: ClassVar[Version] = V13_1

    value: DictionaryAttr

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        return (parse_hints(parser),)

    @override
    def print_parameters(self, printer: Printer) -> None:
        print_hints(printer, self.value)

    @override
    def verify(self) -> None:
        for name, hints in self.value.data.items():
            if not isinstance(hints, DictionaryAttr):
                raise VerifyException(f"expected the hints of '{name}' in braces, but got {hints}")


class AssumePredicateAttr(ParametrizedAttribute, ABC):
    """What `assume` says about a value."""

    SINCE: ClassVar[Version] = V13_1


def _optional(number: int | None) -> IntAttr | NoneAttr:
    return NONE if number is None else IntAttr(number)


def _number(attribute: Attribute) -> int | None:
    return cast(IntAttr, attribute).data if isinstance(attribute, IntAttr) else None


@irdl_attr_definition
class DivByAttr(AssumePredicateAttr):
    """Elements are divisible: `#cuda_tile.div_by<16>`, `#cuda_tile.div_by<4, every 4 along 1>`.

    With `every n along d` this holds for the first of each n elements along dimension d; the
    others each exceed the one before by 1, pointers by the size of their pointee in bytes.
    """

    name = "cuda_tile.div_by"

    divisor: IntAttr
    every: IntAttr | NoneAttr
    along: IntAttr | NoneAttr

    def __init__(self, divisor: int, every: int | None = None, along: int | None = None) -> None:
        super().__init__(IntAttr(divisor), _optional(every), _optional(along))

    @property
    def group(self) -> tuple[int, int] | None:
        """The size of the groups and their dimension; None where every element is divisible."""
        every, along = _number(self.every), _number(self.along)
        return None if every is None or along is None else (every, along)

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        every: int | None = None
        along: int | None = None
        with parser.in_angle_brackets():
            divisor = parser.parse_integer(allow_boolean=False, allow_negative=False)
            if parser.parse_optional_punctuation(",") is not None:
                parser.parse_keyword("every")
                every = parser.parse_integer(allow_boolean=False)
                parser.parse_keyword("along")
                along = parser.parse_integer(allow_boolean=False)
        return (IntAttr(divisor), _optional(every), _optional(along))

    @override
    def print_parameters(self, printer: Printer) -> None:
        group = self.group
        along = "" if group is None else f", every {group[0]} along {group[1]}"
        printer.print_string(f"<{self.divisor.data}{along}>")


@irdl_attr_definition
class SameElementsAttr(AssumePredicateAttr):
    """Groups of equal elements: `#cuda_tile.same_elements<[2, 4]>`, a size for each dimension."""

    name = "cuda_tile.same_elements"

    values: ArrayAttr[IntAttr]

    def __init__(self, values: Sequence[int]) -> None:
        super().__init__(ArrayAttr(IntAttr(value) for value in values))

    def get_values(self) -> tuple[int, ...]:
        """The size of the groups along each dimension."""
        return tuple(value.data for value in self.values)

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            values = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, parser.parse_integer
            )
        return (ArrayAttr(IntAttr(value) for value in values),)

    @override
    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<[{', '.join(map(str, self.get_values()))}]>")


@irdl_attr_definition
class BoundedAttr(AssumePredicateAttr):
    """Signed integers within bounds, both included: `#cuda_tile.bounded<0, ?>`."""

    name = "cuda_tile.bounded"

    lb: IntAttr | NoneAttr
    ub: IntAttr | NoneAttr

    def __init__(self, lb: int | None, ub: int | None) -> None:
        super().__init__(_optional(lb), _optional(ub))

    @property
    def lower_bound(self) -> int | None:
        """The least value, if it is known."""
        return _number(self.lb)

    @property
    def upper_bound(self) -> int | None:
        """The greatest value, if it is known."""
        return _number(self.ub)

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            lower = _parse_bound(parser)
            parser.parse_punctuation(",")
            upper = _parse_bound(parser)
        return (_optional(lower), _optional(upper))

    @override
    def print_parameters(self, printer: Printer) -> None:
        bounds = (self.lower_bound, self.upper_bound)
        printer.print_string(f"<{', '.join('?' if b is None else str(b) for b in bounds)}>")


def _parse_bound(parser: AttrParser) -> int | None:
    if parser.parse_optional_punctuation("?") is not None:
        return None
    return parser.parse_integer(allow_boolean=False)


ATTRIBUTES: list[type[Attribute]] = [
    BoundedAttr,
    ComparisonOrderingAttr,
    ComparisonPredicateAttr,
    DivByAttr,
    IntegerOverflowAttr,
    OptimizationHintsAttr,
    PaddingValueAttr,
    RoundingModeAttr,
    SameElementsAttr,
    SignednessAttr,
    SymbolVisibilityAttr,
]
"""Every attribute of this module."""
