"""How many registers a kernel needs, as far as its loops tell.

A hardware thread of a GPU has twice as many registers where a kernel asks for them, but then there
are half as many threads to hide the time that memory takes.

Source: OpenCL extension cl_intel_required_subgroup_size and Intel's build option
`-cl-intel-256-GRF-per-thread`; `xtile/backends/intel/devices.py` has the numbers.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import FixedBitwidthType, IntegerType, VectorType
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from xtile.backends.intel.devices import Device

MANY_REGISTERS_OPTION = "-cl-intel-256-GRF-per-thread"
"""What a driver is told to give a thread twice as many registers."""


def build_options(module: Operation, device: Device, lanes: int) -> str:
    """What a driver is told when it builds kernels.

    Args:
        module: The kernels as SPIR-V.
        device: What they are for.
        lanes: The largest subgroup size of the kernels.
    """
    if device.matrix_unit is None:
        return ""
    # What is loaded row by row takes as many registers again before it is packed.
    share = 2 if device.block_access is not None else 3
    most = device.registers * device.register_size // share
    return MANY_REGISTERS_OPTION if _most_carried(module) * lanes > most else ""


def _most_carried(module: Operation) -> int:
    """The most bytes of a lane that a block of code is given: what loops carry."""
    blocks = [
        block
        for function in module.walk()
        if function.name == "spirv.func"
        for region in function.regions
        for block in list(region.blocks)[1:]
    ]
    return max((sum(_size(value.type) for value in block.args) for block in blocks), default=0)


def _size(type_: Attribute) -> int:
    """Bytes of a lane's numbers; what is counted in is mostly the same for all lanes."""
    if isa(type_, VectorType):
        element = cast(FixedBitwidthType, type_.element_type)
        return element.size * type_.element_count()
    if isinstance(type_, FixedBitwidthType) and not isa(type_, IntegerType):
        return type_.size
    return 0
