"""Pointers: tiles of pointers without dimensions or with some, and memrefs that are made of them.

Source: CUDA Tile IR specification, "Pointer Type", "offset", "int_to_ptr", "ptr_to_int".
"""

from __future__ import annotations

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.core.pointers import PointerAddOp, pointer_of
from xtile.dialects.cuda_tile.ops import conversions, core, integer
from xtile.dialects.cuda_tile.types import PointerType, TileType
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.types import element_type, tile_of, tile_type
from xtile.translate.tiles.types import ADDRESS, is_of_pointers, parts_per_element


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


def _pointer_add(operation: PointerAddOp, lowering: Lowering) -> None:
    pointers, offsets = lowering.values((operation.pointers, operation.offsets))
    if element_type(offsets) not in (i32, i64):
        offsets = lowering.resize(offsets, i64)
    pointer = pointer_of(operation.pointers.type)
    assert pointer is not None
    parts = parts_per_element(pointer.pointee_type)
    if parts > 1:
        wide = lowering.resize(offsets, i64)
        offsets = lowering.compute(integer.MulIOp, wide, lowering.like(parts, wide))
    lowering.define(operation.result, lowering.compute(core.OffsetOp, pointers, offsets))


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
    "core.pointer_add": _pointer_add,
}
"""The rule of each operation, by name."""
