"""Runs the kernels of older revisions, old_syntax.ir (v0.3) and older_syntax.ir (v0.1)."""

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


def check_fused_kernel(generator: np.random.Generator) -> bool:
    """D := alpha A B^T C + D, as in fused_kernel.py."""
    batch, alpha = 3, 0.5
    a = [random_array(generator, (16, 8)) for _ in range(batch)]
    b, c = random_array(generator, (8, 8)), random_array(generator, (8, 16))
    d = random_array(generator, (16, 16, batch))
    products = [alpha * (x.astype(float) @ b.astype(float).T @ c.astype(float)) for x in a]
    expected = np.stack(products, axis=-1) + d
    magnitudes = [abs(alpha) * (np.abs(x) @ np.abs(b).T @ np.abs(c)) for x in a]
    # As in fused_kernel.py.
    tolerance = (8 + 8 + 3) * UNIT_ROUNDOFF_F32 * float(np.max(magnitudes) + np.max(np.abs(d)))

    arguments = {"alpha": alpha, "A": a, "B": b, "C": c, "D": d}
    xtile.run(HERE / "old_syntax.ir", arguments, (batch,), entry="fused_kernel")
    return compare("v0.3 fused_kernel", d, expected, tolerance)


def check_clamp(generator: np.random.Generator) -> bool:
    """Nothing is rounded."""
    limit = 0.75
    x = random_array(generator, (100,), np.float64)
    expected = np.clip(x, -limit, limit)

    xtile.run(HERE / "old_syntax.ir", {"limit": limit, "x": x}, entry="clamp")
    return compare("v0.3 clamp", x, expected, 0.0)


def check_views(generator: np.random.Generator) -> bool:
    """Adds up half of every second column, and multiplies two parts of the sum."""
    a, b = random_array(generator, (48, 10)), random_array(generator, (48,))
    sums = 0.5 * a[:, ::2].sum(axis=1, dtype=float) + b
    expected = np.concatenate([sums[:16] * sums[32:], sums[16:]])
    magnitudes = 0.5 * np.abs(a[:, ::2]).sum(axis=1) + np.abs(b)
    # Each sum has 6 summands, and a factor's relative error counts in the product.
    error = 7 * UNIT_ROUNDOFF_F32 * float(magnitudes.max())
    tolerance = 3 * error * max(1.0, float(magnitudes.max()))

    xtile.run(HERE / "old_syntax.ir", {"A": a, "b": b}, entry="views")
    return compare("v0.3 views", b, expected, tolerance)


def check_grouped_gemv(generator: np.random.Generator) -> bool:
    """B := alpha A a + b in f64."""
    batch, alpha = 4, -2.0
    matrices = [random_array(generator, (20, 9), np.float64) for _ in range(batch)]
    vectors = [random_array(generator, (9,), np.float64) for _ in range(batch)]
    b = random_array(generator, (20, batch), np.float64)
    products = [alpha * (x @ y) for x, y in zip(matrices, vectors, strict=True)]
    expected = np.stack(products, axis=-1) + b
    # 9 products and two more roundings of 2^-53; no sum of magnitudes exceeds 1000.
    tolerance = 11 * 2.0**-53 * 1000

    arguments = {"alpha": alpha, "A": matrices, "a": vectors, "b": b}
    xtile.run(HERE / "older_syntax.ir", arguments, (batch,), entry="grouped_gemv")
    return compare("v0.1 grouped_gemv", b, expected, tolerance)


def check_mark(generator: np.random.Generator) -> bool:
    """Integers are exact."""
    first = int(generator.integers(3))
    flags = np.zeros(20, np.int32)
    expected = ((np.arange(20) + first) % 3 == 0).astype(np.int32)

    xtile.run(HERE / "older_syntax.ir", {"first": first, "flags": flags}, entry="mark")
    return compare("v0.1 mark", flags, expected, 0.0)


def main() -> int:
    """Returns 0 if the results are right."""
    generator = random_generator()
    return exit_status(
        check_fused_kernel(generator),
        check_clamp(generator),
        check_views(generator),
        check_grouped_gemv(generator),
        check_mark(generator),
    )


if __name__ == "__main__":
    leave(main())
