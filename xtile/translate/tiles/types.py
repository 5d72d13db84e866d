"""What the types of the core form say of memory, whichever language the tiles go to."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    VectorType,
    i64,
)
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xtile.dialects.core.pointers import PointerType, pointer_of
from xtile.dialects.gpu.attributes import AddressSpaceAttr
from xtile.dialects.gpu.enumerations import AddressSpace

INDEX = i64
"""What `index` is (docs/semantics.md, 1.3)."""

ADDRESS = i64
"""What pointers are in memory."""


def shape_of(type_: Attribute) -> tuple[int, ...]:
    """The shape of a vector; a scalar has none."""
    if isinstance(type_, VectorType):
        return cast("VectorType[Attribute]", type_).get_shape()
    return ()


def memref_type(type_: Attribute) -> MemRefType[Attribute]:
    """A type that is a memref's."""
    assert isinstance(type_, MemRefType)
    return cast("MemRefType[Attribute]", type_)


def part_of(type_: Attribute) -> Attribute:
    """The type of the numbers that memory holds: parts of complex numbers, addresses."""
    if isinstance(type_, PointerType):
        return ADDRESS
    if isinstance(type_, ComplexType):
        return cast("ComplexType[AnyFloat]", type_).element_type
    return INDEX if isinstance(type_, IndexType) else type_


def parts_per_element(type_: Attribute) -> int:
    """How many numbers in memory an element is."""
    return 2 if isinstance(type_, ComplexType) else 1


def size_in_bytes(type_: Attribute) -> int:
    """The bytes that a number takes in memory: a truth value takes one."""
    size = getattr(part_of(type_), "bitwidth", 8)
    return max(1, cast(int, size) // 8)


def is_local(type_: MemRefType[Attribute]) -> bool:
    """Whether memory belongs to one work-group."""
    space = type_.memory_space
    return isinstance(space, AddressSpaceAttr) and space.data is not AddressSpace.GLOBAL


def is_of_pointers(type_: Attribute) -> bool:
    """Whether a type of the source is a pointer or a vector of pointers."""
    return pointer_of(type_) is not None


def number_attribute(number: float, type_: Attribute) -> Attribute:
    """A number of a type."""
    if isa(type_, IntegerType):
        return IntegerAttr(int(number), type_)
    return FloatAttr(float(number), cast("AnyFloat", type_))
