"""Numpy's functions that only move elements, done on the places of the elements.

What such a function does with the arrays that it is given, it does with arrays of the same shapes
in which each element is a number of its own. The result says where each element comes from.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt

_ALONE = (
    *("broadcast_to", "delete", "diagonal", "expand_dims", "flip", "moveaxis", "ravel", "repeat"),
    *("reshape", "roll", "rollaxis", "rot90", "split", "squeeze", "swapaxes", "take"),
    *("take_along_axis", "tile", "transpose"),
)

ALONE: frozenset[Any] = frozenset(getattr(np, name) for name in _ALONE)
"""Functions that move the elements of their first argument."""

_TOGETHER = ("append", "concatenate", "extract", "hstack", "select", "stack", "vstack", "where")

TOGETHER: frozenset[Any] = frozenset(getattr(np, name) for name in _TOGETHER)
"""Functions that give elements of several arrays."""

_CONDITIONS: frozenset[Any] = frozenset((np.where, np.select, np.extract))
"""Those whose first argument says which elements are taken, and where numbers may be elements."""

SHAPES: frozenset[Any] = frozenset((np.shape, np.ndim, np.size, np.may_share_memory))
"""Functions that ask for no elements."""


def indexed(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], Any]:
    """The arrays that a function takes elements from, and which of all their elements it gives.

    The elements are numbered through all the arrays, in row-major order.
    """
    sources: list[Any] = []
    count = 0
    takes_numbers = func in _CONDITIONS

    def places(value: Any) -> Any:
        nonlocal count
        if isinstance(value, list | tuple):
            entries = cast("Any", value)
            return [places(each) for each in entries]
        if not (hasattr(value, "dtype") or (takes_numbers and isinstance(value, float | int))):
            return value
        sources.append(value)
        shape = np.shape(value)
        first, count = count, count + int(np.prod(shape))
        numbered: npt.NDArray[np.int64] = np.arange(first, count).reshape(shape)
        return numbered

    moved = [each if takes_numbers and not i else places(each) for i, each in enumerate(args)]
    named = {name: places(each) for name, each in kwargs.items()}
    return sources, func(*moved, **named)
