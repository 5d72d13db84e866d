"""Lifts a loop over the points of a space to a loop over tiles of points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation

from xtile.dialects.core import AtomicUpdateOp, ParallelOp
from xtile.transforms.tile_linalg.elementwise import cut
from xtile.transforms.tile_linalg.foreach import control, memory_rules
from xtile.transforms.tile_linalg.foreach.divergence import varying_values
from xtile.transforms.tile_linalg.foreach.elementwise import elementwise
from xtile.transforms.tile_linalg.foreach.pattern import (
    Turns,
    dimensions_of,
    is_numbering,
    turns_of,
)
from xtile.transforms.tile_linalg.foreach.trip import Line, Trip
from xtile.transforms.tile_linalg.kernel import Kernel
from xtile.transforms.tile_linalg.messages import OF_WORK_ITEMS, not_lifted


def parallel(operation: ParallelOp, kernel: Kernel) -> None:
    """Lifts a parallel region, if it is what `foreach` becomes.

    Raises:
        DiagnosticError: It is code of subgroups.
    """
    turns = turns_of(operation)
    if turns is None or turns.is_of_subgroups:
        inner = next((op for op in operation.walk() if op.name in OF_WORK_ITEMS), operation)
        raise kernel.error(not_lifted(inner), inner)
    _points(turns, kernel)


def _points(turns: Turns, kernel: Kernel) -> None:
    dimensions = dimensions_of(turns.loop, kernel)
    # Where there may be no points, what is the same at all of them must not be done once.
    spans = [
        replace(span, is_single=span.is_single and isinstance(span.size, int))
        for span in cut(kernel, [dimension.size for dimension in dimensions])
    ]
    numbers = [number for dimension in dimensions for number in dimension.numbers]
    body = turns.loop.body.block
    varying = varying_values(body, [body.args[0], *numbers])
    with kernel.tiles(spans) as starts:
        trip = Trip(kernel, spans, starts, varying)
        for axis, dimension in enumerate(dimensions):
            for number in dimension.numbers:
                trip.define(number, Line(axis, 0, IndexType()))
        lift = _lifting(trip)
        for operation in body.ops:
            is_done = isinstance(operation, scf.YieldOp)
            if not is_done and not is_numbering(operation, turns.loop, dimensions):
                lift(operation)


def _lifting(trip: Trip) -> Callable[[Operation], None]:
    """What translates an operation at the points of a tile."""

    def rule(operation: Operation, kernel: Kernel) -> None:
        if operation.name in OF_WORK_ITEMS:
            raise kernel.error(not_lifted(operation))
        if isinstance(operation, scf.IfOp):
            control.branch(operation, trip, lift)
        elif isinstance(operation, scf.ForOp):
            control.loop(operation, trip, lift)
        else:
            _RULES.get(operation.name, elementwise)(operation, trip)

    def lift(operation: Operation) -> None:
        with trip.kernel.lifting(rule):
            trip.kernel.translate(operation)

    return lift


_RULES: Mapping[str, Callable[..., None]] = {
    AtomicUpdateOp.name: memory_rules.atomic_update,
    memref.AtomicRMWOp.name: memory_rules.atomic_rmw,
    memref.LoadOp.name: memory_rules.load,
    memref.StoreOp.name: memory_rules.store,
}
"""The rule of each operation that is not elementwise, by its name."""
