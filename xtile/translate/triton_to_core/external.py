"""Functions of vendors' libraries, as operations of `arith` and `math`.

Source: NVIDIA, "libdevice User's Guide"; AMD, "OCML User Guide"; Triton 3.9, `TritonOps.td`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import pi, sqrt
from typing import Any, cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import IntegerType, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation

from xtile.dialects.arith.arithmetic import RemFOp, ShRUIOp
from xtile.dialects.arith.casts import (
    ExtSIOp,
    ExtUIOp,
    FPToSIOp,
    FPToUIOp,
    SIToFPOp,
    TruncIOp,
    UIToFPOp,
)
from xtile.dialects.math import ErfcOp, IsFiniteOp, IsInfOp, IsNaNOp
from xtile.dialects.shapes import with_element
from xtile.dialects.triton.tt.ops import ExternElementwiseOp
from xtile.dialects.upstream import value_type
from xtile.rewrite.rebuilder import Rule
from xtile.semantics.triton.libraries import name_of
from xtile.translate.triton_to_core.arithmetic import converted
from xtile.translate.triton_to_core.raising import Raising

_SAME: Mapping[str, type[IRDLOperation]] = {
    "abs": math.AbsIOp,
    "absf": math.AbsFOp,
    "acos": math.AcosOp,
    "acosh": math.AcoshOp,
    "asin": math.AsinOp,
    "asinh": math.AsinhOp,
    "atan": math.AtanOp,
    "atan2": math.Atan2Op,
    "atanh": math.AtanhOp,
    "cbrt": math.CbrtOp,
    "ceil": math.CeilOp,
    "clz": math.CountLeadingZerosOp,
    "clzll": math.CountLeadingZerosOp,
    "copysign": math.CopySignOp,
    "cos": math.CosOp,
    "cosh": math.CoshOp,
    "dadd_rn": arith.AddfOp,
    "ddiv_rn": arith.DivfOp,
    "dmul_rn": arith.MulfOp,
    "dsub_rn": arith.SubfOp,
    "erf": math.ErfOp,
    "erfc": ErfcOp,
    "exp": math.ExpOp,
    "exp2": math.Exp2Op,
    "expm1": math.ExpM1Op,
    "fabs": math.AbsFOp,
    "fadd_rn": arith.AddfOp,
    "fdiv_rn": arith.DivfOp,
    "fdivide": arith.DivfOp,
    "floor": math.FloorOp,
    "fma": math.FmaOp,
    "fma_rn": math.FmaOp,
    "fmax": arith.MaxnumfOp,
    "fmin": arith.MinnumfOp,
    "fmod": RemFOp,
    "fmul_rn": arith.MulfOp,
    "fsub_rn": arith.SubfOp,
    "llabs": math.AbsIOp,
    "log": math.LogOp,
    "log10": math.Log10Op,
    "log1p": math.Log1pOp,
    "log2": math.Log2Op,
    "nearbyint": math.RoundEvenOp,
    "popc": math.CtPopOp,
    "popcll": math.CtPopOp,
    "pow": math.PowFOp,
    "powf": math.PowFOp,
    "powi": math.FPowIOp,
    "pown": math.FPowIOp,
    "rint": math.RoundEvenOp,
    "round": math.RoundOp,
    "roundeven": math.RoundEvenOp,
    "rsqrt": math.RsqrtOp,
    "sin": math.SinOp,
    "sinh": math.SinhOp,
    "sqrt": math.SqrtOp,
    "tan": math.TanOp,
    "tanh": math.TanhOp,
    "trunc": math.TruncOp,
}
"""The operation that a function is; integers that come out are made as wide as the result."""

_TESTS: Mapping[str, type[IRDLOperation]] = {
    "finite": IsFiniteOp,
    "isfinite": IsFiniteOp,
    "isfinited": IsFiniteOp,
    "isinf": IsInfOp,
    "isinfd": IsInfOp,
    "isnan": IsNaNOp,
    "isnand": IsNaNOp,
}
"""The question that a function answers with 0 or 1."""

_ROUNDINGS: Mapping[str, type[IRDLOperation]] = {
    "d": math.FloorOp,
    "n": math.RoundEvenOp,
    "u": math.CeilOp,
    "z": math.TruncOp,
}
"""How a float is rounded before it becomes an integer, by the last letter of a function."""

_TO_INTEGER = re.compile(r"(?:float|double)2(u?)(?:int|ll)_r(\w)")
_TO_FLOAT = re.compile(r"(u?)(?:int|ll)2(?:float|double)_rn")
_BITS = re.compile(r"\w+_as_\w+")


@dataclass(frozen=True)
class _Numbers:
    """Emits arithmetic on values of one type.

    Attributes:
        raising: Where to emit.
        type: The type.
    """

    raising: Raising
    type: Attribute

    def make(self, kind: type[IRDLOperation], *operands: SSAValue | float) -> SSAValue:
        """The result of an operation on values and constants."""
        values = [
            each if isinstance(each, SSAValue) else self.raising.constant(each, self.type)
            for each in operands
        ]
        return self.raising.compute(kind, values, self.type)


def _exp10(numbers: _Numbers, x: SSAValue) -> SSAValue:
    return numbers.make(math.PowFOp, 10.0, x)


def _normal(numbers: _Numbers, x: SSAValue) -> SSAValue:
    """The normal distribution."""
    scaled = numbers.make(arith.MulfOp, x, -1 / sqrt(2))
    return numbers.make(arith.MulfOp, numbers.make(ErfcOp, scaled), 0.5)


def _of_turns(kind: type[IRDLOperation]) -> Callable[[_Numbers, SSAValue], SSAValue]:
    """A function of an angle in half turns."""

    def make(numbers: _Numbers, x: SSAValue) -> SSAValue:
        return numbers.make(kind, numbers.make(arith.MulfOp, numbers.make(RemFOp, x, 2.0), pi))

    return make


def _cube_root(numbers: _Numbers, x: SSAValue) -> SSAValue:
    return numbers.make(math.CbrtOp, x)


def _same(numbers: _Numbers, x: SSAValue) -> SSAValue:
    return x


def _length(numbers: _Numbers, *values: SSAValue) -> SSAValue:
    total = numbers.make(arith.MulfOp, values[0], values[0])
    for value in values[1:]:
        total = numbers.make(math.FmaOp, value, value, total)
    return numbers.make(math.SqrtOp, total)


def _inverse(function: Callable[..., SSAValue]) -> Callable[..., SSAValue]:
    """One over a function."""

    def make(numbers: _Numbers, *values: SSAValue) -> SSAValue:
        return numbers.make(arith.DivfOp, 1.0, function(numbers, *values))

    return make


def _saturate(numbers: _Numbers, x: SSAValue) -> SSAValue:
    """A number from 0 to 1; NaN is 0."""
    return numbers.make(arith.MinnumfOp, numbers.make(arith.MaxnumfOp, x, 0.0), 1.0)


def _remainder(numbers: _Numbers, x: SSAValue, y: SSAValue) -> SSAValue:
    turns = numbers.make(math.RoundEvenOp, numbers.make(arith.DivfOp, x, y))
    return numbers.make(arith.SubfOp, x, numbers.make(arith.MulfOp, y, turns))


def _high_half(kind: type[IRDLOperation]) -> Callable[..., SSAValue]:
    def make(numbers: _Numbers, x: SSAValue, y: SSAValue) -> SSAValue:
        made = kind.create(operands=[x, y], result_types=[numbers.type, numbers.type])
        return numbers.raising.emit(made).results[1]

    return make


_COMPOSED: Mapping[str, Callable[..., SSAValue]] = {
    "cospi": _of_turns(math.CosOp),
    "exp10": _exp10,
    "hypot": _length,
    "mul64hi": _high_half(arith.MulSIExtendedOp),
    "mulhi": _high_half(arith.MulSIExtendedOp),
    "norm3d": _length,
    "normcdf": _normal,
    "rcbrt": _inverse(_cube_root),
    "rcp": _inverse(_same),
    "remainder": _remainder,
    "rhypot": _inverse(_length),
    "rnorm3d": _inverse(_length),
    "saturate": _saturate,
    "sinpi": _of_turns(math.SinOp),
    "umul64hi": _high_half(arith.MulUIExtendedOp),
    "umulhi": _high_half(arith.MulUIExtendedOp),
}
"""What emits a function that is several operations."""


def _resized(raising: Raising, value: SSAValue, type_: Attribute) -> SSAValue:
    """A truth value, or an integer of another width, as an integer of a type."""
    given, wanted = value_type(value.type), value_type(type_)
    if given == wanted or not isinstance(given, IntegerType):
        return value
    if given == i1:
        return raising.compute(ExtUIOp, [value], type_)
    is_narrower = cast("Any", wanted).bitwidth < cast("Any", given).bitwidth
    return raising.compute(TruncIOp if is_narrower else ExtSIOp, [value], type_)


def _conversion(name: str, raising: Raising, value: SSAValue, type_: Attribute) -> SSAValue | None:
    """A conversion, whose name says from what to what and how it is rounded."""
    if _BITS.fullmatch(name) is not None:
        return raising.compute(arith.BitcastOp, [value], type_)
    if name.startswith("signbit"):
        bits = cast("Any", value_type(value.type)).bitwidth
        integers = with_element(value.type, IntegerType(bits))
        number = raising.compute(arith.BitcastOp, [value], integers)
        distance = raising.constant(bits - 1, integers)
        return _resized(raising, raising.compute(ShRUIOp, [number, distance], integers), type_)
    if name in ("llrint", "llround"):
        kind = math.RoundEvenOp if name == "llrint" else math.RoundOp
        return raising.compute(FPToSIOp, [raising.compute(kind, [value], value.type)], type_)
    if name == "double2float_rn":
        return converted(raising, value, value_type(type_))
    if (match := _TO_INTEGER.fullmatch(name)) is not None:
        rounded = raising.compute(_ROUNDINGS[match[2]], [value], value.type)
        return raising.compute(FPToUIOp if match[1] else FPToSIOp, [rounded], type_)
    if (match := _TO_FLOAT.fullmatch(name)) is not None:
        return raising.compute(UIToFPOp if match[1] else SIToFPOp, [value], type_)
    return None


def function(
    name: str, raising: Raising, values: list[SSAValue], type_: Attribute
) -> SSAValue | None:
    """Emits a function of a library.

    Args:
        name: What `xtile.semantics.triton.libraries` calls it.
        raising: Where to emit.
        values: Its operands.
        type_: The type of its result.

    Returns:
        The result; None if nothing is known that it could become.
    """
    first = values[0].type
    if name in _SAME:
        return _resized(raising, raising.compute(_SAME[name], values, first), type_)
    if name in _TESTS:
        truth = raising.compute(_TESTS[name], values, with_element(first, i1))
        return _resized(raising, truth, type_)
    if name in _COMPOSED:
        return _COMPOSED[name](_Numbers(raising, first), *values)
    return _conversion(name, raising, values[0], type_)


def _extern(operation: ExternElementwiseOp, raising: Raising) -> None:
    symbol = operation.symbol.data
    name = name_of(symbol)
    values, type_ = raising.values(operation.srcs), raising.type(operation.result.type)
    made = None if name is None else function(name, raising, values, type_)
    if made is None:
        raise raising.error(
            f"the function '{symbol}' cannot be translated to the core form; compute it with "
            "Triton's own operations"
        )
    raising.define(operation.result, made)


RULES: dict[str, Rule] = {"tt.extern_elementwise": _extern}
"""The rule of each operation, by name."""
