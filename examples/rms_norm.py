"""Runs a kernel that cuTile Python exported: the arrays are given, as in cuTile itself.

The entry of cutile/rms_norm.mlir has 14 parameters, because an array is a pointer, its sizes and
its strides. Which belong to which array, the name that the exporter gave to the entry says.
cutile/rms_norm_kernel.py is the kernel in Python.
"""

from __future__ import annotations

import numpy as np
from checking import HERE, UNIT_ROUNDOFF_F32, compare, exit_status, leave, random_generator

import xtile

ROWS = 4
"""Rows that a tile block does."""


def main() -> int:
    """Returns 0 if the result is right."""
    generator = random_generator()
    rows, columns, epsilon = 10, 150, 1e-5
    # Rows of a larger matrix: the first stride is not the number of columns.
    x = generator.standard_normal((rows, 200)).astype(np.float32)[:, :columns]
    weight = generator.standard_normal(columns).astype(np.float32)
    out = np.full((rows, columns), np.nan, np.float32)
    wide = x.astype(np.float64)
    expected = wide / np.sqrt((wide**2).mean(axis=1, keepdims=True) + epsilon) * weight
    # A sum of squares, a root, and three products are rounded.
    tolerance = (columns + 8) * UNIT_ROUNDOFF_F32 * float(np.abs(expected).max())

    xtile.run(HERE / "cutile/rms_norm.mlir", [x, weight, out, epsilon], grid=-(-rows // ROWS))

    return exit_status(compare("rms_norm", out, expected, tolerance))


if __name__ == "__main__":
    leave(main())
