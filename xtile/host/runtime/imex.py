"""The functions of IMEX's runtime library: what fills and compares memrefs, products as references.

Source: IMEX, `ExecutionEngine/ImexRunnerUtils.cpp`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from xtile.host.memory import writable
from xtile.host.runtime.function import Context, RuntimeFunction, unranked
from xtile.host.runtime.texts import float_text
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.memory import View
from xtile.semantics.values import Array

_FLOATS = ("F16", "BF16", "F32")

_ABSOLUTE_TOLERANCE = np.float32(1e-4)
_RELATIVE_TOLERANCE = np.float32(1e-3)


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


def _fill(context: Context, view: View, value: Any) -> None:
    array = writable(view)
    array[...] = value.astype(array.dtype)


def _fill_with_random(
    context: Context, view: View, lower: Any, upper: Any, is_integer: Any
) -> None:
    """Numbers between two bounds, equally likely; of integers the fraction is cut off."""
    array = writable(view)
    numbers = context.generator.uniform(lower, upper, array.shape)
    if is_integer:
        numbers = np.trunc(numbers)
    # As in C++, a number is rounded to f32 first.
    array[...] = numbers.astype(np.float32).astype(array.dtype)


def _gemm(rounded_to: type) -> Callable[[Context, View, View, View], None]:
    """C + A B with products and sums in f32, rounded once to a type and held as f32."""

    def run(context: Context, a: View, b: View, c: View) -> None:
        left, right, result = a.array(), b.array(), writable(c)
        shapes = left.shape, right.shape, result.shape
        if any(len(shape) != 2 for shape in shapes):
            raise UnlocatedError(f"expected three matrices, got memrefs of the shapes {shapes}")
        if (left.shape[0], right.shape[1]) != result.shape or left.shape[1] != right.shape[0]:
            raise UnlocatedError(f"matrices of the shapes {shapes} do not fit together")
        with np.errstate(all="ignore"):
            product = np.matmul(left.astype(np.float32), right.astype(np.float32))
            result[...] = (result + product).astype(rounded_to).astype(np.float32)

    return run


FUNCTIONS: dict[str, RuntimeFunction] = {
    **{
        f"allclose{suffix}": RuntimeFunction((unranked(suffix), unranked("F32")), "i1", _is_close)
        for suffix in _FLOATS
    },
    **{
        f"printAllclose{suffix}": RuntimeFunction(
            (unranked(suffix), unranked("F32")), None, _print_is_close
        )
        for suffix in _FLOATS
    },
    **{
        f"printMaxError{suffix}": RuntimeFunction(
            (unranked(suffix), unranked(suffix)), None, _print_largest_errors
        )
        for suffix in _FLOATS
    },
    **{
        f"fillResource1D{suffix}": RuntimeFunction((unranked(suffix), "f32"), None, _fill)
        for suffix in _FLOATS
    },
    **{
        f"fillResource1DRandom{suffix}": RuntimeFunction(
            (unranked(suffix), "f32", "f32", "i1"), None, _fill_with_random
        )
        for suffix in _FLOATS
    },
    **{
        f"gemm{source}{source}{result}": RuntimeFunction(
            (unranked(source), unranked(source), unranked("F32")), None, _gemm(rounded_to)
        )
        for source, result, rounded_to in (
            ("F16", "F32", np.float32),
            ("F16", "F16", np.float16),
            ("BF16", "F32", np.float32),
            ("BF16", "BF16", ml_dtypes.bfloat16),
            ("F32", "F32", np.float32),
        )
    },
}
"""The functions by name."""
