"""Conversions between number types, each with one rounding to nearest, ties to even.

Source: tensor language reference, section "Cast"; docs/semantics.md, "Casts".
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from xdsl.ir import Attribute

from xtile.dialects.tensorlang import types
from xtile.semantics.numeric_types import NUMPY_TYPES, is_integer
from xtile.semantics.rounding import f64_to_f32_by_odd, i64_to_f64_by_odd
from xtile.semantics.values import NumberFunction, Value, floats_of

_EXACT_IN_F32 = frozenset({types.I8, types.I16, types.BF16, types.F16, types.F32})


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
