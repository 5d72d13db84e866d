"""What the hand-written texts of operations share.

An operation's text is written by hand where types are not said because others tell them, or where
releases write it in different ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from xtile.dialects.triton.operation import element_of, with_element
from xtile.dialects.triton.tt.types import PointerType


def parse_operands(parser: Parser) -> list[UnresolvedOperand]:
    """Reads `%a, %b, ...`: at least one."""
    return parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)


def parse_more_operands(parser: Parser, most: int) -> list[UnresolvedOperand]:
    """Reads `, %a, %b, ...`: as many as there are, and no more than `most`."""
    operands: list[UnresolvedOperand] = []
    while len(operands) < most and parser.parse_optional_punctuation(",") is not None:
        operands.append(parser.parse_unresolved_operand())
    return operands


def parse_indices(parser: Parser) -> list[UnresolvedOperand]:
    """Reads `[%i, %j]`."""
    return parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, parser.parse_unresolved_operand
    )


def parse_optional_value(parser: Parser, keyword: str) -> UnresolvedOperand | None:
    """Reads `keyword %value` or `keyword = %value`."""
    if parser.parse_optional_keyword(keyword) is None:
        return None
    parser.parse_optional_punctuation("=")
    return parser.parse_unresolved_operand()


def pointee_of(type_: Attribute) -> Attribute:
    """What is loaded through a pointer, a tensor of pointers or a pointer to a block.

    The type itself where it is no pointer, which verifiers then tell.
    """
    element = element_of(type_)
    return with_element(type_, element.pointee) if isinstance(element, PointerType) else type_


def mask_of(type_: Attribute) -> Attribute:
    """The type of a mask for values of a type."""
    return with_element(type_, i1)


def print_values(printer: Printer, values: Iterable[SSAValue]) -> None:
    """Prints ` %a, %b`."""
    printer.print_string(" ")
    printer.print_list(values, printer.print_ssa_value)


def print_indices(printer: Printer, values: Iterable[SSAValue]) -> None:
    """Prints `[%i, %j]`."""
    with printer.in_square_brackets():
        printer.print_list(values, printer.print_ssa_value)


def print_attributes(
    printer: Printer,
    operation: IRDLOperation,
    shown: Iterable[str] = (),
    defaults: Mapping[str, Attribute] | None = None,
) -> None:
    """Prints the dictionary: attributes, and properties that the text does not show elsewhere.

    Args:
        printer: Where.
        operation: The operation.
        shown: The properties that the text shows elsewhere.
        defaults: What properties are where they are not printed.
    """
    hidden = {*shown, "operandSegmentSizes", "resultSegmentSizes"}
    kept = {
        name: value
        for name, value in operation.properties.items()
        if name not in hidden and (defaults or {}).get(name) != value
    }
    printer.print_op_attributes(
        {**operation.attributes, **kept}, reserved_attr_names=(), print_keyword=False
    )


def print_types(printer: Printer, types: Iterable[Attribute]) -> None:
    """Prints ` : a, b`."""
    printer.print_string(" : ")
    printer.print_list(types, printer.print_attribute)


def parse_short_type(parser: Parser, kind: type[ParametrizedAttribute]) -> Attribute:
    """Reads `!tt.ptr<f32>`, or `<f32>` where MLIR leaves the type's name out."""
    start = parser.pos
    type_ = parser.parse_optional_type()
    if type_ is None:
        return kind.new(kind.parse_parameters(parser))
    if not isinstance(type_, kind):
        parser.raise_error(f"expected a type !{kind.name}<...>, but got {type_}", start, parser.pos)
    return type_


def print_short_type(printer: Printer, type_: Attribute) -> None:
    """Prints a type as `<f32>`, without its name."""
    assert isinstance(type_, ParametrizedAttribute)
    type_.print_parameters(printer)


def split_properties(
    kind: type[IRDLOperation], attributes: Mapping[str, Attribute]
) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
    """The properties of an operation in a dictionary that was read, and its other attributes."""
    names = kind.get_irdl_definition().properties
    properties = {name: value for name, value in attributes.items() if name in names}
    others = {name: value for name, value in attributes.items() if name not in names}
    return properties, others


def clear_default(operation: IRDLOperation, name: str, default: Attribute) -> None:
    """Leaves a property out that says what is so without it."""
    if operation.properties.get(name) == default:
        del operation.properties[name]
