"""Polynomials in numbers of a kernel that have no index.

Those are values of its source, which are taken as signed numbers, and how often a loop has gone
round. A polynomial is exact, because nothing that may wrap around is written as one (`bounds.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue


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


def block_of(atom: Atom) -> Block | None:
    """The block in each execution of which a number is another one."""
    if isinstance(atom, Rounds):
        return atom.loop.body.block
    owner = atom.loop if isinstance(atom, Trips) else atom.owner
    return owner if isinstance(owner, Block) else owner.parent


def operations_around(atom: Atom) -> Iterator[Operation]:
    """The operations in whose regions a number is born, the innermost one first."""
    block = block_of(atom)
    around = None if block is None else block.parent_op()
    while around is not None:
        yield around
        around = around.parent_op()


def is_inside(atom: Atom, operation: Operation) -> bool:
    """Whether a number is born in the regions of an operation."""
    return any(around is operation for around in operations_around(atom))
