"""What the texts of `scf` operations have in common.

Source: MLIR (LLVM 22), `Dialect/SCF/IR/SCF.cpp`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsTerminator

Assignments = list[tuple[Parser.UnresolvedArgument, UnresolvedOperand]]
"""Arguments of a region with the operands they begin as."""


def parse_assignments(parser: Parser) -> Assignments:
    """Reads `(%argument = %operand, ...)`."""
    return parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, lambda: _parse_assignment(parser)
    )


def _parse_assignment(parser: Parser) -> tuple[Parser.UnresolvedArgument, UnresolvedOperand]:
    argument = parser.parse_argument(expect_type=False)
    parser.parse_punctuation("=")
    return argument, parser.parse_unresolved_operand()


def resolve_assignments(
    parser: Parser, assignments: Assignments, types: Sequence[Attribute], position: int
) -> tuple[list[Parser.Argument], list[SSAValue]]:
    """Returns the arguments and the operands of the given types.

    Raises:
        ParseError: There are not as many types as arguments.
    """
    if len(assignments) != len(types):
        parser.raise_error(
            f"expected {len(assignments)} types, one for each value, got {len(types)}",
            position,
            parser.pos,
        )
    pairs = list(zip(assignments, types, strict=True))
    arguments = [argument.resolve(type) for (argument, _), type in pairs]
    operands = [parser.resolve_operand(operand, type) for (_, operand), type in pairs]
    return arguments, operands


def print_assignments(
    printer: Printer, arguments: Sequence[SSAValue], operands: Sequence[SSAValue]
) -> None:
    """Writes `(%argument = %operand, ...)`."""
    printer.print_string("(")
    for index, (argument, operand) in enumerate(zip(arguments, operands, strict=True)):
        if index:
            printer.print_string(", ")
        printer.print_ssa_value(argument)
        printer.print_string(" = ")
        printer.print_ssa_value(operand)
    printer.print_string(")")


def parse_optional_results(parser: Parser) -> list[Attribute]:
    """Reads `-> type` or `-> (type, ...)`, if it is there."""
    if parser.parse_optional_punctuation("->") is None:
        return []
    types = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    return [parser.parse_type()] if types is None else list(types)


def print_optional_results(printer: Printer, types: Sequence[Attribute]) -> None:
    """Writes ` -> type` or ` -> (type, ...)`; nothing if there are none."""
    if not types:
        return
    printer.print_string(" -> ")
    if len(types) == 1:
        printer.print_attribute(types[0])
        return
    with printer.in_parens():
        printer.print_list(types, printer.print_attribute)


def parse_values(parser: Parser, type: Attribute) -> list[SSAValue]:
    """Reads `(%a, %b)`, values of one type."""
    operands = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, parser.parse_unresolved_operand
    )
    return [parser.resolve_operand(operand, type) for operand in operands]


def print_values(printer: Printer, values: Sequence[SSAValue]) -> None:
    """Writes `(%a, %b)`."""
    with printer.in_parens():
        printer.print_list(values, printer.print_ssa_value)


def ensure_terminator(region: Region, make: Callable[[], Operation]) -> None:
    """Ends the last block of a region with a terminator that the text may leave out."""
    if not region.blocks:
        region.add_block(Block())
    block = region.blocks[-1]
    last = block.last_op
    if last is None or not last.has_trait(IsTerminator, value_if_unregistered=False):
        block.add_op(make())


def type_names(types: Sequence[Attribute]) -> str:
    """Returns types for a message."""
    return ", ".join(str(type) for type in types) or "none"
