"""What makes machine code of the code of lanes.

Steps of translations name it before a chip is chosen, so that this loads no table of chips.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from xtile.targets.target import Number


class LaneCompiler(NamedTuple):
    """What makes machine code of the code of lanes, and what it knows to use.

    Attributes:
        name: What messages call it.
        has_vectors: Work-items that do the work of a subgroup with a CPU's vectors.
        has_rows: Accesses of rows.
        least_lanes: The least lanes of a subgroup that it has products for.
        missing_factors: The types of factors that it has no products for.
    """

    name: str
    has_vectors: bool
    has_rows: bool
    least_lanes: int
    missing_factors: tuple[Number, ...] = ()


LLVM = LaneCompiler(
    "LLVM", has_vectors=False, has_rows=False, least_lanes=16, missing_factors=("tf32",)
)
"""LLVM 22, which lowers XeGPU, and takes a tf32 for 16 bits of a word."""

XTILE = LaneCompiler("xtile", has_vectors=True, has_rows=True, least_lanes=1)
"""The translation to SPIR-V."""

EITHER = LLVM._replace(has_vectors=True)
"""One of them: LLVM for a GPU, SPIR-V for a CPU."""
