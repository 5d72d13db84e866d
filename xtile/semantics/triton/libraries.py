"""The functions of vendors' libraries of mathematics, by the names without prefix and type.

They are computed in f64 and rounded once, so that the errors that the libraries make are not made
here.

Source: NVIDIA, "libdevice User's Guide"; AMD, "OCML User Guide" (device-libs).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np

from xtile.semantics.upstream import casts, floats, integers
from xtile.semantics.upstream.math import MEANINGS
from xtile.semantics.upstream.numbers import Number
from xtile.semantics.values import Value, choose

Function: TypeAlias = Callable[..., Value]
Meaning: TypeAlias = Callable[[Number, Number], Function]
"""Gives the function from the types of the first operand and of the result."""


def _of_first(meaning: Callable[[Number], Function]) -> Meaning:
    return lambda source, target: meaning(source)


def _wide(function: Function) -> Meaning:
    """A function that is computed in f64, and rounded to the result's type."""

    def meaning(source: Number, target: Number) -> Function:
        return lambda *operands: target.rounded(
            np.asanyarray(function(*(each.astype(np.float64) for each in operands)), np.float64)[()]
        )

    return meaning


def _python(function: Callable[[float], float]) -> floats.Unary:
    """A function of Python's numbers; where it has no result, that is NaN or infinite."""

    def total(value: float) -> float:
        try:
            return function(value)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    universal: Any = np.frompyfunc(total, 1, 1)
    return lambda value: np.asanyarray(universal(value), np.float64)


_NORMAL = NormalDist()


def _normal_quantile(value: float) -> float:
    if 0 < value < 1:
        return _NORMAL.inv_cdf(value)
    return {0.0: -math.inf, 1.0: math.inf}.get(value, math.nan)


def _error_inverse(value: float) -> float:
    """The inverse of the error function: the quantile, made exact by Newton's method."""
    if not -1 < value < 1:
        return {1.0: math.inf, -1.0: -math.inf}.get(value, math.nan)
    found = _NORMAL.inv_cdf((value + 1) / 2) / math.sqrt(2)
    for _ in range(2):
        slope = 2 / math.sqrt(math.pi) * math.exp(-found * found)
        found -= (math.erf(found) - value) / slope if slope else 0.0
    return found


def _gamma(value: float) -> float:
    if value == 0:
        return math.copysign(math.inf, value)
    return math.gamma(value)


def _exponent(value: Value) -> Value:
    """The exponent of a number's first bit."""
    _, exponents = np.frexp(value)
    finite = choose(np.isfinite(value), exponents - 1.0, np.abs(value))
    return choose(value == 0, -np.inf, finite)


def _scaled(value: Value, exponent: Value) -> Value:
    return np.ldexp(value, exponent.astype(np.int64).astype(np.int32))


_OF_ONE: Mapping[str, floats.Unary] = {
    "cospi": lambda x: np.cos(np.pi * np.fmod(x, 2.0)),
    "cyl_bessel_i0": lambda x: np.i0(x).reshape(np.shape(x)),
    "erfinv": _python(_error_inverse),
    "exp10": lambda x: np.power(10.0, x),
    "lgamma": _python(math.lgamma),
    "logb": _exponent,
    "normcdf": lambda x: 0.5 * _python(math.erfc)(-x / math.sqrt(2)),
    "normcdfinv": _python(_normal_quantile),
    "rcbrt": lambda x: 1.0 / np.cbrt(x),
    "rcp": lambda x: 1.0 / x,
    "saturate": lambda x: choose(np.isnan(x), 0.0, np.clip(x, 0.0, 1.0)),
    "sinpi": lambda x: np.sin(np.pi * np.fmod(x, 2.0)),
    "tgamma": _python(_gamma),
}

_OF_TWO: Mapping[str, floats.Binary] = {
    "fdim": lambda x, y: choose(x > y, x - y, x * y * 0.0),
    "fdivide": np.divide,
    "fmod": np.fmod,
    "hypot": np.hypot,
    "ldexp": _scaled,
    "pow": np.power,
    "remainder": lambda x, y: x - y * np.rint(x / y),
    "rhypot": lambda x, y: 1.0 / np.hypot(x, y),
    "scalbn": _scaled,
}

_OF_THREE: Mapping[str, floats.Ternary] = {
    "norm3d": lambda x, y, z: np.sqrt(x * x + y * y + z * z),
    "rnorm3d": lambda x, y, z: 1.0 / np.sqrt(x * x + y * y + z * z),
}


def _test(name: str) -> Meaning:
    """A question about a number, answered by an integer."""

    def meaning(source: Number, target: Number) -> floats.Unary:
        test = floats.TESTS[name](source)
        return lambda value: target.wrapped(np.asanyarray(test(value)).astype(np.int64))[()]

    return meaning


def _sign_bit(source: Number, target: Number) -> floats.Unary:
    return lambda value: target.wrapped(np.signbit(value).astype(np.int64))


def _rounding(function: Callable[[Value], Value], is_signed: bool) -> Meaning:
    """A float as an integer, after it was rounded."""

    def meaning(source: Number, target: Number) -> floats.Unary:
        convert = casts.to_integer(source, target, is_signed)
        return lambda value: convert(function(value.astype(np.float64)))

    return meaning


def _bit_reverse(source: Number, target: Number) -> Function:
    def function(value: Value) -> Value:
        bits = np.asanyarray(source.unsigned(value))
        digits = (bits[..., np.newaxis] >> np.arange(source.bits, dtype=bits.dtype)) & 1
        places = np.arange(source.bits - 1, -1, -1, dtype=bits.dtype)
        return target.wrapped(np.sum(digits << places, axis=-1, dtype=bits.dtype).astype(np.int64))

    return function


def _first_set(source: Number, target: Number) -> floats.Unary:
    """The number of the lowest bit that is set, counted from 1; 0 if there is none."""
    zeros = MEANINGS["cttz"](source)
    return lambda value: target.wrapped(choose(value == 0, 0, zeros(value).astype(np.int64) + 1))


def _high_half(is_signed: bool) -> Meaning:
    def meaning(source: Number, target: Number) -> Function:
        def function(a: Value, b: Value) -> Value:
            return integers.extended_product(source, a, b, is_signed)[1]

        return function

    return meaning


def _converted(meaning: Callable[[Number], Function]) -> Meaning:
    """A count of bits, which may be wider than the result."""

    def made(source: Number, target: Number) -> floats.Unary:
        function = meaning(source)
        return lambda value: target.wrapped(np.asanyarray(function(value)).astype(np.int64))[()]

    return made


def _from_integer(is_signed: bool) -> Meaning:
    return lambda source, target: casts.from_integer(source, target, is_signed)


_ROUNDINGS: Mapping[str, Callable[[Value], Value]] = {
    "rd": np.floor,
    "rn": np.rint,
    "ru": np.ceil,
    "rz": np.trunc,
}

_CONVERSIONS: Mapping[str, Meaning] = {
    **{
        f"{source}2{target}_{mode}": _rounding(function, not target.startswith("u"))
        for source in ("float", "double")
        for target in ("int", "uint", "ll", "ull")
        for mode, function in _ROUNDINGS.items()
    },
    **{
        f"{source}2{target}_rn": _from_integer(not source.startswith("u"))
        for source in ("int", "uint", "ll", "ull")
        for target in ("float", "double")
    },
    "double2float_rn": casts.truncation,
}

_BITS = (
    "double_as_longlong",
    "float_as_int",
    "float_as_uint",
    "int_as_float",
    "longlong_as_double",
    "uint_as_float",
)

_ARITHMETIC = {"add": "addf", "div": "divf", "mul": "mulf", "sub": "subf"}

FUNCTIONS: Mapping[str, Meaning] = {
    **{name: _of_first(meaning) for name, meaning in floats.UNARY_MATH.items()},
    **{name: _of_first(meaning) for name, meaning in floats.BINARY_MATH.items()},
    **{
        name: _wide(function)
        for functions in (_OF_ONE, _OF_TWO, _OF_THREE)
        for name, function in functions.items()
    },
    **{
        f"{prefix}{name}_rn": _of_first(floats.BINARY[meaning])
        for name, meaning in _ARITHMETIC.items()
        for prefix in "fd"
    },
    **dict.fromkeys(_BITS, casts.bitcast),
    **_CONVERSIONS,
    "abs": _of_first(MEANINGS["absi"]),
    "brev": _bit_reverse,
    "brevll": _bit_reverse,
    "clz": _converted(MEANINGS["ctlz"]),
    "clzll": _converted(MEANINGS["ctlz"]),
    "fabs": _of_first(floats.UNARY_MATH["absf"]),
    "ffs": _first_set,
    "ffsll": _first_set,
    "finite": _test("isfinite"),
    "fma": _of_first(floats.fused_multiply_add),
    "fma_rn": _of_first(floats.fused_multiply_add),
    "fmax": _of_first(floats.BINARY["maxnumf"]),
    "fmin": _of_first(floats.BINARY["minnumf"]),
    "ilogb": _rounding(_exponent, True),
    "isfinite": _test("isfinite"),
    "isfinited": _test("isfinite"),
    "isinf": _test("isinf"),
    "isinfd": _test("isinf"),
    "isnan": _test("isnan"),
    "isnand": _test("isnan"),
    "llabs": _of_first(MEANINGS["absi"]),
    "llrint": _rounding(np.rint, True),
    "llround": _rounding(floats.round_away, True),
    "mul64hi": _high_half(True),
    "mulhi": _high_half(True),
    "nearbyint": _of_first(floats.UNARY_MATH["roundeven"]),
    "nextafter": lambda source, target: np.nextafter,
    "popc": _converted(MEANINGS["ctpop"]),
    "popcll": _converted(MEANINGS["ctpop"]),
    "powi": _of_first(floats.power_of_integer),
    "pown": _of_first(floats.power_of_integer),
    "rint": _of_first(floats.UNARY_MATH["roundeven"]),
    "signbit": _sign_bit,
    "signbitd": _sign_bit,
    "umul64hi": _high_half(False),
    "umulhi": _high_half(False),
}
"""The functions."""

_OF_NVIDIA = re.compile(r"__nv_(?:fast_)?(\w+)")
_OF_AMD = re.compile(r"__ocml_(?:native_)?(\w+)_f(?:16|32|64)")


def name_of(symbol: str) -> str | None:
    """What `FUNCTIONS` calls the function that a library calls so; None if it is not there."""
    match = _OF_AMD.fullmatch(symbol) or _OF_NVIDIA.fullmatch(symbol)
    if match is None:
        return None
    name = match[1]
    names = (name, name.removesuffix("f"), _without_type(name))
    return next((each for each in names if each in FUNCTIONS), None)


def function_of(symbol: str) -> Meaning | None:
    """The function that a library calls so; None if it is not known here."""
    name = name_of(symbol)
    return None if name is None else FUNCTIONS[name]


def _without_type(name: str) -> str:
    """`fmaf_rn`, `frcp_rn` and `dsqrt_rn` without the type and the rounding."""
    return re.sub(r"^[fd]?(rcp|sqrt|rsqrt|fma)f?_rn$", r"\1", name)
