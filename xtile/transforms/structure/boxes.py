"""Boxes: ranges of a tile's indices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from xdsl.ir import SSAValue

from xtile.arguments.launch_checks import LaunchCheck
from xtile.transforms.structure.polynomials import ONE, Polynomial


@dataclass(frozen=True)
class Bound:
    """An end of a range of indices along a dimension.

    Attributes:
        dimension: The dimension.
        is_upper: Whether indices are below the number; else none is below it.
        number: The number.
    """

    dimension: int
    is_upper: bool
    number: Polynomial

    def implies(self, other: Bound) -> bool:
        """Whether indices that keep to this end certainly keep to another one."""
        if (self.dimension, self.is_upper) != (other.dimension, other.is_upper):
            return False
        distance = (other.number - self.number).constant
        return distance is not None and (distance >= 0 if self.is_upper else distance <= 0)


def moved(bounds: Iterable[Bound], dimensions: Mapping[int, int]) -> tuple[Bound, ...]:
    """The bounds of those dimensions that have become others, in a tile of another shape."""
    return tuple(
        Bound(dimensions[bound.dimension], bound.is_upper, bound.number)
        for bound in bounds
        if bound.dimension in dimensions
    )


@dataclass(frozen=True)
class Box:
    """Indices of a tile.

    Attributes:
        bounds: Where they begin and end along dimensions.
        not_negative: Numbers that are 0 or more; else the box is empty.
        conditions: Truth values without an index that hold; else it is empty.
        needs: What a launch must find for this to be so.
    """

    bounds: tuple[Bound, ...] = ()
    not_negative: tuple[Polynomial, ...] = ()
    conditions: tuple[SSAValue, ...] = ()
    needs: frozenset[LaunchCheck] = frozenset()

    def __and__(self, other: Box) -> Box:
        return Box(
            tuple(dict.fromkeys((*self.bounds, *other.bounds))),
            self.not_negative + other.not_negative,
            tuple(dict.fromkeys((*self.conditions, *other.conditions))),
            self.needs | other.needs,
        )

    def moved(self, dimensions: Mapping[int, int]) -> Box:
        """A box in a tile of another shape, with the dimension that each of its own has become.

        Bounds of other dimensions, whose size is 1, are about index 0 only.
        """
        numbers = [
            bound.number - ONE if bound.is_upper else -bound.number
            for bound in self.bounds
            if bound.dimension not in dimensions
        ]
        return Box(
            moved(self.bounds, dimensions),
            (*self.not_negative, *numbers),
            self.conditions,
            self.needs,
        )
