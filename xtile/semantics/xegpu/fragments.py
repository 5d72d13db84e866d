"""Which elements of a subgroup's matrix each lane holds.

A matrix is cut into units of elements that follow each other: those that fill 32 bits in a packed
one, and in any other as many as a row of the left matrix of `dpas` has for each lane. The units are
dealt to the lanes in turn, row by row.

Source: MLIR (LLVM 22), `Conversion/XeGPUToXeVM` and `Dialect/LLVMIR/XeVMOps.td`; OpenCL,
`cl_intel_subgroup_2d_block_io` and `cl_intel_subgroup_matrix_multiply_accumulate`.
"""

from __future__ import annotations

from xtile.semantics.values import Array

SYSTOLIC_DEPTH = 8
"""The registers of 32 bits that a row of the left matrix of `dpas` fills."""

REGISTER_BITS = 32


def elements_of_a_register(bits: int) -> int:
    """How many elements of a width fill 32 bits; at least 1."""
    return max(1, REGISTER_BITS // bits)


def unit(width: int, bits: int, lanes: int) -> int:
    """How many neighbouring elements of a row of `width` a lane holds."""
    largest = SYSTOLIC_DEPTH * elements_of_a_register(bits) // lanes
    return max(1, min(width // lanes, largest))


def to_lanes(matrix: Array, unit: int, lanes: int) -> Array:
    """The parts of a flat matrix, as an array (..., lanes, entries).

    Args:
        matrix: The elements in row-major order along the last axis.
        unit: How many neighbouring elements a lane holds.
        lanes: The number of lanes, of which units times lanes is a divisor of the elements.
    """
    outer = matrix.shape[:-1]
    units = matrix.reshape(*outer, -1, lanes, unit)
    return units.swapaxes(-3, -2).reshape(*outer, lanes, -1)


def from_lanes(parts: Array, unit: int) -> Array:
    """The flat matrix of which an array (..., lanes, entries) has the parts."""
    *outer, lanes, entries = parts.shape
    units = parts.reshape(*outer, lanes, entries // unit, unit)
    return units.swapaxes(-3, -2).reshape(*outer, lanes * entries)
