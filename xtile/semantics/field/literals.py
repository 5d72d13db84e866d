"""The exact numbers that literals, integers and scalar arguments stand for.

A float is its exact value, a fraction with a power of two as denominator. Where it has more than 16
significant bits and lies within rounding of a number that kernels mean, it is that one: a small
fraction, log2(e) or ln(2) times one, or the square root of one times these. So the literal 0.333..
is what another kernel divides by 3, and a literal of 0.125 log2(e) is the product of the two.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from xtile.semantics.field.algebra import CHAIN, Algebra, Residues

_PLAIN_BITS = 16
"""Floats with as many significant bits are meant exactly: 0.125, 448, 65504."""

_SINGLE_BITS = 24

_LARGEST_SIZE = 1 << 17
"""The largest product of numerator and denominator of a fraction that is meant."""

_LARGEST_FACTOR = 1 << 12
"""The same where a factor or a root comes with it."""

_LARGEST_EXPONENT = 40


class Literals:
    """The residues of floats, and what was taken for the number meant.

    Attributes:
        meant: For each float that was not taken exactly what it was taken for.
    """

    def __init__(self, algebra: Algebra) -> None:
        self._algebra = algebra
        self._known: dict[float, Residues] = {}
        self.meant: dict[float, str] = {}

    def residues(self, values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Residues:
        """The residues of finite floats; those of others are 0."""
        flat = np.ravel(values)
        if flat.size == 0:
            return np.zeros((*values.shape, CHAIN), np.int64)
        if (flat == flat[0]).all():
            return np.broadcast_to(self._one(float(flat[0])), (*values.shape, CHAIN))
        distinct, where = np.unique(flat, return_inverse=True)
        table = np.stack([self._one(float(each)) for each in distinct])
        return table[where].reshape(*values.shape, CHAIN)

    def simple(self, value: float) -> Residues | None:
        """The residues of a float that is exactly, or within rounding, what kernels mean."""
        if not math.isfinite(value):
            return None
        if _significant_bits(value) <= _PLAIN_BITS or self._meaning(value) is not None:
            return self._one(value)
        return None

    def _one(self, value: float) -> Residues:
        found = self._known.get(value)
        if found is None:
            found = self._known[value] = self._computed(value)
        return found

    def _computed(self, value: float) -> Residues:
        if not math.isfinite(value) or value == 0:
            return np.zeros(CHAIN, np.int64)
        meaning = self._meaning(value)
        if meaning is None:
            return self._fraction(Fraction(value))
        text, residues = meaning
        self.meant[value] = text
        return residues

    def _meaning(self, value: float) -> tuple[str, Residues] | None:
        """What a float with many bits is meant to be, as a text and as residues."""
        bits = _significant_bits(value)
        if bits <= _PLAIN_BITS or abs(math.log2(abs(value))) > _LARGEST_EXPONENT:
            return None
        tolerance = 2.0**-23 if bits <= _SINGLE_BITS else 2.0**-50
        sign = -1 if value < 0 else 1
        for fraction, is_root, power in _candidates(abs(value), tolerance):
            residues = self._fraction(fraction)
            text = f"{fraction}"
            if is_root:
                residues, text = self._algebra.root(residues), f"sqrt({fraction})"
            if power:
                ln2 = self._algebra.ln2
                factor = ln2 if power > 0 else self._algebra.inverse(ln2)
                residues = residues * factor % self._algebra.primes
                text += " ln(2)" if power > 0 else " log2(e)"
            return ("-" if sign < 0 else "") + text, residues * sign % self._algebra.primes
        return None

    def _fraction(self, fraction: Fraction) -> Residues:
        primes = [int(prime) for prime in self._algebra.primes]
        # The denominators of floats are powers of two, and those that are meant are small.
        return np.array(
            [fraction.numerator * pow(fraction.denominator, -1, p) % p for p in primes], np.int64
        )


def _candidates(value: float, tolerance: float) -> Iterator[tuple[Fraction, bool, int]]:
    """Fractions, whether the root of one is meant, and the power of ln(2) that comes with it."""
    for power in (0, 1, -1):
        rest = value / math.log(2) ** power
        limit = _LARGEST_FACTOR if power else _LARGEST_SIZE
        fraction = _near(rest, tolerance, limit)
        if fraction is not None:
            yield fraction, False, power
    for power in (0, 1, -1):
        rest = value / math.log(2) ** power
        fraction = _near(rest * rest, 2 * tolerance, _LARGEST_FACTOR)
        if fraction is not None:
            yield fraction, True, power


def _near(value: float, tolerance: float, limit: int) -> Fraction | None:
    """A fraction with a small numerator and denominator that is as near to a number as rounding."""
    if not 1 / limit <= value <= limit:
        return None
    most = max(1, int((limit / value) ** 0.5) + 1)
    fraction = Fraction(value).limit_denominator(most)
    is_near = abs(float(fraction) - value) <= tolerance * value
    is_small = fraction.numerator * fraction.denominator <= limit
    return fraction if is_near and is_small else None


def _significant_bits(value: float) -> int:
    numerator = abs(Fraction(value).numerator)
    return (numerator // (numerator & -numerator)).bit_length() if numerator else 0
