"""Tiles of memory: reads, writes and atomic updates that may reach beyond the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects import vector
from xdsl.dialects.builtin import (
    AffineMapAttr,
    DenseArrayBase,
    VectorType,
    i64,
)
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from xtile.dialects.core.attributes import AtomicKind
from xtile.dialects.core.subgroup import AtomicKindAttr, AtomicUpdateOp
from xtile.dialects.shared_attributes import truth_attribute
from xtile.rewrite.emitter import element_type, part_views
from xtile.rewrite.indices import Index
from xtile.transforms.tile_linalg.kernel import Kernel
from xtile.transforms.tile_linalg.tiles import Tile, part_of


def read(
    kernel: Kernel,
    memory: SSAValue,
    indices: Sequence[Index],
    shape: Sequence[int],
    is_inside: Sequence[bool],
    axes: Sequence[int] | None = None,
    mask: SSAValue | None = None,
) -> Tile:
    """Reads a tile; what is beyond the end is 0.

    Args:
        kernel: The kernel.
        memory: The memory.
        indices: For each dimension of the tile the first index.
        shape: The shape of the tile.
        is_inside: For each dimension whether the tile certainly does not reach beyond the end.
        axes: For each dimension of the tile that of memory; None: the same.
        mask: Which elements are read, in the order of memory's dimensions; None: all.
    """
    element, order = element_type(memory), list(range(len(shape)) if axes is None else axes)
    at = _in_memory(indices, order)
    if not shape:
        parts = [kernel.load(view, ()) for view in part_views(kernel, memory)]
        return Tile(tuple(parts), element, ())
    padding = kernel.constant(0, part_of(element))
    type_ = cast("Any", VectorType(part_of(element), shape))
    parts = [
        kernel.emit(
            vector.TransferReadOp(
                view,
                [kernel.as_value(index) for index in at],
                padding,
                type_,
                truth_attribute(tuple(is_inside)),
                _map(order),
                mask,
            )
        ).result
        for view in part_views(kernel, memory)
    ]
    return Tile(tuple(parts), element, tuple(shape))


def write(
    kernel: Kernel,
    tile: Tile,
    memory: SSAValue,
    indices: Sequence[Index],
    is_inside: Sequence[bool],
    axes: Sequence[int] | None = None,
    mask: SSAValue | None = None,
) -> None:
    """Writes a complete tile of the memory's element type, but not beyond the end."""
    order = list(range(len(tile.shape)) if axes is None else axes)
    at = [kernel.as_value(index) for index in _in_memory(indices, order)]
    for part, view in zip(tile.parts, part_views(kernel, memory), strict=True):
        if not tile.shape:
            kernel.store(part, view, ())
            continue
        kernel.emit(
            vector.TransferWriteOp(
                part, view, at, truth_attribute(tuple(is_inside)), mask, permutation_map=_map(order)
            )
        )


def update_atomically(
    kernel: Kernel,
    kind: AtomicKind,
    tile: Tile,
    memory: SSAValue,
    indices: Sequence[Index],
    is_inside: Sequence[bool],
) -> None:
    """Updates a block of memory with a complete tile, part by part, but not beyond the end."""
    checked = [i for i, inside in enumerate(is_inside) if not inside]
    at = [kernel.as_value(index) for index in indices]
    for part, view in zip(tile.parts, part_views(kernel, memory), strict=True):
        operation = AtomicUpdateOp.build(
            operands=[part, view, at],
            result_types=[part.type],
            properties={
                "kind": AtomicKindAttr(kind),
                "checked": DenseArrayBase.from_list(i64, checked),
            },
        )
        kernel.emit(operation)


def _in_memory(indices: Sequence[Index], order: Sequence[int]) -> list[Index]:
    """For each dimension of memory its index."""
    return [indices[order.index(dimension)] for dimension in range(len(order))]


def _map(order: Sequence[int]) -> AffineMapAttr:
    return AffineMapAttr(AffineMap(len(order), 0, tuple(map(AffineDimExpr, order))))
