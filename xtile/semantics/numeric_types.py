"""How numbers of the tensor language's types are held in numpy, and converted to other types.

Every operation on numpy scalars and arrays of a type gives numbers of the same type, so results are
rounded (or wrap around) at each operation. Conversions, also of constants and of numbers given by
the host, round once to nearest, ties to even.

Source: tensor language reference, sections "Cast" and "Constant"; docs/semantics.md, "Casts".
"""

from __future__ import annotations

from typing import Any, cast

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute

from xtile.dialects.tensorlang import types
from xtile.dialects.tensorlang.operation import array_entries, integer_value
from xtile.semantics.values import (
    NumberFunction,
    Value,
    f64_to_f32_by_odd,
    floats_of,
    i64_to_f64_by_odd,
)

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

_EXACT_IN_F32 = frozenset({types.I8, types.I16, types.BF16, types.F16, types.F32})


def numpy_type(type: Attribute) -> np.dtype[Any]:
    """The numpy type of a scalar type, or of a cooperative matrix's or memref's elements."""
    if isinstance(type, types.MemrefType):
        return NUMPY_TYPES[type.element_type]
    return NUMPY_TYPES[types.component_type(type)]


def is_integer(type: Attribute) -> bool:
    """Whether `type` is an integer type, and not bool."""
    return type in types.INTEGER_TYPES


def cast_function(source: Attribute, target: Attribute) -> NumberFunction:
    """The function that converts a scalar or an array of `source` to `target`.

    Floating numbers become integers by cutting the fraction off; what is out of range becomes
    the nearest integer of the type, NaN becomes 0. Integers wrap around.

    Raises:
        ValueError: The language forbids the cast: complex types convert only to complex types.
    """
    if source == target:
        return lambda value: value
    if not types.is_cast_allowed(source, target):
        raise ValueError(
            f"no cast from {types.type_text(source)} to {types.type_text(target)} exists"
        )
    if target in types.COMPLEX_TYPES:
        return _to_complex(source, target)
    if is_integer(source) and target in types.FLOATING_TYPES:
        return _from_integer(source, target)
    if target == types.BF16:
        return _to_bf16(source)
    if is_integer(source) or not is_integer(target):
        # numpy wraps integers, and rounds all numbers to f16, f32 and f64 once.
        return _as_type(NUMPY_TYPES[target])
    return _to_integer(NUMPY_TYPES[target])


def _from_integer(source: Attribute, target: Attribute) -> NumberFunction:
    dtype = NUMPY_TYPES[target]
    rounded = _to_bf16(source) if target == types.BF16 else _as_type(dtype)
    return lambda value: floats_of(value, dtype, rounded)


def _as_type(dtype: np.dtype[Any]) -> NumberFunction:
    def convert(value: Value) -> Value:
        return value.astype(dtype)

    return convert


def _to_complex(source: Attribute, target: Attribute) -> NumberFunction:
    dtype = NUMPY_TYPES[target]
    if source in types.COMPLEX_TYPES:
        return _as_type(dtype)
    to_part = cast_function(source, types.real_part_type(target))
    return lambda value: to_part(value).astype(dtype)


def _to_bf16(source: Attribute) -> NumberFunction:
    if source in _EXACT_IN_F32:
        return lambda value: value.astype(np.float32).astype(ml_dtypes.bfloat16)
    if source in (types.I64, types.INDEX):
        return lambda value: _f64_to_bf16(i64_to_f64_by_odd(value))
    return lambda value: _f64_to_bf16(value.astype(np.float64))


def _f64_to_bf16(value: Value) -> Value:
    """f64 to bf16 in one rounding."""
    return f64_to_f32_by_odd(value).astype(ml_dtypes.bfloat16)


def _to_integer(dtype: np.dtype[Any]) -> NumberFunction:
    info = np.iinfo(dtype)
    # 2^63 - 1 is no f64; from 2^63 on, everything is out of range.
    least, past = float(info.min), float(info.max) if dtype.itemsize < 8 else 2.0**63

    def convert(value: Value) -> Value:
        wide = np.trunc(value.astype(np.float64))
        is_small, is_large = wide <= least, wide >= past
        is_outside = is_small | is_large | np.isnan(wide)
        inside = np.where(is_outside, 0.0, wide).astype(dtype)
        limit = np.where(is_small, info.min, np.where(is_large, info.max, 0)).astype(dtype)
        return np.where(is_outside, limit, inside)[()]

    return convert


def constant_value(value: Attribute, type: Attribute) -> np.generic:
    """The number that a constant's attribute stands for, rounded once to the scalar `type`.

    Integers wrap around.

    Raises:
        ValueError: The attribute is no constant of that type.
    """
    if isinstance(value, IntegerAttr) and (type == types.BOOL or is_integer(type)):
        return number_of(integer_value(cast("Attribute", value)), type)
    if isinstance(value, FloatAttr) and type in types.FLOATING_TYPES:
        return number_of(_float_value(value), type)
    parts = array_entries(cast("Attribute", value))
    if parts is not None and type in types.COMPLEX_TYPES:
        return number_of(complex(*(_float_value(part) for part in parts)), type)
    raise ValueError(f"{value} is no constant of type {types.type_text(type)}")


def _float_value(attribute: Any) -> float:
    if not isinstance(attribute, FloatAttr):
        raise ValueError(f"expected a floating constant, but got {attribute}")
    return attribute.value.data


def number_of(value: Any, type: Attribute) -> np.generic:
    """A Python or numpy number, rounded once to `type`; integers wrap around."""
    if type == types.BOOL:
        return np.bool_(value)
    if is_integer(type):
        bits = np.uint64(int(value) % 2**64).astype(np.int64)
        return cast_function(types.I64, type)(bits)
    wide = types.C64 if type in types.COMPLEX_TYPES else types.F64
    return cast_function(wide, type)(NUMPY_TYPES[wide].type(value))
