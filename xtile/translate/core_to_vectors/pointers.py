"""Tiles of pointers, which are their addresses as i64."""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import i64
from xdsl.ir import Operation, SSAValue

from xtile.dialects.arith.casts import ExtSIOp
from xtile.dialects.core.pointers import PointerAddOp, pointer_of
from xtile.dialects.shapes import bits_of
from xtile.rewrite.rebuilder import Rule
from xtile.transforms.distribute.local_memory import size_in_bytes
from xtile.translate.core_to_vectors.elementwise import copy_or_compute
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_vectors.tile import Position, piece_type
from xtile.translate.core_to_xegpu.lowering import carried_type


def _add(operation: PointerAddOp, lowering: Vectors) -> None:
    """Addresses that many sizes of an element further on."""
    result = operation.result
    if not lowering.is_tile(result):
        copy_or_compute(operation, lowering)
        return
    pointer = pointer_of(result.type)
    assert pointer is not None
    size = size_in_bytes(carried_type(pointer.pointee_type))

    def moved(position: Position, width: int, pieces: list[SSAValue]) -> SSAValue:
        address, offset = pieces
        type_ = cast(Any, piece_type(i64, width))
        offset = _widened(lowering, offset, width)
        bytes_ = lowering.emit(arith.MuliOp(offset, lowering.constant(size, type_))).result
        return lowering.emit(arith.AddiOp(address, bytes_)).result

    operands = [lowering.tile(operation.pointers), lowering.tile(operation.offsets)]
    lowering.define_tile(result, lowering.computed(operands, i64, moved))


def _widened(lowering: Vectors, number: SSAValue, width: int) -> SSAValue:
    """A number of fewer bits, or an index, as i64."""
    type_ = cast(Any, piece_type(i64, width))
    if number.type == type_:
        return number
    element = piece_type(number.type, 1)
    if bits_of(element) == bits_of(i64):
        return lowering.emit(arith.IndexCastOp(number, type_)).result
    return lowering.emit(ExtSIOp(number, type_)).result


def _same_address(operation: Operation, lowering: Vectors) -> None:
    source, result = operation.operands[0], operation.results[0]
    if lowering.is_tile(result):
        lowering.define(result, lowering.tile(source))
    else:
        copy_or_compute(operation, lowering)


RULES: dict[str, Rule] = {
    PointerAddOp.name: _add,
    "core.integer_to_pointer": _same_address,
    "core.pointer_cast": _same_address,
    "core.pointer_to_integer": _same_address,
}
