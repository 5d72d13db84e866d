"""How products on a matrix unit and accesses of two-dimensional blocks are written in SPIR-V.

The instructions are the same, but drivers take them under different names. Which spelling is chosen
for a device when nothing is known of its driver stands in the device's row,
`Target.matrix_spelling`.

Sources: the OpenCL extensions cl_intel_subgroup_matrix_multiply_accumulate and
cl_intel_subgroup_2d_block_io; the SPIR-V extensions SPV_INTEL_inline_assembly,
SPV_INTEL_subgroup_matrix_multiply_accumulate, SPV_INTEL_2d_block_io and SPV_KHR_cooperative_matrix.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from xtile.targets.target import Target


class Means(Enum):
    """What an instruction of the GPU is written as."""

    FUNCTION = "a function of the driver, under the name that LLVM 22 uses"
    VISA = "the instruction itself, in inline assembly"
    EXTENSION = "an instruction of an extension of SPIR-V"


class MatrixSpelling(NamedTuple):
    """One way to write them.

    Attributes:
        name: What the option `--matrix-spelling` calls it.
        products: How the matrix unit is used; None if it is not.
        blocks: How two-dimensional blocks are accessed; None if each lane accesses its elements.
        extensions: The extensions that a driver which takes it reports, of OpenCL or of SPIR-V.
        tf32_products: How the matrix unit is used for tf32, where it differs.
    """

    name: str
    products: Means | None
    blocks: Means | None
    extensions: tuple[str, ...] = ()
    tf32_products: Means | None = None

    def products_of(self, factor: str) -> Means | None:
        """How the matrix unit is used for factors of a type; None if it is not."""
        return (factor == "tf32" and self.tf32_products) or self.products


FUNCTIONS = MatrixSpelling(
    "functions",
    Means.FUNCTION,
    Means.FUNCTION,
    ("cl_intel_subgroup_matrix_multiply_accumulate", "cl_intel_subgroup_2d_block_io"),
)

FUNCTIONS_AND_VISA = MatrixSpelling(
    "functions-and-visa", Means.FUNCTION, Means.VISA, tf32_products=Means.VISA
)
"""Every driver of Intel's GPUs takes it: those before 2024 have no functions for blocks, and others
for products of tf32.
"""

INLINE_VISA = MatrixSpelling("inline-visa", Means.VISA, Means.VISA)
"""Every driver takes it, too, but keeps sums of products in more registers than needed."""

EXTENSIONS = MatrixSpelling(
    "extensions",
    Means.EXTENSION,
    Means.EXTENSION,
    ("SPV_INTEL_subgroup_matrix_multiply_accumulate", "SPV_INTEL_2d_block_io"),
)

COOPERATIVE_MATRIX = MatrixSpelling(
    "cooperative-matrix", None, None, ("SPV_KHR_cooperative_matrix",)
)
"""A matrix is one value of a subgroup, for chips with AMX.

XeGPU gives each lane its elements of a matrix, which this spelling hides: its matrices are plain.
"""

PLAIN = MatrixSpelling("plain", None, None)
"""Arithmetic, exchanges between lanes, and an access for each element: what all devices have."""

SPELLINGS: Mapping[str, MatrixSpelling] = {
    spelling.name: spelling
    for spelling in (
        EXTENSIONS,
        FUNCTIONS,
        FUNCTIONS_AND_VISA,
        INLINE_VISA,
        COOPERATIVE_MATRIX,
        PLAIN,
    )
}
"""Every spelling by its name."""


def is_possible(spelling: MatrixSpelling, target: Target) -> bool:
    """Whether a device has what a spelling writes."""
    if spelling is COOPERATIVE_MATRIX:
        return bool(target.units("AMX"))
    return spelling.products is None or bool(target.units("dpas"))


def check_spelling(name: str, target: Target) -> None:
    """Checks that a device has a spelling.

    Raises:
        ValueError: It has not; the message says which it has.
    """
    possible = [own for own, spelling in SPELLINGS.items() if is_possible(spelling, target)]
    if name not in possible:
        raise ValueError(
            f"{target.name} has no matrix spelling '{name}'; it has {', '.join(possible)}"
        )


def spelling_for_driver(target: Target, reported: Collection[str]) -> MatrixSpelling:
    """The spelling for a device whose driver reports these extensions.

    Args:
        target: The chip.
        reported: The extensions of OpenCL and of SPIR-V that the driver reports.
    """
    for spelling in (EXTENSIONS, FUNCTIONS):
        if is_possible(spelling, target) and _needed(spelling, target) <= set(reported):
            return spelling
    return target.matrix_spelling


def _needed(spelling: MatrixSpelling, target: Target) -> set[str]:
    """The extensions that a spelling needs; those of blocks matter where a device has them."""
    has_blocks = target.block_access is not None
    return {name for name in spelling.extensions if has_blocks or "2d_block" not in name}
