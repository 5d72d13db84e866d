"""Fresh random arguments of kernels, and how far their outputs may be from what numpy says."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.seeds import fresh_generator

Array = Any


def normal(*shape: int, dtype: Any = np.float32) -> Array:
    """Fresh random numbers around 0."""
    return fresh_generator().standard_normal(shape).astype(dtype)


def integers(low: int, high: int, *shape: int, dtype: Any = np.int32) -> Array:
    """Fresh random integers from `low` to `high - 1`."""
    return fresh_generator().integers(low, high, shape).astype(dtype)


def blank(*shape: int, dtype: Any = np.float32) -> Array:
    """An output that nobody has written yet."""
    return np.full(shape, 77 if np.dtype(dtype).kind in "iub" else np.nan, dtype)


def rounding(terms: int, *types: Any) -> float:
    """A bound on the relative error of sums.

    Args:
        terms: How many numbers are added up, and how often they are rounded before.
        types: What the sum is computed in, and what is rounded to once more.
    """
    computed, *rounded = (float(ml_dtypes.finfo(type_).eps) for type_ in types)
    return terms * computed + sum(rounded)


def assert_close(found: Array, wanted: Array, tolerance: float) -> None:
    """Compares an output of a kernel with what it must be.

    Args:
        found: The output.
        wanted: What it must be; numbers of an output of integers must be the same.
        tolerance: How far floats may be away, as part of the largest finite number wanted.

    Raises:
        AssertionError: It is too far away.
    """
    if found.dtype.kind in "iub" or not tolerance:
        np.testing.assert_array_equal(found, wanted.astype(found.dtype))
        return
    found, wanted = found.astype(np.float64), wanted.astype(np.float64)
    size = float(np.abs(np.where(np.isfinite(wanted), wanted, 0)).max(initial=0))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * size)
