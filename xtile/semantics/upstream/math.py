"""The `math` dialect.

Source: MLIR (LLVM 22), `Dialect/Math/IR/MathOps.td`; docs/semantics.md, "Upstream dialects".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import Operation

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.state import State, any_active
from xtile.semantics.upstream import floats
from xtile.semantics.upstream.elementwise import apply, elementwise
from xtile.semantics.upstream.numbers import Number, number_of
from xtile.semantics.values import Value


def _absi(type: Number) -> floats.Unary:
    """The absolute value of the smallest integer wraps around to itself."""
    return lambda value: type.wrapped(np.abs(type.signed(value)))


def _bit_count(type: Number) -> floats.Unary:
    return lambda value: type.wrapped(np.bitwise_count(type.unsigned(value)).astype(np.int64))


def _trailing_zeros(type: Number) -> floats.Unary:
    """The number of zeros below the lowest one; the width where all bits are zero."""

    def function(value: Value) -> Value:
        bits = type.unsigned(value)
        below = ~bits & (bits - bits.dtype.type(1))
        count = np.minimum(np.bitwise_count(below).astype(np.int64), type.bits)
        return type.wrapped(count)

    return function


def _leading_zeros(type: Number) -> floats.Unary:
    """The number of zeros above the highest one; the width where all bits are zero."""

    def function(value: Value) -> Value:
        bits = type.unsigned(value).astype(np.uint64)
        for distance in (1, 2, 4, 8, 16, 32):
            bits = bits | (bits >> np.uint64(distance))
        return type.wrapped(type.bits - np.bitwise_count(bits).astype(np.int64))

    return function


def _ipowi(operation: Operation, compiler: Compiler) -> Step:
    type_ = number_of(operation.operands[0].type)
    a, b = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)

    def step(state: State) -> None:
        base, exponent = type_.signed(state.values[a]), type_.signed(state.values[b])
        if any_active((base == 0) & (exponent < 0), state):
            raise UnlocatedError("zero to a negative power: the result is a division by zero")
        state.values[result] = type_.wrapped(_power(base, exponent))

    return step


def _power(base: Value, exponent: Value) -> Value:
    """Wraps around; a negative power is 1 divided by the positive one, rounded towards zero."""
    wide = np.asanyarray(base).astype(np.int64)
    left = np.asanyarray(exponent).astype(np.int64)
    power = np.ones(np.broadcast_shapes(wide.shape, left.shape), np.int64)
    is_negative = left < 0
    odd = (left & 1) != 0
    of_negative = np.where(wide == 1, 1, np.where(wide == -1, np.where(odd, -1, 1), 0))
    left = np.where(is_negative, 0, left)
    factor = wide
    while left.any():
        power = np.where((left & 1) != 0, power * factor, power)
        factor = factor * factor
        left = left >> 1
    return np.where(is_negative, of_negative, power)[()]


def _sincos(operation: Operation, compiler: Compiler) -> Step:
    type_ = number_of(operation.operands[0].type)
    sine, cosine = floats.UNARY_MATH["sin"](type_), floats.UNARY_MATH["cos"](type_)
    (operand,) = compiler.slots(operation.operands)
    first, second = compiler.slots(operation.results)

    def step(state: State) -> None:
        values = state.values
        value = values[operand]
        values[first], values[second] = sine(value), cosine(value)

    return step


def _fpowi(operation: Operation, compiler: Compiler) -> Step:
    base, exponent = (number_of(operand.type) for operand in operation.operands)
    power = floats.power_of_integer(base)

    def function(a: Value, b: Value) -> Value:
        return power(a, exponent.signed(b))

    return apply(operation, compiler, function)


MEANINGS: dict[str, Any] = {
    **floats.UNARY_MATH,
    **floats.BINARY_MATH,
    **floats.TESTS,
    "absi": _absi,
    "clampf": floats.CLAMP,
    "ctlz": _leading_zeros,
    "ctpop": _bit_count,
    "cttz": _trailing_zeros,
    "fma": floats.fused_multiply_add,
}
"""The functions of numbers of one type, by the operation's name."""

HANDLERS: dict[str, Handler] = {
    "math.fpowi": _fpowi,
    "math.ipowi": _ipowi,
    "math.sincos": _sincos,
    **{f"math.{name}": elementwise(meaning) for name, meaning in MEANINGS.items()},
}
"""The handler of each operation, by name."""
