"""Conversions between types of numbers.

Source: MLIR (LLVM 22), `Dialect/Arith/IR/ArithOps.td`; docs/semantics.md, "Upstream dialects".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xtile.semantics.upstream.numbers import Number
from xtile.semantics.values import (
    Array,
    NumberFunction,
    Value,
    choose,
    contiguous,
    floats_of,
    i64_to_f64_by_odd,
    is_exact,
    u64_to_f64_by_odd,
)


def sign_extension(source: Number, target: Number) -> NumberFunction:
    """Integers to integers of any width as signed numbers; high bits are cut off."""
    return lambda value: target.wrapped(source.signed(value))


def zero_extension(source: Number, target: Number) -> NumberFunction:
    """Integers to integers of any width as unsigned numbers; high bits are cut off."""
    return lambda value: target.wrapped(source.unsigned(value))


def extension(source: Number, target: Number) -> NumberFunction:
    """Floating numbers to a type that holds them exactly."""
    return lambda value: target.rounded(source.wide(value))


def truncation(source: Number, target: Number) -> NumberFunction:
    """Floating numbers to a type with fewer bits, to nearest, ties to even."""
    return lambda value: target.rounded(source.wide(value))


def directed_truncation(source: Number, target: Number, mode: str) -> NumberFunction:
    """Floating numbers to a type with fewer bits, in a rounding mode that `arith` names.

    Raises:
        ValueError: The mode is not known.
    """
    select = _MODES.get(mode)
    if select is None:
        raise ValueError(f"there is no rounding mode '{mode}'; write {', '.join(_MODES)}")

    def convert(value: Value) -> Value:
        if is_exact(value):
            return target.rounded(value)
        exact = source.wide(value).astype(np.float64)
        near = target.rounded(exact)
        is_above = near.astype(np.float64) > exact
        neighbour = target.next_after(near, is_above)
        is_equal = (near.astype(np.float64) == exact) | np.isnan(exact)
        low, high = choose(is_above, neighbour, near), choose(is_above, near, neighbour)
        return choose(is_equal, near, choose(select(exact, low, high), high, low))

    return convert


def _takes_even(exact: Value, low: Value, high: Value) -> Value:
    """Whether the upper neighbour is nearer, or as near and even."""
    below, above = exact - low.astype(np.float64), high.astype(np.float64) - exact
    bits = np.asanyarray(high).view(f"u{high.dtype.itemsize}")
    return (above < below) | ((above == below) & (bits % 2 == 0))


def _takes_away(exact: Value, low: Value, high: Value) -> Value:
    """Whether the upper neighbour is nearer, or as near and farther from zero."""
    below, above = exact - low.astype(np.float64), high.astype(np.float64) - exact
    return (above < below) | ((above == below) & (exact > 0))


_MODES: dict[str, Callable[[Value, Value, Value], Value]] = {
    "to_nearest_even": _takes_even,
    "downward": lambda exact, low, high: np.zeros(np.shape(exact), np.bool_)[()],
    "upward": lambda exact, low, high: np.ones(np.shape(exact), np.bool_)[()],
    "toward_zero": lambda exact, low, high: exact < 0,
    "to_nearest_away": _takes_away,
}
"""Whether the upper of two neighbours is taken for a number between them."""

ROUNDING_MODES = ("to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away")
"""The rounding modes in the order of their numbers."""


def from_integer(source: Number, target: Number, is_signed: bool) -> NumberFunction:
    """Integers to floating numbers."""
    sign = source.signed if is_signed else source.unsigned

    def rounded(whole: Value) -> Value:
        if target.is_exact_width:
            return whole.astype(target.dtype)
        if is_signed:
            return target.rounded(i64_to_f64_by_odd(whole.astype(np.int64)))
        return target.rounded(u64_to_f64_by_odd(whole.astype(np.uint64)))

    return lambda value: floats_of(sign(value), target.dtype, rounded)


def to_integer(source: Number, target: Number, is_signed: bool) -> NumberFunction:
    """Floating numbers to integers, without the fraction.

    What is out of range becomes the nearest integer of the type, and NaN becomes 0.
    """
    least, past = _range(target, is_signed)
    dtype: np.dtype[Any] = np.dtype(np.int64 if is_signed else np.uint64)

    def convert(value: Value) -> Value:
        whole = np.trunc(value.astype(np.float64))
        is_small, is_large = whole < least, whole >= past
        inside = choose(is_small | is_large | np.isnan(whole), np.float64(0), whole).astype(dtype)
        limit = choose(is_small, dtype.type(least), dtype.type(past - 1))
        return target.wrapped(choose(is_small | is_large, limit, inside))

    return convert


def is_outside(target: Number, is_signed: bool, value: Value) -> Array:
    """Which floating numbers are no integers of a type without their fraction."""
    least, past = _range(target, is_signed)
    whole = np.trunc(value.astype(np.float64))
    return np.asanyarray(~((whole >= least) & (whole < past)))


def _range(number: Number, is_signed: bool) -> tuple[int, int]:
    """The least integer of a type, and the first one past it."""
    return (-(2 ** (number.bits - 1)), 2 ** (number.bits - 1)) if is_signed else (0, 2**number.bits)


def bitcast(source: Number, target: Number) -> NumberFunction:
    """Numbers as numbers of another type with the same bits.

    Raises:
        ValueError: The types differ in width.
    """
    if source.bits != target.bits or source.dtype.itemsize != target.dtype.itemsize:
        raise ValueError(f"{source.text} and {target.text} differ in width")
    dtype = target.dtype
    return lambda value: contiguous(value).view(dtype).reshape(np.shape(value))[()]
