"""Reads and writes of memory: tiles, single elements, pointers, and the memrefs of groups.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td`; CUDA Tile IR specification, "Views",
"Memory", "Pointer Type", "int_to_ptr", "ptr_to_int".
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, cast

from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.cuda_tile.enumerations import PaddingValue
from xtile.dialects.cuda_tile.ops import conversions, memory, view_access
from xtile.dialects.cuda_tile.types import PointerType, TileType
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.ub import is_poison
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.rewrite.rebuilder import Rule
from xtile.targets.nvidia import LONGEST_ROW
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.tile_views import TileInView, tile_in_view
from xtile.translate.core_to_cuda_tile.types import element_type, tile_of, tile_type
from xtile.translate.tiles import pointer_tiles
from xtile.translate.tiles.accesses import (
    Access,
    access_of,
    mask_of,
    memref_of,
    parts_of,
    pointer_to,
    repeated,
    whole,
)
from xtile.translate.tiles.descriptors import Complex, Group
from xtile.translate.tiles.types import ADDRESS, is_of_pointers, shape_of
from xtile.translate.tiles.unspecified import leaves_out

_MOST_PARTS = 16
"""Parts of a row that a view's tile may have; 32 take twice as long as pointers (H100, softmax)."""

# --- pointers, which are integers in memory ---


def from_memory(lowering: Lowering, loaded: SSAValue, type_: Attribute) -> SSAValue:
    """What was loaded as a value of a type of the source: pointers are integers in memory."""
    if not is_of_pointers(type_):
        return loaded
    pointers = tile_type(loaded).with_element_type(tile_of(type_).element_type)
    return lowering.compute(conversions.IntToPtrOp, loaded, pointers)


def tile_in_memory(type_: Attribute) -> TileType:
    """The type of what is loaded for a value of a type of the source."""
    tile = tile_of(type_)
    return tile.with_element_type(ADDRESS) if is_of_pointers(type_) else tile


def to_memory(lowering: Lowering, value: SSAValue) -> SSAValue:
    """What is stored for a value."""
    if not isinstance(element_type(value), PointerType):
        return value
    integers = tile_type(value).with_element_type(ADDRESS)
    return lowering.compute(conversions.PtrToIntOp, value, integers)


# --- reads ---


def _read(operation: TransferReadOp, lowering: Lowering) -> None:
    access = access_of(operation, operation.result, lowering)
    mask = mask_of(operation, lowering)
    order, alias_set = lowering.order, access.memory.alias_set
    token = order.before_read(alias_set)
    tile = None
    if mask is None and not _is_in_parts(operation, access):
        tile = _read_view(operation, access, token, lowering)
    if tile is None:
        tile = _read_pointers(operation, access, mask, token, lowering)
    loaded, done = tile.results
    order.after_read(operation, alias_set, done)
    value = repeated(operation, loaded, lowering)
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


# --- writes ---


def _write(operation: TransferWriteOp, lowering: Lowering) -> None:
    access = access_of(operation, operation.vector, lowering)
    mask, value = mask_of(operation, lowering), lowering.value(operation.vector)
    store(lowering, access, mask, value, is_in_parts=_is_in_parts(operation, access))


def _is_in_parts(operation: Operation, access: Access) -> bool:
    """Whether the elements of a view's tile would be fetched in many parts, one after the other.

    Pointers fetch all at once. In loops parts of the next tiles are fetched ahead.
    """
    rows = (
        size
        for dimension, size in zip(access.axes, access.shape, strict=True)
        if access.memory.strides[dimension] == 1
    )
    if max(rows, default=0) <= _MOST_PARTS * LONGEST_ROW:
        return False
    around = operation.parent_op()
    while around is not None and around.name == "scf.if":
        around = around.parent_op()
    return isinstance(around, FuncOp)


def store(
    lowering: Lowering,
    access: Access,
    mask: SSAValue | None,
    value: SSAValue,
    *,
    is_in_parts: bool = False,
) -> None:
    """Writes the elements of a tile that memory has, where the mask holds.

    Args:
        lowering: Where to emit.
        access: The tile.
        mask: Which elements are written; None for all.
        value: The elements.
        is_in_parts: Whether a view would be written a part at a time.
    """
    value = to_memory(lowering, value)
    order, alias_set = lowering.order, access.memory.alias_set
    token = order.before_write(alias_set)
    tile: TileInView | None = None
    if mask is None and not is_in_parts:
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


def _load(operation: Operation, lowering: Lowering) -> None:
    source, *indices = operation.operands
    (result,) = operation.results
    access = whole(lowering.descriptor(source), lowering.numbers(indices), shape_of(result.type))
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
    access = whole(lowering.descriptor(target), starts, shape)
    store(lowering, access, None, lowering.value(value))


def _load_element(operation: Operation, lowering: Lowering) -> None:
    source, *indices = operation.operands
    (result,) = operation.results
    numbers = lowering.numbers(indices)
    meaning = lowering.meaning(source)
    if isinstance(meaning, Group):
        memref = memref_of(lowering, meaning, numbers[0])
        lowering.define(result, replace(memref, alias_set=lowering.alias_set_of(result)))
        return
    described = lowering.descriptor(source)
    token = lowering.order.before_read(described.alias_set)
    values: list[SSAValue] = []
    for part in parts_of(described):
        pointer = pointer_to(lowering, described, numbers, part)
        value, done = lowering.emit(memory.LoadPtrTkoOp(pointer, None, None, token)).results
        lowering.order.after_read(operation, described.alias_set, done)
        values.append(from_memory(lowering, value, result.type))
    lowering.define(result, Complex(*values) if len(values) > 1 else values[0])


def _store_element(operation: Operation, lowering: Lowering) -> None:
    value, target, *indices = operation.operands
    described, numbers = lowering.descriptor(target), lowering.numbers(indices)
    meaning = lowering.meaning(value)
    parts = (meaning.real, meaning.imaginary) if isinstance(meaning, Complex) else (meaning,)
    for part, number in enumerate(parts):
        token = lowering.order.before_write(described.alias_set)
        pointer = pointer_to(lowering, described, numbers, part)
        given = to_memory(lowering, number)
        stored = lowering.emit(memory.StorePtrTkoOp(pointer, given, None, token))
        lowering.order.after_write(described.alias_set, stored.results[0])


def _cast(operation: Operation, lowering: Lowering) -> None:
    (source,), (result,) = lowering.values(operation.operands), operation.results
    type_ = tile_of(result.type)
    if source.type != type_:
        source = lowering.compute(_CASTS[operation.name], source, type_)
    lowering.define(result, source)


_CASTS = {
    "core.integer_to_pointer": conversions.IntToPtrOp,
    "core.pointer_cast": conversions.PtrToPtrOp,
    "core.pointer_to_integer": conversions.PtrToIntOp,
}


RULES: dict[str, Rule] = {
    **dict.fromkeys(_CASTS, _cast),
    "memref.load": _load_element,
    "memref.store": _store_element,
    "vector.load": _load,
    "vector.store": _store,
    "vector.transfer_read": _read,
    "vector.transfer_write": _write,
}
"""The rule of each operation, by name."""
