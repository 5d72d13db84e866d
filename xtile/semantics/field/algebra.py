"""Residues modulo a chain of primes, in which exponentials and logarithms keep their laws.

A number has a residue modulo each of three primes p > q > r with p = 2 q + 1 and q = 2 r + 1. The
exponential takes the residue modulo q to a power of an element of order q modulo p, and the one
modulo r to a power of an element of order r modulo q, so exp(a + b) = exp(a) exp(b) modulo p and q;
the last residue is a random function of the number. The logarithm goes the other way. Which
residues still obey all laws is remembered with the number (`numbers.py`).

All three primes are -1 modulo 840. So 2, 3, 5 and 7 are squares and -1 is none: of each number and
its negative one is a square, and has a root that is one. The root of 64 is 8, and 2 is a power of
the base.

Source: Wu et al., "Mirage: A Multi-Level Superoptimizer for Tensor Programs" (OSDI 2025), 5, whose
pair of primes this chain extends by a third one.
"""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

Residues = npt.NDArray[np.int64]
"""Residues modulo each prime of the chain, along the last axis."""

CHAIN = 3
"""The number of primes."""

_SMALLEST, _LARGEST = 1 << 17, 1 << 19
"""The range of the smallest prime; the largest is four times it, plus 3."""

_MODULUS = 840

SIZES = 4.0, 1.0
"""Inputs are ordered as if they were between minus and plus one of these, by turns.

So they are in the range of every type of floats, and a comparison of a sum of squares with 1 goes
one way in one draw and the other way in the next.
"""

TERMS = 2048
"""As many products of residues as f64 adds up exactly: they are below 2^42."""


class Algebra:
    """One random choice of a chain of primes, of bases of the exponential and of random functions.

    Attributes:
        seed: What the choice follows from.
        primes: The primes, the largest first.
        ln2: The residues of the natural logarithm of 2.
    """

    def __init__(self, seed: int) -> None:
        generator = np.random.default_rng(seed)
        least = int(generator.choice(_least_primes()))
        primes = (4 * least + 3, 2 * least + 1, least)
        self.seed = seed
        self._size = SIZES[seed % len(SIZES)]
        self.primes: Residues = np.array(primes, np.int64)
        self._key = np.uint64(generator.integers(0, 2**63))
        self._tables = [_Table(prime, generator) for prime in primes]
        self.ln2 = self._logarithm_of_two()

    def _logarithm_of_two(self) -> Residues:
        two = np.full((1, CHAIN), 2, np.int64)
        return self.log(two, self.random("log 2", [two]))[0]

    def reduced(self, numbers: Residues) -> Residues:
        """Integers modulo each prime."""
        return numbers % self.primes

    def order(self, residues: Residues) -> npt.NDArray[np.float64]:
        """Floats by which numbers are ordered, between minus and plus one of `SIZES`.

        Squares are positive, and other numbers negative, so that a product has the sign that it
        should have. The size is the distance of the residue modulo the largest prime from 0, and
        between two of these distances that modulo the next prime, so that equal floats are rare.
        """
        first, prime = residues[..., 0], int(self.primes[0])
        second, next_prime = residues[..., 1], int(self.primes[1])
        between = np.minimum(second, next_prime - second) / next_prime
        size = (np.minimum(first, prime - first) + between) * (2 * self._size / prime)
        return np.where(self._tables[0].is_square(first), size, -size)

    def inverse(self, residues: Residues) -> Residues:
        """The reciprocals; that of 0 is 0."""
        return self._powers(residues, [-1] * CHAIN)

    def are_squares(self, residues: Residues) -> npt.NDArray[np.bool_]:
        """Whether each residue has a square root."""
        tables = enumerate(self._tables)
        return np.stack([table.is_square(residues[..., i]) for i, table in tables], axis=-1)

    def root(self, residues: Residues) -> Residues:
        """The square roots of squares, which are squares themselves."""
        # All primes are 3 modulo 4, so a square to this power is one of its own roots.
        return self._powers(residues, [(int(prime) + 1) // 4 for prime in self.primes])

    def exp(self, residues: Residues, random: Residues) -> Residues:
        """The exponentials; the last residue is that of `random`."""
        result = random.copy()
        for i in range(CHAIN - 1):
            result[..., i] = self._tables[i].exponential(residues[..., i + 1])
        return result

    def log(self, residues: Residues, random: Residues) -> Residues:
        """The logarithms of numbers that are not 0; the first residue is that of `random`."""
        result = random.copy()
        for i in range(CHAIN - 1):
            result[..., i + 1] = self._tables[i].logarithm(residues[..., i])
        return result

    def product(self, left: Residues, right: Residues) -> Residues:
        """Products of matrices, whose rows and columns are the axes before the last."""
        parts = [
            _matrix_product(left[..., i], right[..., i], int(self.primes[i])) for i in range(CHAIN)
        ]
        return np.stack(parts, axis=-1)

    def random(self, name: str, operands: list[Residues]) -> Residues:
        """A random function of numbers, another one for each name; equal numbers give equal ones.

        Args:
            name: The function.
            operands: Integers that stand for the operands along the last axis of each.
        """
        state = np.uint64(_mixed_name(name)) ^ self._key
        mixed = _mixed(np.asarray(state))
        for operand in operands:
            for i in range(operand.shape[-1]):
                mixed = _mixed(mixed ^ operand[..., i].astype(np.uint64))
        words = [_mixed(mixed + np.uint64(i + 1)) for i in range(CHAIN)]
        return (np.stack(words, axis=-1) % self.primes.astype(np.uint64)).astype(np.int64)

    def inputs(self, name: str, count: int) -> Residues:
        """Random numbers for the elements of an input with a name."""
        return self.random(f"input {name}", [np.arange(count, dtype=np.int64)[:, np.newaxis]])

    def _powers(self, residues: Residues, exponents: list[int]) -> Residues:
        parts = [
            table.power_of(residues[..., i], exponents[i]) for i, table in enumerate(self._tables)
        ]
        return np.stack(parts, axis=-1)


@lru_cache(maxsize=4)
def algebra_of(seed: int) -> Algebra:
    """The random choice that follows from a number; its tables take some time and memory."""
    return Algebra(seed)


class _Table:
    """Powers of a generator modulo a prime, and discrete logarithms."""

    def __init__(self, prime: int, generator: np.random.Generator) -> None:
        self.prime = prime
        self._order = prime - 1
        self._powers = _powers(_primitive_root(prime, generator), prime)
        self._logarithms = np.zeros(prime, np.int32)
        self._logarithms[self._powers] = np.arange(self._order, dtype=np.int32)

    def power_of(self, numbers: Residues, exponent: int) -> Residues:
        """Numbers to a power; 0 stays 0."""
        logarithms = self._logarithms[numbers].astype(np.int64)
        powers = self._powers[logarithms * exponent % self._order]
        return np.where(numbers == 0, 0, powers).astype(np.int64)

    def is_square(self, numbers: Residues) -> npt.NDArray[np.bool_]:
        """Whether numbers have a square root; 0 may have one."""
        return self._logarithms[numbers] % 2 == 0

    def exponential(self, exponents: Residues) -> Residues:
        """The square of the generator, which has half of its order, to powers."""
        return self._powers[2 * exponents % self._order].astype(np.int64)

    def logarithm(self, numbers: Residues) -> Residues:
        """The inverse of `exponential`."""
        half = self._order // 2
        return self._logarithms[numbers].astype(np.int64) * ((half + 1) // 2) % half


def _powers(root: int, prime: int) -> npt.NDArray[np.int32]:
    """The powers of a number from the zeroth on, each of them once."""
    powers = np.ones(1, np.int64)
    factor = root
    while len(powers) < prime - 1:
        powers = np.concatenate((powers, powers * factor % prime))
        factor = factor * factor % prime
    return powers[: prime - 1].astype(np.int32)


def _primitive_root(prime: int, generator: np.random.Generator) -> int:
    """A random number whose powers are all numbers but 0."""
    factors = _prime_factors(prime - 1)
    while True:
        root = int(generator.integers(2, prime))
        if all(pow(root, (prime - 1) // factor, prime) != 1 for factor in factors):
            return root


def _prime_factors(number: int) -> set[int]:
    found: set[int] = set()
    divisor = 2
    while divisor * divisor <= number:
        while number % divisor == 0:
            found.add(divisor)
            number //= divisor
        divisor += 1
    return found | ({number} if number > 1 else set())


@cache
def _least_primes() -> npt.NDArray[np.int64]:
    """All smallest primes of chains."""
    limit = 4 * _LARGEST + 4
    is_prime = np.ones(limit, np.bool_)
    is_prime[:2] = False
    for divisor in range(2, int(limit**0.5) + 1):
        if is_prime[divisor]:
            is_prime[divisor * divisor :: divisor] = False
    least = np.arange(_MODULUS - 1, _LARGEST, _MODULUS)
    least = least[least >= _SMALLEST]
    return least[is_prime[least] & is_prime[2 * least + 1] & is_prime[4 * least + 3]]


def _matrix_product(left: Residues, right: Residues, prime: int) -> Residues:
    depth = left.shape[-1]
    shape = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    total = np.zeros((*shape, left.shape[-2], right.shape[-1]), np.int64)
    for start in range(0, depth, TERMS):
        part = slice(start, start + TERMS)
        factors = left[..., part].astype(np.float64), right[..., part, :].astype(np.float64)
        total += np.matmul(*factors).astype(np.int64) % prime
    return total % prime


def _mixed(state: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators")."""
    with np.errstate(over="ignore"):
        state = state + np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return state ^ (state >> np.uint64(31))


def _mixed_name(name: str) -> int:
    """The same number for the same name in each run."""
    state = np.zeros((), np.uint64)
    for byte in name.encode():
        state = _mixed(state ^ np.uint64(byte))
    return int(state)
