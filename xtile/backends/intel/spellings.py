"""How products on a matrix unit and accesses of two-dimensional blocks are written in SPIR-V.

The instructions are the same, but drivers take them under different names. Which one is chosen for
a device when nothing is known of its driver stands in the device's row, `Device.matrix_spelling`.

Sources: the OpenCL extensions cl_intel_subgroup_matrix_multiply_accumulate and
cl_intel_subgroup_2d_block_io; the SPIR-V extensions SPV_INTEL_inline_assembly,
SPV_INTEL_subgroup_matrix_multiply_accumulate, SPV_INTEL_2d_block_io and SPV_KHR_cooperative_matrix.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xtile.backends.intel.devices import Device


@dataclass(frozen=True)
class MatrixSpelling:
    """One way to write them.

    Attributes:
        name: What the option `--matrix-spelling` calls it.
        summary: What it is, for people.
        extensions: The extensions that a driver which takes it reports, of OpenCL or of SPIR-V.
        needs_matrix_unit: Whether only devices with a matrix unit have it.
        has_block_accesses: Whether it can write accesses of two-dimensional blocks.
    """

    name: str
    summary: str
    extensions: tuple[str, ...]
    needs_matrix_unit: bool
    has_block_accesses: bool


FUNCTIONS = MatrixSpelling(
    "functions",
    "imports of the driver's functions, under the names that LLVM 22 uses",
    ("cl_intel_subgroup_matrix_multiply_accumulate", "cl_intel_subgroup_2d_block_io"),
    needs_matrix_unit=True,
    has_block_accesses=True,
)

INLINE_VISA = MatrixSpelling(
    "inline-visa",
    "the instructions themselves, in SPV_INTEL_inline_assembly",
    (),
    needs_matrix_unit=True,
    has_block_accesses=True,
)
"""Every driver of Intel's GPUs takes it, though none reports the extension."""

EXTENSIONS = MatrixSpelling(
    "extensions",
    "SPV_INTEL_subgroup_matrix_multiply_accumulate and SPV_INTEL_2d_block_io",
    ("SPV_INTEL_subgroup_matrix_multiply_accumulate", "SPV_INTEL_2d_block_io"),
    needs_matrix_unit=True,
    has_block_accesses=True,
)

COOPERATIVE_MATRIX = MatrixSpelling(
    "cooperative-matrix",
    "SPV_KHR_cooperative_matrix, where a matrix is one value of a subgroup",
    ("SPV_KHR_cooperative_matrix",),
    needs_matrix_unit=False,
    has_block_accesses=False,
)
"""XeGPU gives each lane its elements of a matrix, which this spelling hides; it is for `core`."""

PLAIN = MatrixSpelling(
    "plain",
    "arithmetic, exchanges between lanes, and an access for each element",
    (),
    needs_matrix_unit=False,
    has_block_accesses=False,
)

SPELLINGS: Mapping[str, MatrixSpelling] = {
    spelling.name: spelling
    for spelling in (EXTENSIONS, FUNCTIONS, INLINE_VISA, COOPERATIVE_MATRIX, PLAIN)
}
"""Every spelling by its name, the one that says most to a driver first."""


def spelling_for_driver(device: Device, reported: Collection[str]) -> MatrixSpelling:
    """The spelling for a device whose driver reports these extensions.

    Args:
        device: The device.
        reported: The extensions of OpenCL and of SPIR-V that the driver reports.
    """
    for spelling in (EXTENSIONS, FUNCTIONS):
        if is_possible(spelling, device) and _needed(spelling, device) <= set(reported):
            return spelling
    return SPELLINGS[device.matrix_spelling]


def _needed(spelling: MatrixSpelling, device: Device) -> set[str]:
    """The extensions that a spelling needs; blocks matter where the device has accesses of them."""
    is_for_blocks = device.block_access is not None
    return {name for name in spelling.extensions if is_for_blocks or "2d_block" not in name}


def is_possible(spelling: MatrixSpelling, device: Device) -> bool:
    """Whether a device has what a spelling writes."""
    if spelling is COOPERATIVE_MATRIX:
        return bool(device.cooperative_matrices)
    return device.matrix_unit is not None or not spelling.needs_matrix_unit
