"""Whether a block can be accessed by an instruction on two-dimensional blocks.

Source: OpenCL extension cl_intel_subgroup_2d_block_io, section "Restrictions"; the numbers stand in
`xtile/backends/intel/devices.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import cast

from xtile.backends.intel import devices
from xtile.backends.intel.spellings import SPELLINGS
from xtile.dialects.xegpu.attributes import MemorySpace
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.xegpu.block_descriptors import BlockAccess


class Action(Enum):
    """What an access does; the value is what `devices.BlockAccess` calls its shapes."""

    LOAD = "load"
    LOAD_TRANSFORMED = "load_transformed"
    LOAD_TRANSPOSED = "load_transposed"
    STORE = "store"
    PREFETCH = "prefetch"


def load_action(access: BlockAccess) -> Action | None:
    """The action of a load; None if no instruction does it."""
    if access.is_packed and access.is_transposed:
        return None
    if access.is_transposed:
        return Action.LOAD_TRANSPOSED
    return Action.LOAD_TRANSFORMED if access.is_packed else Action.LOAD


def misfit(lowering: Lowering, access: BlockAccess, action: Action | None) -> str | None:
    """Why there is no instruction for an access; None if there is one.

    What is known at run time only is taken to be legal.
    """
    device = lowering.device
    limits = device.block_access
    if SPELLINGS[device.matrix_spelling].blocks is None:
        return f"the spelling '{device.matrix_spelling}' has no accesses of blocks"
    if limits is None:
        return f"{device.name} has no two-dimensional block accesses"
    if access.lanes != limits.subgroup_size:
        return f"it needs subgroups of {limits.subgroup_size} lanes"
    if access.type.rank != 2 or access.type.memory_space is not MemorySpace.GLOBAL:
        return "it needs a block with two dimensions in global memory"
    if action is None:
        return "there is no load that transposes and packs"
    return _misfit_of_shape(access, action, limits) or _misfit_of_region(access, limits)


def _misfit_of_shape(
    access: BlockAccess, action: Action, limits: devices.BlockAccess
) -> str | None:
    table = cast("Mapping[int, devices.BlockShapes]", getattr(limits, action.value))
    rows, columns = access.shape
    shapes = table.get(access.bits // 8)
    if (
        shapes is None
        or columns not in shapes.widths
        or rows not in shapes.heights
        or access.type.array_length not in shapes.counts
    ):
        count = access.type.array_length
        blocks = f"{count} blocks" if count > 1 else "a block"
        verb = action.value.replace("_", " ")
        return f"there is no {verb} of {blocks} of {rows}x{columns} elements of {access.bits} bits"
    return None


def _misfit_of_region(access: BlockAccess, limits: devices.BlockAccess) -> str | None:
    size = access.bits // 8
    width, (pitch, inner) = access.descriptor.sizes[1], access.descriptor.strides
    if isinstance(inner, int) and inner != 1:
        return "the elements of a row are not next to each other"
    checks = (
        ("rows are", pitch, " apart", limits.pitch_alignment, limits.least_pitch),
        ("a row has", width, "", limits.width_alignment, limits.least_width),
    )
    for words, number, more, alignment, least in checks:
        if isinstance(number, int) and (number * size % alignment or number * size < least):
            return (
                f"{words} {number * size} bytes{more}, which is no multiple of {alignment} from "
                f"{least} on"
            )
    return None
