"""Along which axes the values of work-items' code differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Block, Operation, SSAValue

from xtile.dialects.core.subgroup import MapOp
from xtile.dialects.effects import updates_memory
from xtile.dialects.gpu.attributes import ShuffleModeAttr
from xtile.dialects.gpu.enumerations import ShuffleMode
from xtile.dialects.gpu.indices import dimension_number
from xtile.dialects.walk import walk
from xtile.transforms.lift.work_group import (
    COLUMN,
    INNER,
    LANE,
    NONE,
    OF_LANE,
    OF_SUBGROUPS,
    OUTER,
    ROW,
    Axes,
    WorkGroup,
    own_axes,
)
from xtile.transforms.predication import yielded

OF_COMPONENT: Axes = frozenset({ROW, COLUMN})


class Divergence:
    """Finds the axes of all values in a block of which nothing outside of it differs.

    Args:
        body: What every work-item executes.
        group: The work-group.
        given: The axes of values that tell subgroups apart from outside.
    """

    def __init__(
        self, body: Block, group: WorkGroup, given: Mapping[SSAValue, Axes] | None = None
    ) -> None:
        self._group = group
        self._given = given or {}
        self._axes: dict[SSAValue, Axes] = dict(self._given)
        self._loops: dict[scf.WhileOp, Axes] = {}
        self._body = body
        self._is_in_map = False
        self._grows = True
        while self._grows:
            self._grows = False
            self._visit(body, NONE)

    def of(self, value: SSAValue) -> Axes:
        """The axes along which a value differs."""
        return self._axes.get(value, NONE)

    def axes(self, value: SSAValue) -> tuple[int, ...]:
        """All axes of what a value becomes, those of a matrix's own dimensions among them."""
        return tuple(sorted({*self.of(value), *own_axes(value.type)}))

    @property
    def crossings(self) -> int:
        """How many factors of products differ along an axis that does not extend them.

        Subgroups along the outer axis have more rows of the left factor, and those along the inner
        one more columns of the right one.
        """
        count = 0
        for outer in self._body.ops:
            for operation in walk(outer):
                if operation.name == "vector.contract":
                    left, right, _ = map(self.of, operation.operands)
                    count += (INNER in left) + (OUTER in right)
        return count

    def of_all(self, values: Iterable[SSAValue]) -> Axes:
        """The axes along which one of some values differs."""
        return NONE.union(*map(self.of, values))

    def of_loop(self, loop: scf.WhileOp) -> Axes:
        """The axes along which it differs how often a loop runs."""
        return self._loops[loop]

    def _add(self, value: SSAValue, axes: Axes) -> None:
        before = self.of(value)
        if self._is_in_map and LANE in axes:
            # What a lane has is what the lane has that holds the component.
            axes |= OF_COMPONENT
        if isinstance(value.type, VectorType) and not self._group.has_vectors_of_lanes:
            axes -= OF_LANE
        if not axes <= before:
            self._axes[value] = before | axes
            self._grows = True

    def _visit(self, block: Block, mask: Axes) -> None:
        """Visits a block, which is executed by some along the axes of a mask."""
        for operation in block.ops:
            rule = _REGIONS.get(operation.name)
            if rule is not None:
                rule(self, operation, mask)
                continue
            axes = self._of_results(operation, mask)
            for result in operation.results:
                self._add(result, axes)

    def _of_results(self, operation: Operation, mask: Axes) -> Axes:
        operands = [self.of(operand) for operand in operation.operands]
        if updates_memory(operation):
            # Each does it, so that all are told apart.
            around = OF_COMPONENT if _in_map(operation) else NONE
            return NONE.union(around, self._group.sizes.keys(), *operands)
        digit = self._group.digit_of_subgroup(operation)
        if operation.results and operation.results[0] in self._given:
            return self._given[operation.results[0]]
        if digit is not None:
            return frozenset({digit}) & self._group.sizes.keys()
        special = _RESULTS.get(operation.name)
        if special is None:
            return NONE.union(*operands)
        return special(operation, operands, mask, self._group) & (
            self._group.sizes.keys() | OF_COMPONENT
        )

    def _pass(self, values: Iterable[SSAValue], to: Iterable[SSAValue], axes: Axes) -> None:
        for value, target in zip(values, to, strict=False):
            self._add(target, self.of(value) | axes)

    def _branch(self, operation: scf.IfOp, mask: Axes) -> None:
        axes = self.of(operation.cond)
        for region in operation.regions:
            if region.blocks.first is not None:
                self._visit(region.block, mask | axes)
                self._pass(yielded(region), operation.results, axes)

    def _loop(self, operation: scf.ForOp, mask: Axes) -> None:
        axes = self.of_all((operation.lb, operation.ub, operation.step))
        index, *carried = operation.body.block.args
        self._add(index, axes)
        self._pass(operation.iter_args, carried, axes)
        self._visit(operation.body.block, mask | axes)
        self._pass(yielded(operation.body), carried, axes)
        self._pass(carried, operation.results, axes)

    def _while(self, operation: scf.WhileOp, mask: Axes) -> None:
        before, after = operation.before_region.block, operation.after_region.block
        condition, *handed = yielded(operation.before_region)
        # Where nobody executes a loop its condition must not keep it going.
        axes = self._loops[operation] = self.of(condition) | mask
        self._pass(operation.arguments, before.args, axes)
        self._visit(before, mask | axes)
        self._pass(handed, after.args, axes)
        self._visit(after, mask | axes)
        self._pass(yielded(operation.after_region), before.args, axes)
        self._pass(handed, operation.results, axes)

    def _map(self, operation: MapOp, mask: Axes) -> None:
        body = operation.body.block
        row, column, *values = body.args
        self._add(row, frozenset({ROW}))
        self._add(column, frozenset({COLUMN}))
        for value, source in zip(values, operation.sources, strict=True):
            self._add(value, self.of(source) | OF_COMPONENT)
        self._is_in_map = True
        self._visit(body, mask)
        self._is_in_map = False
        for value, result in zip(yielded(operation.body), operation.mapped, strict=True):
            self._add(result, self.of(value) - OF_COMPONENT)


def _in_map(operation: Operation) -> bool:
    around = operation.parent_op()
    while around is not None and not isinstance(around, MapOp):
        around = around.parent_op()
    return around is not None


_REGIONS: Mapping[str, Callable[[Divergence, object, Axes], None]] = {
    MapOp.name: Divergence._map,  # pyright: ignore
    scf.ForOp.name: Divergence._loop,  # pyright: ignore
    scf.IfOp.name: Divergence._branch,  # pyright: ignore
    scf.WhileOp.name: Divergence._while,  # pyright: ignore
}

_Special = Callable[[Operation, Sequence[Axes], Axes, WorkGroup], Axes]


def _thread(operation: Operation, operands: Sequence[Axes], mask: Axes, group: WorkGroup) -> Axes:
    return group.thread_axes(dimension_number(operation))


def _shuffle(operation: Operation, operands: Sequence[Axes], mask: Axes, group: WorkGroup) -> Axes:
    """The value of another lane; that of one lane for all is the same for them."""
    value, offset, width = operands
    if operation.results[1].first_use is None:
        if LANE not in value:
            return value
        if is_indexed(operation) and operation.results[1].first_use is None:
            return (value - OF_LANE) | offset | width
    return value | offset | width | OF_LANE


def is_indexed(shuffle: Operation) -> bool:
    """Whether a shuffle names the lane that it reads from."""
    mode = shuffle.properties["mode"]
    return isinstance(mode, ShuffleModeAttr) and mode.data is ShuffleMode.IDX


def _reduction(
    operation: Operation, operands: Sequence[Axes], mask: Axes, group: WorkGroup
) -> Axes:
    together = NONE.union(mask, *operands)
    is_whole = operation.get_attr_or_prop("cluster_size") is None
    return together - OF_LANE if is_whole else together | OF_LANE


def _scan(operation: Operation, operands: Sequence[Axes], mask: Axes, group: WorkGroup) -> Axes:
    return NONE.union(mask, *operands) | OF_LANE


def _is(*axes: int) -> _Special:
    return lambda operation, operands, mask, group: frozenset(axes)


def _of_lanes(operation: Operation, operands: Sequence[Axes], mask: Axes, group: WorkGroup) -> Axes:
    return NONE.union(*operands) | OF_LANE


def _of_subgroup(
    operation: Operation, operands: Sequence[Axes], mask: Axes, group: WorkGroup
) -> Axes:
    return NONE.union(*operands) - OF_LANE


_RESULTS: Mapping[str, _Special] = {
    "core.fragment_extract": _of_lanes,
    "core.subgroup_scan": _scan,
    "gpu.all_reduce": _is(),
    "gpu.block_dim": _is(),
    "gpu.global_id": _thread,
    "gpu.lane_id": _is(LANE),
    "gpu.rotate": _of_lanes,
    "gpu.shuffle": _shuffle,
    "gpu.subgroup_broadcast": _of_subgroup,
    "gpu.subgroup_id": _is(*OF_SUBGROUPS),
    "gpu.subgroup_reduce": _reduction,
    "gpu.thread_id": _thread,
    "xegpu.create_nd_tdesc": _of_subgroup,
    "xegpu.dpas": _of_lanes,
    "xegpu.load_nd": _of_lanes,
    "xegpu.update_nd_offset": _of_subgroup,
}
"""The axes of the results of operations which are not those of all their operands."""
