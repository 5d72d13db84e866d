"""What the instructions on two-dimensional blocks are given, whatever they are called.

Source: OpenCL extension cl_intel_subgroup_2d_block_io, sections "New OpenCL C Functions" and
"Restrictions"; the numbers stand in `xtile/targets/intel.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

from xdsl.dialects.builtin import i8, i32, i64
from xdsl.ir import Operation, SSAValue

from xtile.rewrite.indices import Index
from xtile.translate.xegpu_to_spirv.gpu import SUBGROUP_SCOPE
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.memory import Location, bitcast_pointer, pointer_to
from xtile.translate.xegpu_to_spirv.xegpu.block_descriptors import BlockAccess, BlockDescriptor


@dataclass(frozen=True)
class Surface:
    """A region in memory and a location in it; all lanes have the same.

    Attributes:
        base: Points to the region's first byte.
        width: Bytes in a row, as an i32.
        height: The number of rows, as an i32.
        pitch: Bytes from one row to the next, as an i32.
        column: The first column of the block, in elements, as an i32.
        row: The first row of the block, as an i32.
    """

    base: SSAValue
    width: SSAValue
    height: SSAValue
    pitch: SSAValue
    column: SSAValue
    row: SSAValue

    @property
    def values(self) -> tuple[SSAValue, ...]:
        """All of it in this order."""
        return self.base, self.width, self.height, self.pitch, self.column, self.row


def surface_of(lowering: Lowering, access: BlockAccess, less: int = 0) -> Surface:
    """What an access is given.

    Args:
        lowering: Where to emit.
        access: The access.
        less: What is subtracted from the width, the height and the pitch.
    """
    descriptor = access.descriptor
    size = access.bits // 8
    height, width = descriptor.sizes
    pitch, _ = descriptor.strides
    row, column = descriptor.offsets

    def extent(number: Index, unit: int) -> SSAValue:
        return _word(lowering, lowering.add(lowering.multiply(number, unit), -less))

    def region() -> tuple[SSAValue, SSAValue, SSAValue, SSAValue]:
        base = bitcast_pointer(lowering, _uniform_pointer(lowering, descriptor, 0), i8)
        return base, extent(width, size), extent(height, 1), extent(pitch, size)

    # Most accesses of a region differ in where they begin only.
    told = descriptor.pointer, descriptor.start, height, width, pitch
    values = [each for each in told if not isinstance(each, int)]
    known = lowering.shared(("region", *told, size, less), values, region)
    return Surface(*known, _word(lowering, column), _word(lowering, row))


def row_pointer(lowering: Lowering, access: BlockAccess) -> SSAValue:
    """Points to the first element of a block of one dimension; all lanes have the same."""
    (offset,), (stride,) = access.descriptor.offsets, access.descriptor.strides
    return _uniform_pointer(lowering, access.descriptor, lowering.multiply(offset, stride))


def _word(lowering: Lowering, number: Index) -> SSAValue:
    """An i32 that is the same for all lanes in a way that drivers see."""
    if isinstance(number, int):
        return lowering.integer(number, i32)
    return uniform(lowering, lowering.shared_compute("UConvert", i32, number))


def uniform(lowering: Lowering, value: SSAValue) -> SSAValue:
    """The first lane's number. Drivers leave out instructions whose operands may differ."""
    scope, first = lowering.integer(SUBGROUP_SCOPE, i32), lowering.integer(0, i32)
    type_ = value.type
    return lowering.shared(
        ("uniform", value),
        (value,),
        lambda: lowering.compute("GroupBroadcast", type_, scope, value, first),
    )


def _uniform_pointer(lowering: Lowering, descriptor: BlockDescriptor, further: Index) -> SSAValue:
    """Points to an element so far behind the region's first one."""
    memory = replace(descriptor.memory, pointer=_uniform_base(lowering, descriptor.pointer))
    varying, known = lowering.linear(0, (descriptor.start, further), (1, 1))
    if not isinstance(varying, int):
        varying = uniform(lowering, varying)
    return pointer_to(lowering, memory, Location(varying, known))


def _uniform_base(lowering: Lowering, pointer: SSAValue) -> SSAValue:
    """A pointer to memory, which drivers know to be the same for all lanes."""
    owner = pointer.owner
    name = owner.name if isinstance(owner, Operation) else ""
    if owner is lowering.body.blocks.first or name == "spirv.InBoundsAccessChain":
        # A kernel's argument, or the memory of a variable.
        return pointer
    if name == "spirv.ConvertUToPtr":
        address = cast(Operation, owner).operands[0]
    else:
        address = lowering.shared_compute("ConvertPtrToU", i64, pointer)
    return lowering.shared_compute("ConvertUToPtr", pointer.type, uniform(lowering, address))
