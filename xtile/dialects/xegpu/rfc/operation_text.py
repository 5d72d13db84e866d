"""The text of one operation in the RFC's form, before it is known what it means.

The RFC's examples, its revisions and the kernels of its time differ in order, case and punctuation,
so one reader takes all of them apart:

    kind? operands attributes? (`:` types ((`->` | `into` | `to`) type)?)?
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute
from xdsl.parser import UnresolvedOperand
from xdsl.utils.hints import isa

from xtile.dialects.xegpu.rfc.names import WITHOUT_OPERANDS
from xtile.text.source import Span

if TYPE_CHECKING:
    from xtile.dialects.xegpu.rfc.parser import XeGPUParser

_PACK = re.compile(r"\s*:\s*\d")
ARROWS = ("into", "to")
"""What the RFC writes for `->`."""


@dataclass(frozen=True)
class Indices:
    """A list in square brackets.

    Attributes:
        constants: The numbers; xDSL's `DYNAMIC_INDEX` stands for an operand.
        operands: The operands.
    """

    constants: tuple[int, ...]
    operands: tuple[UnresolvedOperand, ...]


@dataclass(frozen=True)
class Given:
    """An attribute as the text gives it.

    Attributes:
        name: Its name as the text has it.
        value: What it is; a keyword such as `cached` is a string.
        location: Where it stands.
    """

    name: str
    value: Attribute | str
    position: Span

    @property
    def keyword(self) -> str | None:
        """The keyword or string; None if it is something else."""
        return self.value.data if isinstance(self.value, StringAttr) else _if_string(self.value)

    @property
    def integer(self) -> int | None:
        """The number; None if it is something else."""
        return self.value.value.data if isa(self.value, IntegerAttr) else None

    @property
    def integers(self) -> tuple[int, ...] | None:
        """The list of numbers, written `[1, 0]` or `array<i64: 1, 0>`; None if it is none."""
        if isa(self.value, DenseArrayBase[IntegerType]):
            return tuple(self.value.iter_values())
        if isa(self.value, ArrayAttr[IntegerAttr]):
            return tuple(number.value.data for number in self.value)
        return None

    @property
    def flag(self) -> bool | None:
        """Whether it is set, by its name alone or by `true`; None if it is something else."""
        if isinstance(self.value, UnitAttr):
            return True
        return bool(self.value.value.data) if isa(self.value, BoolAttr) else None


@dataclass
class OperationText:
    """The parts of one operation.

    Attributes:
        parser: What reads it.
        spelling: Its name as the text has it.
        name: Its name in the dialect.
        start: Where its text begins after the name.
        kind: The keyword or string before the operands, which `atomic_rmw` has.
        operands: The operands outside of square brackets; a pack counts as its elements.
        lists: The lists in square brackets.
        literal: The number that stands in the place of an operand.
        attributes: The attributes by their names in lower case.
        unnamed: The attributes without a name.
        types: The types before the arrow.
        result_type: The type after the arrow.
    """

    parser: XeGPUParser
    spelling: str
    name: str
    start: int
    kind: str | None = None
    operands: list[UnresolvedOperand] = field(default_factory=list[UnresolvedOperand])
    lists: list[Indices] = field(default_factory=list[Indices])
    literal: int | None = None
    attributes: dict[str, Given] = field(default_factory=dict[str, Given])
    unnamed: list[Attribute] = field(default_factory=list[Attribute])
    types: list[Attribute] = field(default_factory=list[Attribute])
    result_type: Attribute | None = None

    def error(self, message: str, position: Span | None = None) -> NoReturn:
        """Raises an error at a location, or at the whole operation.

        Raises:
            ParseError: Always.
        """
        span = position or Span(self.start, max(self.start + 1, self.parser.previous_end))
        self.parser.raise_error(message, span.start, span.end)

    def take(self, name: str) -> Given | None:
        """Returns an attribute by its name in lower case, and removes it; None if there is none."""
        return self.attributes.pop(name, None)

    def take_keyword(self, name: str, allowed: Sequence[str]) -> str | None:
        """Takes an attribute that must be one of some keywords."""
        given = self.take(name)
        if given is not None and given.keyword not in allowed:
            self.error(f"{given.name} must be one of {', '.join(allowed)}", given.position)
        return None if given is None else given.keyword

    def take_integer(self, name: str) -> int | None:
        """Takes an attribute that must be a number."""
        given = self.take(name)
        if given is not None and given.integer is None:
            self.error(f"{given.name} must be a number", given.position)
        return None if given is None else given.integer

    def take_integers(self, name: str) -> tuple[int, ...] | None:
        """Takes an attribute that must be a list of numbers."""
        given = self.take(name)
        if given is not None and given.integers is None:
            self.error(f"{given.name} must be a list of numbers such as [1, 0]", given.position)
        return None if given is None else given.integers

    def take_flag(self, name: str) -> bool | None:
        """Takes an attribute that must stand alone or be `true` or `false`."""
        given = self.take(name)
        if given is not None and given.flag is None:
            self.error(f"{given.name} must be true or false", given.position)
        return None if given is None else given.flag


def read_operation_text(parser: XeGPUParser, spelling: str, name: str) -> OperationText:
    """Reads the text of an operation whose name is already read.

    Raises:
        ParseError: The text has none of the RFC's forms.
    """
    text = OperationText(parser, spelling, name, parser.pos)
    if name == "xegpu.atomic_rmw":
        text.kind = _read_kind(parser)
    if name not in WITHOUT_OPERANDS:
        _read_operands(text)
    _read_attributes(text)
    if parser.parse_optional_punctuation(":") is not None:
        _read_types(text)
    return text


def _read_kind(parser: XeGPUParser) -> str:
    """Reads `addf` or `"addf"`."""
    kind = parser.parse_optional_str_literal()
    if kind is None:
        kind = parser.parse_identifier(" or string: the kind of the atomic operation")
    return kind


def _read_operands(text: OperationText) -> None:
    """Reads operands, packs and lists; a comma may also stand before the first and after the last.

    A list may follow an operand without a comma.
    """
    parser = text.parser
    parser.parse_optional_punctuation(",")
    while _read_optional_operand(text) or _read_optional_list(text):
        _read_optional_list(text)
        if parser.parse_optional_punctuation(",") is None:
            return


def _read_optional_operand(text: OperationText) -> bool:
    """Reads an operand, a pack or a number, and returns whether one was there."""
    operand = text.parser.parse_optional_unresolved_operand()
    if operand is not None:
        text.operands += _read_pack(text.parser, operand)
        return True
    number = text.parser.parse_optional_integer(allow_boolean=False)
    if number is not None:
        text.literal = number
    return number is not None


def _read_optional_list(text: OperationText) -> bool:
    """Reads a list in square brackets, and returns whether one was there."""
    indices = _read_optional_indices(text.parser)
    if indices is not None:
        text.lists.append(indices)
    return indices is not None


def _read_pack(parser: XeGPUParser, operand: UnresolvedOperand) -> list[UnresolvedOperand]:
    """Reads `:2` after an operand, which stands for as many results of one operation."""
    if _PACK.match(parser.text, parser.previous_end) is None:
        return [operand]
    parser.parse_punctuation(":")
    count = parser.parse_integer(allow_boolean=False, allow_negative=False)
    name = operand.operand_name
    results = parser.ssa_values.get(name, ())
    if len(results) != count:
        parser.raise_error(
            f"%{name}:{count} needs an operation with {count} results, "
            f"but %{name} stands for {len(results)}",
            operand.span,
        )
    return [UnresolvedOperand(operand.span, index) for index in range(count)]


def _read_optional_indices(parser: XeGPUParser) -> Indices | None:
    """Reads `[%row, 16]` if it is there."""
    start = parser.pos
    elements = parser.parse_optional_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: _read_index(parser)
    )
    if elements is None:
        return None
    if not elements:
        message = "an empty list of offsets; expected at least one, or no brackets"
        parser.raise_error(message, start, parser.pos)
    return Indices(
        tuple(element if isinstance(element, int) else DYNAMIC_INDEX for element in elements),
        tuple(element for element in elements if not isinstance(element, int)),
    )


def _read_index(parser: XeGPUParser) -> int | UnresolvedOperand:
    operand = parser.parse_optional_unresolved_operand()
    return parser.parse_integer(allow_boolean=False) if operand is None else operand


def _read_attributes(text: OperationText) -> None:
    """Reads `<{...}>` and `{...}`; a comma may follow the last attribute."""
    parser = text.parser
    is_property = parser.parse_optional_punctuation("<") is not None
    if is_property:
        parser.parse_punctuation("{")
    elif parser.parse_optional_punctuation("{") is None:
        return
    while parser.parse_optional_punctuation("}") is None:
        _read_attribute(text)
        parser.parse_optional_punctuation(",")
    if is_property:
        parser.parse_punctuation(">")
        _read_attributes(text)


def _read_attribute(text: OperationText) -> None:
    """Reads `name = value`, a name that stands for itself, or an attribute without a name."""
    parser = text.parser
    start = parser.pos
    name = parser.parse_optional_identifier_or_str_literal()
    if name is None:
        text.unnamed.append(parser.parse_attribute())
        return
    position = Span(start, parser.previous_end)
    if name.lower() in text.attributes:
        text.error(f"attribute '{name}' is given twice; it may be given once", position)
    value: Attribute | str = UnitAttr()
    if parser.parse_optional_punctuation("=") is not None:
        value = parser.parse_optional_keyword_value() or parser.parse_attribute()
    text.attributes[name.lower()] = Given(name, value, Span(start, parser.previous_end))


def _read_types(text: OperationText) -> None:
    """Reads `type, type into type`; the types before the arrow may stand in parentheses."""
    parser = text.parser
    is_closed = parser.parse_optional_punctuation("(") is not None
    while (read := parser.parse_optional_operation_type()) is not None:
        text.types.append(read)
        if parser.parse_optional_punctuation(",") is None:
            break
    if is_closed:
        parser.parse_punctuation(")")
    arrow = parser.parse_optional_punctuation("->") or parser.parse_optional_keyword_in(ARROWS)
    if arrow is not None:
        text.result_type = parser.parse_operation_type()


def _if_string(value: Attribute | str) -> str | None:
    return value if isinstance(value, str) else None
