"""Collective instructions: linear algebra, and those that open an SPMD region."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation

from xtile.dialects.tensorlang.operation import integer_value
from xtile.dialects.tensorlang.ops import builtins, memory
from xtile.dialects.tensorlang.ops import collective as ops
from xtile.semantics import blas
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.numeric_types import numpy_type
from xtile.semantics.state import State
from xtile.semantics.values import Array, Value

_MOST_THREADS = 16384
"""Trips of a foreach that run in one round where they cannot tell their work-items apart."""

_MOST_TILES = 64
"""Tiles of a foreach_tile that run in one round; a tile holds matrices."""


def _cumsum(operation: ops.CumsumOp, compiler: Compiler) -> Step:
    return blas.cumsum(operation, compiler, integer_value(operation.mode))


class _Region:
    """Runs an SPMD region, round by round."""

    def __init__(self, operation: Operation, compiler: Compiler) -> None:
        self.body = compiler.region(operation.regions[0])
        self.is_bound_to_work_items = _tells_work_items_apart(operation)

    def run(self, state: State, rows: int, first_thread: int, mask: Value) -> None:
        """Executes the region once on `rows` rows."""
        before = (state.rows, state.first_thread, state.mask)
        state.rows, state.first_thread, state.mask = rows, first_thread, mask
        state.is_collective = False
        try:
            self.body.run(state)
        finally:
            state.rows, state.first_thread, state.mask = before
            state.is_collective = True


_TELLS_WORK_ITEMS_APART = (
    builtins.SubgroupIdOp,
    builtins.SubgroupLinearIdOp,
    builtins.SubgroupLocalIdOp,
    memory.BarrierOp,
)


def _tells_work_items_apart(operation: Operation) -> bool:
    """Whether a region can see which work-item, or which subgroup, executes a trip.

    Otherwise the mapping of trips to work-items is free, and many trips run in one round.
    """
    return any(isinstance(op, _TELLS_WORK_ITEMS_APART) for op in operation.walk())


def _surround(step: Step) -> Step:
    """`step` between automatic barriers."""

    def surrounded(state: State) -> None:
        if state.observer is not None:
            state.observer.on_phase()
        step(state)
        if state.observer is not None:
            state.observer.on_phase()

    return surrounded


def _parallel(operation: ops.ParallelOp, compiler: Compiler) -> Step:
    region = _Region(operation, compiler)
    return _surround(lambda state: region.run(state, state.subgroups, 0, None))


def _counts(state: State, from_: Sequence[int], to: Sequence[int]) -> tuple[list[int], list[int]]:
    """The first trip and the number of trips in each mode."""
    first = [int(state.values[slot]) for slot in from_]
    last = [int(state.values[slot]) for slot in to]
    return first, [max(0, b - a) for a, b in zip(first, last, strict=True)]


def _foreach(operation: ops.ForeachOp, compiler: Compiler) -> Step:
    region = _Region(operation, compiler)
    from_, to = compiler.slots(operation.from_), compiler.slots(operation.to)
    variables = compiler.slots(operation.body.block.args)
    dtypes = [numpy_type(arg.type) for arg in operation.body.block.args]

    def step(state: State) -> None:
        first, counts = _counts(state, from_, to)
        total = int(np.prod(counts))
        rows = state.subgroups
        if not region.is_bound_to_work_items:
            rows *= max(1, _MOST_THREADS // (rows * state.lanes))
        for base in range(0, total, rows * state.lanes):
            run_round(state, first, counts, base, min(total - base, rows * state.lanes), rows)

    def run_round(
        state: State, first: list[int], counts: list[int], base: int, trips: int, most: int
    ) -> None:
        """Runs trips from number `base` on; the first mode varies fastest."""
        bound = region.is_bound_to_work_items
        rows = most if bound else -(-trips // state.lanes)
        trip = np.arange(base, base + rows * state.lanes).reshape(rows, state.lanes)
        mask = None if trips == trip.size else trip < base + trips
        for slot, dtype, start, count in zip(variables, dtypes, first, counts, strict=True):
            state.values[slot] = (start + trip % count).astype(dtype)
            trip = trip // count
        region.run(state, rows, 0 if bound else base, mask)

    return _surround(step)


def _foreach_tile(operation: ops.ForeachTileOp, compiler: Compiler) -> Step:
    region = _Region(operation, compiler)
    from_, to = compiler.slots(operation.from_), compiler.slots(operation.to)
    shape = operation.tile_shape.get_values()
    variables = compiler.slots(operation.body.block.args)
    offsets, sizes = variables[: len(shape)], variables[len(shape) :]
    dtypes = [numpy_type(arg.type) for arg in operation.body.block.args[: len(shape)]]

    def step(state: State) -> None:
        first, lengths = _counts(state, from_, to)
        counts = [-(-length // tile) for length, tile in zip(lengths, shape, strict=True)]
        total = int(np.prod(counts))
        rows = state.subgroups
        if not region.is_bound_to_work_items:
            rows *= max(1, _MOST_TILES // rows)
        for base in range(0, total, rows):
            run_round(state, first, lengths, counts, base, min(total - base, rows), rows)

    def run_round(
        state: State,
        first: list[int],
        lengths: list[int],
        counts: list[int],
        base: int,
        tiles: int,
        most: int,
    ) -> None:
        """Runs tiles from number `base` on, one for each row."""
        bound = region.is_bound_to_work_items
        rows = most if bound else tiles
        number = np.arange(base, base + rows)[:, np.newaxis]
        mask = None if rows == tiles else number < base + tiles
        for mode, dtype in enumerate(dtypes):
            offset = number % counts[mode] * shape[mode]
            size = np.minimum(shape[mode], lengths[mode] - offset)
            state.values[offsets[mode]] = _scalar_if_one(first[mode] + offset).astype(dtype)
            state.values[sizes[mode]] = _scalar_if_one(size).astype(dtype)
            number = number // counts[mode]
        region.run(state, rows, 0 if bound else base * state.lanes, mask)

    return _surround(step)


def _scalar_if_one(value: Array) -> Value:
    """A scalar instead of an array of one row, because scalars are faster."""
    return value[0, 0] if value.size == 1 else value


HANDLERS: dict[type[Operation], Handler] = {
    ops.AxpbyOp: blas.axpby,
    ops.CumsumOp: _cumsum,
    ops.SumOp: blas.row_sums,
    ops.GemmOp: blas.gemm,
    ops.GemvOp: blas.gemv,
    ops.GerOp: blas.ger,
    ops.HadamardOp: blas.hadamard,
    ops.ParallelOp: _parallel,
    ops.ForeachOp: _foreach,
    ops.ForeachTileOp: _foreach_tile,
}
