"""Functions that compare memrefs.

Source: IMEX, `ExecutionEngine/ImexRunnerUtils.cpp`; MLIR (LLVM 22),
`ExecutionEngine/RunnerUtils.h`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from xtile.host.runtime.function import ELEMENT_TYPES, Context, RuntimeFunction, unranked
from xtile.host.runtime.printing import metadata_text
from xtile.host.runtime.texts import ELEMENT_TEXTS, float_text
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.memory import View
from xtile.semantics.values import Array

_ABSOLUTE_TOLERANCE = np.float32(1e-4)
_RELATIVE_TOLERANCE = np.float32(1e-3)

_VERIFIED = {"F32": 1e-6, "F64": 1e-12}
"""The relative error up to which floating numbers are equal; all others must be the same."""

_SHOWN_ERRORS = 10


def _flat(first: View, second: View) -> tuple[Array, Array]:
    """The elements of two memrefs in row-major order.

    Raises:
        UnlocatedError: They have different numbers of elements.
    """
    one, other = first.array().reshape(-1), second.array().reshape(-1)
    if one.size != other.size:
        raise UnlocatedError(f"memrefs of {one.size} and {other.size} elements cannot be compared")
    return one, other


def _is_close(context: Context, given: View, expected: View) -> np.bool_:
    """Whether all elements are close to what is expected; a NaN is close to nothing.

    IMEX itself takes a NaN for close to everything, so that what was never written passes.
    """
    one, other = (part.astype(np.float32) for part in _flat(given, expected))
    with np.errstate(all="ignore"):
        limit = _ABSOLUTE_TOLERANCE + _RELATIVE_TOLERANCE * np.abs(other)
        is_close = (np.abs(one - other) <= limit) | (one == other)
    return np.bool_(is_close.all())


def _print_is_close(context: Context, given: View, expected: View) -> None:
    is_close = _is_close(context, given, expected)
    sys.stdout.write(f"[ALLCLOSE: {'TRUE' if is_close else 'FALSE'}]\n")


def _print_largest_errors(context: Context, first: View, second: View) -> None:
    one, other = (part.astype(np.float64) for part in _flat(first, second))
    with np.errstate(all="ignore"):
        error = np.abs(one - other)
        relative = error / np.fmax(np.abs(one), np.abs(other))
    for name, errors in (("absolute", error), ("relative", relative)):
        # A NaN is never larger than another error.
        known = np.nan_to_num(errors, nan=0.0, posinf=np.inf)
        position = int(known.argmax()) if known.size else 0
        largest = known[position] if known.size else 0.0
        i, j = (one[position], other[position]) if largest > 0 else (np.inf, np.inf)
        sys.stdout.write(
            f"Max {name} error {float_text(largest)} at idx={position} "
            f"(i={float_text(i)}, j={float_text(j)})\n"
        )


def _verifier(suffix: str) -> Callable[[Context, View, View], np.int64]:
    """Counts the elements that are wrong, and shows the first ones on standard error."""
    text = ELEMENT_TEXTS[suffix]

    def run(context: Context, given: View, expected: View) -> np.int64:
        if _layout(given) != _layout(expected):
            sys.stderr.write(metadata_text(context, given) + metadata_text(context, expected))
            return np.int64(-1)
        one, other = given.array(), expected.array()
        wrong = np.argwhere(~_are_equal(suffix, one, other))
        for index in map(tuple, wrong[:_SHOWN_ERRORS]):
            position = given.element([int(number) for number in index])
            sys.stderr.write(f"{text(one[index])} != {text(other[index])} offset = {position}\n")
        return np.int64(len(wrong))

    return run


def _layout(view: View) -> tuple[Any, ...]:
    return view.offset, view.shape, view.strides


def _are_equal(suffix: str, given: Array, expected: Array) -> Array:
    if suffix in ("F16", "BF16"):
        return given.view(np.int16) == expected.view(np.int16)
    if suffix not in _VERIFIED:
        return given == expected
    with np.errstate(all="ignore"):
        limit = given.dtype.type(_VERIFIED[suffix]) * np.abs(expected)
        is_near = np.abs(given - expected) <= limit
    return is_near & np.isfinite(given) & np.isfinite(expected)


_CLOSE = ("F16", "BF16", "F32")

FUNCTIONS: dict[str, RuntimeFunction] = {
    **{
        f"allclose{suffix}": RuntimeFunction((unranked(suffix), unranked("F32")), "i1", _is_close)
        for suffix in _CLOSE
    },
    **{
        f"printAllclose{suffix}": RuntimeFunction(
            (unranked(suffix), unranked("F32")), None, _print_is_close
        )
        for suffix in _CLOSE
    },
    **{
        f"printMaxError{suffix}": RuntimeFunction(
            (unranked(suffix), unranked(suffix)), None, _print_largest_errors
        )
        for suffix in _CLOSE
    },
    **{
        f"verifyMemRef{suffix}": RuntimeFunction(
            (unranked(suffix), unranked(suffix)), "i64", _verifier(suffix)
        )
        for suffix in ELEMENT_TYPES
    },
}
"""The functions by name."""
