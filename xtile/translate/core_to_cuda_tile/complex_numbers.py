"""Complex numbers, which are pairs of tiles.

Source: MLIR (LLVM 22), `Dialect/Complex/IR/ComplexOps.td`; docs/semantics.md, 1.11.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.cuda_tile.enumerations import ComparisonOrdering, ComparisonPredicate
from xtile.dialects.cuda_tile.ops import bitwise, floating_point, mathematics
from xtile.rewrite import complex_arithmetic
from xtile.rewrite.complex_arithmetic import Arithmetic
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.composed import expm1, log1p
from xtile.translate.core_to_cuda_tile.conversions import absolute, copy_sign, from_integer
from xtile.translate.core_to_cuda_tile.descriptors import Complex
from xtile.translate.core_to_cuda_tile.elementwise import Compute, emitted, in_f32, named
from xtile.translate.core_to_cuda_tile.lowering import TARGET, Lowering
from xtile.translate.core_to_cuda_tile.types import scalar_tile

_IS = ComparisonPredicate
_ORDERED, _UNORDERED = ComparisonOrdering.ORDERED, ComparisonOrdering.UNORDERED


def _compared(predicate: ComparisonPredicate, ordering: ComparisonOrdering = _ORDERED) -> Compute:
    def compute(lowering: Lowering, *operands: SSAValue) -> SSAValue:
        return lowering.compare_floats(predicate, *operands, ordering=ordering)

    return compute


def _hypot(lowering: Lowering, a: SSAValue, b: SSAValue) -> SSAValue:
    """sqrt(a^2 + b^2): the larger side times a root that does not overflow."""
    a, b = absolute(lowering, a), absolute(lowering, b)
    large, small = (
        lowering.compute(kind, a, b) for kind in (floating_point.MaxFOp, floating_point.MinFOp)
    )
    zero, one = lowering.like(0, a), lowering.like(1, a)
    is_zero = lowering.compare_floats(_IS.EQUAL, large, zero)
    ratio = lowering.compute(floating_point.DivFOp, small, lowering.select(is_zero, one, large))
    root = lowering.compute(
        mathematics.SqrtOp, lowering.compute(floating_point.FmaOp, ratio, ratio, one)
    )
    made = lowering.compute(floating_point.MulFOp, large, root)
    # An infinite side makes the other one indifferent, NaN or not.
    infinite = lowering.like(float("inf"), a)
    is_infinite = lowering.compare_floats(_IS.EQUAL, large, infinite)
    both = lowering.compute(floating_point.AddFOp, a, b)
    is_number = lowering.compare_floats(_IS.EQUAL, both, both)
    made = lowering.select(is_number, made, both)
    return lowering.select(is_infinite, infinite, made)


_INSTRUCTIONS: dict[str, Compute] = {
    "CL.atan2": in_f32(emitted(mathematics.Atan2Op)),
    "CL.copysign": copy_sign,
    "CL.cos": in_f32(emitted(mathematics.CosOp)),
    "CL.cosh": in_f32(emitted(mathematics.CosHOp)),
    "CL.exp": in_f32(emitted(mathematics.ExpOp)),
    "CL.expm1": in_f32(expm1),
    "CL.fabs": absolute,
    "CL.fmax": emitted(floating_point.MaxFOp),
    "CL.fmin": emitted(floating_point.MinFOp),
    "CL.hypot": in_f32(_hypot),
    "CL.log": in_f32(emitted(mathematics.LogOp)),
    "CL.log1p": in_f32(log1p),
    "CL.sin": in_f32(emitted(mathematics.SinOp)),
    "CL.sinh": in_f32(emitted(mathematics.SinHOp)),
    "CL.sqrt": in_f32(emitted(mathematics.SqrtOp)),
    "CL.tan": in_f32(emitted(mathematics.TanOp)),
    "FAdd": emitted(floating_point.AddFOp),
    "FDiv": emitted(floating_point.DivFOp),
    "FMul": emitted(floating_point.MulFOp),
    "FNegate": emitted(floating_point.NegFOp),
    "FOrdEqual": _compared(_IS.EQUAL),
    "FOrdGreaterThan": _compared(_IS.GREATER_THAN),
    "FOrdGreaterThanEqual": _compared(_IS.GREATER_THAN_OR_EQUAL),
    "FOrdLessThan": _compared(_IS.LESS_THAN),
    "FOrdLessThanEqual": _compared(_IS.LESS_THAN_OR_EQUAL),
    "FSub": emitted(floating_point.SubFOp),
    "LogicalAnd": emitted(bitwise.AndIOp),
    "LogicalOr": emitted(bitwise.OrIOp),
}
"""What the arithmetic on complex numbers is made of, by the names that it uses."""


class _Emitter:
    """Emits arithmetic on real numbers for that on complex ones."""

    def __init__(self, lowering: Lowering) -> None:
        self._lowering = lowering

    def compute(self, name: str, type_: Attribute, /, *operands: SSAValue) -> SSAValue:
        """The result of an instruction."""
        return _INSTRUCTIONS[name](self._lowering, *operands)

    def floating(self, number: float, type_: Attribute, /) -> SSAValue:
        """A constant."""
        return self._lowering.constant(number, scalar_tile(type_))

    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue, /) -> SSAValue:
        """`a` where the condition holds, `b` elsewhere."""
        return self._lowering.select(condition, a, b)


def _arithmetic(operation: Operation, lowering: Lowering) -> Arithmetic:
    """Arithmetic on the numbers of an operation's first operand."""
    part = cast("ComplexType[Any]", operation.operands[0].type).element_type
    return Arithmetic(_Emitter(lowering), part)


def _operands(operation: Operation, lowering: Lowering) -> list[complex_arithmetic.Complex]:
    values = [lowering.complex(value) for value in operation.operands]
    return [complex_arithmetic.Complex(value.real, value.imaginary) for value in values]


def _computed(function: Callable[..., complex_arithmetic.Complex]) -> Rule:
    """The rule of a function of complex numbers."""

    def rule(operation: Operation, lowering: Lowering) -> None:
        arithmetic = _arithmetic(operation, lowering)
        _define(operation, lowering, function(arithmetic, *_operands(operation, lowering)))

    return rule


def _define(operation: Operation, lowering: Lowering, result: complex_arithmetic.Complex) -> None:
    lowering.define(operation.results[0], Complex(result.real, result.imaginary))


def _real(function: Callable[[Arithmetic, complex_arithmetic.Complex], SSAValue]) -> Rule:
    """The rule of a function of a complex number that gives a real one."""

    def rule(operation: Operation, lowering: Lowering) -> None:
        (value,) = _operands(operation, lowering)
        lowering.define(operation.results[0], function(_arithmetic(operation, lowering), value))

    return rule


def _create(operation: Operation, lowering: Lowering) -> None:
    lowering.define(operation.results[0], Complex(*lowering.values(operation.operands)))


def _compare(predicate: ComparisonPredicate, join: str) -> Rule:
    """Compares both parts."""
    ordering = _UNORDERED if predicate is _IS.NOT_EQUAL else _ORDERED

    def rule(operation: Operation, lowering: Lowering) -> None:
        a, b = _operands(operation, lowering)
        sides = [
            lowering.compare_floats(predicate, x, y, ordering)
            for x, y in ((a.real, b.real), (a.imaginary, b.imaginary))
        ]
        lowering.define(operation.results[0], _INSTRUCTIONS[join](lowering, *sides))

    return rule


def _bitcast(operation: Operation, lowering: Lowering) -> None:
    if operation.operands[0].type != operation.results[0].type:
        raise lowering.error(f"a bitcast of a complex number cannot be translated to {TARGET}")
    lowering.define(operation.results[0], lowering.meaning(operation.operands[0]))


def _power_of_integer(operation: Operation, lowering: Lowering) -> None:
    base = lowering.complex(operation.operands[0])
    exponent = lowering.value(operation.operands[1])
    arithmetic = _arithmetic(operation, lowering)
    times = from_integer(lowering, exponent, arithmetic.part)
    power = complex_arithmetic.Complex(times, arithmetic.number(0.0))
    own = complex_arithmetic.Complex(base.real, base.imaginary)
    _define(operation, lowering, arithmetic.power(own, power))


_Number = complex_arithmetic.Complex


def _conjugate(arithmetic: Arithmetic, a: _Number) -> _Number:
    return _Number(a.real, arithmetic.real("FNegate", a.imaginary))


def _negate(arithmetic: Arithmetic, a: _Number) -> _Number:
    real = arithmetic.real
    return _Number(real("FNegate", a.real), real("FNegate", a.imaginary))


def _subtract(arithmetic: Arithmetic, a: _Number, b: _Number) -> _Number:
    real = arithmetic.real
    return _Number(real("FSub", a.real, b.real), real("FSub", a.imaginary, b.imaginary))


def _sine(arithmetic: Arithmetic, a: _Number) -> _Number:
    return arithmetic.sine_and_cosine(a)[0]


def _cosine(arithmetic: Arithmetic, a: _Number) -> _Number:
    return arithmetic.sine_and_cosine(a)[1]


def _real_part(arithmetic: Arithmetic, a: _Number) -> SSAValue:
    return a.real


def _imaginary_part(arithmetic: Arithmetic, a: _Number) -> SSAValue:
    return a.imaginary


def _reciprocal_root(arithmetic: Arithmetic, a: _Number) -> _Number:
    return arithmetic.divide(arithmetic.of_real(1.0), arithmetic.sqrt(a))


_FUNCTIONS: dict[str, Callable[..., _Number]] = {
    "add": Arithmetic.add,
    "atan2": Arithmetic.atan2,
    "conj": _conjugate,
    "cos": _cosine,
    "div": Arithmetic.divide,
    "exp": Arithmetic.exp,
    "expm1": Arithmetic.expm1,
    "log": Arithmetic.log,
    "log1p": Arithmetic.log1p,
    "mul": Arithmetic.multiply,
    "neg": _negate,
    "pow": Arithmetic.power,
    "rsqrt": _reciprocal_root,
    "sign": Arithmetic.sign,
    "sin": _sine,
    "sqrt": Arithmetic.sqrt,
    "sub": _subtract,
    "tan": Arithmetic.tan,
    "tanh": Arithmetic.tanh,
}
"""Functions of complex numbers, by the names that `complex` gives them."""

_REAL_FUNCTIONS: dict[str, Callable[[Arithmetic, _Number], SSAValue]] = {
    "abs": Arithmetic.size,
    "angle": Arithmetic.angle,
    "im": _imaginary_part,
    "re": _real_part,
}

RULES: dict[str, Rule] = {
    **named("complex", {name: _computed(function) for name, function in _FUNCTIONS.items()}),
    **named("complex", {name: _real(function) for name, function in _REAL_FUNCTIONS.items()}),
    "complex.bitcast": _bitcast,
    "complex.create": _create,
    "complex.eq": _compare(_IS.EQUAL, "LogicalAnd"),
    "complex.neq": _compare(_IS.NOT_EQUAL, "LogicalOr"),
    "complex.powi": _power_of_integer,
}
"""The rule of each operation, by name."""
