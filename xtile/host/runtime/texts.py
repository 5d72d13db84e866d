"""Numbers as the streams and the formats of C++ show them, with 6 significant digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xtile.semantics.values import Array


def float_text(value: Any) -> str:
    """A real number; a NaN shows its sign."""
    if np.isnan(value):
        return "-nan" if np.signbit(value) else "nan"
    return f"{float(value):g}"


def complex_text(value: Any) -> str:
    """A complex number."""
    return f"({float_text(value.real)},{float_text(value.imag)})"


def character_text(value: Any) -> str:
    """An i8, which C++ takes for a character."""
    return chr(int(value) % 2**8)


def unsigned_text(value: Any) -> str:
    """An i64 or index without a sign."""
    return str(int(value) % 2**64)


def integer_text(value: Any) -> str:
    """An integer with a sign."""
    return str(int(value))


ELEMENT_TEXTS: dict[str, Callable[[Any], str]] = {
    "I8": character_text,
    "I16": integer_text,
    "I32": integer_text,
    "I64": integer_text,
    "Ind": unsigned_text,
    "F16": float_text,
    "BF16": float_text,
    "F32": float_text,
    "F64": float_text,
    "C32": complex_text,
    "C64": complex_text,
}
"""What shows an element, by the end of a function's name."""


def array_text(array: Array, text: Callable[[Any], str]) -> str:
    """The elements of an array between brackets, each row in a line."""
    if array.ndim == 0:
        return f"[{text(array[()])}]"
    return _nested_text(array, text, array.ndim)


def _nested_text(array: Array, text: Callable[[Any], str], rank: int) -> str:
    line = "" if array.ndim == 1 else "\n"
    separator = f", {line}{' ' * (rank - array.ndim + 1)}"
    entries = (
        map(text, array) if array.ndim == 1 else (_nested_text(row, text, rank) for row in array)
    )
    return f"[{separator.join(entries)}]"
