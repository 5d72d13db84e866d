"""Functions that fill memrefs.

Source: IMEX, `ExecutionEngine/ImexRunnerUtils.cpp`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xtile.host.memory import writable
from xtile.host.runtime.function import Context, RuntimeFunction, unranked
from xtile.semantics.memory import View


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


_ELEMENTS = ("F16", "BF16", "F32")

FUNCTIONS: dict[str, RuntimeFunction] = {
    **{
        f"fillResource1D{suffix}": RuntimeFunction((unranked(suffix), "f32"), None, _fill)
        for suffix in _ELEMENTS
    },
    **{
        f"fillResource1DRandom{suffix}": RuntimeFunction(
            (unranked(suffix), "f32", "f32", "i1"), None, _fill_with_random
        )
        for suffix in _ELEMENTS
    },
}
"""The functions by name."""
