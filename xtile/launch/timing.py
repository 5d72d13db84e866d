"""How long launches of a kernel took, and what follows of the memory that it moved."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xtile.arguments.groups import Group

_GIGA = 1e9


@dataclass(frozen=True)
class Timing:
    """Several launches with the same arguments, after a first one that does not count.

    Attributes:
        seconds: How long each took, by the device's clock where it has one.
        moved: The bytes of all arrays, those that are written twice; a kernel that reads each
            element once and writes each once moves as many.
        flop: The floating-point operations of a launch; None where nobody says.
    """

    seconds: tuple[float, ...]
    moved: int
    flop: float | None

    @property
    def median(self) -> float:
        """The median of the seconds."""
        return statistics.median(self.seconds)

    def __str__(self) -> str:
        low, high = min(self.seconds), max(self.seconds)
        text = (
            f"{len(self.seconds)} launches: median {1000 * self.median:.3f} ms, "
            f"from {1000 * low:.3f} to {1000 * high:.3f} ms"
        )
        if self.moved:
            text += f"; {self.moved / self.median / _GIGA:.3g} GB/s of arguments"
        if self.flop is not None:
            text += f"; {self.flop / self.median / _GIGA:.3g} GFLOP/s"
        return text

    def words(self) -> dict[str, Any]:
        """The timing as JSON holds it."""
        return {
            "seconds": list(self.seconds),
            "median": self.median,
            "bytes": self.moved,
            "bytes_per_second": self.moved / self.median,
            "flop_per_second": None if self.flop is None else self.flop / self.median,
        }


def bytes_of(values: Sequence[Any], written: frozenset[int]) -> int:
    """The bytes of arrays among arguments, of those that are written twice."""
    sizes = (_size(value) * (2 if number in written else 1) for number, value in enumerate(values))
    return sum(sizes)


def _size(value: Any) -> int:
    if isinstance(value, Group):
        return sum(_size(entry) for entry in value.entries)
    return int(value.nbytes) if isinstance(value, np.ndarray) else 0
