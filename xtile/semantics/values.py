"""Values at run time, whatever language and type they come from.

A value that all work-items share is a numpy scalar, one that varies an array; `state.State` says
which axes it has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"

Value: TypeAlias = Any
"""What an SSA value is at run time: a numpy scalar or array, or an object such as a memref."""

NumberFunction: TypeAlias = Callable[[Value], Value]


def is_array(value: Value) -> TypeGuard[Array]:
    """Whether a number is an array, and not a scalar that all work-items share."""
    return isinstance(value, np.ndarray)


# The type checker cannot follow numpy.where on values of any type.
_WHERE: Any = np.where


def choose(condition: Value, chosen: Value, other: Value) -> Value:
    """`chosen` where a condition holds, `other` elsewhere; scalars give a scalar."""
    return _WHERE(condition, chosen, other)[()]


def with_axes(value: Value, count: int) -> Value:
    """An array with `count` more axes of length 1 at the end; a scalar stays one."""
    if count <= 0 or not is_array(value):
        return value
    return value.reshape(*value.shape, *(1,) * count)


def first_where(value: Value, chosen: npt.NDArray[np.bool_]) -> Value:
    """The value in the first work-item of `chosen`, which has the shape of all work-items."""
    return np.broadcast_to(value, chosen.shape).flat[int(np.argmax(chosen))]
