"""Accesses of memory: elements, and several of them that follow each other.

Source: SPIR-V Specification, 3.52.8 "Memory Instructions" and 3.26 "Memory Operands".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import gcd
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, IntegerType, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.core.arguments import ALIGNMENT_ATTRIBUTE
from xtile.dialects.spirv import PointerType
from xtile.dialects.spirv.types import pointer_type
from xtile.rewrite.descriptors import Descriptor, Group
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.types import (
    bit_width,
    length_of,
    memory_type,
    natural_alignment,
    of_length,
    register_type,
    size_in_bytes,
    storage_class_at,
)


@dataclass(frozen=True)
class Location:
    """The number of an element, counted from the start of the memory: the sum of two parts.

    Attributes:
        varying: What is not known.
        constant: What is known; processors add it to addresses for nothing.
    """

    varying: Index
    constant: int

    def after(self, count: int) -> Location:
        """The element so many behind this one."""
        return Location(self.varying, self.constant + count)


def location(lowering: Lowering, memory: Descriptor, indices: Iterable[Index]) -> Location:
    """Where an element of a memref is."""
    return Location(*lowering.linear(memory.offset, indices, memory.strides))


def pointer_to(lowering: Lowering, memory: Descriptor, location: Location) -> SSAValue:
    """Points to an element."""
    pointer = memory.pointer
    for number in (location.varying, location.constant):
        if number != 0:
            type_ = pointer.type
            index = lowering.as_value(number)
            pointer = lowering.shared_compute("InBoundsPtrAccessChain", type_, pointer, index)
    return pointer


def alignment_at(memory: Descriptor, location: Location) -> int:
    """Bytes that the address of an element is sure to be a multiple of."""
    size = size_in_bytes(memory.element)
    known = gcd(memory.alignment, location.constant * size)
    if isinstance(location.varying, int):
        return known
    return gcd(known, natural_alignment(memory.element))


def bitcast_pointer(lowering: Lowering, pointer: SSAValue, pointee: Attribute) -> SSAValue:
    """The same address, as a pointer to something else."""
    old = cast(PointerType, pointer.type)
    if old.pointee == pointee:
        return pointer
    owner = pointer.owner
    if isinstance(owner, Operation) and owner.name == "spirv.Bitcast":
        source = owner.operands[0]
        if cast(PointerType, source.type).pointee == pointee:
            return source
    type_ = pointer_type(pointee, old.storage_class.data)
    return lowering.shared_compute("Bitcast", type_, pointer)


def _access(type_: Attribute, alignment: int) -> tuple[str | int, ...]:
    """The memory operands: an alignment, unless it is what the type has anyway."""
    natural = bit_width(type_) // 8
    return () if alignment >= natural else ("Aligned", alignment)


def load(lowering: Lowering, pointer: SSAValue, alignment: int) -> SSAValue:
    """What a pointer points to, a number or a vector in the type of memory."""
    type_ = cast(PointerType, pointer.type).pointee
    operands = _access(type_, alignment)
    if operands:
        return lowering.compute("Load", type_, pointer, operands)
    return lowering.compute("Load", type_, pointer)


def store(
    lowering: Lowering,
    pointer: SSAValue,
    value: SSAValue,
    alignment: int,
    is_nontemporal: bool = False,
) -> None:
    """Stores a number or a vector that is in the type of memory, past the caches if asked for."""
    operands = _access(value.type, alignment)
    if is_nontemporal:
        operands = ("Aligned|Nontemporal", alignment)
    if operands:
        lowering.do("Store", pointer, value, operands)
    else:
        lowering.do("Store", pointer, value)


def from_memory(lowering: Lowering, value: SSAValue, type_: Attribute) -> SSAValue:
    """A number or a vector in the type of registers; `type_` is that of the number."""
    if type_ != i1:
        return value
    zero = lowering.integer(0, value.type)
    return lowering.compute("INotEqual", of_length(i1, length_of(value.type)), value, zero)


def to_memory(lowering: Lowering, value: SSAValue, type_: Attribute) -> SSAValue:
    """A number or a vector in the type of memory; `type_` is that of the number."""
    if type_ != i1:
        return value
    stored = of_length(memory_type(type_), length_of(value.type))
    return lowering.select(value, lowering.integer(1, stored), lowering.integer(0, stored))


def load_piece(
    lowering: Lowering, memory: Descriptor, first: Location, length: int, alignment: int = 1
) -> SSAValue:
    """Elements that follow each other, as a number or a vector.

    Args:
        lowering: Where to emit.
        memory: The memref.
        first: The number of the first element.
        length: How many.
        alignment: Bytes that the address is promised to be a multiple of.
    """
    pointer = _piece_pointer(lowering, memory, first, length)
    value = load(lowering, pointer, max(alignment, alignment_at(memory, first)))
    return from_memory(lowering, value, memory.element)


def store_piece(
    lowering: Lowering,
    memory: Descriptor,
    first: Location,
    value: SSAValue,
    alignment: int = 1,
    is_nontemporal: bool = False,
) -> None:
    """Stores a number, or a vector to elements that follow each other."""
    length = 1 if _is_element(memory, value) else length_of(value.type)
    pointer = _piece_pointer(lowering, memory, first, length)
    stored = to_memory(lowering, value, memory.element)
    known = max(alignment, alignment_at(memory, first))
    store(lowering, pointer, stored, known, is_nontemporal)


def _is_element(memory: Descriptor, value: SSAValue) -> bool:
    """Whether a value is one element: a complex number is a vector, too."""
    return memory_type(memory.element) == value.type


def _piece_pointer(
    lowering: Lowering, memory: Descriptor, first: Location, length: int
) -> SSAValue:
    pointer = pointer_to(lowering, memory, first)
    if length == 1:
        return pointer
    return bitcast_pointer(lowering, pointer, of_length(memory_type(memory.element), length))


def promised_alignment(operation: Operation) -> int:
    """Bytes that the address of an access is promised to be a multiple of; 1 without a promise."""
    attribute = operation.properties.get("alignment", operation.attributes.get(ALIGNMENT_ATTRIBUTE))
    if isinstance(attribute, IntegerAttr):
        return cast("IntegerAttr[IntegerType]", attribute).value.data
    return 1


def is_nontemporal(operation: Operation) -> bool:
    """Whether what an access moves is not expected to be needed again soon."""
    attribute = operation.properties.get("nontemporal")
    return isinstance(attribute, IntegerAttr) and bool(attribute.value.data)


def _load(operation: Operation, lowering: Lowering) -> None:
    source, *indices = operation.operands
    (result,) = operation.results
    numbers = lowering.numbers(indices)
    memory = lowering.meaning(source)
    if isinstance(memory, Group):
        lowering.define(result, load_memref(lowering, memory, numbers[0]))
        return
    memory = lowering.descriptor(source)
    first = location(lowering, memory, numbers)
    lowering.define(result, load_piece(lowering, memory, first, 1, promised_alignment(operation)))


def _store(operation: Operation, lowering: Lowering) -> None:
    value, target, *indices = operation.operands
    memory = lowering.descriptor(target)
    first = location(lowering, memory, lowering.numbers(indices))
    stored = lowering.value(value)
    promised, hint = promised_alignment(operation), is_nontemporal(operation)
    store_piece(lowering, memory, first, stored, promised, hint)


def load_memref(lowering: Lowering, group: Group, index: Index) -> Descriptor:
    """A memref of a group: its pointer, its sizes and its strides are loaded."""

    def number_at(pointers: Index) -> Index:
        if isinstance(pointers, int):
            return pointers
        return _load_at(lowering, pointers, index)

    from xtile.rewrite.memref_layouts import layout_of

    offset = layout_of(group.type).offset
    assert offset is not None, "the calling convention has groups with one offset only"
    return Descriptor(
        _load_at(lowering, group.addresses, index),
        group.type.element_type,
        offset,
        tuple(number_at(size) for size in group.sizes),
        tuple(number_at(stride) for stride in group.strides),
        group.alignment,
    )


def _load_at(lowering: Lowering, pointer: SSAValue, index: Index) -> SSAValue:
    type_ = cast(PointerType, pointer.type)
    element = pointer
    if index != 0:
        value = lowering.as_value(index)
        element = lowering.shared_compute("InBoundsPtrAccessChain", type_, pointer, value)
    return lowering.compute("Load", type_.pointee, element)


def _prefetch(operation: Operation, lowering: Lowering) -> None:
    """Asks for the cache line of an element; nothing but the time depends on it."""
    source, *indices = operation.operands
    memory = lowering.descriptor(source)
    if storage_class_at(memory.pointer) == "CrossWorkgroup":
        pointer = pointer_to(
            lowering, memory, location(lowering, memory, lowering.numbers(indices))
        )
        lowering.do("CL.prefetch", pointer, lowering.integer(1, i64))


# --- complex numbers: an access is of both parts ---


def _create(operation: Operation, lowering: Lowering) -> None:
    (result,) = operation.results
    parts, type_ = lowering.values(operation.operands), register_type(result.type)
    lowering.define(result, lowering.compute("CompositeConstruct", type_, *parts))


def _part(number: int) -> Rule:
    def rule(operation: Operation, lowering: Lowering) -> None:
        (value,), (result,) = lowering.values(operation.operands), operation.results
        part = lowering.compute("CompositeExtract", register_type(result.type), value, number)
        lowering.define(result, part)

    return rule


RULES: dict[str, Rule] = {
    "complex.create": _create,
    "complex.im": _part(1),
    "complex.re": _part(0),
    "memref.load": _load,
    "memref.prefetch": _prefetch,
    "memref.store": _store,
}
"""The rule of each operation, by name."""
