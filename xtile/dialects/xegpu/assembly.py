"""Pieces of text that the dialect's attributes, types and operations share.

Source: MLIR (LLVM 22), "Operation Definition Specification (ODS)" and
"Defining Dialect Attributes and Types", sections on assembly formats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from typing_extensions import override
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IntegerType, i64
from xdsl.dialects.utils.dynamic_index_list import (
    parse_dynamic_index_list_without_types,
    print_dynamic_index_list,
)
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    VariadicOperandVariable,
    irdl_custom_directive,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer

from xtile.text.directives import PropDict


def parse_struct(
    parser: AttrParser, fields: Mapping[str, Callable[[AttrParser], Attribute]]
) -> dict[str, Attribute]:
    """Reads `<name = value, ...>`, the fields in any order and each at most once.

    Args:
        parser: Stands before the opening bracket.
        fields: What reads the value of each field.

    Raises:
        ParseError: A field is unknown or repeated, or the text is malformed.
    """
    values: dict[str, Attribute] = {}

    def parse_field() -> None:
        start = parser.pos
        name = parser.parse_identifier()
        if name not in fields:
            message = f"there is no parameter '{name}' here; expected one of {_quoted(fields)}"
            parser.raise_error(message, start, start + len(name))
        if name in values:
            message = f"parameter '{name}' is given twice; it may be given once"
            parser.raise_error(message, start, start + len(name))
        parser.parse_punctuation("=")
        values[name] = fields[name](parser)

    parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parse_field)
    return values


def print_struct(
    printer: Printer, fields: Mapping[str, Attribute], print_value: Callable[[Attribute], None]
) -> None:
    """Prints `<name = value, ...>` with what prints one value."""

    def print_field(name: str) -> None:
        printer.print_string(f"{name} = ")
        print_value(fields[name])

    with printer.in_angle_brackets():
        printer.print_list(fields, print_field)


def _quoted(names: Mapping[str, object]) -> str:
    return ", ".join(f"'{name}'" for name in names)


class XeGPUPropDict(PropDict):
    """`prop-dict` with upstream's spaces: an empty dictionary leaves a space behind.

    Operations of this dialect that print their properties themselves leave it there, so that
    `xegpu.load_nd %t  : ...` has two.
    """

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        if self.is_present(op):
            super().print(printer, state, op)
        else:
            printer.print_string(" ")


@irdl_custom_directive
class OptionalDynamicIndexList(CustomDirective):
    """`custom<OptionalDynamicIndexList>`: `[%i, 4]` with at least one offset, or nothing."""

    offsets: VariadicOperandVariable
    const_offsets: AttributeVariable

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        start = parser.pos
        if parser.parse_optional_punctuation("[") is None:
            self.offsets.set(state, ())
            return
        if parser.parse_optional_punctuation("]") is not None:
            message = "an empty list of offsets; expected at least one, or no brackets"
            parser.raise_error(message, start, parser.pos)
        operands, constants = parse_dynamic_index_list_without_types(
            parser, DYNAMIC_INDEX, delimiter=parser.Delimiter.NONE
        )
        parser.parse_punctuation("]")
        self.offsets.set(state, operands)
        self.const_offsets.set(state, DenseArrayBase.from_list(i64, constants))

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.should_emit_space = True
        state.last_was_punctuation = False
        constants = integers(self.const_offsets.get(op))
        if constants:
            print_dynamic_index_list(printer, DYNAMIC_INDEX, self.offsets.get(op), constants)

    @override
    def is_optional_like(self) -> bool:
        return True


@irdl_custom_directive
class DimensionList(CustomDirective):
    """`custom<DynamicIndexList>` for a property that may be absent: `[%i, 4]`."""

    values: VariadicOperandVariable
    constants: AttributeVariable

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        operands, constants = parse_dynamic_index_list_without_types(parser, DYNAMIC_INDEX)
        self.values.set(state, operands)
        self.constants.set(state, DenseArrayBase.from_list(i64, constants))

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        constants = integers(self.constants.get(op))
        print_dynamic_index_list(printer, DYNAMIC_INDEX, self.values.get(op), constants)

    @override
    def set_empty(self, state: ParsingState) -> None:
        self.values.set(state, ())

    @override
    def is_present(self, op: IRDLOperation) -> bool:
        return bool(self.values.get(op)) or self.constants.get(op) is not None

    @override
    def is_anchorable(self) -> bool:
        return True


def integers(array: Attribute | None) -> tuple[int, ...]:
    """The numbers of a dense array; none if it is absent."""
    if not isinstance(array, DenseArrayBase):
        return ()
    numbers = cast("DenseArrayBase[Any]", array)
    return tuple(numbers.iter_values()) if isinstance(numbers.elt_type, IntegerType) else ()
