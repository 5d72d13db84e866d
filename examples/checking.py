"""What the examples share: random inputs, and the comparison of a result with numpy's."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

HERE = Path(__file__).resolve().parent
"""The directory of the kernels."""

UNIT_ROUNDOFF_F16 = 2.0**-11
UNIT_ROUNDOFF_F32 = 2.0**-24
"""The largest relative error of one rounding to the nearest number of the type."""


def random_generator() -> np.random.Generator:
    """A generator with a fresh seed; the seed is printed, so that a failure can be studied."""
    seed = int(np.random.SeedSequence().generate_state(1)[0])
    print(f"seed {seed}")
    return np.random.default_rng(seed)


def random_array(
    generator: np.random.Generator, shape: tuple[int, ...], type: npt.DTypeLike = np.float32
) -> Array:
    """Standard normal numbers in column-major order, as a packed memref expects them."""
    return np.asfortranarray(generator.standard_normal(shape).astype(type))


def unwritten(shape: tuple[int, ...], type: npt.DTypeLike = np.float32) -> Array:
    """An output in column-major order; what the kernel forgets to write stays NaN."""
    return np.full(shape, np.nan, dtype=type, order="F")


def compare(name: str, actual: Array, expected: Array, tolerance: float) -> bool:
    """Prints the largest error beside the tolerance; a NaN is outside every tolerance."""
    error = float(np.max(np.abs(actual.astype(np.float64) - expected)))
    is_right = error <= tolerance
    verdict = "ok" if is_right else "WRONG"
    print(f"{name}: maximum error {error:.3g}, tolerance {tolerance:.3g}: {verdict}")
    return is_right


def product_tolerance(first: Array, second: Array, scale: float = 1.0) -> float:
    """A bound for the error of `scale` times a matrix product in f32, in any order of summation.

    Adding up k products loses at most k units of roundoff relative to the sum of the products'
    magnitudes; two more pay for the scaling and for adding the result to something else.
    """
    depth = first.shape[-1]
    magnitudes = abs(scale) * np.max(np.abs(first).astype(float) @ np.abs(second).astype(float))
    return float((depth + 2) * UNIT_ROUNDOFF_F32 * magnitudes)


def exit_status(*checks: bool) -> int:
    """0 if every check passed, 1 otherwise."""
    return 0 if all(checks) else 1


def leave(status: int) -> None:
    """Ends an example that runs as a script."""
    sys.exit(status)
