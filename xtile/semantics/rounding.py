"""Rounding to types with few bits, once.

Source: S. Boldo and G. Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms
using rounding to odd": a number that is rounded to odd first is rounded as if it were exact later.
"""

from __future__ import annotations

import numpy as np

from xtile.semantics.values import Value, choose, is_exact


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
