"""Vectors of a lane's entries: cutting, joining, and going through their elements."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import cast

from xdsl.dialects import vector
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, VectorType, i8, i32, i64
from xdsl.dialects.vector import ShuffleOp
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.construction import made
from xtile.dialects.shared_attributes import numbers_attribute, vector_of
from xtile.dialects.vector.elements import FromElementsOp
from xtile.dialects.vector.slices import ExtractStridedSliceOp
from xtile.translate.core_to_xegpu.fragments import Fragment, of_values, piece_lengths
from xtile.translate.core_to_xegpu.lowering import Lowering


def length_of(value: SSAValue) -> int:
    """The number of elements of a vector of one dimension."""
    return cast("VectorType[Attribute]", value.type).get_shape()[0]


def to_scalars(lowering: Lowering, piece: SSAValue) -> list[SSAValue]:
    """The elements of a vector."""
    element = cast("VectorType[Attribute]", piece.type).element_type
    return [_extracted(lowering, piece, i, element) for i in range(length_of(piece))]


def _extracted(lowering: Lowering, piece: SSAValue, i: int, element: Attribute) -> SSAValue:
    position = {"static_position": numbers_attribute((i,))}
    return lowering.emit(made(vector.ExtractOp, (piece,), (element,), position)).result


def from_scalars(lowering: Lowering, scalars: Sequence[SSAValue]) -> SSAValue:
    """A vector with these elements."""
    type_ = vector_of((len(scalars),), scalars[0].type)
    return lowering.emit(made(FromElementsOp, scalars, (type_,))).results[0]


def slice_of(lowering: Lowering, value: SSAValue, first: int, length: int) -> SSAValue:
    """Consecutive elements of a vector."""
    if first == 0 and length == length_of(value):
        return value
    if length_of(value) > _MOST_ELEMENTS:
        words = slice_of(lowering, _words(lowering, value), first // 4, length // 4)
        return _bytes(lowering, words)
    element = cast("VectorType[Attribute]", value.type).element_type
    place = {"offsets": _list(first), "sizes": _list(length), "strides": _list(1)}
    types = (vector_of((length,), element),)
    return lowering.emit(made(ExtractStridedSliceOp, (value,), types, place)).results[0]


_MOST_ELEMENTS = 16
"""The longest vectors of SPIR-V; only vectors of bytes are longer, and are moved as words."""


def _words(lowering: Lowering, value: SSAValue) -> SSAValue:
    return vector_bitcast(lowering, value, vector_of((length_of(value) // 4,), i32))


def _bytes(lowering: Lowering, words: SSAValue) -> SSAValue:
    return vector_bitcast(lowering, words, vector_of((length_of(words) * 4,), i8))


def vector_bitcast(lowering: Lowering, value: SSAValue, target: VectorType) -> SSAValue:
    """The same bits as another vector."""
    if value.type == target:
        return value

    def emit() -> SSAValue:
        return lowering.emit(made(vector.BitcastOp, (value,), (target,))).results[0]

    return lowering.shared(("bitcast", value, target), (value,), emit)


@lru_cache
def _list(number: int) -> ArrayAttr[IntegerAttr]:
    return ArrayAttr([IntegerAttr(number, i64)])


def joined(lowering: Lowering, parts: Sequence[SSAValue]) -> SSAValue:
    """The elements of several vectors, one after the other."""
    result = parts[0]
    for part in parts[1:]:
        result = _joined(lowering, result, part)
    return result


def _joined(lowering: Lowering, a: SSAValue, b: SSAValue) -> SSAValue:
    if length_of(a) + length_of(b) > _MOST_ELEMENTS:
        return _bytes(lowering, _joined(lowering, _words(lowering, a), _words(lowering, b)))
    return _shuffled(lowering, a, b, range(length_of(a) + length_of(b)))


def interleaved(lowering: Lowering, parts: Sequence[SSAValue]) -> SSAValue:
    """The elements of vectors in turn, a power of two of them; the same for the same vectors."""
    if len(parts) == 1:
        return parts[0]
    a, b = interleaved(lowering, parts[::2]), interleaved(lowering, parts[1::2])
    length = length_of(a)
    if 2 * length > _MOST_ELEMENTS:
        half = length // 2
        sides = [[slice_of(lowering, x, at, half) for x in (a, b)] for at in (0, half)]
        return joined(lowering, [interleaved(lowering, side) for side in sides])
    numbers = [
        i for pair in zip(range(length), range(length, 2 * length), strict=True) for i in pair
    ]
    return lowering.shared(
        ("interleaved", a, b), (a, b), lambda: _shuffled(lowering, a, b, numbers)
    )


def _shuffled(lowering: Lowering, a: SSAValue, b: SSAValue, numbers: Sequence[int]) -> SSAValue:
    """The elements with these numbers, which count on from `a` to `b`."""
    element = cast("VectorType[Attribute]", a.type).element_type
    types, mask = (vector_of((len(numbers),), element),), numbers_attribute(tuple(numbers))
    return lowering.emit(made(ShuffleOp, (a, b), types, {"mask": mask})).results[0]


def with_piece(lowering: Lowering, fragment: Fragment, piece: int) -> Fragment:
    """The same matrix in pieces of another length."""
    if fragment.piece == piece:
        return fragment
    values: list[SSAValue] = []
    for block in fragment.blocks:
        if piece > fragment.piece:
            count = piece // fragment.piece
            groups = [block[i : i + count] for i in range(0, len(block), count)]
            values += [joined(lowering, group) for group in groups]
        else:
            values += [part for whole in block for part in _cut(lowering, whole, piece)]
    assert len(values) == len(piece_lengths(fragment.layout, piece)) * fragment.layout.blocks
    return of_values(fragment.layout, values, piece)


def _cut(lowering: Lowering, value: SSAValue, piece: int) -> list[SSAValue]:
    count = length_of(value)
    return [
        slice_of(lowering, value, first, min(piece, count - first))
        for first in range(0, count, piece)
    ]
