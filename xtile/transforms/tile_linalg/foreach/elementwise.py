"""Arithmetic at the points of a tile."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.dialects.builtin import IndexType, VectorType, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.arith.casts import IndexCastOp
from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.effects import may_fail
from xtile.rewrite.facts import constant_of
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import again
from xtile.text.source import spelling_of
from xtile.transforms.tile_linalg import tiles
from xtile.transforms.tile_linalg.copying import copy
from xtile.transforms.tile_linalg.foreach.trip import Line, Trip
from xtile.transforms.tile_linalg.tiles import Tile

_CASTS = frozenset({"arith.extsi", "arith.index_cast", "arith.trunci"})
"""What keeps integers that fit both types."""

_WIDE = (IndexType(), i32, i64)
"""Narrower integers may wrap around on purpose."""


def elementwise(operation: Operation, trip: Trip) -> None:
    """An operation on numbers becomes the same on vectors, or stays one on scalars."""
    if not any(map(trip.is_varying, operation.results)):
        _uniform(operation, trip)
        return
    if operation.name in _OF_PARTS:
        _OF_PARTS[operation.name](operation, trip)
        return
    if operation.dialect_name() not in ("arith", "math"):
        raise trip.kernel.error(f"{spelling_of(operation)} in foreach is not lifted to tiles yet")
    line = _line(operation, trip)
    if line is not None:
        trip.define(operation.results[0], line)
        return
    _vectors(operation, trip)


def _create(operation: Operation, trip: Trip) -> None:
    parts = tuple(map(trip.vector, operation.operands))
    (result,) = operation.results
    trip.define(result, Tile(parts, result.type, trip.shape))


def _part(number: int) -> Callable[[Operation, Trip], None]:
    def rule(operation: Operation, trip: Trip) -> None:
        part, (result,) = trip.wide(operation.operands[0]).parts[number], operation.results
        trip.define(result, Tile((part,), result.type, trip.shape))

    return rule


_OF_PARTS: Mapping[str, Callable[[Operation, Trip], None]] = {
    "complex.create": _create,
    "complex.im": _part(1),
    "complex.re": _part(0),
}
"""What is left of complex numbers: a tile of them is one of each part."""


def _uniform(operation: Operation, trip: Trip) -> None:
    """The same at all points; a division that no point may execute must not stop the kernel."""
    kernel = trip.kernel
    if trip.mask is None or not may_fail(operation):
        copy(operation, kernel)
        return
    a, b = kernel.values(operation.operands)
    one = kernel.constant(1, b.type)
    is_zero = kernel.compare("eq", b, kernel.constant(0, b.type))
    divisor = kernel.pure(SelectOp, is_zero, one, b)
    _on(operation, trip, [a, divisor])


def _on(operation: Operation, trip: Trip, operands: list[SSAValue]) -> None:
    new = again(operation, operands)
    trip.kernel.replace(operation, new)


def _vectors(operation: Operation, trip: Trip) -> None:
    kernel = trip.kernel
    operands = [trip.vector(operand) for operand in operation.operands]
    if operation.name == "arith.select" and not trip.is_varying(operation.operands[0]):
        operands[0] = kernel.value(operation.operands[0])
    if may_fail(operation):
        operands[1] = _guarded(trip, operands[1])
    new = again(
        operation, operands, [VectorType(result.type, trip.shape) for result in operation.results]
    )
    for old, result in zip(operation.results, kernel.emit(new).results, strict=True):
        trip.define(old, Tile((result,), old.type, trip.shape))


def _guarded(trip: Trip, divisor: SSAValue) -> SSAValue:
    """A divisor that is 1 where nothing is to be divided."""
    active = trip.executing()
    if active is None:
        return divisor
    one = tiles.constant(trip.kernel, 1, tiles.element_of(divisor.type), trip.shape)
    return trip.kernel.pure(SelectOp, *active.parts, divisor, one)


def _line(operation: Operation, trip: Trip) -> Line | None:
    """Integers that follow each other, if the result is that."""
    type_: Attribute = operation.results[0].type
    if operation.name in _CASTS:
        line = trip.line(operation.operands[0])
        return None if line is None else Line(line.axis, line.offset, type_)
    if operation.name not in ("arith.addi", "arith.subi") or type_ not in _WIDE:
        return None
    a, b = operation.operands
    lines = trip.line(a), trip.line(b)
    if operation.name == "arith.addi" and lines[0] is None:
        a, b, lines = b, a, (lines[1], lines[0])
    if lines[0] is None or trip.is_varying(b):
        return None
    other = _as_index(trip, b)
    kernel, offset = trip.kernel, lines[0].offset
    moved = kernel.subtract if operation.name == "arith.subi" else kernel.add
    return Line(lines[0].axis, moved(offset, other), type_)


def _as_index(trip: Trip, old: SSAValue) -> Index:
    """An integer that is the same at all points, as index."""
    constant = constant_of(old)
    known = trip.kernel.value(old) if constant is None else constant
    if isinstance(known, int) or isinstance(known.type, IndexType):
        return known
    return trip.kernel.pure_with_type(IndexCastOp, IndexType(), known)
