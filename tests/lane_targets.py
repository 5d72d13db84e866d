"""Chips for the code of lanes, by what compiles it."""

from __future__ import annotations

from xtile.targets.compilers import EITHER, LLVM
from xtile.targets.lanes import LaneTarget
from xtile.targets.target import Target


def for_llvm(chip: Target) -> LaneTarget:
    """A chip for kernels that LLVM lowers, whose lanes are work-items everywhere."""
    return LaneTarget(chip, LLVM, chip.matrix_spelling)


def for_either(chip: Target) -> LaneTarget:
    """A chip for kernels of which nobody has said what they become."""
    return LaneTarget(chip, EITHER, chip.matrix_spelling)
