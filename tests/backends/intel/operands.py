"""Numbers on which instructions go wrong, and random ones."""

from __future__ import annotations

from itertools import product
from typing import Any, cast

import ml_dtypes
import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[Any]

_FLOATS = (
    *(0.0, 1.0, 0.5, 1.5, 2.5, 3.0, 0.1, 10.0, 127.5, 128.0, 255.5, 32767.5, 65504.0, 65520.0),
    *(2.0**-14, 2.0**-24, 2.0**-25, 2.0**-126, 2.0**-149, 2.0**24 + 1.0, 2.0**31, 2.0**63),
    *(2.0**31 - 1.0, 1.0 + 2.0**-8, 1.0 + 2.0**-11, 1.0 + 3 * 2.0**-24, 1e-3, 1e30, 88.5),
    *(float("inf"), float("nan")),
)


def special_numbers(dtype: np.dtype[Any]) -> Numbers:
    """Extremes, zeros, infinities, NaN, numbers in the middle of others, with both signs."""
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        edges = (0, 1, 2, 3, 7, 8, 9, 100, info.max, info.max - 1, info.max // 2)
        return np.array([*edges, *(-edge for edge in edges), info.min], dtype)
    info = cast(Any, ml_dtypes).finfo(dtype)
    limits = [float(n) for n in (info.max, info.smallest_normal, info.smallest_subnormal)]
    with np.errstate(over="ignore"):
        positive = np.array([*_FLOATS, *limits]).astype(dtype)
    return np.concatenate((positive, -positive))


def random_numbers(random: np.random.Generator, dtype: np.dtype[Any], count: int) -> Numbers:
    """Numbers of any size: half of them have random bits, half are near 1 or small integers."""
    half = count // 2
    bits = random.integers(0, 256, half * dtype.itemsize, np.uint8).view(dtype)
    if dtype.kind in "iu":
        near = random.integers(-100, 101, count - half).astype(dtype)
    else:
        near = random.normal(0.0, 3.0, count - half).astype(dtype)
        # A NaN that signals may make a maximum NaN.
        with np.errstate(invalid="ignore"):
            bits = np.where(bits != bits, np.array(np.nan, dtype), bits)
    return random.permutation(np.concatenate((bits, near)))


def complex_numbers(random: np.random.Generator, dtype: np.dtype[Any], count: int) -> Numbers:
    """Complex numbers whose products, quotients and exponentials are finite."""
    scale = 10.0 ** random.uniform(-3.0, 1.2, count)
    parts = random.normal(0.0, 1.0, (2, count)) * scale
    return (parts[0] + 1j * parts[1]).astype(dtype)


def pairs(random: np.random.Generator, dtype: np.dtype[Any], count: int) -> tuple[Numbers, Numbers]:
    """Operands of binary instructions: pairs of special numbers, then random ones.

    The second of two integers is not 0, so that both have a quotient.
    """
    if dtype.kind == "c":
        return complex_numbers(random, dtype, count), complex_numbers(random, dtype, count)
    special = special_numbers(dtype)
    chosen = random.permutation(np.array(list(product(special, special)), dtype))[: count // 2]
    rest = count - len(chosen)
    first = np.concatenate((chosen[:, 0], random_numbers(random, dtype, rest)))
    second = np.concatenate((chosen[:, 1], random_numbers(random, dtype, rest)))
    # Every special number is an operand.
    first[-len(special) :] = special
    if dtype.kind in "iu":
        second[second == 0] = 1
    return first, second
