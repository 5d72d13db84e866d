"""Runs reductions.ir: sums by rows and by columns, a sum of squares, and cumulative sums."""

from __future__ import annotations

import numpy as np
from checking import (
    HERE,
    UNIT_ROUNDOFF_F32,
    Array,
    compare,
    exit_status,
    leave,
    random_array,
    random_generator,
    unwritten,
)

import xtile

KERNELS = HERE / "reductions.ir"


def sum_tolerance(count: int, magnitude: float) -> float:
    """Summing `count` numbers in f32 in any order, then scaling and one more sum."""
    return (count + 3) * UNIT_ROUNDOFF_F32 * magnitude


def check_sums(generator: np.random.Generator, entry: str, axis: int) -> bool:
    """Weighted sums along an axis, added to a weighted vector."""
    alpha, beta = 0.5, 3.0
    a = random_array(generator, (45, 70))
    b = random_array(generator, (a.shape[1 - axis],))
    expected = alpha * a.sum(axis=axis, dtype=float) + beta * b
    magnitude = float((np.abs(alpha * a).sum(axis=axis) + np.abs(beta * b)).max())

    xtile.run(KERNELS, {"alpha": alpha, "A": a, "beta": beta, "b": b}, entry=entry)
    return compare(entry, b, expected, sum_tolerance(a.shape[axis], magnitude))


def check_sum_of_squares(generator: np.random.Generator) -> bool:
    """A memref of order 0 holds the result."""
    a = random_array(generator, (30, 21))
    s = unwritten(())
    expected = np.asarray(np.sum(a.astype(float) ** 2))

    xtile.run(KERNELS, {"A": a, "s": s}, entry="sum_of_squares")
    return compare("sum_of_squares", s, expected, sum_tolerance(a.size, float(expected)))


def check_cumulative_sums(generator: np.random.Generator) -> bool:
    """Along the first and along the second of three modes."""
    a = random_array(generator, (19, 23, 3))
    along_rows, along_columns = unwritten(a.shape), unwritten(a.shape)

    xtile.run(KERNELS, [a, along_rows, along_columns], entry="cumulative_sums")
    return check_cumsum("cumsum along rows", a, along_rows, 0) and check_cumsum(
        "cumsum along columns", a, along_columns, 1
    )


def check_cumsum(name: str, a: Array, result: Array, axis: int) -> bool:
    """Compares one result of cumulative_sums."""
    tolerance = sum_tolerance(a.shape[axis], float(np.abs(a).sum(axis=axis).max()))
    return compare(name, result, np.cumsum(a, axis=axis, dtype=float), tolerance)


def main() -> int:
    """Returns 0 if the results are right."""
    generator = random_generator()
    return exit_status(
        check_sums(generator, "row_sums", axis=1),
        check_sums(generator, "column_sums", axis=0),
        check_sum_of_squares(generator),
        check_cumulative_sums(generator),
    )


if __name__ == "__main__":
    leave(main())
