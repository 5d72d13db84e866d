"""Tiles in other shapes, parts of tiles, and positions in them.

Most are no code of their own: a part of the result is a part of the source somewhere else.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
    VectorType,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.vector.shapes import ShapeCastOp
from xtile.rewrite.indices import Index
from xtile.rewrite.memref_layouts import mixed
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.transposition import interleaved
from xtile.translate.core_to_vectors.elementwise import copy_or_compute
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_vectors.tile import Piece, Position, Tile, shape_of
from xtile.translate.core_to_vectors.transposition import each_square, square_of
from xtile.translate.core_to_xegpu.bfloat16 import compare


def viewed(
    lowering: Vectors,
    tile: Tile,
    shape: Sequence[int],
    source_of: Callable[[Sequence[Index]], Sequence[Index]],
    *,
    has_rows: bool = True,
) -> Tile:
    """A tile whose components are those of another one somewhere else.

    Args:
        lowering: Where to emit.
        tile: The other one.
        shape: The sizes of the new one.
        source_of: The indices in the other one, for those in the new one.
        has_rows: Whether neighbours along the last dimension are neighbours in the other one.
    """
    if tile.scalar is not None:
        return lowering.splat(tile.scalar, tuple(shape))

    def piece(position: Position, width: int) -> SSAValue:
        source = source_of(position.indices)
        return tile.piece(lowering.position(tile.shape, source), width)

    return Tile(
        tuple(shape),
        tile.element,
        piece,
        is_flat=False,
        aligned=frozenset(),
        others=tile.reads,
        width=tile.width if has_rows else 1,
        cost=tile.cost,
    )


def _shape_cast(operation: Operation, lowering: Vectors) -> None:
    """Components that follow each other row by row go on doing so."""
    source, result = operation.operands[0], operation.results[0]
    tile = lowering.reshaped(lowering.tile(source), shape_of(result.type))
    lowering.define(result, tile)


# --- repeated ---


def _broadcast(operation: Operation, lowering: Vectors) -> None:
    """Repeats along new leading dimensions, and along those of size 1."""
    source, result = operation.operands[0], operation.results[0]
    shape = shape_of(result.type)
    if not isinstance(source.type, VectorType):
        lowering.define(result, lowering.splat(lowering.value(source), shape))
        return
    lowering.define(result, repeated(lowering, lowering.tile(source), shape))


def repeated(lowering: Vectors, tile: Tile, shape: tuple[int, ...]) -> Tile:
    """A tile repeated along new leading dimensions, and along those of size 1."""
    rank = len(tile.shape)

    def source_of(indices: Sequence[Index]) -> Sequence[Index]:
        own = indices[len(indices) - rank :]
        return [0 if size == 1 else i for size, i in zip(tile.shape, own, strict=True)]

    if tile.shape[-1] == shape[-1]:
        return viewed(lowering, tile, shape, source_of)
    view = viewed(lowering, tile, shape, source_of, has_rows=False)

    def piece(position: Position, width: int) -> SSAValue:
        return lowering.broadcast(view.piece(position, 1), width)

    return replace(view, piece=piece, width=tile.width)


# --- permuted ---


def _transpose(operation: Operation, lowering: Vectors) -> None:
    source, result = operation.operands[0], operation.results[0]
    order = cast("Sequence[int]", cast(Any, operation.properties["permutation"]).get_values())
    lowering.define(result, permuted(lowering, lowering.tile(source), order))


def permuted(lowering: Vectors, tile: Tile, order: Sequence[int]) -> Tile:
    """A tile whose dimension `i` is dimension `order[i]` of another one.

    Where the last dimension stays, parts of rows are read where they are; otherwise the tile is
    stored anew, by squares that are transposed in registers.
    """
    order = list(order)
    view = turned(lowering, tile, order)
    last = len(order) - 1
    if tile.scalar is not None or order[-1] == last:
        return view
    buffer = lowering.allocate(tile.element, tile.count)
    column = order.index(last)
    square = square_of(view.shape, column)
    if square == 1 or tile.width == 1:
        lowering.store_tile(view, buffer)
        return lowering.stored(buffer, view.shape, tile.element)

    def copy(position: Callable[[int, int], Position]) -> None:
        places = [_turned_back(position(0, i).indices, order) for i in range(square)]
        rows = [tile.piece(lowering.position(tile.shape, at), square) for at in places]
        for i, row in enumerate(interleaved(lowering, rows)):
            lowering.store(row, buffer, [position(i, 0).flat])

    each_square(lowering, view.shape, column, square, copy)
    return lowering.stored(buffer, view.shape, tile.element)


def turned(lowering: Vectors, tile: Tile, order: Sequence[int]) -> Tile:
    """The tile of `permuted` where each component is read on its own."""
    shape = [tile.shape[i] for i in order]
    has_rows = order[-1] == len(order) - 1
    return viewed(
        lowering, tile, shape, lambda indices: _turned_back(indices, order), has_rows=has_rows
    )


def _turned_back(indices: Sequence[Index], order: Sequence[int]) -> list[Index]:
    result: list[Index] = [0] * len(order)
    for index, dimension in zip(indices, order, strict=True):
        result[dimension] = index
    return result


# --- parts ---


def _extract(operation: Operation, lowering: Vectors) -> None:
    source, *dynamic = operation.operands
    result = operation.results[0]
    if not lowering.is_tile(source):
        copy_or_compute(operation, lowering)
        return
    tile = lowering.tile(source)
    first = _positions(operation, dynamic, lowering)
    if len(first) == len(tile.shape):
        component = tile.piece(lowering.position(tile.shape, first), 1)
        lowering.define(result, lowering.pointer(component, result.type))
        return
    shape = shape_of(result.type)
    lowering.define(result, viewed(lowering, tile, shape, lambda indices: [*first, *indices]))


def _positions(operation: Operation, dynamic: Sequence[SSAValue], lowering: Vectors) -> list[Index]:
    return list(mixed(operation.properties["static_position"], lowering.numbers(dynamic)))


def _insert(operation: Operation, lowering: Vectors) -> None:
    """The whole is stored, and the part over it."""
    source, target, *dynamic = operation.operands
    result = operation.results[0]
    whole = lowering.tile(target)
    first = _positions(operation, dynamic, lowering)
    buffer = lowering.new_buffer(result)
    lowering.store_tile(whole, buffer)
    # A constant belongs to whom the whole belongs, although no plan says so.
    if isa(source.type, VectorType) and source.type.get_num_dims() > 0:
        store_part(lowering, lowering.tile(source), buffer, whole.shape, first)
    else:
        position = lowering.position(whole.shape, first)
        lowering.store(lowering.address(lowering.value(source)), buffer, [position.flat])
    lowering.define_stored(result, buffer)


def store_part(
    lowering: Vectors,
    part: Tile,
    buffer: SSAValue,
    shape: Sequence[int],
    first: Sequence[Index],
) -> None:
    """Stores a tile as a part of another one, from an index in each of its first dimensions."""
    leading = len(shape) - len(part.shape)
    starts: list[Index] = [*first, *[0] * (len(shape) - len(first))]
    with lowering.rows(part.shape) as row:

        def store(position: Position, width: int) -> None:
            inner = [*[0] * leading, *position.indices]
            indices = [lowering.add(a, b) for a, b in zip(starts, inner, strict=True)]
            value = part.piece(lowering.position(part.shape, position.indices), width)
            lowering.store(value, buffer, [lowering.position(shape, indices).flat])

        lowering.each_piece_of_row(part, row, store)


def _extract_strided_slice(operation: Operation, lowering: Vectors) -> None:
    source, result = operation.operands[0], operation.results[0]
    if not lowering.is_tile(source):
        copy_or_compute(operation, lowering)
        return
    tile = lowering.tile(source)
    offsets, strides = (_numbers_of(operation, name) for name in ("offsets", "strides"))

    def source_of(indices: Sequence[Index]) -> Sequence[Index]:
        own = list(indices)
        for i, (offset, stride) in enumerate(zip(offsets, strides, strict=True)):
            own[i] = lowering.add(lowering.multiply(own[i], stride), offset)
        return own

    is_dense = len(strides) < len(tile.shape) or strides[-1] == 1
    view = viewed(lowering, tile, shape_of(result.type), source_of, has_rows=is_dense)
    lowering.define(result, view)


def _insert_strided_slice(operation: Operation, lowering: Vectors) -> None:
    source, target = operation.operands
    result = operation.results[0]
    whole = lowering.tile(target)
    buffer = lowering.new_buffer(result)
    lowering.store_tile(whole, buffer)
    store_part(
        lowering, lowering.tile(source), buffer, whole.shape, _numbers_of(operation, "offsets")
    )
    lowering.define_stored(result, buffer)


def _numbers_of(operation: Operation, name: str) -> list[int]:
    return [number.value.data for number in cast(Any, operation.properties[name])]


# --- numbers of positions ---


def _step(operation: Operation, lowering: Vectors) -> None:
    lowering.define(operation.results[0], counted(lowering, operation.results[0].type))


def counted(lowering: Vectors, type_: Attribute) -> Tile:
    """The tile 0, 1, 2, .. of one dimension."""
    element = lowering.component_type(type_)

    def piece(position: Position, width: int) -> SSAValue:
        first = lowering.as_value(position.column)
        if not isinstance(element, IndexType):
            first = lowering.emit(arith.IndexCastOp(first, cast(Any, element))).result
        return consecutive(lowering, first, width)

    return _computed(lowering, shape_of(type_), element, piece)


def consecutive(lowering: Vectors, first: SSAValue, width: int) -> SSAValue:
    """A number and those that follow it."""
    return spaced(lowering, first, width, 1)


def spaced(lowering: Vectors, first: SSAValue, width: int, step: int) -> SSAValue:
    """A number and those that follow it at a distance."""
    if width == 1 or step == 0:
        return lowering.broadcast(first, width)
    type_ = first.type
    assert isa(type_, IndexType | IntegerType)
    numbers = VectorType(type_, [width])
    constant = DenseIntOrFPElementsAttr.from_list(numbers, [i * step for i in range(width)])
    offsets = lowering.shared(
        ("numbers", numbers, step), (), lambda: lowering.emit(arith.ConstantOp(constant)).result
    )
    return lowering.emit(arith.AddiOp(lowering.broadcast(first, width), offsets)).result


def _create_mask(operation: Operation, lowering: Vectors) -> None:
    _define_mask(operation, lowering.numbers(operation.operands), lowering)


def _constant_mask(operation: Operation, lowering: Vectors) -> None:
    sizes = cast("Sequence[int]", cast(Any, operation.properties["mask_dim_sizes"]).get_values())
    _define_mask(operation, list(sizes), lowering)


def _define_mask(operation: Operation, sizes: Sequence[Index], lowering: Vectors) -> None:
    """Which components have an index below the size in each dimension."""
    result = operation.results[0]

    def piece(position: Position, width: int) -> SSAValue:
        inside: SSAValue | None = None
        *outer, last = zip(position.indices, sizes, strict=True)
        for index, size in outer:
            inside = lowering.both(inside, lowering.compare("slt", index, size))
        numbers = consecutive(lowering, lowering.as_value(last[0]), width)
        limit = lowering.broadcast(lowering.as_value(last[1]), width)
        below = compare(lowering, arith.CmpiOp(numbers, limit, "slt"))
        if inside is None:
            return below
        return lowering.emit(arith.AndIOp(lowering.broadcast(inside, width), below)).result

    lowering.define(result, _computed(lowering, shape_of(result.type), i1, piece))


def _computed(lowering: Vectors, shape: tuple[int, ...], element: Attribute, piece: Piece) -> Tile:
    """A tile that is computed from positions alone."""
    return Tile(
        shape,
        element,
        piece,
        is_flat=False,
        aligned=frozenset(),
        others=frozenset(),
        width=lowering.width_of(IndexType(), element),
        cost=2,
    )


RULES: dict[str, Rule] = {
    ShapeCastOp.name: _shape_cast,
    vector.BroadcastOp.name: _broadcast,
    "vector.constant_mask": _constant_mask,
    "vector.create_mask": _create_mask,
    "vector.extract": _extract,
    "vector.extract_strided_slice": _extract_strided_slice,
    "vector.insert": _insert,
    "vector.insert_strided_slice": _insert_strided_slice,
    "vector.splat": _broadcast,
    "vector.step": _step,
    "vector.transpose": _transpose,
}
