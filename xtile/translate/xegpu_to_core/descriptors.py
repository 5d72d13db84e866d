"""Descriptors: memory and offsets, which are values of their own."""

from __future__ import annotations

from math import prod
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    IntegerType,
    MemRefType,
    Signedness,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.core.views import UNKNOWN_EXTENT
from xtile.dialects.xegpu.operation import tensor_desc
from xtile.dialects.xegpu.ops.descriptors import (
    CreateDescOp,
    CreateNdDescOp,
    UpdateNdOffsetOp,
    UpdateOffsetOp,
)
from xtile.rewrite.indices import Index
from xtile.rewrite.memref_layouts import layout_of
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.regions import offset_of, reinterpreted, view_at
from xtile.translate.xegpu_to_core.raising import Block, Points, Raising

_CASTS = frozenset({"arith.index_cast", "arith.index_castui"})


def _create_nd_tdesc(operation: CreateNdDescOp, raising: Raising) -> None:
    element = tensor_desc(operation.TensorDesc).element_type
    has_shape = operation.const_shape is not None or bool(operation.shape)
    if isa(operation.source.type, MemRefType) and not has_shape:
        memory = raising.value(operation.source)
        rank = cast("MemRefType[Attribute]", memory.type).get_num_dims()
    else:
        sizes = raising.numbers(cast("list[SSAValue | int]", operation.mixed_sizes))
        strides = raising.numbers(cast("list[SSAValue | int]", operation.mixed_strides))
        memory, rank = _region(raising, operation.source, element, sizes, strides), len(sizes)
    offsets = raising.numbers(operation.mixed_offsets) or (0,) * rank
    raising.define(operation.TensorDesc, Block(memory, offsets))


def _update_nd_offset(operation: UpdateNdOffsetOp, raising: Raising) -> None:
    block = moved(raising, raising.meaning(operation.TensorDesc), operation.mixed_offsets)
    raising.define(operation.result, block)


def moved(raising: Raising, block: Block, offsets: list[SSAValue | int]) -> Block:
    """A block further by offsets in the last dimensions; an access may give none."""
    first = block.rank - len(offsets)
    pairs = zip(block.offsets[first:], raising.numbers(offsets), strict=True)
    return Block(block.memory, (*block.offsets[:first], *(raising.add(a, b) for a, b in pairs)))


def _create_tdesc(operation: CreateDescOp, raising: Raising) -> None:
    element = tensor_desc(operation.TensorDesc).element_type
    memory = line_of(raising, operation.source, element)
    raising.define(operation.TensorDesc, Points(memory, raising.value(operation.offsets)))


def _update_offset(operation: UpdateOffsetOp, raising: Raising) -> None:
    points: Points = raising.meaning(operation.TensorDesc)
    offsets = raising.emit(arith.AddiOp(points.offsets, raising.value(operation.offsets))).result
    raising.define(operation.result, Points(points.memory, offsets))


# --- memory ---


def line_of(raising: Raising, source: SSAValue, element: Attribute) -> SSAValue:
    """The memory that scattered points are counted in, whose neighbours follow each other."""
    if not isa(source.type, MemRefType):
        return _region(raising, source, element, (UNKNOWN_EXTENT,), (1,))
    memory, layout = raising.value(source), layout_of(source.type)
    if layout.strides == (1,):
        return memory
    return reinterpreted(raising, memory, offset_of(raising, memory, layout), (1,), (1,))


def _region(
    raising: Raising,
    source: SSAValue,
    element: Attribute,
    sizes: tuple[Index, ...],
    strides: tuple[Index, ...],
) -> SSAValue:
    """Memory of a shape and strides that begins where a memref does, or at an address."""
    if isa(source.type, MemRefType):
        memory = raising.value(source)
        offset = offset_of(raising, memory, layout_of(source.type))
        return reinterpreted(raising, memory, offset, sizes, strides)
    memref = _memref_at(source, element)
    if memref is not None and UNKNOWN_EXTENT not in sizes:
        return reinterpreted(raising, raising.value(memref), 0, sizes, strides)
    return view_at(raising, _address(raising, source), element, sizes, strides)


def _memref_at(address: SSAValue, element: Attribute) -> SSAValue | None:
    """The memref of the same elements that an address was taken of, if the text tells."""
    owner = address.owner
    while isinstance(owner, Operation) and owner.name in _CASTS:
        owner = owner.operands[0].owner
    if not isinstance(owner, Operation):
        return None
    if owner.name != "memref.extract_aligned_pointer_as_index":
        return None
    type_ = owner.operands[0].type
    is_same = isa(type_, MemRefType) and type_.element_type == element
    return owner.operands[0] if is_same else None


def _address(raising: Raising, source: SSAValue) -> SSAValue:
    """An address as an i64.

    Raises:
        DiagnosticError: It has a type that no arithmetic of the core form has.
    """
    type_ = cast("IntegerType", source.type)
    if type_.signedness.data is not Signedness.SIGNLESS:
        width = type_.width.data
        raise raising.error(f"an address of type {type_} has no arithmetic; use one of i{width}")
    value = raising.value(source)
    return value if type_ == i64 else raising.pure(_extended, value)


def _extended(value: SSAValue) -> Operation:
    return arith.ExtUIOp(value, i64)


def flat(raising: Raising, block: Block) -> Block:
    """A block of one dimension in memory whose elements all follow each other."""
    layout = layout_of(cast("MemRefType[Attribute]", block.memory.type))
    sizes, strides = layout.sizes, layout.strides
    if None in sizes or None in strides or layout.offset is None:
        return block
    place = raising.sum_of_products(block.offsets, [stride or 0 for stride in strides])
    length = prod(size or 0 for size in sizes)
    return Block(reinterpreted(raising, block.memory, layout.offset, (length,), (1,)), (place,))


RULES: dict[str, Rule] = {
    CreateDescOp.name: _create_tdesc,
    CreateNdDescOp.name: _create_nd_tdesc,
    UpdateNdOffsetOp.name: _update_nd_offset,
    UpdateOffsetOp.name: _update_offset,
}
