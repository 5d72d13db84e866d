"""Which values differ between the points of a tile."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation, SSAValue

from xtile.dialects.effects import updates_memory


def varying_values(body: Block, points: Iterable[SSAValue]) -> frozenset[SSAValue]:
    """The values in a loop's body that differ between points.

    Args:
        body: The body.
        points: The values that are the numbers of a point.
    """
    analysis = _Analysis(set(points))
    before = -1
    while before != len(analysis.varying):
        before = len(analysis.varying)
        analysis.visit(body, is_divided=False)
    return frozenset(analysis.varying)


class _Analysis:
    """Goes through the operations until no more values are found."""

    def __init__(self, varying: set[SSAValue]) -> None:
        self.varying = varying

    def visit(self, block: Block, is_divided: bool) -> None:
        """Visits a block, which not all points execute if it is divided."""
        for operation in block.ops:
            if isinstance(operation, scf.IfOp):
                self._visit_branch(operation, is_divided)
            elif isinstance(operation, scf.ForOp):
                self._visit_loop(operation, is_divided)
            elif self._differs(operation, is_divided):
                self.varying.update(operation.results)

    def _differs(self, operation: Operation, is_divided: bool) -> bool:
        if any(operand in self.varying for operand in operation.operands):
            return True
        if isinstance(operation, memref.LoadOp):
            # Where not all points execute it, it is a load under a mask.
            return is_divided and not isinstance(operation.res.type, MemRefType)
        return updates_memory(operation)

    def _visit_branch(self, operation: scf.IfOp, is_divided: bool) -> None:
        differs = operation.cond in self.varying
        for region in operation.regions:
            if region.blocks.first is None:
                continue
            self.visit(region.block, is_divided or differs)
            end = region.block.last_op
            for result, value in zip(operation.results, _operands(end), strict=False):
                if differs or value in self.varying:
                    self.varying.add(result)

    def _visit_loop(self, operation: scf.ForOp, is_divided: bool) -> None:
        bounds = (operation.lb, operation.ub, operation.step)
        differs = any(bound in self.varying for bound in bounds)
        body = operation.body.block
        if differs:
            self.varying.update(body.args)
        initial = operation.iter_args
        for argument, value in zip(body.args[1:], initial, strict=True):
            if value in self.varying:
                self.varying.add(argument)
        self.visit(body, is_divided or differs)
        yielded = _operands(body.last_op)
        for argument, value, result in zip(body.args[1:], yielded, operation.results, strict=True):
            if differs or value in self.varying or argument in self.varying:
                self.varying.update((argument, result))


def _operands(operation: Operation | None) -> Iterable[SSAValue]:
    return () if operation is None else operation.operands
