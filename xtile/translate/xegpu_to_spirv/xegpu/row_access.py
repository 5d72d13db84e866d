"""Blocks of one dimension, which the lanes of a subgroup access together.

Source: SPIR-V extension SPV_INTEL_subgroups, `OpSubgroupBlockReadINTEL` and
`OpSubgroupBlockWriteINTEL`; MLIR (LLVM 22), `Conversion/XeGPUToXeVM`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue

from xtile.targets.blocks import Action, row_obstacle
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.memory import bitcast_pointer
from xtile.translate.xegpu_to_spirv.types import of_length, register_type
from xtile.translate.xegpu_to_spirv.words import as_bits_of
from xtile.translate.xegpu_to_spirv.xegpu.block_descriptors import BlockAccess
from xtile.translate.xegpu_to_spirv.xegpu.block_surfaces import row_pointer


def has_instruction(lowering: Lowering, access: BlockAccess, action: Action) -> bool:
    """Whether one instruction does an access."""
    if access.type.rank != 1 or access.type.array_length != 1:
        return False
    (step,) = access.descriptor.strides
    known = step if isinstance(step, int) else None
    return row_obstacle(lowering.target, action, access.lanes, access.shape[1], known) is None


def load(lowering: Lowering, access: BlockAccess) -> SSAValue:
    """A lane's elements."""
    word = IntegerType(access.bits)
    type_ = of_length(word, access.entries)
    pointer = bitcast_pointer(lowering, row_pointer(lowering, access), word)
    loaded = lowering.compute("SubgroupBlockReadINTEL", type_, pointer)
    element = register_type(access.type.element_type)
    return as_bits_of(lowering, loaded, of_length(element, access.entries))


def store(lowering: Lowering, access: BlockAccess, value: SSAValue) -> None:
    """Stores a lane's elements."""
    word = IntegerType(access.bits)
    pointer = bitcast_pointer(lowering, row_pointer(lowering, access), word)
    stored = as_bits_of(lowering, value, of_length(word, access.entries))
    lowering.do("SubgroupBlockWriteINTEL", pointer, stored)
