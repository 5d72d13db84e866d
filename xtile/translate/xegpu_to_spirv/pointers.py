"""Pointers, which are their addresses as i64, and memrefs that are made of them.

Source: SPIR-V Specification, 3.49.11 "Conversion Instructions" (`OpConvertUToPtr`).
"""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, i64
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.core.pointers import PointerAddOp, pointer_of
from xtile.dialects.core.views import ViewOp
from xtile.dialects.spirv import PointerType
from xtile.dialects.spirv.types import pointer_type
from xtile.rewrite.descriptors import Descriptor
from xtile.rewrite.memref_layouts import number_lists
from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_spirv.conversions import resize
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.memory import bitcast_pointer
from xtile.translate.xegpu_to_spirv.types import (
    bit_width,
    memory_type,
    memref_type,
    natural_alignment,
    storage_class_of,
)


def _pointer_add(operation: PointerAddOp, lowering: Lowering) -> None:
    pointer = pointer_of(operation.pointers.type)
    assert pointer is not None
    address, offset = lowering.number(operation.pointers), lowering.number(operation.offsets)
    if not isinstance(operation.offsets.type, IndexType):
        offset = resize(lowering, lowering.value(operation.offsets), i64)
    size = bit_width(memory_type(pointer.pointee_type)) // 8
    moved = lowering.add(address, lowering.multiply(offset, size))
    lowering.define(operation.result, lowering.as_value(moved))


def _same_address(operation: Operation, lowering: Lowering) -> None:
    lowering.define(operation.results[0], lowering.meaning(operation.operands[0]))


def _view(operation: ViewOp, lowering: Lowering) -> None:
    """The memory at an address; of what an extent is not known is never asked."""
    type_ = memref_type(operation.result.type)
    element = type_.element_type
    numbers = lowering.numbers(operation.operands[1:])
    (offset,), sizes, strides = number_lists(operation, numbers, "offsets", "sizes", "strides")
    address = lowering.value(operation.pointer)
    location = pointer_type(memory_type(element), storage_class_of(type_.memory_space))
    alignment = natural_alignment(element)
    pointer = _pointer_at(lowering, address, location)
    lowering.define(
        operation.result,
        Descriptor(pointer, element, offset, tuple(sizes), tuple(strides), alignment),
    )


def _pointer_at(lowering: Lowering, address: SSAValue, type_: PointerType) -> SSAValue:
    """The pointer with an address; that of an argument is the argument itself."""
    owner = address.owner
    if isinstance(owner, Operation) and owner.name == "spirv.ConvertPtrToU":
        source = owner.operands[0]
        if _storage_class(source.type) == type_.storage_class:
            return bitcast_pointer(lowering, source, type_.pointee)
    return lowering.shared_compute("ConvertUToPtr", type_, address)


def _storage_class(type_: Attribute) -> Attribute | None:
    return type_.storage_class if isinstance(type_, PointerType) else None


RULES: dict[str, Rule] = {
    "core.integer_to_pointer": _same_address,
    "core.pointer_add": _pointer_add,
    "core.pointer_cast": _same_address,
    "core.pointer_to_integer": _same_address,
    "core.view": _view,
}
"""The rule of each operation, by name."""
