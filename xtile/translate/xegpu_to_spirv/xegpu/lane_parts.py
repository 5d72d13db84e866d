"""Which elements of a subgroup's matrix a lane holds, as numbers that depend on the lane.

A matrix is cut into units of elements that follow each other, which are dealt to the lanes in turn,
row by row.

Source: MLIR (LLVM 22), `Conversion/XeGPUToXeVM` and `Dialect/LLVMIR/XeVMOps.td`; docs/semantics.md,
"XeGPU".
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import i64

from xtile.rewrite.indices import Index
from xtile.translate.xegpu_to_spirv.gpu import of_subgroup
from xtile.translate.xegpu_to_spirv.lowering import Lowering

SYSTOLIC_DEPTH = 8
"""The registers of 32 bits that a row of the left matrix of `dpas` fills."""

REGISTER_BITS = 32


def elements_of_a_register(bits: int) -> int:
    """How many elements of a width fill 32 bits; at least 1."""
    return max(1, REGISTER_BITS // bits)


def unit_of_rows(width: int, bits: int, lanes: int) -> int:
    """How many neighbouring elements of a row of `width` a lane holds."""
    largest = SYSTOLIC_DEPTH * elements_of_a_register(bits) // lanes
    return max(1, min(width // lanes, largest))


@dataclass(frozen=True)
class Dealing:
    """How the elements of a matrix are dealt to lanes.

    Attributes:
        unit: Elements that a lane gets at once.
        lanes: The number of lanes.
    """

    unit: int
    lanes: int

    def holder(self, number: int) -> tuple[int, int]:
        """The lane that has an element, and its place among the lane's.

        Args:
            number: The number of the element in the matrix, row by row.
        """
        turn, rest = divmod(number, self.unit * self.lanes)
        return rest // self.unit, turn * self.unit + rest % self.unit

    def position(self, lowering: Lowering, entry: int, width: int) -> tuple[Index, Index]:
        """The row and the column of a lane's element in a matrix with rows of `width`."""
        turn, within = divmod(entry, self.unit)
        start = turn * self.unit * self.lanes
        own = lowering.multiply(of_subgroup(lowering, "SubgroupLocalInvocationId"), self.unit)
        round_ = self.unit * self.lanes
        if width % round_ == 0:
            return start // width, lowering.add(own, start % width + within)
        if round_ % width == 0 and width % self.unit == 0:
            row = lowering.add(divided(lowering, own, width), start // width)
            return row, lowering.add(remainder(lowering, own, width), within)
        number = lowering.add(own, start + within)
        return divided(lowering, number, width), remainder(lowering, number, width)


def divided(lowering: Lowering, number: Index, by: int) -> Index:
    """The quotient of an index that is not negative, rounded down."""
    if isinstance(number, int):
        return number // by
    return (
        number
        if by == 1
        else lowering.shared_compute("UDiv", i64, number, lowering.integer(by, i64))
    )


def remainder(lowering: Lowering, number: Index, by: int) -> Index:
    """The remainder of an index that is not negative."""
    if isinstance(number, int):
        return number % by
    return 0 if by == 1 else lowering.shared_compute("UMod", i64, number, lowering.integer(by, i64))
