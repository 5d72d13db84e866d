"""How reductions combine numbers."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from xdsl.ir import Operation

from xtile.semantics.upstream import floats, integers
from xtile.semantics.upstream.numbers import FLOATS, Kind, Number
from xtile.semantics.values import Array, Value, choose

_FLOATS = {
    "add": "addf",
    "mul": "mulf",
    "minnumf": "minnumf",
    "maxnumf": "maxnumf",
    "minimumf": "minimumf",
    "maximumf": "maximumf",
}

_INTEGERS = {
    "add": "addi",
    "mul": "muli",
    "minsi": "minsi",
    "minui": "minui",
    "maxsi": "maxsi",
    "maxui": "maxui",
    "and": "andi",
    "or": "ori",
    "xor": "xori",
}

_NEUTRAL_FLOATS = {
    "add": 0.0,
    "mul": 1.0,
    "minnumf": np.nan,
    "maxnumf": np.nan,
    "minimumf": np.inf,
    "maximumf": -np.inf,
}


def _neutral_integer(kind: str, bits: int) -> int:
    least = 1 << (bits - 1)
    return {"mul": 1, "minsi": least - 1, "minui": -1, "maxsi": least, "and": -1}.get(kind, 0)


class Combiner:
    """Combines numbers of a type.

    Floating numbers with fewer than 32 bits are combined as f32 and rounded in the end.

    Attributes:
        type: The type of the result.
        wide: The type in which numbers are combined.
    """

    def __init__(self, kind: str, type: Number) -> None:
        """Finds the function of a kind of reduction.

        Raises:
            ValueError: The kind does not combine numbers of the type.
        """
        is_integer = type.kind is Kind.INTEGER
        table = _INTEGERS if is_integer else _FLOATS
        if kind not in table or type.kind is Kind.COMPLEX:
            raise ValueError(f"<{kind}> cannot combine values of type {type.text}")
        self.type = type
        self.wide = type if is_integer or type.is_exact_width else FLOATS["f32"]
        functions = integers.BINARY if is_integer else floats.BINARY
        self._function = functions[table[kind]](self.wide)
        neutral = _neutral_integer(kind, type.bits) if is_integer else _NEUTRAL_FLOATS[kind]
        self.neutral = self.wide.number(neutral)
        """The number that changes no other one, in the wide type."""

    def widened(self, value: Value) -> Value:
        """Numbers of this type in the wide type."""
        return value if self.wide is self.type else value.astype(self.wide.dtype)

    def combined(self, a: Value, b: Value) -> Value:
        """Two numbers of the wide type combined."""
        return self._function(a, b)

    def rounded(self, value: Value) -> Value:
        """Numbers of the wide type in the type of the result."""
        return value if self.wide is self.type else self.type.rounded(value)

    def folded(self, entries: Array, start: Value = None, mask: Array | None = None) -> Value:
        """All entries along the first axis, and the start if there is one, in the wide type.

        Args:
            entries: The numbers in the wide type.
            start: What they are combined with.
            mask: Which of them count, with the axes of the entries; None: all.
        """
        total = start
        if total is None:
            total, entries = (entries[0], entries[1:]) if mask is None else (self.neutral, entries)
        for i, entry in enumerate(entries):
            joined = self.combined(total, entry)
            total = joined if mask is None else choose(mask[i], joined, total)
        return total


def kind_of(operation: Operation) -> str:
    """The kind of a reduction, by upstream's name."""
    return str(cast("Any", operation.properties["kind"]).data)
