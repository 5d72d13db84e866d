"""Pointers, which are addresses, and tiles of them, which are offsets from one address."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import VectorType, i64
from xdsl.ir import Operation, SSAValue

from xtile.dialects.core.pointers import PointerAddOp, pointer_of
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import shape_of
from xtile.translate.tiles_to_xegpu.lowering import ONE_BASE, Lowering, Points, bytes_of


def pointee_bytes(value: SSAValue) -> int:
    """The bytes of what a pointer of the source points to."""
    pointer = pointer_of(value.type)
    assert pointer is not None
    return bytes_of(pointer.pointee_type)


def _add(operation: PointerAddOp, lowering: Lowering) -> None:
    numbers = lowering.as_indices(lowering.value(operation.offsets))
    if shape_of(operation.result.type):
        points = lowering.points(operation.pointers)
        moved = lowering.emit(arith.AddiOp(points.offsets, numbers)).result
        lowering.define(operation.result, Points(points.base, moved))
        return
    address = lowering.value(operation.pointers)
    distance = lowering.multiply(numbers, pointee_bytes(operation.result))
    moved = lowering.pure(arith.AddiOp, address, lowering.from_index(distance, i64))
    lowering.define(operation.result, moved)


def _cast(operation: Operation, lowering: Lowering) -> None:
    """The same address; offsets count other elements."""
    source, result = operation.operands[0], operation.results[0]
    meaning = lowering.meaning(source)
    before, after = pointee_bytes(source), pointee_bytes(result)
    if isinstance(meaning, Points) and before != after:
        if before % after:
            raise lowering.error(
                f"offsets in elements of {before} bytes are no offsets in elements of {after} "
                "bytes; cast the pointer before adding offsets to it"
            )
        factor = lowering.constant(before // after, meaning.offsets.type)
        meaning = Points(meaning.base, lowering.emit(arith.MuliOp(meaning.offsets, factor)).result)
    lowering.define(result, meaning)


def _same_address(operation: Operation, lowering: Lowering) -> None:
    """A pointer is its address already.

    Raises:
        DiagnosticError: It is a tile of addresses, which are counted from no pointer.
    """
    source, result = operation.operands[0], operation.results[0]
    meaning: Any = lowering.meaning(source)
    if isinstance(meaning, Points):
        meaning = addresses_of(lowering, meaning, pointee_bytes(source))
    elif shape_of(result.type) and pointer_of(result.type) is not None:
        raise lowering.error(ONE_BASE)
    lowering.define(result, meaning)


def addresses_of(lowering: Lowering, points: Points, size: int) -> SSAValue:
    """The addresses of points, as a vector of i64."""
    shape = shape_of(points.offsets.type)
    offsets = lowering.from_index(points.offsets, VectorType(i64, shape))
    factor = lowering.constant(size, offsets.type)
    distance = lowering.emit(arith.MuliOp(offsets, factor)).result
    return lowering.emit(arith.AddiOp(lowering.spread(points.base, shape), distance)).result


RULES: dict[str, Rule] = {
    "core.integer_to_pointer": _same_address,
    "core.pointer_add": _add,
    "core.pointer_cast": _cast,
    "core.pointer_to_integer": _same_address,
}
"""The rule of each operation, by name."""
