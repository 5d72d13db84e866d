"""Buffers in local memory: what a kernel has of it, and what it takes."""

from __future__ import annotations

import math
from typing import cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    ComplexType,
    FixedBitwidthType,
    IndexType,
    MemRefType,
)
from xdsl.dialects.memref import AllocaOp
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.gpu.attributes import AddressSpaceAttr
from xtile.dialects.gpu.enumerations import AddressSpace
from xtile.dialects.gpu.functions import FuncOp
from xtile.rewrite.memref_layouts import layout_of
from xtile.transforms.distribute.kernel import Kernel

_INDEX_BYTES = 8
_BITS_OF_BYTE = 8


def local_buffer(kernel: Kernel, element: Attribute, shape: tuple[int, ...]) -> SSAValue:
    """A new buffer in local memory."""
    space = AddressSpaceAttr(AddressSpace.WORKGROUP)
    type = MemRefType(element, shape, memory_space=space)
    kernel.local_bytes += math.prod(shape) * size_in_bytes(element)
    return kernel.emit(AllocaOp(operands=[[], []], result_types=[type])).memref


def local_bytes(operation: Operation) -> int:
    """Bytes of local memory that the function around an operation has allocated itself."""
    function = operation.parent_op()
    while function is not None and not isinstance(function, FuncOp):
        function = function.parent_op()
    if function is None:
        return 0
    allocated = [
        (nested.memref.type.element_type, layout_of(nested.memref.type))
        for nested in function.walk()
        if isinstance(nested, memref.AllocaOp)
        and isinstance(nested.memref.type.memory_space, AddressSpaceAttr)
    ]
    return sum(
        layout.allocated_elements() * size_in_bytes(element)
        for element, layout in allocated
        if not layout.unknowns
    )


def free_local_memory(operation: Operation, kernel: Kernel) -> int:
    """Bytes of local memory that are left for the code of an operation."""
    return kernel.target.chip.local_memory - local_bytes(operation) - kernel.local_bytes


def size_in_bytes(type: Attribute) -> int:
    """The size of a number in memory."""
    if isinstance(type, IndexType):
        return _INDEX_BYTES
    if isinstance(type, ComplexType):
        return 2 * size_in_bytes(cast("ComplexType", type).element_type)
    return -(-cast("FixedBitwidthType", type).bitwidth // _BITS_OF_BYTE)
