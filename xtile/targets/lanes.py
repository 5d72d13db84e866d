"""A chip for the code of its lanes: what of the chip that code can use.

It depends on what makes machine code of the code: LLVM's lowering of XeGPU uses less of a chip than
SPIR-V does, and in SPIR-V it depends on how the instructions of a matrix unit are spelled.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from xtile.targets.compilers import XTILE, LaneCompiler
from xtile.targets.spellings import COOPERATIVE_MATRIX, PLAIN, MatrixSpelling
from xtile.targets.target import (
    BlockAccess,
    MatrixUnit,
    RowAccess,
    Target,
    VectorUnit,
)


@dataclass(frozen=True)
class LaneTarget:
    """What the code of lanes is made for.

    Attributes:
        chip: The chip.
        compiler: What makes machine code of it.
        spelling: How products of matrices and accesses of blocks are written in SPIR-V.
    """

    chip: Target
    compiler: LaneCompiler
    spelling: MatrixSpelling

    @property
    def name(self) -> str:
        """The name of the chip."""
        return self.chip.name

    @property
    def rounds_to_tf32(self) -> bool:
        """Whether an instruction rounds f32 to tf32."""
        is_there = any(unit.a == "tf32" for unit in self.matrix_units)
        is_compiled = "tf32" not in self.compiler.missing_factors
        return is_there and is_compiled and self.spelling.products is not None

    @property
    def vector_unit(self) -> VectorUnit | None:
        """The vector registers, if one work-item can do the work of a subgroup with them."""
        return self.chip.vector_unit if self.compiler.has_vectors else None

    @property
    def block_access(self) -> BlockAccess | None:
        """Two-dimensional block accesses; None if there are none."""
        return self.chip.block_access

    @property
    def row_access(self) -> RowAccess | None:
        """Accesses of rows; None if there are none."""
        is_used = self.compiler.has_rows and self.spelling is not PLAIN
        return self.chip.row_access if is_used else None

    @cached_property
    def matrix_units(self) -> tuple[MatrixUnit, ...]:
        """The products whose matrices lie in the registers of lanes."""
        return self.chip.units("dpas")

    @cached_property
    def cooperative_matrices(self) -> tuple[MatrixUnit, ...]:
        """The products whose matrices are values of a subgroup."""
        is_used = self.compiler.has_vectors and self.spelling is COOPERATIVE_MATRIX
        return self.chip.units("AMX") if is_used else ()


def for_spirv(chip: Target, spelling: MatrixSpelling | None = None) -> LaneTarget:
    """A chip for kernels that become SPIR-V here.

    Args:
        chip: The chip.
        spelling: How products and accesses of blocks are written; None for the chip's own.
    """
    return LaneTarget(chip, XTILE, spelling or chip.matrix_spelling)
