"""Loops: `scf.for`, `scf.while` and `scf.parallel` with its reductions.

Source: MLIR (LLVM 22), `Dialect/SCF/IR/SCFOps.td` and `SCF.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override
from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType, UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import BaseAttr, OptPropertyDef, VarConstraint
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.scf.assembly import (
    ensure_terminator,
    parse_assignments,
    parse_optional_results,
    parse_values,
    print_assignments,
    print_optional_results,
    print_values,
    resolve_assignments,
    type_names,
)
from xtile.dialects.upstream import TypeWhere, completes, is_signless_integer_or_index
from xtile.text.extensions import Extension, Table

UNSIGNED = "unsignedCmp"
"""The property of an `scf.for` that compares its bounds as unsigned integers."""

_BOUND = VarConstraint(
    "T", TypeWhere("a signless integer or an index", is_signless_integer_or_index)
)


def verify_types(what: str, expected: Sequence[Attribute], found: Sequence[Attribute]) -> None:
    """Checks that values have the types that they must have.

    Raises:
        VerifyException: They do not.
    """
    if tuple(expected) != tuple(found):
        raise VerifyException(
            f"expected {what} of types {type_names(expected)}, got {type_names(found)}"
        )


@completes(
    operands={"lb": _BOUND, "ub": _BOUND, "step": _BOUND},
    properties={UNSIGNED: OptPropertyDef(BaseAttr(UnitAttr))},
)
class ForOp(scf.ForOp):
    """Counts from a bound up to another, and carries values from one iteration to the next.

    ```
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (f32) {
      scf.yield %a : f32
    }
    ```
    """

    @classmethod
    @override
    def parse(cls, parser: Parser) -> ForOp:
        is_unsigned = parser.parse_optional_keyword("unsigned") is not None
        variable = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        bounds = [parser.parse_unresolved_operand()]
        for keyword in ("to", "step"):
            parser.parse_keyword(keyword)
            bounds.append(parser.parse_unresolved_operand())
        position = parser.pos
        assignments = []
        types: Sequence[Attribute] = ()
        if parser.parse_optional_keyword("iter_args") is not None:
            assignments = parse_assignments(parser)
            parser.parse_punctuation("->")
            in_parentheses = parser.parse_optional_comma_separated_list(
                parser.Delimiter.PAREN, parser.parse_type
            )
            types = [parser.parse_type()] if in_parentheses is None else in_parentheses
        arguments, operands = resolve_assignments(parser, assignments, types, position)
        has_type = parser.parse_optional_punctuation(":") is not None
        type = parser.parse_type() if has_type else IndexType()
        lower, upper, step = (parser.resolve_operand(bound, type) for bound in bounds)
        body = parser.parse_region([variable.resolve(type), *arguments])
        attributes = parser.parse_optional_attr_dict()
        if not arguments:
            ensure_terminator(body, scf.YieldOp)
        loop = ForOp(lower, upper, step, operands, body)
        loop.attributes |= attributes
        if is_unsigned:
            loop.properties[UNSIGNED] = UnitAttr()
        return loop

    @override
    def print(self, printer: Printer) -> None:
        variable, *arguments = self.body.block.args
        if UNSIGNED in self.properties:
            printer.print_string(" unsigned")
        separators = (" ", " = ", " to ", " step ")
        for separator, value in zip(
            separators, (variable, self.lb, self.ub, self.step), strict=True
        ):
            printer.print_string(separator)
            printer.print_ssa_value(value)
        if arguments:
            printer.print_string(" iter_args")
            print_assignments(printer, arguments, self.iter_args)
            printer.print_string(" -> ")
            with printer.in_parens():
                printer.print_list(self.iter_args.types, printer.print_attribute)
        printer.print_string(" ")
        if not isinstance(variable.type, IndexType):
            # Upstream prints two spaces here.
            printer.print_string(" : ")
            printer.print_attribute(variable.type)
            printer.print_string(" ")
        printer.print_region(
            self.body,
            print_entry_block_args=False,
            print_empty_block=False,
            print_block_terminators=bool(arguments),
        )
        printer.print_op_attributes(self.attributes)

    @override
    def verify_(self) -> None:
        carried = self.iter_args.types
        verify_types("arguments of the body", (self.lb.type, *carried), self.body.block.arg_types)
        verify_types("results", carried, self.res.types)
        end = self.body.block.last_op
        if isinstance(end, scf.YieldOp):
            verify_types("an scf.yield", carried, end.arguments.types)


def _parse_while(parser: Parser) -> scf.WhileOp:
    """`scf.while`: runs its second region as long as the first one says so.

    ```
    %r = scf.while (%a = %x) : (f32) -> f32 {
      scf.condition(%c) %a : f32
    } do {
    ^bb0(%b: f32):
      scf.yield %b : f32
    }
    ```
    """
    position = parser.pos
    assignments = []
    if parser.parse_optional_punctuation(":") is None:
        assignments = parse_assignments(parser)
        parser.parse_punctuation(":")
    type = parser.parse_function_type()
    arguments, operands = resolve_assignments(parser, assignments, type.inputs.data, position)
    # Without arguments, the first block may have a label of its own.
    before = parser.parse_region(arguments or None)
    parser.parse_keyword("do")
    after = parser.parse_region()
    attributes = parser.parse_optional_attr_dict_with_keyword()
    loop = scf.WhileOp(operands, type.outputs.data, before, after)
    if attributes is not None:
        loop.attributes |= attributes.data
    return loop


def _print_while(operation: scf.WhileOp, printer: Printer) -> None:
    if operation.arguments:
        printer.print_string(" ")
        print_assignments(printer, operation.before_region.block.args, operation.arguments)
    printer.print_string(" : ")
    printer.print_operation_type(operation)
    printer.print_string(" ")
    printer.print_region(operation.before_region, print_entry_block_args=False)
    printer.print_string(" do ")
    printer.print_region(operation.after_region)
    printer.print_op_attributes(operation.attributes, print_keyword=True)


def _verify_while(operation: scf.WhileOp) -> None:
    before, after = operation.before_region.block, operation.after_region.block
    verify_types("arguments of the first region", operation.arguments.types, before.arg_types)
    condition, end = before.last_op, after.last_op
    if not isinstance(condition, scf.ConditionOp):
        raise VerifyException("the first region must end with an scf.condition")
    if not isinstance(end, scf.YieldOp):
        raise VerifyException("the second region must end with an scf.yield")
    verify_types("an scf.condition", operation.res.types, condition.args.types)
    verify_types("arguments of the second region", operation.res.types, after.arg_types)
    verify_types("an scf.yield", operation.arguments.types, end.arguments.types)


def _parse_parallel(parser: Parser) -> scf.ParallelOp:
    """`scf.parallel`: counts in several dimensions, in any order; reductions combine values.

    ```
    %sum = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%zero) -> f32 {
      scf.reduce(%x : f32) {
      ^bb0(%a: f32, %b: f32):
        %c = arith.addf %a, %b : f32
        scf.reduce.return %c : f32
      }
    }
    ```
    """
    index = IndexType()
    variables = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False)
    )
    parser.parse_punctuation("=")
    lower = parse_values(parser, index)
    parser.parse_keyword("to")
    upper = parse_values(parser, index)
    parser.parse_keyword("step")
    step = parse_values(parser, index)
    position = parser.pos
    initial = []
    if parser.parse_optional_keyword("init") is not None:
        initial = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
    types = parse_optional_results(parser)
    values = parser.resolve_operands(initial, types, position)
    body = parser.parse_region([variable.resolve(index) for variable in variables])
    ensure_terminator(body, scf.ReduceOp)
    loop = scf.ParallelOp(lower, upper, step, body, values)
    loop.attributes |= parser.parse_optional_attr_dict()
    return loop


def _print_parallel(operation: scf.ParallelOp, printer: Printer) -> None:
    parts = (
        (" ", operation.body.block.args),
        (" = ", operation.lowerBound),
        (" to ", operation.upperBound),
        (" step ", operation.step),
    )
    for keyword, values in parts:
        printer.print_string(keyword)
        print_values(printer, values)
    if operation.initVals:
        printer.print_string(" init ")
        print_values(printer, operation.initVals)
    print_optional_results(printer, operation.res.types)
    printer.print_string(" ")
    printer.print_region(operation.body, print_entry_block_args=False)
    printer.print_op_attributes(operation.attributes)


def _verify_parallel(operation: scf.ParallelOp) -> None:
    dimensions = len(operation.step)
    if not dimensions:
        raise VerifyException("expected at least one dimension")
    if (len(operation.lowerBound), len(operation.upperBound)) != (dimensions, dimensions):
        raise VerifyException(
            f"expected as many bounds as steps, got {len(operation.lowerBound)} lower and "
            f"{len(operation.upperBound)} upper bounds and {dimensions} steps"
        )
    indices = [IndexType()] * dimensions
    verify_types("arguments of the body", indices, operation.body.block.arg_types)
    end = operation.body.block.last_op
    if not isinstance(end, scf.ReduceOp):
        raise VerifyException("the body must end with an scf.reduce")
    verify_types("results", operation.initVals.types, operation.res.types)
    verify_types("an scf.reduce", operation.initVals.types, end.args.types)


def _parse_reduce(parser: Parser) -> scf.ReduceOp:
    """`scf.reduce`: combines the values of all iterations of an `scf.parallel`, each by a region.

    ```
    scf.reduce(%x : f32) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      scf.reduce.return %c : f32
    }
    ```
    """
    position = parser.pos
    operands, types = [], []
    if parser.parse_optional_punctuation("(") is not None:
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        parser.parse_punctuation(")")
    values = parser.resolve_operands(operands, types, position)
    regions = parser.parse_optional_undelimited_comma_separated_list(
        parser.parse_optional_region, parser.parse_region
    )
    reduction = scf.ReduceOp(values, regions or ())
    reduction.attributes |= parser.parse_optional_attr_dict()
    return reduction


def _print_reduce(operation: scf.ReduceOp, printer: Printer) -> None:
    if operation.args:
        with printer.in_parens():
            printer.print_list(operation.args, printer.print_ssa_value)
            printer.print_string(" : ")
            printer.print_list(operation.args.types, printer.print_attribute)
    # Upstream prints this space even where nothing follows.
    printer.print_string(" ")
    printer.print_list(operation.reductions, printer.print_region)
    printer.print_op_attributes(operation.attributes)


def _verify_reduce(operation: scf.ReduceOp) -> None:
    if len(operation.args) != len(operation.reductions):
        raise VerifyException(
            f"expected a region for each of {len(operation.args)} values, "
            f"got {len(operation.reductions)}"
        )
    for region, type in zip(operation.reductions, operation.args.types, strict=True):
        verify_types("arguments of the region", (type, type), region.block.arg_types)
        end = region.block.last_op
        if isinstance(end, scf.ReduceReturnOp):
            verify_types("an scf.reduce.return", (type,), (end.result.type,))


EXTENSIONS: Table = {
    scf.WhileOp: Extension(parse=_parse_while, print=_print_while, verify=_verify_while),
    scf.ParallelOp: Extension(
        parse=_parse_parallel, print=_print_parallel, verify=_verify_parallel
    ),
    scf.ReduceOp: Extension(parse=_parse_reduce, print=_print_reduce, verify=_verify_reduce),
}
"""What LLVM says of xDSL's operations of this module."""
