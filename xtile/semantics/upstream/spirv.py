"""The functions of OpenCL.std and GLSL.std.450, as MLIR's own `spirv` dialect has them.

Most compute what an operation of `arith` or `math` does. `Cross`, `Normalize`, `Reflect` and the
positions of bits of GLSL have no meaning here.

Source: OpenCL extended instruction set, 2.1 to 2.3; GLSL.std.450 extended instruction set.
"""

from __future__ import annotations

import numpy as np

from xtile.dialects.spirv.mathematics import FUNCTIONS
from xtile.semantics.compiler import Handler
from xtile.semantics.upstream.arith import HANDLERS as ARITH_HANDLERS
from xtile.semantics.upstream.elementwise import Function, Meaning, elementwise
from xtile.semantics.upstream.floats import Unary
from xtile.semantics.upstream.math import HANDLERS as MATH_HANDLERS
from xtile.semantics.upstream.numbers import Number
from xtile.semantics.values import Value

_COUNTERPARTS = {**ARITH_HANDLERS, **MATH_HANDLERS}


def _mix(type: Number) -> Function:
    """The blend x + (y - x) a, each step of which is rounded in the type that computes it."""

    def function(x: Value, y: Value, a: Value) -> Value:
        first, second, part = type.wide(x), type.wide(y), type.wide(a)
        return type.rounded(first + (second - first) * part)

    return function


def _fraction(type: Number) -> Unary:
    def function(x: Value) -> Value:
        number = type.wide(x)
        return type.rounded(number - np.floor(number))

    return function


def _float_sign(type: Number) -> Unary:
    return lambda x: type.rounded(np.sign(type.wide(x)))


def _integer_sign(type: Number) -> Unary:
    return lambda x: type.wrapped(np.sign(type.signed(x)))


def _signed_clamp(type: Number) -> Function:
    def function(x: Value, least: Value, largest: Value) -> Value:
        return type.wrapped(np.minimum(np.maximum(x, least), largest))

    return function


def _unsigned_clamp(type: Number) -> Function:
    def function(x: Value, least: Value, largest: Value) -> Value:
        number, low, high = (type.unsigned(value) for value in (x, least, largest))
        return type.wrapped(np.minimum(np.maximum(number, low), high))

    return function


_MEANINGS: dict[str, Meaning] = {
    "CL.mix": _mix,
    "GL.FSign": _float_sign,
    "GL.Fract": _fraction,
    "GL.SClamp": _signed_clamp,
    "GL.SSign": _integer_sign,
    "GL.UClamp": _unsigned_clamp,
}
"""The functions that no operation of `arith` or `math` computes."""

HANDLERS: dict[str, Handler] = {
    **{
        f"spirv.{name}": _COUNTERPARTS[function.counterpart]
        for name, function in FUNCTIONS.items()
        if function.counterpart
    },
    **{f"spirv.{name}": elementwise(meaning) for name, meaning in _MEANINGS.items()},
}
"""The handler of each function, by the operation's name."""
