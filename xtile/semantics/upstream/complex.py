"""The `complex` dialect.

Source: MLIR (LLVM 22), `Dialect/Complex/IR/ComplexOps.td`; docs/semantics.md, "Upstream dialects".
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.ir import Operation

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.upstream.constants import constant_value
from xtile.semantics.upstream.elementwise import apply, constant
from xtile.semantics.upstream.numbers import number_of
from xtile.semantics.values import Value, choose, contiguous

# Its functions take anything, which the type checker cannot say.
_OPERATOR: Any = operator


def _computed(function: Callable[..., Value]) -> Handler:
    """The handler of an operation whose result is rounded to its type."""

    def handler(operation: Operation, compiler: Compiler) -> Step:
        dtype = number_of(operation.results[0].type).dtype
        return apply(operation, compiler, lambda *values: function(*values).astype(dtype))

    return handler


def _create(operation: Operation, compiler: Compiler) -> Step:
    number = number_of(operation.results[0].type)

    def create(real: Value, imaginary: Value) -> Value:
        # real + 1j * imaginary would make NaN of infinite parts.
        shape = np.broadcast_shapes(np.shape(real), np.shape(imaginary))
        result = np.empty(shape, number.dtype)
        result.real, result.imag = real, imaginary
        return result[()]

    return apply(operation, compiler, create)


def _constant(operation: Operation, compiler: Compiler) -> Step:
    value = operation.properties["value"]
    return constant(operation, compiler, constant_value(value, operation.results[0].type))


def _bitcast(operation: Operation, compiler: Compiler) -> Step:
    source, target = (
        number_of(value.type).dtype for value in (operation.operands[0], operation.results[0])
    )
    if source.itemsize != target.itemsize:
        raise ValueError(
            f"{operation.operands[0].type} and {operation.results[0].type} differ in width"
        )

    def cast(value: Value) -> Value:
        return contiguous(value).view(target).reshape(np.shape(value))[()]

    return apply(operation, compiler, cast)


def _sign(value: Value) -> Value:
    """The number with absolute value 1 and the same angle; 0 stays 0."""
    size = np.abs(value)
    return choose(size == 0, value, value / choose(size == 0, size.dtype.type(1), size))


def _arctangent(a: Value, b: Value) -> Value:
    """-i log((b + i a) / sqrt(a^2 + b^2))."""
    return -1j * np.log((b + 1j * a) / np.sqrt(a * a + b * b))


def _reciprocal_root(value: Value) -> Value:
    return 1 / np.sqrt(value)


_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "abs": np.abs,
    "add": _OPERATOR.add,
    "angle": np.angle,
    "atan2": _arctangent,
    "conj": np.conj,
    "cos": np.cos,
    "div": _OPERATOR.truediv,
    "exp": np.exp,
    "expm1": np.expm1,
    "im": np.imag,
    "log": np.log,
    "log1p": np.log1p,
    "mul": _OPERATOR.mul,
    "neg": _OPERATOR.neg,
    "pow": np.power,
    "powi": np.power,
    "re": np.real,
    "rsqrt": _reciprocal_root,
    "sign": _sign,
    "sin": np.sin,
    "sqrt": np.sqrt,
    "sub": _OPERATOR.sub,
    "tan": np.tan,
    "tanh": np.tanh,
}

HANDLERS: dict[str, Handler] = {
    "complex.bitcast": _bitcast,
    "complex.constant": _constant,
    "complex.create": _create,
    "complex.eq": lambda operation, compiler: apply(operation, compiler, np.equal),
    "complex.neq": lambda operation, compiler: apply(operation, compiler, np.not_equal),
    **{f"complex.{name}": _computed(function) for name, function in _FUNCTIONS.items()},
}
"""The handler of each operation, by name."""
