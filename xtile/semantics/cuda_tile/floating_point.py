"""Arithmetic on floats, rounded in any direction, with subnormal numbers kept or flushed.

Mathematical functions have no directions.

Source: NVIDIA/cuda-tile 13.3.0, `Ops.td`; CUDA Tile IR specification, "Operations";
docs/semantics.md, "CUDA Tile IR: numbers".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from xdsl.ir import Operation

from xtile.dialects.cuda_tile.enumerations import RoundingMode
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.cuda_tile import exact
from xtile.semantics.cuda_tile.numbers import element_number, operand_number
from xtile.semantics.cuda_tile.rounding import DIRECTED, directed, flushing, rounded_from_f64
from xtile.semantics.upstream import floats
from xtile.semantics.upstream.constants import has_flag, word_attribute
from xtile.semantics.upstream.elementwise import apply
from xtile.semantics.upstream.numbers import Number
from xtile.semantics.values import Value, choose, is_exact

Function: TypeAlias = Callable[..., Value]

_NEAREST: dict[str, Callable[[Number], Function]] = {
    "addf": floats.BINARY["addf"],
    "subf": floats.BINARY["subf"],
    "mulf": floats.BINARY["mulf"],
    "divf": floats.BINARY["divf"],
    "fma": floats.fused_multiply_add,
    "sqrt": floats.UNARY_MATH["sqrt"],
}
"""The functions that are rounded to nearest, ties to even."""

_EXACT: dict[str, Callable[..., exact.Rounded]] = {
    "addf": exact.add,
    "subf": exact.subtract,
    "mulf": exact.multiply,
    "divf": exact.divide,
    "fma": exact.multiply_add,
    "sqrt": exact.square_root,
}
"""The same functions with what rounding loses."""

ROUNDED = tuple(_EXACT)
"""The operations with a rounding mode that gives one right result."""


def rounded_function(name: str, number: Number, mode: RoundingMode) -> Function:
    """A function of `ROUNDED` for numbers of a type.

    Args:
        name: The operation without its dialect.
        number: f16, bf16, f32 or f64.
        mode: The rounding mode. `approx` and `full` allow errors that are not made here: the
            result is rounded to nearest, but for `divf` by large numbers (`_approximate_quotient`).
    """
    if mode in DIRECTED:
        return _directed_function(name, number, mode)
    if name == "divf" and mode is RoundingMode.APPROX:
        return _approximate_quotient(number)
    return _NEAREST[name](number)


def _directed_function(name: str, number: Number, mode: RoundingMode) -> Function:
    function = _EXACT[name]
    is_double = number.dtype == np.float64
    cancels = _CANCELLATIONS.get(name) if mode is RoundingMode.NEGATIVE_INF else None

    def rounded(*operands: Value) -> Value:
        if is_exact(*operands):
            return _NEAREST[name](number)(*operands)
        wide = [operand.astype(np.float64) for operand in operands]
        near, lost = function(*wide)
        if is_double:
            result = directed(near, lost, mode)
        else:
            result = rounded_from_f64(exact.to_odd((near, lost)), number, mode)
        if cancels is None:
            return result
        return choose((near == 0) & (lost == 0) & cancels(*wide), -number.number(0), result)

    return rounded


def _has_opposite_signs(a: Value, b: Value) -> Value:
    return np.signbit(a) != np.signbit(b)


def _has_equal_signs(a: Value, b: Value) -> Value:
    return np.signbit(a) == np.signbit(b)


def _product_has_opposite_sign(a: Value, b: Value, c: Value) -> Value:
    return (np.signbit(a) ^ np.signbit(b)) != np.signbit(c)


_CANCELLATIONS: dict[str, Callable[..., Value]] = {
    "addf": _has_opposite_signs,
    "subf": _has_equal_signs,
    "fma": _product_has_opposite_sign,
}
"""Where a sum that is 0 is -0 if it is rounded towards negative infinity (IEEE 754, 6.3)."""

_LARGE_DIVISOR = 2.0**126


def _approximate_quotient(number: Number) -> Function:
    """A product with the reciprocal, which is 0 for numbers above 2^126."""
    divide = _NEAREST["divf"](number)
    zero = number.number(0)

    def function(a: Value, b: Value) -> Value:
        is_large = (np.abs(b) > _LARGE_DIVISOR) & np.isfinite(b)
        return choose(is_large, a * np.copysign(zero, b), divide(a, b))

    return function


def larger(number: Number, *, propagate_nan: bool) -> Function:
    """The maximum; -0 is less than +0.

    Args:
        number: The numbers' type.
        propagate_nan: Whether the result is NaN where one operand is; otherwise only where both
            are.
    """
    return _without_nan(floats.BINARY["maximumf"](number), number, propagate_nan)


def smaller(number: Number, *, propagate_nan: bool) -> Function:
    """The minimum, as `larger`."""
    return _without_nan(floats.BINARY["minimumf"](number), number, propagate_nan)


def _without_nan(function: Function, number: Number, propagate_nan: bool) -> Function:
    nan = number.number(np.nan)

    def propagating(a: Value, b: Value) -> Value:
        return choose(np.isnan(a) | np.isnan(b), nan, function(a, b))

    def ignoring(a: Value, b: Value) -> Value:
        return propagating(choose(np.isnan(a), b, a), choose(np.isnan(b), a, b))

    return propagating if propagate_nan else ignoring


def _absolute(number: Number) -> Function:
    """The same bits without the sign, also those of NaN."""
    return np.abs


def _negative(number: Number) -> Function:
    """The same bits with the other sign, also those of NaN."""
    return np.negative


def flushed(function: Function, number: Number) -> Function:
    """A function whose subnormal operands and results are zeros of the same sign."""
    flush = flushing(number)
    return lambda *operands: flush(function(*map(flush, operands)))


def rounding_mode(operation: Operation, name: str = "rounding_mode") -> RoundingMode:
    """The rounding mode of an operation; to nearest where it has none."""
    return RoundingMode(word_attribute(operation, name) or RoundingMode.NEAREST_EVEN)


def flushable(operation: Operation, compiler: Compiler, function: Function, number: Number) -> Step:
    """The step that applies a function to the operands, flushed if the operation says so."""
    if has_flag(operation, "flush_to_zero"):
        function = flushed(function, number)
    return apply(operation, compiler, function)


def rounding_handler(name: str) -> Handler:
    """The handler of an operation of `ROUNDED`."""

    def handler(operation: Operation, compiler: Compiler) -> Step:
        number = operand_number(operation)
        function = rounded_function(name, number, rounding_mode(operation))
        return flushable(operation, compiler, function, number)

    return handler


def _extremum(choose_one: Callable[..., Function]) -> Handler:
    def handler(operation: Operation, compiler: Compiler) -> Step:
        number = operand_number(operation)
        propagates = has_flag(operation, "propagate_nan")
        return flushable(operation, compiler, choose_one(number, propagate_nan=propagates), number)

    return handler


def _plain(meaning: Callable[[Number], Function]) -> Handler:
    """The handler of an operation that always means the same."""

    def handler(operation: Operation, compiler: Compiler) -> Step:
        return apply(operation, compiler, meaning(operand_number(operation)))

    return handler


_UNARY = ("cos", "cosh", "exp", "exp2", "log", "log2", "rsqrt", "sin", "sinh", "tan", "tanh")

_MATHEMATICAL: dict[str, Callable[[Number], Callable[..., Value]]] = {
    **{name: floats.UNARY_MATH[name] for name in _UNARY},
    # The quotient that atan2 is the angle of has the first operand above the second.
    "atan2": floats.BINARY_MATH["atan2"],
    "pow": floats.BINARY_MATH["powf"],
}
"""The mathematical functions, by the names of their operations.

They are computed in f64 and rounded to the type, so that the errors that NVIDIA's documents allow,
also with `approx` and `full`, are not made here.
"""


def _mathematical(name: str) -> Handler:
    def handler(operation: Operation, compiler: Compiler) -> Step:
        number = operand_number(operation)
        return flushable(operation, compiler, _MATHEMATICAL[name](number), number)

    return handler


def _fpowi(operation: Operation, compiler: Compiler) -> Step:
    base, exponent = (element_number(operand.type) for operand in operation.operands)
    power = floats.power_of_integer(base)

    def function(a: Value, b: Value) -> Value:
        return power(a, exponent.signed(b))

    return apply(operation, compiler, function)


HANDLERS: dict[str, Handler] = {
    **{f"cuda_tile.{name}": rounding_handler(name) for name in ROUNDED},
    **{f"cuda_tile.{name}": _mathematical(name) for name in _MATHEMATICAL},
    "cuda_tile.absf": _plain(_absolute),
    "cuda_tile.ceil": _plain(floats.UNARY_MATH["ceil"]),
    "cuda_tile.fpowi": _fpowi,
    "cuda_tile.floor": _plain(floats.UNARY_MATH["floor"]),
    "cuda_tile.maxf": _extremum(larger),
    "cuda_tile.minf": _extremum(smaller),
    "cuda_tile.negf": _plain(_negative),
    "cuda_tile.remf": _plain(floats.BINARY["remf"]),
}
"""The handler of each operation, by name."""
