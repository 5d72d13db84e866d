"""The tile block that does the work of several work-groups."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects import scf
from xdsl.dialects.vector import TransferWriteOp
from xdsl.ir import Block, Operation, Region, SSAValue

from xtile.arguments.launch_checks import LaunchCheck, words_of
from xtile.dialects.core.attributes import TILE_HINTS_ATTRIBUTE
from xtile.dialects.core.launch_checks import PREFERRED_ATTRIBUTE, checks_attribute
from xtile.dialects.gpu.enumerations import Dimension
from xtile.dialects.gpu.functions import FuncOp, ReturnOp
from xtile.dialects.gpu.indices import BlockIdOp, GridDimOp, dimension_number
from xtile.dialects.walk import walk
from xtile.rewrite.affine_tiles import affine_of
from xtile.rewrite.folding import INDEX_WIDTH
from xtile.rewrite.indices import Index
from xtile.rewrite.kernels import hints_attribute
from xtile.rewrite.rebuilder import RuleTable, again, copy
from xtile.rewrite.tile_emitter import TileEmitter
from xtile.text.source import Source
from xtile.transforms.lift.divergence import Divergence
from xtile.transforms.lift.rests import Beginning, beginnings_of, is_size
from xtile.transforms.lift.rules import apply
from xtile.transforms.lift.widening import Rest, Widening
from xtile.transforms.lift.work_group import Axes
from xtile.transforms.merge_work_groups import Arrangement, block_ids

if TYPE_CHECKING:
    from xtile.targets.target import Target


class LargerBlock(TileEmitter):
    """Builds a kernel whose blocks do the work of several work-groups.

    Args:
        old: The kernel.
        arrangement: Which work-groups become one block.
        target: The chip.
        source: The text of the kernel, for messages.
    """

    def __init__(
        self, old: FuncOp, arrangement: Arrangement, target: Target, source: Source | None
    ) -> None:
        super().__init__(RuleTable(otherwise=copy, keeps_rounding=True), "tiles", source)
        self._old = old
        self.arrangement = arrangement
        self._target = target
        block = old.body.block
        self._ids: dict[SSAValue, int] = {
            each.result: dimension_number(each)
            for each in block_ids(old)
            if dimension_number(each) in arrangement.axes
        }
        seeds: dict[SSAValue, Axes] = {
            value: frozenset({arrangement.axes[dimension]})
            for value, dimension in self._ids.items()
        }
        self._divergence = Divergence(block, arrangement.group, seeds)

    @property
    def crosses(self) -> bool:
        """Whether a factor of a product differs along a side that it shares with the other one."""
        return self._divergence.crossings > 0

    def kernel(self) -> FuncOp:
        """The kernel.

        Raises:
            DiagnosticError: Work-groups differ in what tiles cannot tell apart.
        """
        old = self._old.body.block
        body = self.new_block(old, [argument.type for argument in old.args])
        with self.in_function(body):
            self._body(old)
            self.emit(ReturnOp())
        made = again(self._old, regions=[Region(body)])
        made.location = self._old.location
        hints = self.arrangement.product.hints._replace(occupancy=None)
        made.attributes.pop(TILE_HINTS_ATTRIBUTE, None)
        made.attributes |= hints_attribute(hints)
        made.attributes[PREFERRED_ATTRIBUTE] = checks_attribute([words_of(self._many_groups())])
        return made

    def _many_groups(self) -> LaunchCheck:
        """That a launch has so many work-groups that larger blocks keep the chip busy."""
        arrangement = self.arrangement
        threads = arrangement.product.hints.num_cta_in_cga or 1
        least = self._target.tiles.blocks // threads * prod(arrangement.counts.values())
        plane = ("mul", INDEX_WIDTH, ("grid", 0), ("grid", 1))
        return LaunchCheck(
            ("mul", INDEX_WIDTH, plane, ("grid", 2)), least, 2 ** (INDEX_WIDTH - 1) - 1
        )

    def _body(self, old: Block) -> None:
        """What blocks do: the first ones along each axis, as the others have nothing left."""
        counts = self.arrangement.counts
        first: dict[int, Index] = {}
        condition: SSAValue | None = None
        for dimension, count in counts.items():
            block = self.emit(BlockIdOp(list(Dimension)[dimension])).result
            blocks = self.divide_up(self._groups(dimension), count)
            condition = self.both(condition, self.compare("slt", block, blocks))
            first[dimension] = self.multiply(block, count)
        assert condition is not None, "work-groups along some dimension become one block"
        with self.when(condition):
            self._lift(old, first)

    def _groups(self, dimension: int) -> SSAValue:
        """How many work-groups there are along a dimension of the grid."""
        return self.shared(
            ("grid", dimension), (), lambda: self.emit(GridDimOp(list(Dimension)[dimension])).result
        )

    def _lift(self, old: Block, first: Mapping[int, Index]) -> None:
        widening = Widening(self, self.arrangement.group, self._divergence)
        widening.use(self._apply, keeps_rounding=True)
        for dimension, axis in self.arrangement.axes.items():
            number = widening.as_wide(widening.add(widening.line(axis), first[dimension]))
            for value, own in self._ids.items():
                if own == dimension:
                    widening.define(value, number)
            widening.leave_out(axis, Rest(first[dimension], self._groups(dimension)))
        for operation in old.ops:
            if not isinstance(operation, ReturnOp):
                widening.lift(operation)

    def _apply(self, operation: Operation, widening: Widening) -> None:
        if operation.results and operation.results[0] in self._ids:
            return
        if isinstance(operation, scf.IfOp) and widening.divergence.of(operation.cond):
            self._guarded(operation, widening)
            return
        if isinstance(operation, scf.ForOp) and widening.divergence.of_all(operation.operands[:3]):
            raise self.error("a loop runs a different number of times in each of them")
        apply(operation, widening)

    def _guarded(self, operation: scf.IfOp, widening: Widening) -> None:
        """Does what a work-group does only if its tiles begin before the end of memory.

        Of several work-groups the first one begins first, and what the others would write behind
        the end is not written in any case.
        """
        begins = beginnings_of(operation.cond)
        if operation.results or operation.false_region.blocks or not begins:
            raise self.error("a branch is taken in some of them only")
        conditions: SSAValue | None = None
        for begin in begins:
            condition = self._condition(begin, operation, widening)
            conditions = self.both(conditions, condition)
        assert conditions is not None
        with self.when(conditions):
            widening.lift_region(operation.true_region)

    def _condition(self, begin: Beginning, operation: scf.IfOp, widening: Widening) -> SSAValue:
        """Whether the first of several work-groups has something to do."""
        writes = [each for each in walk(operation) if isinstance(each, TransferWriteOp)]
        found = [_end_of(begin, each) for each in writes]
        first = widening.wide(begin.first)
        affine = affine_of(first.value)
        is_known = affine is not None and all(stride >= 0 for stride in affine.strides)
        if affine is None or not is_known or not found or None in found:
            raise self.error("a branch is taken in some of them only")
        memory, dimension = found[0] or (operation.cond, 0)
        end = self.size((self.value(memory), dimension))
        return self.compare("slt", affine.base(self), end)


def _end_of(begin: Beginning, write: TransferWriteOp) -> tuple[SSAValue, int] | None:
    """The memory and its dimension at whose end tiles that are written begin otherwise."""
    start = affine_of(begin.first)
    for dimension, index in enumerate(write.indices):
        if affine_of(index) != start:
            continue
        if all(is_size(each, write.source, dimension) for each in begin.ends):
            return write.source, dimension
    return None
