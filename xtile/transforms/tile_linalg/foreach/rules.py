"""Parallel regions: loops over points, or over matrices, become loops over tiles."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType, VectorType

from xtile.dialects.core.subgroup import ParallelOp
from xtile.dialects.effects import OF_WORK_ITEMS, updates_memory
from xtile.transforms.tile_linalg.foreach.divergence import varying_values
from xtile.transforms.tile_linalg.foreach.pattern import (
    Turns,
    dimensions_of,
    is_numbering,
    turns_of,
)
from xtile.transforms.tile_linalg.foreach.points import use_rules
from xtile.transforms.tile_linalg.foreach.trip import Line, Trip
from xtile.transforms.tile_linalg.kernel import Kernel
from xtile.transforms.tile_linalg.operands import cut


def parallel(operation: ParallelOp, kernel: Kernel) -> None:
    """Lifts a parallel region.

    Raises:
        DiagnosticError: Work-items or subgroups do different things in it.
    """
    turns = turns_of(operation)
    if _tells_work_items_apart(operation, turns):
        _work_items(operation, kernel)
    elif turns is None or turns.is_of_subgroups:
        from xtile.transforms.tile_linalg.foreach.matrices import matrices

        matrices(operation, turns, kernel)
    else:
        _points(turns, kernel)


def _tells_work_items_apart(operation: ParallelOp, turns: Turns | None) -> bool:
    """Whether it matters who executes something in a region, or how many do."""
    inside = operation if turns is None else turns.loop
    if any(nested.name in OF_WORK_ITEMS for nested in inside.walk()):
        return True
    updates = [nested for nested in inside.walk() if updates_memory(nested)]
    if turns is not None and turns.is_of_subgroups:
        # A subgroup updates a matrix once, and a number as often as it has lanes.
        return not all(isinstance(nested.results[0].type, VectorType) for nested in updates)
    return turns is None and bool(updates)


def _work_items(operation: ParallelOp, kernel: Kernel) -> None:
    """What work-items do differently is done for all of them at once."""
    from xtile.transforms.lift.rules import lift

    with kernel.in_order():
        lift(operation.body.block, kernel, kernel.work_group())


def _points(turns: Turns, kernel: Kernel) -> None:
    dimensions = dimensions_of(turns.loop, kernel)
    # Where there may be no points, what is the same at all of them must not be done once.
    spans = [
        replace(span, is_single=span.is_one)
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
        use_rules(trip)
        for operation in body.ops:
            is_done = isinstance(operation, scf.YieldOp)
            if not is_done and not is_numbering(operation, turns.loop, dimensions):
                trip.lift(operation)
