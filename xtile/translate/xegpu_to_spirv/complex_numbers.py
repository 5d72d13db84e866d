"""Complex numbers, which are vectors of their two parts.

Source: MLIR (LLVM 22), `Dialect/Complex/IR/ComplexOps.td`; docs/semantics.md, 1.11.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from xdsl.dialects.builtin import ComplexType, i1
from xdsl.ir import Operation, SSAValue

from xtile.rewrite.complex_arithmetic import Arithmetic, Complex
from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_spirv.elementwise import elementwise, instruction, named
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.types import element_type, register_type


def _arithmetic(operation: Operation, lowering: Lowering) -> Arithmetic:
    """Arithmetic on the numbers of an operation's first operand."""
    part = cast("ComplexType[Any]", operation.operands[0].type).element_type
    return Arithmetic(lowering, part)


def _parts(lowering: Lowering, value: SSAValue) -> Complex:
    part = element_type(value.type)
    real, imaginary = (
        lowering.shared(
            (value, i),
            (value,),
            lambda i=i: lowering.compute("CompositeExtract", part, value, i),
        )
        for i in (0, 1)
    )
    return Complex(real, imaginary)


def _computed(function: Callable[..., Complex]) -> Rule:
    """The rule of a function of complex numbers."""

    def rule(operation: Operation, lowering: Lowering) -> None:
        operands = [_parts(lowering, value) for value in lowering.values(operation.operands)]
        result = function(_arithmetic(operation, lowering), *operands)
        _define(operation, lowering, result)

    return rule


def _define(operation: Operation, lowering: Lowering, result: Complex) -> None:
    type_ = register_type(operation.results[0].type)
    value = lowering.compute("CompositeConstruct", type_, result.real, result.imaginary)
    lowering.define(operation.results[0], value)


def _real(function: Callable[[Arithmetic, Complex], SSAValue]) -> Rule:
    """The rule of a function of a complex number that gives a real one."""

    def rule(operation: Operation, lowering: Lowering) -> None:
        (value,) = lowering.values(operation.operands)
        result = function(_arithmetic(operation, lowering), _parts(lowering, value))
        lowering.define(operation.results[0], result)

    return rule


def _create(operation: Operation, lowering: Lowering) -> None:
    real, imaginary = lowering.values(operation.operands)
    _define(operation, lowering, Complex(real, imaginary))


def _compare(name: str, join: str) -> Rule:
    """Compares both parts."""

    def rule(operation: Operation, lowering: Lowering) -> None:
        a, b = (_parts(lowering, value) for value in lowering.values(operation.operands))
        reals = lowering.compute(name, i1, a.real, b.real)
        imaginaries = lowering.compute(name, i1, a.imaginary, b.imaginary)
        lowering.define(operation.results[0], lowering.compute(join, i1, reals, imaginaries))

    return rule


def _bitcast(operation: Operation, lowering: Lowering) -> None:
    (value,) = lowering.values(operation.operands)
    type_ = register_type(operation.results[0].type)
    made = value if value.type == type_ else lowering.compute("Bitcast", type_, value)
    lowering.define(operation.results[0], made)


def _power_of_integer(operation: Operation, lowering: Lowering) -> None:
    base, exponent = lowering.values(operation.operands)
    arithmetic = _arithmetic(operation, lowering)
    times = lowering.compute("ConvertSToF", arithmetic.part, exponent)
    power = Complex(times, arithmetic.number(0.0))
    _define(operation, lowering, arithmetic.power(_parts(lowering, base), power))


def _conjugate(arithmetic: Arithmetic, a: Complex) -> Complex:
    return Complex(a.real, arithmetic.real("FNegate", a.imaginary))


def _sine(arithmetic: Arithmetic, a: Complex) -> Complex:
    return arithmetic.sine_and_cosine(a)[0]


def _cosine(arithmetic: Arithmetic, a: Complex) -> Complex:
    return arithmetic.sine_and_cosine(a)[1]


def _reciprocal_root(arithmetic: Arithmetic, a: Complex) -> Complex:
    return arithmetic.divide(arithmetic.of_real(1.0), arithmetic.sqrt(a))


_FUNCTIONS: dict[str, Callable[..., Complex]] = {
    "atan2": Arithmetic.atan2,
    "conj": _conjugate,
    "cos": _cosine,
    "div": Arithmetic.divide,
    "exp": Arithmetic.exp,
    "expm1": Arithmetic.expm1,
    "log": Arithmetic.log,
    "log1p": Arithmetic.log1p,
    "mul": Arithmetic.multiply,
    "pow": Arithmetic.power,
    "rsqrt": _reciprocal_root,
    "sign": Arithmetic.sign,
    "sin": _sine,
    "sqrt": Arithmetic.sqrt,
    "tan": Arithmetic.tan,
    "tanh": Arithmetic.tanh,
}
"""Functions of complex numbers, by the names that `complex` gives them."""

_REAL_FUNCTIONS: dict[str, Callable[[Arithmetic, Complex], SSAValue]] = {
    "abs": Arithmetic.size,
    "angle": Arithmetic.angle,
    "im": lambda a, z: z.imaginary,
    "re": lambda a, z: z.real,
}

RULES: dict[str, Rule] = {
    **named("complex", {name: _computed(function) for name, function in _FUNCTIONS.items()}),
    **named("complex", {name: _real(function) for name, function in _REAL_FUNCTIONS.items()}),
    "complex.add": elementwise(instruction("FAdd")),
    "complex.bitcast": _bitcast,
    "complex.create": _create,
    "complex.eq": _compare("FOrdEqual", "LogicalAnd"),
    "complex.neg": elementwise(instruction("FNegate")),
    "complex.neq": _compare("FUnordNotEqual", "LogicalOr"),
    "complex.powi": _power_of_integer,
    "complex.sub": elementwise(instruction("FSub")),
}
"""The rule of each operation, by name."""
