"""Mathematical functions of floats.

They are computed in f64 and rounded to the type, so that the errors that NVIDIA's documents allow,
also with `approx` and `full`, are not made here.

Source: NVIDIA/cuda-tile 13.3.0, `Ops.td`; docs/semantics.md, "CUDA Tile IR: numbers".
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.cuda_tile.floating_point import flushable
from xtile.semantics.cuda_tile.numbers import element_number, operand_number
from xtile.semantics.upstream import floats
from xtile.semantics.upstream.elementwise import apply
from xtile.semantics.upstream.numbers import Number
from xtile.semantics.values import Value

_UNARY = ("cos", "cosh", "exp", "exp2", "log", "log2", "rsqrt", "sin", "sinh", "tan", "tanh")

FUNCTIONS: dict[str, Callable[[Number], Callable[..., Value]]] = {
    **{name: floats.UNARY_MATH[name] for name in _UNARY},
    # The quotient that atan2 is the angle of has the first operand above the second.
    "atan2": floats.BINARY_MATH["atan2"],
    "pow": floats.BINARY_MATH["powf"],
}
"""The functions, by the names of their operations."""


def _handler(name: str) -> Handler:
    def handler(operation: Operation, compiler: Compiler) -> Step:
        number = operand_number(operation)
        return flushable(operation, compiler, FUNCTIONS[name](number), number)

    return handler


def _fpowi(operation: Operation, compiler: Compiler) -> Step:
    base, exponent = (element_number(operand.type) for operand in operation.operands)
    power = floats.power_of_integer(base)

    def function(a: Value, b: Value) -> Value:
        return power(a, exponent.signed(b))

    return apply(operation, compiler, function)


HANDLERS: dict[str, Handler] = {
    **{f"cuda_tile.{name}": _handler(name) for name in FUNCTIONS},
    "cuda_tile.fpowi": _fpowi,
}
"""The handler of each operation, by name."""
