"""Values at run time, whatever language and type they come from.

A value that all work-items share is a numpy scalar, one that varies an array; `state.State` says
which axes it has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeGuard, TypeVar

import numpy as np
import numpy.typing as npt

from xtile.semantics.interpretation import interpretation

Array: TypeAlias = "npt.NDArray[Any]"

Value: TypeAlias = Any
"""What an SSA value is at run time: a numpy scalar or array, or an object such as a memref."""

_Given = TypeVar("_Given")

NumberFunction: TypeAlias = Callable[[Value], Value]


class Exact(np.ndarray[Any, Any]):
    """Arrays of floats that an interpretation computes with exactly: no conversion rounds them."""


def is_exact(*values: Value) -> bool:
    """Whether numbers are interpreted, so that there is nothing to round."""
    return any(isinstance(value, Exact) for value in values)


def is_array(value: Value) -> TypeGuard[Array]:
    """Whether a number is an array, and not a scalar that all work-items share."""
    # An interpretation holds scalars as arrays without dimensions.
    return isinstance(value, np.ndarray) and bool(value.ndim)


def contiguous(value: Value) -> Array:
    """An array, of an interpretation too, whose elements follow each other in row-major order."""
    array = np.asanyarray(value)
    array = array if array.flags.c_contiguous else array.copy()
    return array if array.ndim else array.reshape(1)


def interpreted(array: _Given) -> _Given:
    """A new array, or a number, as one of the launch's interpretation."""
    current = interpretation()
    return array if current is None else current.value(array)


def floats_of(integers: Value, dtype: np.dtype[Any], rounded: NumberFunction) -> Value:
    """Integers as floats of a type.

    Args:
        integers: The integers, with or without a sign as numpy's type says.
        dtype: The type of the floats.
        rounded: How the integers become floats where no interpretation computes exactly.
    """
    current = interpretation()
    return rounded(integers) if current is None else current.floats(integers, dtype)


def zeros_beside(data: Array, shape: Sequence[int]) -> Array:
    """A new array of zeros that can hold what memory holds, also the bytes of exact numbers."""
    return np.zeros_like(data, shape=tuple(shape))


def copied(value: Value) -> Array:
    """An array, of an interpretation too, that shares its memory with no other."""
    return np.asanyarray(value).copy()


def converted(value: Value, dtype: np.dtype[Any]) -> Array:
    """An array, of an interpretation too, of numbers of a type."""
    array = np.asanyarray(value)
    return array if array.dtype == dtype else array.astype(dtype)


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


# Rounding to types with few bits. A number that is rounded to odd first is rounded as if it were
# exact later: S. Boldo and G. Melquiond, "Emulation of FMA and correctly rounded sums: proved
# algorithms using rounding to odd".


def f64_to_f32_by_odd(value: Value) -> Value:
    """f64 to f32, rounded to odd: a later rounding to fewer bits is as if it were the only one."""
    if is_exact(value):
        return value.astype(np.float32)
    wide = np.asanyarray(value, np.float64)
    near = wide.astype(np.float32)
    bits = near.view(np.int32)
    is_inexact = (near != wide) & ~np.isnan(wide) & np.isfinite(near)
    is_too_large = np.abs(near.astype(np.float64)) > np.abs(wide)
    odd = (bits - is_too_large.astype(np.int32)) | np.int32(1)
    return np.where(is_inexact, odd, bits).astype(np.int32).view(np.float32)[()]


def i64_to_f64_by_odd(value: Value) -> Value:
    """i64 to f64, rounded to odd: a later rounding to fewer bits is as if it were the only one."""
    lost = value & np.int64(0x7FF)
    is_large = (value >= np.int64(2**53)) | (value <= np.int64(-(2**53)))
    odd = (value - lost) | np.where(lost != 0, np.int64(0x800), np.int64(0))
    return choose(is_large, odd, value).astype(np.float64)


def u64_to_f64_by_odd(value: Value) -> Value:
    """u64 to f64, rounded to odd."""
    half = ((value >> np.uint64(1)) | (value & np.uint64(1))).astype(np.int64)
    is_large = value >= np.uint64(2**63)
    signed = choose(is_large, half, value.astype(np.int64))
    wide = i64_to_f64_by_odd(signed)
    return choose(is_large, wide * np.float64(2), wide)
