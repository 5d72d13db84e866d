"""Runs batched_gemm.ir: a batch of equal matrices, and groups of different ones."""

from __future__ import annotations

import numpy as np
from checking import (
    HERE,
    Array,
    compare,
    exit_status,
    leave,
    product_tolerance,
    random_array,
    random_generator,
)

import xtile

ALPHA, BETA = 1.5, 0.5


def gemm(a: Array, b: Array, c: Array) -> Array:
    """The new C in f64."""
    return ALPHA * (a.astype(float) @ b.astype(float)) + BETA * c.astype(float)


def gemm_tolerance(a: Array, b: Array, c: Array) -> float:
    """Like that of a product, with beta c as one more summand."""
    ones = np.ones_like(c[:1])
    return product_tolerance(a, b, ALPHA) + BETA * product_tolerance(np.abs(c[:, :1]), ones)


def check_batch(generator: np.random.Generator) -> bool:
    """Ten products of 9 x 20 and 20 x 7 matrices."""
    batch = 10
    a = random_array(generator, (9, 20, batch))
    b = random_array(generator, (20, 7, batch))
    c = random_array(generator, (9, 7, batch))
    expected = np.stack([gemm(a[..., i], b[..., i], c[..., i]) for i in range(batch)], axis=-1)
    tolerance = max(gemm_tolerance(a[..., i], b[..., i], c[..., i]) for i in range(batch))

    xtile.run(
        HERE / "batched_gemm.ir",
        {"alpha": ALPHA, "A": a, "B": b, "beta": BETA, "C": c},
        grid=(batch, 1, 1),
        entry="batched_gemm",
    )
    return compare("batched_gemm", c, expected, tolerance)


def check_group(generator: np.random.Generator) -> bool:
    """Products of five sizes; a sixth entry is a null pointer and is skipped."""
    sizes = [(3, 4, 5), (16, 16, 16), (1, 7, 2), (10, 35, 9), (6, 1, 6)]
    a = [random_array(generator, (m, k)) for m, k, _ in sizes]
    b = [random_array(generator, (k, n)) for _, k, n in sizes]
    c = [random_array(generator, (m, n)) for m, _, n in sizes]
    expected = [gemm(*entries) for entries in zip(a, b, c, strict=True)]
    tolerances = [gemm_tolerance(*entries) for entries in zip(a, b, c, strict=True)]

    xtile.run(
        HERE / "batched_gemm.ir",
        {"alpha": ALPHA, "A": [*a, None], "B": [*b, None], "beta": BETA, "C": [*c, None]},
        grid=(len(sizes) + 1, 1, 1),
        entry="grouped_gemm",
    )
    return all(
        compare(f"grouped_gemm {m} x {k} x {n}", c[i], expected[i], tolerances[i])
        for i, (m, k, n) in enumerate(sizes)
    )


def main() -> int:
    """Returns 0 if the results are right."""
    generator = random_generator()
    return exit_status(check_batch(generator), check_group(generator))


if __name__ == "__main__":
    leave(main())
