"""Compares what two kernels have written, within the errors that either may make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xtile.arguments.copies import arrays_of
from xtile.arguments.signature import Parameter
from xtile.checking.outcomes import Outcomes, are_same
from xtile.checking.rounding_errors import is_inexact_type, is_subnormal, unit_of
from xtile.semantics.values import Array

_SAFETY = 4.0
"""How much farther than in a few runs with errors numbers may be: other errors may add up."""


@dataclass(frozen=True)
class Difference:
    """Where two launches differ the most, in proportion to what is allowed.

    Attributes:
        parameter: The name of the parameter, with the number of an entry of a group.
        index: The element.
        expected: What the source has there.
        found: What the port has there.
        error: How far apart both are.
        limit: How far apart they may be.
        is_wrong: Whether any element is too far away.
        wrong: How many are.
        total: How many elements the array has.
        first: The first one that is too far away; None where there is none.
    """

    parameter: str
    index: tuple[int, ...]
    expected: str
    found: str
    error: float
    limit: float
    is_wrong: bool
    wrong: int
    total: int
    first: tuple[int, ...] | None

    def __str__(self) -> str:
        if not self.error:
            return "none"
        where = f"{self.parameter}{list(self.index)}"
        if not self.is_wrong:
            return f"{self.error:.3g} of {self.limit:.3g} at {where}"
        return (
            f"{where} is {self.found} and not {self.expected}, off by {self.error:.3g} of "
            f"{self.limit:.3g}; {self.wrong} of {self.total} elements are wrong"
        )


@dataclass(frozen=True)
class Map:
    """The errors in an array, in proportion to what is allowed: 1 is the limit.

    Attributes:
        parameter: The array.
        ratios: The errors, of at most two dimensions.
    """

    parameter: str
    ratios: Array


class Expectation:
    """What a launch may give.

    Args:
        parameters: Those of the kernel.
        expected: The arguments after the source has run.
        runs: The same after runs with rounding errors; none where everything is exact.
        may_overflow: Whether inputs are so large that sums overflow, in one order or another.
    """

    def __init__(
        self,
        parameters: Sequence[Parameter],
        expected: Sequence[Any],
        runs: Sequence[Sequence[Any]],
        *,
        may_overflow: bool = False,
    ) -> None:
        self._entries: list[tuple[str, Array, Outcomes]] = []
        for number, (parameter, argument) in enumerate(zip(parameters, expected, strict=True)):
            others = [arrays_of(run[number]) for run in runs]
            arrays = arrays_of(argument)
            for entry, array in enumerate(arrays):
                name = parameter.name if len(arrays) == 1 else f"{parameter.name}[{entry}]"
                outcomes = _outcomes(array, [each[entry] for each in others])
                if may_overflow and runs:
                    outcomes.allow_any_overflow()
                self._entries.append((name, array, outcomes))

    def difference(self, arguments: Sequence[Any], slack: float = 1.0) -> Difference | None:
        """Where what another launch gave differs the most; None where there are no arrays.

        Args:
            arguments: The arguments after the launch.
            slack: How many times as far as usual numbers may be.
        """
        found = [array for argument in arguments for array in arrays_of(argument)]
        worst: Difference | None = None
        worst_ratio = -1.0
        for (name, expected, outcomes), array in zip(self._entries, found, strict=True):
            if expected.size == 0:
                continue
            difference, ratio = _difference(name, expected, outcomes, array, slack)
            if (difference.is_wrong, ratio) > (worst is not None and worst.is_wrong, worst_ratio):
                worst, worst_ratio = difference, ratio
        return worst

    def maps(self, arguments: Sequence[Any]) -> list[Map]:
        """The errors in each array that has some, as pictures."""
        found = [array for argument in arguments for array in arrays_of(argument)]
        maps: list[Map] = []
        for (name, expected, outcomes), array in zip(self._entries, found, strict=True):
            ratios = _ratios(outcomes, array)
            if expected.size and np.any(ratios > 0):
                flat = ratios.reshape(ratios.shape[0], -1) if ratios.ndim else ratios.reshape(1, 1)
                maps.append(Map(name, flat))
        return maps


def _outcomes(expected: Array, runs: Sequence[Array]) -> Outcomes:
    outcomes = Outcomes(expected, has_orders=False, safety=_SAFETY)
    for run in runs:
        outcomes.add(run)
    # Where the runs' errors vanish in a rounding, others may not.
    changes = any(not are_same(expected, run).all() for run in runs)
    if changes and is_inexact_type(expected.dtype):
        units = unit_of(expected)
        outcomes.allow(units / _SAFETY)
        # Errors in a few runs may cancel in one element, but not in most of them. Subnormal numbers
        # that became zeros have moved by more units than any others.
        counts = (units > 0) & ~is_subnormal(expected)
        moved = outcomes.farthest()[counts] / units[counts]
        outcomes.allow(units * (np.quantile(moved, _MOST) if moved.size else 0.0))
    return outcomes


_MOST = 0.75
"""The part of the elements that move by no more than what every element may, in units."""


def _ratios(outcomes: Outcomes, found: Array, slack: float = 1.0) -> Array:
    errors, limits = outcomes.errors(found), outcomes.limits(slack)
    with np.errstate(all="ignore"):
        ratios = np.where(errors > 0, errors / limits, 0.0)
    ratios = np.where(np.isnan(ratios), 0.0, ratios)
    # What is allowed for another reason, such as an overflow, is no error.
    return np.where(outcomes.allows(found, slack), np.minimum(ratios, 1.0), np.maximum(ratios, 2.0))


def _difference(
    name: str, expected: Array, outcomes: Outcomes, found: Array, slack: float
) -> tuple[Difference, float]:
    ratios, allowed = _ratios(outcomes, found, slack), outcomes.allows(found, slack)
    position = np.unravel_index(int(np.argmax(ratios)), ratios.shape)
    wrong = int(allowed.size - np.count_nonzero(allowed))
    first = None
    if wrong:
        first = tuple(map(int, np.unravel_index(int(np.argmin(allowed)), allowed.shape)))
    difference = Difference(
        parameter=name,
        index=tuple(map(int, position)),
        expected=str(expected[position]),
        found=str(found[position]),
        error=float(outcomes.errors(found)[position]),
        limit=float(outcomes.limits(slack)[position]),
        is_wrong=wrong > 0,
        wrong=wrong,
        total=int(expected.size),
        first=first,
    )
    return difference, float(ratios[position])
