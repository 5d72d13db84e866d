"""Operands of the kernels in `cuda_tile_numbers`: any bits, numbers around 1, special values."""

from __future__ import annotations

import zlib

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import IntegerType

from tests.conformance.cuda_tile_numbers import COUNT, Case
from xtile.semantics.storage import from_bits, storage_bits
from xtile.semantics.upstream import numbers
from xtile.semantics.upstream.numbers import FLOATS, Kind, Number
from xtile.semantics.values import Array

_Bits = npt.NDArray[np.uint64]

_FRACTION_BITS = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52, "f8E4M3FN": 3, "f8E5M2": 2}

_SPECIAL_INTEGERS = (0, 1, -1, 2)
_NEAR_ONE = 6
"""How far from 1 exponents are of the numbers around it."""


def number_of(type: str) -> Number:
    """The numbers of an element type, by its text."""
    return FLOATS.get(type) or numbers.number_of(IntegerType(int(type[1:])))


def operands_of(case: Case) -> list[Array]:
    """The operands of a case, the same ones each time, for which its results are defined."""
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    is_product = case.name.startswith("mma")
    operands: list[Array] = []
    for type in case.operands:
        number = number_of(type)
        if number.kind is Kind.INTEGER:
            operands.append(_integers(rng, number))
        elif is_product:
            # Sums of positive numbers are as precise as their parts.
            operands.append(number.rounded(rng.uniform(0.5, 2, COUNT)))
        else:
            operands.append(from_bits(_float_bits(rng, number), number))
    return _defined(case, operands)


def _integers(rng: np.random.Generator, number: Number) -> Array:
    """Small numbers, any numbers, the extremes, and those around 0."""
    values = rng.integers(-(2**63), 2**63, COUNT, np.int64, endpoint=False)
    values[::3] = rng.integers(-70, 70, len(values[::3]))
    least = -(2 ** (number.bits - 1))
    special = np.array([*_SPECIAL_INTEGERS, least, -least - 1], np.int64)
    chosen = rng.random(COUNT) < 0.05
    values[chosen] = rng.choice(special, int(chosen.sum()))
    return number.wrapped(values)


def _float_bits(rng: np.random.Generator, number: Number) -> _Bits:
    """Any bits, numbers around 1, zeros, infinities, NaN, and numbers beside them."""
    width, fraction = storage_bits(number), _FRACTION_BITS[number.text]
    bits = rng.integers(0, 2**width, COUNT, np.uint64, endpoint=False)
    sign, one = 1 << (width - 1), ((1 << (width - 2 - fraction)) - 1) << fraction
    infinity = sign - (1 << fraction)
    near = rng.integers(-_NEAR_ONE, _NEAR_ONE, COUNT) * (1 << fraction) + one
    near += rng.integers(0, 1 << fraction, COUNT)
    bits[::2] = (near.astype(np.uint64) | (bits & np.uint64(sign)))[::2]
    special = [0, infinity, infinity + (1 << (fraction - 1)), one, 1, 1 << fraction, infinity - 1]
    special += [(1 << fraction) - 1]
    both = np.array([value | s for value in special for s in (0, sign)], np.uint64)
    chosen = rng.random(COUNT) < 0.08
    bits[chosen] = rng.choice(both, int(chosen.sum()))
    return bits


def _defined(case: Case, operands: list[Array]) -> list[Array]:
    """The operands with others in the places for which the result is not defined."""
    name = case.name.partition("_")[0]
    first, last = operands[0], operands[-1]
    if name in ("divi", "ceildiv", "floordiv", "remi"):
        least = number_of(case.operands[0]).number(-(2 ** (8 * first.itemsize - 1)))
        undefined = (last == 0) | ((first == least) & (last == -1))
        operands[1] = np.where(undefined, last.dtype.type(3), last)
    elif name in ("shli", "shri"):
        operands[1] = last & last.dtype.type(2 * 8 * last.itemsize - 1)
    elif name == "ftoi":
        number = number_of(case.results[0])
        least = 0.0 if case.name.endswith("unsigned") else -(2.0 ** (number.bits - 1))
        whole = np.trunc(first.astype(np.float64))
        inside = (whole >= least) & (whole < least + 2.0**number.bits)
        operands[0] = np.where(inside, first, number_of(case.operands[0]).number(1.5))
    return operands
