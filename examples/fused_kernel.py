"""Runs fused_kernel.ir: D := alpha A B^T C + D for a group of matrices A and a batch D."""

from __future__ import annotations

import numpy as np
from checking import (
    HERE,
    UNIT_ROUNDOFF_F32,
    compare,
    exit_status,
    leave,
    random_array,
    random_generator,
)

import xtile


def main() -> int:
    """Returns 0 if the result is right."""
    generator = random_generator()
    batch, alpha = 12, -0.75
    a = [random_array(generator, (16, 8)) for _ in range(batch)]
    b = random_array(generator, (8, 8))
    c = random_array(generator, (8, 16))
    d = random_array(generator, (16, 16, batch))
    products = [alpha * (x.astype(float) @ b.astype(float).T @ c.astype(float)) for x in a]
    expected = np.stack(products, axis=-1) + d
    magnitudes = [abs(alpha) * (np.abs(x) @ np.abs(b).T @ np.abs(c)) for x in a]
    # Each of the two products adds up 8 numbers; three roundings for the scaling and the update.
    tolerance = (8 + 8 + 3) * UNIT_ROUNDOFF_F32 * float(np.max(magnitudes) + np.max(np.abs(d)))

    xtile.run(
        HERE / "fused_kernel.ir",
        {"alpha": alpha, "A": a, "B": b, "C": c, "D": d},
        grid=(batch, 1, 1),
    )
    return exit_status(compare("fused_kernel", d, expected, tolerance))


if __name__ == "__main__":
    leave(main())
