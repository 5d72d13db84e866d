"""Where the points of a tile access memory: blocks of it, or elements that lie anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    MemRefType,
    StridedLayoutAttr,
    i64,
)
from xdsl.dialects.memref import SubviewOp
from xdsl.ir import Operation, SSAValue

from xtile.dialects.memref.views import ReinterpretCastOp
from xtile.rewrite.emitter import AnyMemRef
from xtile.rewrite.facts import constant_of
from xtile.rewrite.indices import Index
from xtile.rewrite.memref_layouts import layout_of
from xtile.transforms.tile_linalg import tiles
from xtile.transforms.tile_linalg.foreach.trip import Line, Position, Trip
from xtile.transforms.tile_linalg.kernel import Kernel
from xtile.transforms.tile_linalg.spans import known_size
from xtile.transforms.tile_linalg.tiles import Tile


@dataclass(frozen=True)
class Block:
    """A block of memory whose dimensions are axes of a tile.

    Attributes:
        memory: The memory, with a dimension for each axis of the block.
        axes: The axis of the tile for each of the memory's dimensions.
        indices: Where the block begins.
        is_inside: For each dimension whether the block certainly ends before the memory does.
    """

    memory: SSAValue
    axes: Sequence[int]
    indices: Sequence[Index]
    is_inside: Sequence[bool]

    @property
    def order(self) -> list[int]:
        """The memory's dimensions in the order of their axes."""
        return sorted(range(len(self.axes)), key=lambda dimension: self.axes[dimension])


def block_of(trip: Trip, memory: SSAValue, indices: Sequence[Position]) -> Block | None:
    """The block of memory that the points access, if it is one.

    Args:
        trip: The points.
        memory: The memory.
        indices: The indices at each point.
    """
    axes = [index.axis for index in indices if isinstance(index, Line)]
    if not axes or len(set(axes)) != len(axes):
        return None
    if any(isinstance(index, Tile) for index in indices):
        return None
    parts = [_part(trip, memory, dimension, index) for dimension, index in enumerate(indices)]
    is_line = [isinstance(index, Line) for index in indices]
    if any(part.is_cut for part in parts):
        memory = view_of(trip.kernel, memory, parts, is_line)
    starts = [part.index for part, keeps in zip(parts, is_line, strict=True) if keeps]
    return Block(memory, axes, starts, [trip.spans[axis].is_even for axis in axes])


@dataclass(frozen=True)
class Part:
    """The part of a dimension that points access.

    Attributes:
        offset: Where it begins.
        size: Its size; None for all of the dimension.
        index: The first index of this tile in it.
    """

    offset: Index
    size: Index | None
    index: Index = 0

    @property
    def is_cut(self) -> bool:
        """Whether it is not all of the dimension."""
        return self.size is not None


def _part(trip: Trip, memory: SSAValue, dimension: int, index: Position) -> Part:
    """What points access of a dimension; points beyond the end of the space access nothing."""
    if not isinstance(index, Line):
        assert not isinstance(index, Tile)
        return Part(index, 1)
    span, start = trip.spans[index.axis], trip.starts[index.axis]
    if span.is_even:
        return Part(0, None, trip.kernel.add(start, index.offset))
    if index.offset == 0 and _is_size(memory, dimension, span.size):
        return Part(0, None, start)
    return Part(index.offset, span.size, start)


def _is_size(memory: SSAValue, dimension: int, size: Index) -> bool:
    """Whether a size that is not negative certainly is the size of a dimension."""
    known = known_size(memory, dimension)
    if isinstance(size, int):
        return known == size
    owner = size.owner
    if isinstance(owner, Operation) and owner.name == "arith.maxsi":
        values = [value for value in owner.operands if constant_of(value) != 0]
        if len(values) == 1:
            return _is_size(memory, dimension, values[0])
    if known is not None:
        return known is size
    return (
        isinstance(owner, memref.DimOp)
        and owner.source is memory
        and constant_of(owner.index) == dimension
    )


def view_of(
    kernel: Kernel, memory: SSAValue, parts: Sequence[Part], is_kept: Sequence[bool]
) -> SSAValue:
    """A part of memory, without the dimensions that are not kept."""
    sizes = [
        kernel.size((memory, dimension)) if part.size is None else part.size
        for dimension, part in enumerate(parts)
    ]
    offsets = [part.offset for part in parts]
    type_ = cast("AnyMemRef", memory.type)
    layout = layout_of(type_)
    offset = layout.offset
    for first, stride in zip(offsets, layout.strides, strict=True):
        offset = _moved(offset, first, stride)
    kept = [i for i, keeps in enumerate(is_kept) if keeps]
    result = MemRefType(
        type_.element_type,
        [_static(sizes[i]) for i in kept],
        StridedLayoutAttr([layout.strides[i] for i in kept], offset),
        type_.memory_space,
    )
    values = [value for value in (*offsets, *sizes) if not isinstance(value, int)]

    def emit() -> SSAValue:
        operation = SubviewOp.build(
            operands=[memory, _values(offsets), _values(sizes), []],
            result_types=[result],
            properties={
                "static_offsets": _statics(offsets),
                "static_sizes": _statics(sizes),
                "static_strides": _statics([1] * len(parts)),
            },
        )
        return kernel.emit(operation).results[0]

    return kernel.shared((SubviewOp, memory, *offsets, *sizes, result), (memory, *values), emit)


def _moved(offset: int | None, first: Index, stride: int | None) -> int | None:
    """An offset after some steps of a stride, if that is known."""
    if first == 0:
        return offset
    if offset is None or stride is None or not isinstance(first, int):
        return None
    return offset + first * stride


def _static(number: Index) -> int:
    return number if isinstance(number, int) else DYNAMIC_INDEX


def _statics(numbers: Sequence[Index]) -> DenseArrayBase:
    return DenseArrayBase.from_list(i64, list(map(_static, numbers)))


def _values(numbers: Sequence[Index]) -> list[SSAValue]:
    return [number for number in numbers if not isinstance(number, int)]


# --- elements that lie anywhere ---


@dataclass(frozen=True)
class Elements:
    """Elements that lie anywhere in memory.

    Attributes:
        memory: The memory.
        indices: Where positions are counted from.
        positions: The position of each point's element along the last dimension.
    """

    memory: SSAValue
    indices: Sequence[SSAValue]
    positions: SSAValue


def elements_of(trip: Trip, memory: SSAValue, indices: Sequence[Position]) -> Elements:
    """The elements of memory that the points access."""
    kernel = trip.kernel
    varying = [d for d, index in enumerate(indices) if isinstance(index, Line | Tile)]
    rank, zero = len(indices), kernel.index(0)
    if rank == 0:
        return Elements(_reinterpreted(kernel, memory), [zero], trip.vector_of(0))
    if varying in ([], [rank - 1]):
        at = [zero if isinstance(i, Line | Tile) else kernel.as_value(i) for i in indices]
        return Elements(memory, at, trip.vector_of(indices[-1] if varying else 0))
    if len(varying) == 1:
        (dimension,) = varying
        parts = [
            Part(0, None) if isinstance(index, Line | Tile) else Part(index, 1) for index in indices
        ]
        line = view_of(kernel, memory, parts, [d == dimension for d in range(rank)])
        return Elements(line, [zero], trip.vector_of(indices[dimension]))
    return _scattered(trip, memory, indices)


def _scattered(trip: Trip, memory: SSAValue, indices: Sequence[Position]) -> Elements:
    """Elements with several indices that differ: positions in memory as one line."""
    kernel = trip.kernel
    total: SSAValue | None = None
    for index, stride in zip(indices, _strides(kernel, memory), strict=True):
        term = trip.vector_of(index)
        if stride != 1:
            term = kernel.pure(arith.MuliOp, term, trip.vector_of(stride))
        total = term if total is None else kernel.pure(arith.AddiOp, total, term)
    assert total is not None
    return Elements(_reinterpreted(kernel, memory), [kernel.index(0)], total)


def _strides(kernel: Kernel, memory: SSAValue) -> list[Index]:
    layout = layout_of(cast("AnyMemRef", memory.type))
    if None not in layout.strides:
        return [stride for stride in layout.strides if stride is not None]
    _, _, _, strides = _metadata(kernel, memory)
    return [
        value if stride is None else stride
        for stride, value in zip(layout.strides, strides, strict=True)
    ]


def _metadata(
    kernel: Kernel, memory: SSAValue
) -> tuple[SSAValue, SSAValue, Sequence[SSAValue], Sequence[SSAValue]]:
    """The base, the offset, the sizes and the strides of memory."""

    def emit() -> tuple[SSAValue, SSAValue, Sequence[SSAValue], Sequence[SSAValue]]:
        operation = kernel.emit(memref.ExtractStridedMetaDataOp(memory))
        return operation.base_buffer, operation.offset, operation.sizes, operation.strides

    return kernel.shared((memref.ExtractStridedMetaDataOp, memory), (memory,), emit)


def _reinterpreted(kernel: Kernel, memory: SSAValue) -> SSAValue:
    """The first element of memory, from which positions count in elements."""
    type_ = cast("AnyMemRef", memory.type)
    known = layout_of(type_).offset
    offset: Index = _metadata(kernel, memory)[1] if known is None else known
    result = MemRefType(type_.element_type, [1], StridedLayoutAttr([1], known), type_.memory_space)

    def emit() -> SSAValue:
        operation = ReinterpretCastOp.build(
            operands=[memory, _values([offset]), [], []],
            result_types=[result],
            properties={
                "static_offsets": _statics([offset]),
                "static_sizes": _statics([1]),
                "static_strides": _statics([1]),
            },
        )
        return kernel.emit(operation).results[0]

    return kernel.shared((ReinterpretCastOp, memory), (memory, *_values([offset])), emit)


def whole(trip: Trip, tile: Tile, axes: Sequence[int]) -> Tile:
    """A tile of some axes at all points."""
    return tiles.broadcast(trip.kernel, tile, trip.shape, axes)
