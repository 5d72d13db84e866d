"""Integers and tiles of integers as polynomials: a base, and a stride along each dimension.

A polynomial is in numbers of the kernel that have no index: values of its source, which are taken
as signed numbers, and how often a loop has gone round. It is exact, because nothing that may wrap
around is written as one (`ranges.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from math import prod
from typing import TypeAlias

from xdsl.dialects import scf
from xdsl.ir import SSAValue

from xtile.arguments.launch_checks import LaunchCheck


@dataclass(frozen=True)
class Rounds:
    """How many iterations of a loop are over; 0 in the first one."""

    loop: scf.ForOp


@dataclass(frozen=True)
class Trips:
    """How many iterations a loop has in all."""

    loop: scf.ForOp


Atom: TypeAlias = SSAValue | Rounds | Trips
"""A number that nothing is known of here."""

Monomial: TypeAlias = tuple[Atom, ...]
"""A product; that of nothing is 1."""


@dataclass(frozen=True)
class Polynomial:
    """A sum of products of atoms.

    Attributes:
        terms: The factor of each product, none of which is 0.
    """

    terms: Mapping[Monomial, int]

    @staticmethod
    def of(number: int | Atom) -> Polynomial:
        """A number."""
        if isinstance(number, int):
            return Polynomial({(): number} if number else {})
        return Polynomial({(number,): 1})

    @property
    def constant(self) -> int | None:
        """The number that it is; None if it depends on some atom."""
        if not self.terms:
            return 0
        return self.terms.get(()) if len(self.terms) == 1 else None

    @property
    def atoms(self) -> Iterable[Atom]:
        """What it depends on."""
        return dict.fromkeys(atom for product in self.terms for atom in product)

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __add__(self, other: Polynomial) -> Polynomial:
        terms = dict(self.terms)
        for product, factor in other.terms.items():
            terms[product] = terms.get(product, 0) + factor
        return Polynomial({product: factor for product, factor in terms.items() if factor})

    def __mul__(self, other: Polynomial) -> Polynomial:
        total = ZERO
        for left, a in self.terms.items():
            for right, b in other.terms.items():
                product = tuple(sorted((*left, *right), key=id))
                total += Polynomial({product: a * b})
        return total

    def __neg__(self) -> Polynomial:
        return self.times(-1)

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + -other

    def times(self, number: int) -> Polynomial:
        """The product with a number."""
        terms = {product: factor * number for product, factor in self.terms.items()}
        return Polynomial(terms if number else {})

    def divided(self, number: int) -> Polynomial | None:
        """The quotient by a number that is not 0; None if it does not divide each term."""
        if any(factor % number for factor in self.terms.values()):
            return None
        return Polynomial({product: factor // number for product, factor in self.terms.items()})


ZERO = Polynomial.of(0)
ONE = Polynomial.of(1)


@dataclass(frozen=True)
class Affine:
    """An integer, or a tile of some: the one with indices i, j is `base + i strides[0] + j ..`.

    Attributes:
        shape: The sizes of the tile; none of an integer.
        base: That with indices 0.
        strides: How much more the next one is along each dimension; 0 along those of size 1.
        needs: What a launch must find for this to be so.
    """

    shape: tuple[int, ...]
    base: Polynomial
    strides: tuple[Polynomial, ...]
    needs: frozenset[LaunchCheck] = frozenset()

    @staticmethod
    def of(
        shape: Sequence[int],
        base: Polynomial,
        strides: Mapping[int, Polynomial] | None = None,
        needs: frozenset[LaunchCheck] = frozenset(),
    ) -> Affine:
        """A tile with strides along some dimensions."""
        given = strides or {}
        along = (given.get(i, ZERO) if size > 1 else ZERO for i, size in enumerate(shape))
        return Affine(tuple(shape), base, tuple(along), needs)

    @property
    def is_uniform(self) -> bool:
        """Whether all integers are the same."""
        return not any(stride.terms for stride in self.strides)

    @property
    def varying(self) -> list[int]:
        """The dimensions along which they differ."""
        return [i for i, stride in enumerate(self.strides) if stride.terms]

    def __add__(self, other: Affine) -> Affine:
        strides = tuple(a + b for a, b in zip(self.strides, other.strides, strict=True))
        return Affine(self.shape, self.base + other.base, strides, self.needs | other.needs)

    def __sub__(self, other: Affine) -> Affine:
        return self + other.scaled(Polynomial.of(-1))

    def scaled(self, factor: Polynomial) -> Affine:
        """The product with a number."""
        strides = tuple(stride * factor for stride in self.strides)
        return Affine(self.shape, self.base * factor, strides, self.needs)

    def needing(self, needs: frozenset[LaunchCheck]) -> Affine:
        """The same, if a launch finds something more."""
        return replace(self, needs=self.needs | needs)

    def moved(self, dimensions: Sequence[int | None], shape: Sequence[int]) -> Affine:
        """A tile of another shape, along each dimension of which one of this tile lies, or none."""
        along = {i: self.strides[d] for i, d in enumerate(dimensions) if d is not None}
        return Affine.of(shape, self.base, along, self.needs)


def broadcast_dimensions(source: Sequence[int], shape: Sequence[int]) -> list[int | None]:
    """For each dimension of a tile the one that `vector.broadcast` takes it from; None repeats."""
    pairs = list(zip_longest(reversed(source), reversed(shape)))
    backwards = [
        None if given is None or given < size else len(source) - 1 - i
        for i, (given, size) in enumerate(pairs)
    ]
    return backwards[::-1]


def regrouped(
    source: Sequence[int], shape: Sequence[int]
) -> list[tuple[list[int], list[int]]] | None:
    """Which dimensions of a tile hold the elements of which dimensions of it in another shape.

    Dimensions of size 1 are left out, so each pair has lists of sizes with equal products.
    """
    left = [i for i, size in enumerate(source) if size > 1]
    right = [i for i, size in enumerate(shape) if size > 1]
    groups: list[tuple[list[int], list[int]]] = []
    while left and right:
        one, other = [left.pop(0)], [right.pop(0)]
        while (a := prod(source[i] for i in one)) != (b := prod(shape[i] for i in other)):
            side, rest = (one, left) if a < b else (other, right)
            if not rest:
                return None
            side.append(rest.pop(0))
        groups.append((one, other))
    return None if left or right else groups


def reshaped(tile: Affine, shape: Sequence[int]) -> Affine | None:
    """The elements of a tile in row-major order in another shape; None if they are not affine."""
    groups = regrouped(tile.shape, shape)
    if groups is None:
        return None
    strides: dict[int, Polynomial] = {}
    for one, other in groups:
        last = tile.strides[one[-1]]
        whole = last
        for inner, outer in zip(one[:0:-1], one[-2::-1], strict=True):
            whole = whole.times(tile.shape[inner])
            if tile.strides[outer].terms != whole.terms:
                return None
        for dimension in reversed(other):
            strides[dimension] = last
            last = last.times(shape[dimension])
    return Affine.of(shape, tile.base, strides, tile.needs)
