"""How reductions combine numbers."""

from __future__ import annotations

import operator
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
        if mask is None:
            return self.accumulated(entries, start)[-1]
        total = self.neutral if start is None else start
        for i, entry in enumerate(entries):
            total = choose(mask[i], self.combined(total, entry), total)
        return total

    def accumulated(self, entries: Array, start: Value = None) -> Any:
        """The start, if there is one, and for each entry all up to it combined, in this order.

        Args:
            entries: The numbers in the wide type, along the first axis.
            start: What they are combined with.
        """
        ufunc = _UFUNCS.get(self._function)
        if ufunc is not None and type(entries) is np.ndarray and _is_plain(start, entries):
            made = ufunc.accumulate(_beginning_with(start, entries), axis=0, dtype=entries.dtype)
            # Which one of two NaNs stays is not the same for single numbers.
            if not np.isnan(made[-1]).any():
                return made
        totals: list[Value] = [entries[0] if start is None else start]
        for entry in entries[1:] if start is None else entries:
            totals.append(self.combined(totals[-1], entry))
        return totals


_UFUNCS = {operator.add: np.add, operator.mul: np.multiply}
"""The functions that numpy applies to one entry after the other."""


def _is_plain(start: Value, entries: Array) -> bool:
    """Whether numpy's arrays or numbers, of the type of the entries, are what there is to begin."""
    return start is None or (
        type(start) in (np.ndarray, entries.dtype.type) and start.dtype == entries.dtype
    )


def _beginning_with(start: Value, entries: Array) -> Array:
    if start is None:
        return entries
    shape = np.broadcast_shapes(np.shape(start), entries.shape[1:])
    aligned = entries.reshape(
        len(entries), *[1] * (len(shape) + 1 - entries.ndim), *entries.shape[1:]
    )
    others = np.broadcast_to(aligned, (len(entries), *shape))
    return np.concatenate([np.broadcast_to(start, (1, *shape)), others])


def kind_of(operation: Operation) -> str:
    """The kind of a reduction, by upstream's name."""
    return str(cast("Any", operation.properties["kind"]).data)
