"""Runs tall_and_skinny.ir on a matrix of many rows, whose last block is not full."""

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
    rows, alpha, beta = 1000, 2.0, -1.0
    a = random_array(generator, (rows, 48))
    b = random_array(generator, (48, 20))
    c = random_array(generator, (rows, 20))
    expected = alpha * (a.astype(float) @ b.astype(float)) + beta * c.astype(float)
    # The update with c is one more summand.
    tolerance = product_tolerance(
        np.hstack([alpha * a, np.abs(c).max(1, keepdims=True)]), np.vstack([b, np.ones_like(b[:1])])
    )

    xtile.run(
        HERE / "tall_and_skinny.ir",
        {"alpha": alpha, "A": a, "B": b, "beta": beta, "C": c},
        grid=(-(-rows // 128), 1, 1),
    )
    return exit_status(compare("tall_and_skinny", c, expected, tolerance))


if __name__ == "__main__":
    leave(main())
