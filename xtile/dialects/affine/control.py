"""Loops with affine bounds, and branches by affine sets.

Source: MLIR (LLVM 22), `Dialect/Affine/IR/AffineOps.td` and `AffineOps.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from typing_extensions import override
from xdsl.dialects import affine
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AffineSetAttr,
    ArrayAttr,
    DenseIntElementsAttr,
    IndexType,
    IntegerAttr,
    StringAttr,
    TensorType,
    i32,
    i64,
)
from xdsl.ir import Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.affine.assembly import (
    ExpressionParser,
    parse_values,
    print_expression,
    print_values,
    verify_values,
)
from xtile.dialects.scf.assembly import (
    ensure_terminator,
    parse_optional_results,
    print_optional_results,
)
from xtile.dialects.upstream import completes

Groups = list[list[AffineExpr]]
"""For each loop the expressions of a bound, the largest or the smallest of which it is."""


@completes()
class ForOp(affine.ForOp):
    """Counts from the largest of some numbers up to the smallest of others.

    ```
    affine.for %i = max affine_map<(d0) -> (d0, 3)>(%n) to %m step 2 {
    }
    ```
    """

    @override
    def verify_(self) -> None:
        super().verify_()
        if self.step.value.data < 1:
            raise VerifyException(f"the step must be at least 1, got {self.step.value.data}")


@completes()
class IfOp(affine.IfOp):
    """Runs its first region where numbers are in a set, else the second one.

    ```
    affine.if affine_set<(d0)[s0] : (s0 - d0 - 1 >= 0)>(%i)[%n] {
    }
    ```
    """

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        condition = parser.parse_attribute()
        if not isinstance(condition, AffineSetAttr):
            parser.raise_error("expected an affine set", position, parser.pos)
        values = parse_values(parser)
        types = parse_optional_results(parser)
        then, otherwise = parser.parse_region(), Region()
        if parser.parse_optional_keyword("else") is not None:
            otherwise = parser.parse_region()
            ensure_terminator(otherwise, affine.YieldOp.get)
        ensure_terminator(then, affine.YieldOp.get)
        return cls.build(
            operands=[values],
            result_types=[types],
            properties={"condition": condition},
            attributes=dict(parser.parse_optional_attr_dict()),
            regions=[then, otherwise],
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.condition)
        print_values(printer, self.args, self.condition.data.num_dims)
        print_optional_results(printer, self.result_types)
        has_results = bool(self.results)
        for keyword, region in ((" ", self.then_region), (" else ", self.else_region)):
            if region.blocks:
                printer.print_string(keyword)
                printer.print_region(region, print_block_terminators=has_results)
        printer.print_op_attributes(self.attributes)

    @override
    def verify_(self) -> None:
        verify_values("the set", self.condition, self.args)
        if self.results and not self.else_region.blocks:
            raise VerifyException("an affine.if with results needs an else")
        for region in (self.then_region, self.else_region):
            end = region.blocks[-1].last_op if region.blocks else None
            if isinstance(end, affine.YieldOp) and end.operand_types != self.result_types:
                raise VerifyException("the regions must yield the results")


@completes()
class ParallelOp(affine.ParallelOp):
    """Counts in several dimensions at once, in any order; reductions combine what it yields.

    ```
    affine.parallel (%i, %j) = (0, 0) to (%n, min(%m, 8)) step (1, 2) {
    }
    ```
    """

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        index = IndexType()
        variables = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False)
        )
        parser.parse_punctuation("=")
        lower, lower_map, lower_values = _parse_bounds(parser, "max")
        parser.parse_keyword("to")
        upper, upper_map, upper_values = _parse_bounds(parser, "min")
        steps = [1] * len(variables)
        if parser.parse_optional_keyword("step") is not None:
            steps = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_integer)
        if parser.parse_optional_keyword("reduce") is not None:
            parser.raise_error(
                "affine.parallel has no reductions here; use iter_args of affine.for"
            )
        body = parser.parse_region([variable.resolve(index) for variable in variables])
        ensure_terminator(body, affine.YieldOp.get)
        return cls.build(
            operands=[[*lower_values, *upper_values]],
            result_types=[[]],
            properties={
                "reductions": ArrayAttr[StringAttr]([]),
                "lowerBoundsMap": lower_map,
                "lowerBoundsGroups": _counts(lower),
                "upperBoundsMap": upper_map,
                "upperBoundsGroups": _counts(upper),
                "steps": ArrayAttr(IntegerAttr(step, i64) for step in steps),
            },
            attributes=dict(parser.parse_optional_attr_dict()),
            regions=[body],
        )

    @override
    def print(self, printer: Printer) -> None:
        lower, upper = self.lowerBoundsMap.data, self.upperBoundsMap.data
        inputs = lower.num_dims + lower.num_symbols
        values = list(self.map_operands)
        printer.print_string(" ")
        with printer.in_parens():
            printer.print_list(self.body.block.args, printer.print_ssa_value)
        printer.print_string(" = ")
        _print_bounds(printer, "max", lower, self.lowerBoundsGroups, values[:inputs])
        printer.print_string(" to ")
        _print_bounds(printer, "min", upper, self.upperBoundsGroups, values[inputs:])
        steps = [step.value.data for step in self.steps]
        if any(step != 1 for step in steps):
            printer.print_string(f" step ({', '.join(map(str, steps))})")
        printer.print_string(" ")
        printer.print_region(
            self.body,
            print_entry_block_args=False,
            print_empty_block=False,
            print_block_terminators=False,
        )
        printer.print_op_attributes(self.attributes)

    @override
    def verify_(self) -> None:
        loops = len(self.body.block.args)
        groups = (self.lowerBoundsGroups, self.upperBoundsGroups)
        if not loops or any(len(each.get_values()) != loops for each in (*groups,)):
            raise VerifyException("expected bounds for each of the loops, and one loop at least")
        steps = [step.value.data for step in self.steps]
        if len(steps) != loops or any(step < 1 for step in steps):
            raise VerifyException(f"expected {loops} steps of at least 1, got {steps}")
        if self.reductions.data or self.results:
            raise VerifyException("reductions are not supported; use iter_args of affine.for")
        super().verify_()


def _parse_bounds(parser: Parser, keyword: str) -> tuple[Groups, AffineMapAttr, list[SSAValue]]:
    """Reads `(0, max(%a, %b + 1))`: the expressions, their map and its values."""
    expressions = ExpressionParser(parser)

    def bound() -> list[AffineExpr]:
        if parser.parse_optional_keyword(keyword) is None:
            return [expressions.expression()]
        return parser.parse_comma_separated_list(parser.Delimiter.PAREN, expressions.expression)

    groups = parser.parse_comma_separated_list(parser.Delimiter.PAREN, bound)
    results = [expression for group in groups for expression in group]
    return groups, expressions.map_of(results), expressions.values()


def _print_bounds(
    printer: Printer,
    keyword: str,
    map_: AffineMap,
    groups: DenseIntElementsAttr,
    values: Sequence[SSAValue],
) -> None:
    def bound(group: Sequence[AffineExpr]) -> None:
        if len(group) > 1:
            printer.print_string(keyword)
            with printer.in_parens():
                printer.print_list(group, expression)
        else:
            expression(group[0])

    def expression(each: AffineExpr) -> None:
        print_expression(printer, each, values, map_.num_dims)

    with printer.in_parens():
        printer.print_list(groups_of(map_, groups), bound)


def groups_of(map_: AffineMap, counts: DenseIntElementsAttr) -> Groups:
    """For each loop the results of a map that are its bounds."""
    left = list(map_.results)
    groups: Groups = []
    for count in counts.get_values():
        groups.append(left[: int(count)])
        del left[: int(count)]
    return groups


def _counts(groups: Groups) -> DenseIntElementsAttr:
    return DenseIntElementsAttr.from_list(
        TensorType(i32, [len(groups)]), [len(group) for group in groups]
    )


OPERATIONS: list[type[Operation]] = [ForOp, IfOp, ParallelOp, affine.YieldOp]
"""The operations of this module."""
