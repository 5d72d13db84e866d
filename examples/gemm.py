"""Runs gemm.ir on matrices with full blocks and with blocks at the edges."""

from __future__ import annotations

import numpy as np
from checking import (
    HERE,
    compare,
    exit_status,
    leave,
    product_tolerance,
    random_array,
    random_generator,
)

import xtile


def main() -> int:
    """Returns 0 if the result is right."""
    generator = random_generator()
    rows, columns, depth, alpha, beta = 300, 270, 35, 1.5, 0.5
    a = random_array(generator, (rows, depth))
    b = random_array(generator, (depth, columns))
    c = random_array(generator, (rows, columns))
    expected = alpha * (a.astype(float) @ b.astype(float)) + beta * c.astype(float)
    # The update with c is one more summand.
    tolerance = product_tolerance(
        np.hstack([alpha * a, beta * np.abs(c).max(1, keepdims=True)]),
        np.vstack([b, np.ones_like(b[:1])]),
    )

    xtile.run(
        HERE / "gemm.ir",
        {"alpha": alpha, "A": a, "B": b, "beta": beta, "C": c},
        grid=(-(-rows // 256), -(-columns // 256), 1),
    )
    return exit_status(compare("gemm", c, expected, tolerance))


if __name__ == "__main__":
    leave(main())
