"""Arithmetic, comparison, math, cast and constant instructions.

What each one must give stands in docs/semantics.md, section "Numbers".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.dialects.arith import (
    CMPF_COMPARISON_OPERATIONS,
    CMPI_COMPARISON_OPERATIONS,
    FastMathFlagsAttr,
)
from xdsl.dialects.builtin import I64 as I64Type
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.tensorlang.ops import arithmetic as ops
from xtile.dialects.tensorlang.types import (
    BOOL,
    COMPLEX_TYPES,
    FLOATING_TYPES,
    SIZE_IN_BYTES,
)
from xtile.dialects.tensorlang.verifier.constants import attribute_value
from xtile.rewrite.rebuilder import Rebuilder, Rules
from xtile.translate.tensorlang_to_core.casts import complex_parts, convert, create_complex
from xtile.translate.tensorlang_to_core.emit import (
    constant,
    constant_operation,
    emit,
    make,
)
from xtile.translate.tensorlang_to_core.types import core_type, element_of


@dataclass(frozen=True)
class _Names:
    """The operation for each kind of type; "" where the instruction does not exist on it."""

    floating: str
    integer: str
    complex: str = ""

    def of(self, type: Attribute) -> str:
        """The operation on scalars or vectors of `type`."""
        element = element_of(type)
        if element in FLOATING_TYPES:
            return self.floating
        return self.complex if element in COMPLEX_TYPES else self.integer


_BINARY: dict[type[ops.BinaryArithmeticOperation], _Names] = {
    ops.AddOp: _Names("arith.addf", "arith.addi", "complex.add"),
    ops.SubOp: _Names("arith.subf", "arith.subi", "complex.sub"),
    ops.MulOp: _Names("arith.mulf", "arith.muli", "complex.mul"),
    ops.DivOp: _Names("arith.divf", "arith.divsi", "complex.div"),
    ops.RemOp: _Names("arith.remf", "arith.remsi"),
    # A NaN is ignored unless both operands are NaN.
    ops.MaxOp: _Names("arith.maxnumf", "arith.maxsi"),
    ops.MinOp: _Names("arith.minnumf", "arith.minsi"),
    ops.AndOp: _Names("", "arith.andi"),
    ops.OrOp: _Names("", "arith.ori"),
    ops.XorOp: _Names("", "arith.xori"),
}


def combine(
    r: Rebuilder, operation: type[ops.BinaryArithmeticOperation], a: SSAValue, b: SSAValue
) -> SSAValue:
    """Emits what a binary instruction other than a shift becomes on translated operands."""
    return emit(r, _BINARY[operation].of(a.type), [a, b], a.type)


def _binary(operation: ops.BinaryArithmeticOperation, r: Rebuilder) -> None:
    a, b = r.values((operation.a, operation.b))
    r.define(operation.result, combine(r, type(operation), a, b))


def _shift(operation: ops.ShlOp | ops.ShrOp, r: Rebuilder) -> None:
    """Upstream leaves shifts by the width or more undefined, so the amount is cut to its bits."""
    a, b = r.values((operation.a, operation.b))
    width = 8 * SIZE_IN_BYTES[element_of(a.type)]
    amount = emit(r, "arith.andi", [b, constant(r, width - 1, b.type)], b.type)
    name = "arith.shli" if isinstance(operation, ops.ShlOp) else "arith.shrsi"
    r.replace(operation, make(name, [a, amount], [a.type]))


_UNARY: dict[type[ops.UnaryArithmeticOperation], _Names] = {
    ops.AbsOp: _Names("math.absf", "math.absi", "complex.abs"),
    ops.ConjOp: _Names("", "", "complex.conj"),
    ops.ImOp: _Names("", "", "complex.im"),
    ops.ReOp: _Names("", "", "complex.re"),
}


def _unary(operation: ops.UnaryArithmeticOperation, r: Rebuilder) -> None:
    a = r.value(operation.a)
    name = _UNARY[type(operation)].of(a.type)
    r.replace(operation, make(name, [a], [core_type(operation.result.type)]))


def _neg(operation: ops.NegOp, r: Rebuilder) -> None:
    a = r.value(operation.a)
    name = _Names("arith.negf", "arith.subi", "complex.neg").of(a.type)
    operands = [constant(r, 0, a.type), a] if name == "arith.subi" else [a]
    r.replace(operation, make(name, operands, [a.type]))


def _not(operation: ops.NotOp, r: Rebuilder) -> None:
    a = r.value(operation.a)
    ones = constant(r, True if element_of(a.type) == BOOL else -1, a.type)
    r.replace(operation, make("arith.xori", [a, ones], [a.type]))


@dataclass(frozen=True)
class _Predicates:
    """The predicate of `arith.cmpf` and of `arith.cmpi`, and the operation on complex numbers."""

    floating: str
    integer: str
    complex: str = ""


_COMPARISONS: dict[type[ops.ComparisonOperation], _Predicates] = {
    ops.EqualOp: _Predicates("oeq", "eq", "complex.eq"),
    ops.NotEqualOp: _Predicates("une", "ne", "complex.neq"),
    ops.GreaterThanOp: _Predicates("ogt", "sgt"),
    ops.GreaterThanEqualOp: _Predicates("oge", "sge"),
    ops.LessThanOp: _Predicates("olt", "slt"),
    ops.LessThanEqualOp: _Predicates("ole", "sle"),
}


def _comparison(operation: ops.ComparisonOperation, r: Rebuilder) -> None:
    a, b = r.values((operation.a, operation.b))
    predicates = _COMPARISONS[type(operation)]
    if a.type in COMPLEX_TYPES:
        r.replace(operation, make(predicates.complex, [a, b], [BOOL]))
    elif a.type in FLOATING_TYPES:
        number = CMPF_COMPARISON_OPERATIONS.index(predicates.floating)
        r.replace(operation, make("arith.cmpf", [a, b], [BOOL], _predicate(number)))
    else:
        r.define(operation.result, compare(r, predicates.integer, a, b))


def compare(r: Rebuilder, predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
    """Emits a comparison of two integers, such as `slt`."""
    number = CMPI_COMPARISON_OPERATIONS.index(predicate)
    return emit(r, "arith.cmpi", [a, b], BOOL, _predicate(number))


def _predicate(number: int) -> dict[str, IntegerAttr[I64Type]]:
    return {"predicate": IntegerAttr(number, i64)}


_APPROXIMATE = FastMathFlagsAttr([FastMathFlag.APPROX_FUNC])

_MATH: dict[type[ops.MathOperation], str] = {
    ops.CosOp: "cos",
    ops.SinOp: "sin",
    ops.ExpOp: "exp",
    ops.Exp2Op: "exp2",
    ops.LogOp: "log",
    ops.Log2Op: "log2",
}

_NATIVE_MATH: dict[type[ops.MathOperation], str] = {
    ops.NativeCosOp: "cos",
    ops.NativeSinOp: "sin",
    ops.NativeExpOp: "exp",
    ops.NativeExp2Op: "exp2",
    ops.NativeLogOp: "log",
    ops.NativeLog2Op: "log2",
}


def _math(operation: ops.MathOperation, r: Rebuilder) -> None:
    is_native = type(operation) in _NATIVE_MATH
    name = (_NATIVE_MATH if is_native else _MATH)[type(operation)]
    flags = _APPROXIMATE if is_native else None
    r.define(operation.result, _function(r, name, r.value(operation.a), flags))


def _function(r: Rebuilder, name: str, a: SSAValue, flags: FastMathFlagsAttr | None) -> SSAValue:
    if a.type in COMPLEX_TYPES and name == "exp2":
        return _complex_exp2(r, a, flags)
    dialect = "complex" if a.type in COMPLEX_TYPES else "math"
    properties = {} if flags is None else {"fastmath": flags}
    return emit(r, f"{dialect}.{name}", [a], a.type, properties)


def _complex_exp2(r: Rebuilder, a: SSAValue, flags: FastMathFlagsAttr | None) -> SSAValue:
    """2^(x + iy) = 2^x (cos(y log 2) + i sin(y log 2)); upstream has no such function."""
    real, imaginary = complex_parts(r, a)
    part = real.type
    length = _function(r, "exp2", real, flags)
    angle = emit(r, "arith.mulf", [imaginary, constant(r, math.log(2.0), part)], part)
    parts = (
        emit(r, "arith.mulf", [length, _function(r, name, angle, flags)], part)
        for name in ("cos", "sin")
    )
    return create_complex(r, *parts)


def _cast(operation: ops.CastOp, r: Rebuilder) -> None:
    r.define(operation.result, convert(r, r.value(operation.a), core_type(operation.result.type)))


def _constant(operation: ops.ConstantOp, r: Rebuilder) -> None:
    value = attribute_value(operation.value)
    r.replace(operation, constant_operation(value, core_type(operation.result.type)))


RULES: Rules = {
    **dict.fromkeys(_BINARY, _binary),
    **dict.fromkeys((ops.ShlOp, ops.ShrOp), _shift),
    **dict.fromkeys(_UNARY, _unary),
    ops.NegOp: _neg,
    ops.NotOp: _not,
    **dict.fromkeys(_COMPARISONS, _comparison),
    **dict.fromkeys((*_MATH, *_NATIVE_MATH), _math),
    ops.CastOp: _cast,
    ops.ConstantOp: _constant,
}
