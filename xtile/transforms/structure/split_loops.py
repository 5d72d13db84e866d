"""Loops whose last tiles may begin beyond the end of their memory, in two: before it and after it.

Where each block goes through every n-th tile, as where sums are split among blocks, the number of
tiles need not be a multiple of n. In the first loop all tiles begin inside, so they are tiles of
one memory; in the second, which is mostly empty, each has a memory of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import scf

from xtile.dialects.scf.loops import UNSIGNED
from xtile.rewrite.facts import constant_of
from xtile.transforms.structure.polynomials import Polynomial, Rounds, is_inside


@dataclass(frozen=True)
class Reach:
    """Tiles that a loop goes through, up to an end.

    Attributes:
        start: Where an iteration's tile begins.
        end: Where the memory ends.
    """

    start: Polynomial
    end: Polynomial


@dataclass(frozen=True)
class Split:
    """A loop that becomes two.

    Attributes:
        reaches: The tiles that begin inside in the iterations of the first one.
        limits: For each of them a number and a divisor, by which it is rounded up: the first loop
            has no more iterations than any of these quotients.
    """

    reaches: tuple[Reach, ...]
    limits: tuple[tuple[Polynomial, int], ...]


def split_of(loop: scf.ForOp, reaches: Sequence[Reach]) -> Split | None:
    """How a loop becomes two, so that tiles begin inside in the first; None if nobody knows."""
    step = constant_of(loop.step)
    if not reaches or step is None or step <= 0 or UNSIGNED in loop.properties:
        return None
    limits = tuple(_limits(loop, reaches))
    return Split(tuple(reaches), limits) if len(limits) == len(reaches) else None


def _limits(loop: scf.ForOp, reaches: Sequence[Reach]) -> Iterator[tuple[Polynomial, int]]:
    """How many iterations have tiles that begin inside, for each that goes on in equal steps."""
    rounds = Rounds(loop)
    for reach in reaches:
        factor = reach.start.terms.get((rounds,), 0)
        rest = reach.start - Polynomial({(rounds,): factor}) if factor else reach.start
        left = reach.end - rest
        if factor > 0 and not any(is_inside(atom, loop) for atom in left.atoms):
            yield left, factor


def loops_of(number: Polynomial) -> set[scf.ForOp]:
    """The loops whose iterations a number counts."""
    return {atom.loop for atom in number.atoms if isinstance(atom, Rounds)}
