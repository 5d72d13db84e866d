"""Runs coopmatrix_gemm.ir: f16 factors, an f32 result, sizes that no tile divides."""

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


def check(generator: np.random.Generator, m: int, n: int, depth: int) -> bool:
    """C := alpha A B + beta C for an m x n result."""
    alpha, beta = 0.5, -1.5
    a = random_array(generator, (m, depth), np.float16)
    b = random_array(generator, (depth, n), np.float16)
    c = random_array(generator, (m, n))
    expected = alpha * (a.astype(float) @ b.astype(float)) + beta * c.astype(float)
    # The products of two f16 numbers are exact in f32; the update with c is one more summand.
    tolerance = product_tolerance(a, b, alpha) + product_tolerance(
        np.abs(beta * c).max(1, keepdims=True), np.ones((1, 1))
    )

    xtile.run(
        HERE / "coopmatrix_gemm.ir",
        {"alpha": alpha, "A": a, "B": b, "beta": beta, "C": c},
        grid=(-(-m // 128), -(-n // 64), 1),
    )
    return compare(f"coopmatrix_gemm {m} x {n} x {depth}", c, expected, tolerance)


def main() -> int:
    """Returns 0 if the results are right."""
    generator = random_generator()
    return exit_status(check(generator, 128, 64, 32), check(generator, 141, 75, 41))


if __name__ == "__main__":
    leave(main())
