"""Integers and tiles of integers as polynomials: a base, and a stride along each dimension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from math import prod

from xtile.arguments.launch_checks import LaunchCheck
from xtile.transforms.structure.boxes import Bound, Box, moved
from xtile.transforms.structure.polynomials import ONE, ZERO, Polynomial


class NotAffineError(Exception):
    """Why something is not affine, in words."""


@dataclass(frozen=True)
class Affine:
    """An integer, or a tile of some: the one with indices i, j is `base + i strides[0] + j ..`.

    Attributes:
        shape: The sizes of the tile; none of an integer.
        base: That with indices 0.
        strides: How much more the next one is along each dimension; 0 along those of size 1.
        needs: What a launch must find for this to be so.
        only: Where it is so; elsewhere the integers are others.
    """

    shape: tuple[int, ...]
    base: Polynomial
    strides: tuple[Polynomial, ...]
    needs: frozenset[LaunchCheck] = frozenset()
    only: tuple[Bound, ...] = ()

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
        only = tuple(dict.fromkeys((*self.only, *other.only)))
        return Affine(self.shape, self.base + other.base, strides, self.needs | other.needs, only)

    def __sub__(self, other: Affine) -> Affine:
        return self + other.scaled(Polynomial.of(-1))

    def scaled(self, factor: Polynomial) -> Affine:
        """The product with a number."""
        strides = tuple(stride * factor for stride in self.strides)
        return replace(self, base=self.base * factor, strides=strides)

    def needing(self, needs: frozenset[LaunchCheck]) -> Affine:
        """The same, if a launch finds something more."""
        return replace(self, needs=self.needs | needs)

    def moved(self, dimensions: Sequence[int | None], shape: Sequence[int]) -> Affine:
        """A tile of another shape, along each dimension of which one of this tile lies, or none."""
        along = {i: self.strides[d] for i, d in enumerate(dimensions) if d is not None}
        places = {d: i for i, d in enumerate(dimensions) if d is not None}
        tile = Affine.of(shape, self.base, along, self.needs)
        return replace(tile, only=moved(self.only, places))


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
    kept = {one[0]: other[0] for one, other in groups if len(one) + len(other) == 2}
    if any(bound.dimension not in kept for bound in tile.only):
        return None
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
    result = Affine.of(shape, tile.base, strides, tile.needs)
    return replace(result, only=moved(tile.only, kept))


def where_not_negative(difference: Affine) -> Box:
    """Where an affine tile is 0 or more.

    Raises:
        NotAffineError: The elements are no box.
    """
    varying = difference.varying
    if not varying:
        return Box(not_negative=(difference.base,))
    if len(varying) > 1:
        raise NotAffineError("its mask compares indices along several dimensions with each other")
    (dimension,) = varying
    stride, base = difference.strides[dimension].constant, difference.base
    if stride == 1:
        return Box((Bound(dimension, False, -base),))
    if stride == -1:
        return Box((Bound(dimension, True, base + ONE),))
    if stride is None or base.constant is None:
        raise NotAffineError("its mask compares multiples of indices")
    if stride > 0:
        return Box((Bound(dimension, False, Polynomial.of(-(base.constant // stride))),))
    end = Polynomial.of(base.constant // -stride + 1)
    return Box((Bound(dimension, True, end),))
