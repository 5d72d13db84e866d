"""How numbers of each type are held in numpy.

A value that all work-items share is a numpy scalar, one that varies an array; every operation on
either gives a number of the same type, so results are rounded (or wrap around) at each operation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeGuard

import ml_dtypes
import numpy as np
import numpy.typing as npt
from xdsl.ir import Attribute

from xtile.dialects.tensorlang import types

Array: TypeAlias = "npt.NDArray[Any]"

Value: TypeAlias = Any
"""What an SSA value is at run time: a numpy scalar or array, or a memref or group."""

NumberFunction: TypeAlias = Callable[[Value], Value]

NUMPY_TYPES: dict[Attribute, np.dtype[Any]] = {
    types.BOOL: np.dtype(np.bool_),
    types.I8: np.dtype(np.int8),
    types.I16: np.dtype(np.int16),
    types.I32: np.dtype(np.int32),
    types.I64: np.dtype(np.int64),
    types.INDEX: np.dtype(np.int64),
    types.BF16: np.dtype(ml_dtypes.bfloat16),
    types.F16: np.dtype(np.float16),
    types.F32: np.dtype(np.float32),
    types.F64: np.dtype(np.float64),
    types.C32: np.dtype(np.complex64),
    types.C64: np.dtype(np.complex128),
}
"""The numpy type of each scalar type."""

_ACCUMULATION_TYPES: dict[Attribute, Attribute] = {
    types.I8: types.I32,
    types.BF16: types.F32,
    types.F16: types.F32,
}


def is_array(value: Value) -> TypeGuard[Array]:
    """Whether a number is an array, and not a scalar that all work-items share."""
    return isinstance(value, np.ndarray)


# The type checker cannot follow numpy.where on values of any type.
_WHERE: Any = np.where


def choose(condition: Value, chosen: Value, other: Value) -> Value:
    """`chosen` where a condition holds, `other` elsewhere; scalars give a scalar."""
    return _WHERE(condition, chosen, other)[()]


def numpy_type(type: Attribute) -> np.dtype[Any]:
    """The numpy type of a scalar type, or of a cooperative matrix's or memref's elements."""
    if isinstance(type, types.MemrefType):
        return NUMPY_TYPES[type.element_type]
    return NUMPY_TYPES[types.component_type(type)]


def accumulation_type(type: Attribute) -> Attribute:
    """The type in which products and sums that end in `type` are computed before one rounding."""
    return _ACCUMULATION_TYPES.get(type, type)


def is_integer(type: Attribute) -> bool:
    """Whether `type` is an integer type, and not bool."""
    return type in types.INTEGER_TYPES


def first_where(value: Value, chosen: npt.NDArray[np.bool_]) -> Value:
    """The value in the first work-item of `chosen`, which has the shape of all work-items."""
    return np.broadcast_to(value, chosen.shape).flat[int(np.argmax(chosen))]
