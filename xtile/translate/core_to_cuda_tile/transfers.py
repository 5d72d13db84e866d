"""Reads and writes of tiles of memory.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td`; CUDA Tile IR specification, "Views",
"Memory".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr

from xtile.dialects.affine_maps import dimensions_of
from xtile.dialects.core.attributes import BEGINS_INSIDE_ATTRIBUTE
from xtile.dialects.cuda_tile.enumerations import PaddingValue
from xtile.dialects.cuda_tile.ops import memory, view_access
from xtile.dialects.ub import is_poison
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile import pointer_tiles
from xtile.translate.core_to_cuda_tile.accesses import Access
from xtile.translate.core_to_cuda_tile.descriptors import Descriptor
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.pointers import from_memory, to_memory
from xtile.translate.core_to_cuda_tile.tile_views import TileInView, tile_in_view
from xtile.translate.core_to_cuda_tile.types import shape_of
from xtile.translate.core_to_cuda_tile.unspecified import leaves_out


def _access(
    operation: TransferReadOp | TransferWriteOp, value: SSAValue, lowering: Lowering
) -> Access:
    """The tile in memory that an operation accesses."""
    descriptor = lowering.descriptor(operation.source)
    shape = shape_of(value.type)
    axes: list[int] = []
    kept: list[int] = []
    for position, result in enumerate(operation.permutation_map.data.results):
        if isinstance(result, AffineDimExpr):
            axes.append(result.position)
            kept.append(position)
        elif result != AffineConstantExpr(0):
            raise lowering.error("the results of a permutation_map must be dimensions or 0")
    flags = [bool(flag.value.data) for flag in operation.in_bounds]
    starts = tuple(lowering.numbers(operation.indices))
    inside = tuple(
        flags[i] or _is_known_inside(descriptor.sizes[axis], starts[axis], shape[i])
        for i, axis in zip(kept, axes, strict=True)
    )
    own = tuple(shape[i] for i in kept)
    begins = BEGINS_INSIDE_ATTRIBUTE in operation.attributes
    return Access(descriptor, starts, own, tuple(axes), inside, begins)


def _is_known_inside(size: Any, start: Any, length: int) -> bool:
    return isinstance(size, int) and isinstance(start, int) and 0 <= start <= size - length


def _mask(operation: TransferReadOp | TransferWriteOp, lowering: Lowering) -> SSAValue | None:
    """The mask, which has memory's order, in the tile's."""
    if operation.mask is None:
        return None
    dimensions = [each for each in dimensions_of(operation.permutation_map) if each is not None]
    order = [sorted(dimensions).index(each) for each in dimensions]
    return lowering.permute(lowering.value(operation.mask), order)


# --- reads ---


def _read(operation: TransferReadOp, lowering: Lowering) -> None:
    access = _access(operation, operation.result, lowering)
    mask = _mask(operation, lowering)
    order, alias_set = lowering.order, access.memory.alias_set
    token = order.before_read(alias_set)
    tile = None
    if mask is None:
        tile = _read_view(operation, access, token, lowering)
    if tile is None:
        tile = _read_pointers(operation, access, mask, token, lowering)
    loaded, done = tile.results
    order.after_read(operation, alias_set, done)
    value = _repeated(operation, loaded, access, lowering)
    lowering.define(operation.result, from_memory(lowering, value, operation.result.type))


def _read_view(
    operation: TransferReadOp, access: Access, token: SSAValue | None, lowering: Lowering
) -> Operation | None:
    padding: PaddingValue | None = None
    if not all(access.inside) and not leaves_out(operation.padding, operation.result):
        padding = _padding(operation.padding)
        if padding is None:
            return None
    tile = tile_in_view(lowering, access, padding)
    if tile is None:
        return None
    return lowering.emit(view_access.LoadViewTkoOp(tile.view, tile.indices, token))


def _padding(value: SSAValue) -> PaddingValue | None:
    """The padding of views that a constant is; None if it is none of theirs."""
    if is_poison(value):
        return PaddingValue.ZERO
    owner = value.owner
    attribute = owner.properties.get("value") if isinstance(owner, Operation) else None
    if isinstance(attribute, IntegerAttr):
        number = cast("IntegerAttr[Any]", attribute).value.data
        return PaddingValue.ZERO if number == 0 else None
    if not isinstance(attribute, FloatAttr):
        return None
    number = cast("FloatAttr[AnyFloat]", attribute).value.data
    if number == 0:
        is_negative = math.copysign(1, number) < 0
        return PaddingValue.NEG_ZERO if is_negative else PaddingValue.ZERO
    if math.isinf(number):
        return PaddingValue.POS_INF if number > 0 else PaddingValue.NEG_INF
    return PaddingValue.NAN if math.isnan(number) else None


def _read_pointers(
    operation: TransferReadOp,
    access: Access,
    mask: SSAValue | None,
    token: SSAValue | None,
    lowering: Lowering,
) -> Operation:
    pointers = pointer_tiles.pointers(lowering, access)
    mask = lowering.both(mask, pointer_tiles.is_inside(lowering, access))
    padding: SSAValue | None = None
    if mask is not None and not leaves_out(operation.padding, operation.result):
        other = to_memory(lowering, lowering.value(operation.padding))
        padding = lowering.spread(other, access.shape)
    return lowering.emit(memory.LoadPtrTkoOp(pointers, mask, padding, token))


def _repeated(
    operation: TransferReadOp, loaded: SSAValue, access: Access, lowering: Lowering
) -> SSAValue:
    """The tile in the shape of the result, repeated along what is no dimension of memory."""
    shape = shape_of(operation.result.type)
    dimensions = dimensions_of(operation.permutation_map)
    middle = [
        1 if dimension is None else size for size, dimension in zip(shape, dimensions, strict=True)
    ]
    return lowering.broadcast(lowering.reshape(loaded, middle), shape)


# --- writes ---


def _write(operation: TransferWriteOp, lowering: Lowering) -> None:
    access = _access(operation, operation.vector, lowering)
    mask, value = _mask(operation, lowering), lowering.value(operation.vector)
    store(lowering, access, mask, value)


def store(lowering: Lowering, access: Access, mask: SSAValue | None, value: SSAValue) -> None:
    """Writes the elements of a tile that memory has, where the mask holds."""
    value = to_memory(lowering, value)
    order, alias_set = lowering.order, access.memory.alias_set
    token = order.before_write(alias_set)
    tile: TileInView | None = None
    if mask is None:
        tile = tile_in_view(lowering, access, None)
    if tile is not None:
        shaped = lowering.reshape(value, tile.shape)
        operation: Operation = view_access.StoreViewTkoOp(shaped, tile.view, tile.indices, token)
    else:
        pointers = pointer_tiles.pointers(lowering, access)
        mask = lowering.both(mask, pointer_tiles.is_inside(lowering, access))
        operation = memory.StorePtrTkoOp(pointers, value, mask, token)
    order.after_write(alias_set, lowering.emit(operation).results[0])


# --- whole vectors ---


def _whole(descriptor: Descriptor, starts: Sequence[Index], shape: tuple[int, ...]) -> Access:
    """The elements from an index on, along the last dimensions, all of which memory has."""
    first = descriptor.rank - len(shape)
    axes = tuple(range(first, descriptor.rank))
    return Access(descriptor, tuple(starts), shape, axes, (True,) * len(shape))


def _load(operation: Operation, lowering: Lowering) -> None:
    source, *indices = operation.operands
    (result,) = operation.results
    access = _whole(lowering.descriptor(source), lowering.numbers(indices), shape_of(result.type))
    order, alias_set = lowering.order, access.memory.alias_set
    token = order.before_read(alias_set)
    tile = tile_in_view(lowering, access, None)
    if tile is not None:
        loaded: Operation = view_access.LoadViewTkoOp(tile.view, tile.indices, token)
    else:
        pointers = pointer_tiles.pointers(lowering, access)
        loaded = memory.LoadPtrTkoOp(pointers, None, None, token)
    value, done = lowering.emit(loaded).results
    order.after_read(operation, alias_set, done)
    value = lowering.reshape(value, access.shape)
    lowering.define(result, from_memory(lowering, value, result.type))


def _store(operation: Operation, lowering: Lowering) -> None:
    value, target, *indices = operation.operands
    starts, shape = lowering.numbers(indices), shape_of(value.type)
    access = _whole(lowering.descriptor(target), starts, shape)
    store(lowering, access, None, lowering.value(value))


RULES: dict[str, Rule] = {
    "vector.load": _load,
    "vector.store": _store,
    "vector.transfer_read": _read,
    "vector.transfer_write": _write,
}
"""The rule of each operation, by name."""
