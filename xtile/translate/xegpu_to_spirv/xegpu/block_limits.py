"""Whether a block can be accessed by an instruction on two-dimensional blocks.

What is known at run time only is taken to be legal.
"""

from __future__ import annotations

from xtile.dialects.xegpu.attributes import MemorySpace
from xtile.targets import blocks
from xtile.targets.blocks import Action, Bytes, Region
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.xegpu.block_descriptors import BlockAccess


def load_action(access: BlockAccess) -> Action | None:
    """The action of a load; None if no instruction does it."""
    if access.is_packed and access.is_transposed:
        return None
    if access.is_transposed:
        return Action.LOAD_TRANSPOSED
    return Action.LOAD_TRANSFORMED if access.is_packed else Action.LOAD


def misfit(lowering: Lowering, access: BlockAccess, action: Action | None) -> str | None:
    """Why there is no instruction for an access; None if there is one."""
    target, type_ = lowering.target, access.type
    if target.spelling.blocks is None:
        return f"the spelling '{target.spelling.name}' has no accesses of blocks"
    limits = blocks.access_for(
        target, access.lanes, is_global=type_.memory_space is MemorySpace.GLOBAL
    )
    if isinstance(limits, str):
        return limits
    if type_.rank != 2:
        return "it needs a block with two dimensions"
    if action is None:
        return "there is no load that transposes and packs"
    (rows, columns), size = access.shape, access.bits // 8
    width, (pitch, inner) = access.descriptor.sizes[1], access.descriptor.strides
    if isinstance(inner, int) and inner != 1:
        return "the elements of a row are not next to each other"
    region = Region(
        pitch=Bytes.of(pitch * size) if isinstance(pitch, int) else None,
        width=Bytes.of(width * size) if isinstance(width, int) else None,
    )
    problem = blocks.shape_obstacle(limits, action, size, rows, columns, type_.array_length)
    return next(filter(None, (problem, *blocks.region_obstacles(limits, region))), None)
