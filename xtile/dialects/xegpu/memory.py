"""Which memory a memref is in, as the dialect's operations see it.

Source: MLIR (LLVM 22), `XeGPUOps.td` (`getSourceMemorySpace`) and `XeGPUOps.cpp`
(`isSharedMemory`).
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, MemRefType
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xtile.dialects.compilation import XeVMAddrSpace, XeVMAddrSpaceAttr
from xtile.dialects.gpu.attributes import AddressSpaceAttr
from xtile.dialects.gpu.enumerations import AddressSpace
from xtile.dialects.xegpu.attributes import MEMORY_SPACE_NUMBERS, MemorySpace, MemorySpaceAttr


def memory_space_number(source: Attribute) -> int:
    """The number of the memory that a descriptor's source is in.

    A memref gives it as an integer or as this dialect's memory space. Anything else is global
    memory, and so is an address.
    """
    if not isa(source, MemRefType):
        return MEMORY_SPACE_NUMBERS[MemorySpace.GLOBAL]
    space = source.memory_space
    if isinstance(space, IntegerAttr):
        return space.value.data
    if isinstance(space, MemorySpaceAttr):
        return MEMORY_SPACE_NUMBERS[space.data]
    return MEMORY_SPACE_NUMBERS[MemorySpace.GLOBAL]


def is_static_shared(type: Attribute) -> bool:
    """Whether it is a memref of static shape in shared local memory."""
    return isa(type, MemRefType) and type.has_static_shape() and _is_shared(type)


def _is_shared(memref: MemRefType) -> bool:
    space = memref.memory_space
    if isinstance(space, IntegerAttr):
        return space.value.data == MEMORY_SPACE_NUMBERS[MemorySpace.SLM]
    if isinstance(space, MemorySpaceAttr):
        return space.data is MemorySpace.SLM
    if isinstance(space, AddressSpaceAttr):
        return space.data is AddressSpace.WORKGROUP
    return space == XeVMAddrSpaceAttr(XeVMAddrSpace.SHARED)
