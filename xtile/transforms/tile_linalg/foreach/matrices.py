"""Code of a subgroup's matrices, in which each matrix becomes a tile.

The sizes of a tile are the next powers of two. What a tile has beyond its matrix is any number, and
is replaced where it would matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, TypeAlias

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation

from xtile.dialects.atomic_kinds import kind_of
from xtile.dialects.core.atomics import AtomicRMWOp
from xtile.dialects.core.subgroup import AtomicUpdateOp, MapOp, ParallelOp, PrefetchOp, YieldOp
from xtile.dialects.effects import may_fail
from xtile.dialects.memory_orders import RELAXED, ordering_of
from xtile.rewrite.rebuilder import Rule, RuleTable
from xtile.text.source import spelling_of
from xtile.transforms.tile_linalg.copying import constant, copy
from xtile.transforms.tile_linalg.foreach import matrix_operations as on_matrices
from xtile.transforms.tile_linalg.foreach.divergence import varying_values
from xtile.transforms.tile_linalg.foreach.matrix_operations import matrix_of, replaced
from xtile.transforms.tile_linalg.foreach.pattern import Turns, dimensions_of, is_numbering
from xtile.transforms.tile_linalg.foreach.points import use_rules
from xtile.transforms.tile_linalg.foreach.side_by_side import tiles_side_by_side
from xtile.transforms.tile_linalg.foreach.trip import Line, Trip
from xtile.transforms.tile_linalg.kernel import Kernel
from xtile.transforms.tile_linalg.spans import Span
from xtile.transforms.tile_linalg.tiles import Tile

_Rule: TypeAlias = Callable[[Any, Kernel], None]


def matrices(operation: ParallelOp, turns: Turns | None, kernel: Kernel) -> None:
    """Translates code that each subgroup executes, or that subgroups execute in turn."""
    dimensions = [] if turns is None else dimensions_of(turns.loop, kernel)
    if turns is not None and tiles_side_by_side(turns, dimensions, kernel):
        return
    with kernel.using(RuleTable(_RULES, otherwise=_of_others(kernel.rules))):
        if turns is None:
            kernel.translate_block(operation.body.block)
            return
        with ExitStack() as loops:
            for dimension in dimensions:
                loop = loops.enter_context(kernel.loop(0, dimension.size, name="tile"))
                for number in dimension.numbers:
                    kernel.define(number, kernel.as_value(loop.index))
            for nested in turns.loop.body.block.ops:
                is_done = isinstance(nested, scf.YieldOp)
                if not is_done and not is_numbering(nested, turns.loop, dimensions):
                    kernel.translate(nested)


def _of_others(outer: RuleTable) -> Rule:
    """What becomes of operations without a rule: on no matrices, what becomes of them outside."""

    def rule(operation: Operation, kernel: Kernel) -> None:
        if operation.regions or not _has_matrices(operation):
            outer.rule_of(operation)(operation, kernel)
        elif operation.dialect_name() in ("arith", "math"):
            _elementwise(operation, kernel)
        else:
            raise kernel.error(f"{spelling_of(operation)} of matrices is not lifted to tiles yet")

    return rule


def _has_matrices(operation: Operation) -> bool:
    return any(matrix_of(value) is not None for value in (*operation.operands, *operation.results))


def _elementwise(operation: Operation, kernel: Kernel) -> None:
    operands = kernel.values(operation.operands)
    matrix = matrix_of(operation.operands[-1])
    if may_fail(operation) and matrix is not None:
        operands[1] = on_matrices.filled(kernel, operands[1], matrix, range(matrix.rank), 1)
    kernel.replace(operation, replaced(operation, operands))


def _moved(operation: Operation, kernel: Kernel) -> None:
    """An operation that only gives a number or a matrix another type."""
    source, result = matrix_of(operation.operands[0]), matrix_of(operation.results[0])
    if source is not None and result is not None and operation.name == "vector.shape_cast":
        sizes = [size for size in source.shape if size != 1]
        if sizes != [size for size in result.shape if size != 1] and not (
            source.is_tile and result.is_tile
        ):
            raise kernel.error("this change of a matrix's shape is not lifted to tiles yet")
    kernel.replace(operation, replaced(operation, kernel.values(operation.operands)))


def _map(operation: MapOp, kernel: Kernel) -> None:
    """The components of a matrix are points, at which the region is executed."""
    matrix = matrix_of(operation.sources[0])
    assert matrix is not None
    pairs = zip(matrix.shape, matrix.tile_shape, strict=True)
    spans = [Span(size, tile, size == tile, is_single=True) for size, tile in pairs]
    body = operation.body.block
    positions, values = body.args[:2], body.args[2:]
    trip = Trip(kernel, spans, [0] * len(spans), varying_values(body, body.args))
    for axis, position in enumerate(positions):
        trip.define(position, Line(axis, 0, IndexType()))
    for value, source in zip(values, operation.sources, strict=True):
        trip.define(value, Tile((kernel.value(source),), value.type, trip.shape))
    use_rules(trip)
    for nested in body.ops:
        if not isinstance(nested, YieldOp):
            trip.lift(nested)
            continue
        for yielded, mapped in zip(nested.values, operation.mapped, strict=True):
            (result,) = trip.wide(yielded).parts
            kernel.define(mapped, result)


def _nothing(operation: Operation, kernel: Kernel) -> None:
    """Tile compilers fetch ahead on their own."""


def _atomic_rmw(operation: memref.AtomicRMWOp, kernel: Kernel) -> None:
    """Every work-item does the update; of most kinds nobody sees that it is done once."""
    if kind_of(operation.kind).name not in _DONE_AT_ONCE:
        raise kernel.error(
            f"{spelling_of(operation)} is done by every work-item here, which is not lifted to "
            "tiles yet; do it in foreach"
        )
    ordering = ordering_of(operation)
    if ordering == RELAXED:
        copy(operation, kernel)
        return
    value, memory, *indices = kernel.values(operation.operands)
    update = AtomicRMWOp.build(
        operands=[value, memory, indices, []],
        result_types=[value.type],
        properties={"kind": operation.kind, **ordering.properties},
    )
    kernel.replace(operation, update)


_DONE_AT_ONCE = frozenset(
    {
        *("andi", "assign", "ori"),
        *("maximumf", "maxnumf", "maxs", "maxu"),
        *("minimumf", "minnumf", "mins", "minu"),
    }
)
"""Kinds of updates that change nothing when they are done again."""


_RULES: Mapping[str, _Rule] = {
    AtomicUpdateOp.name: on_matrices.atomic_update,
    MapOp.name: _map,
    PrefetchOp.name: _nothing,
    memref.AtomicRMWOp.name: _atomic_rmw,
    "arith.constant": constant,
    "vector.broadcast": _moved,
    "vector.contract": on_matrices.contract,
    "vector.multi_reduction": on_matrices.reduce,
    "vector.shape_cast": _moved,
    "vector.transfer_read": on_matrices.read,
    "vector.transfer_write": on_matrices.write,
}
"""The rule of each operation that is not elementwise, by its name."""
