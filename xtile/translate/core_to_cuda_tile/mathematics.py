"""Functions of the `math` dialect.

Source: CUDA Tile IR specification, "Floating Point", "Math"; docs/semantics.md, 1.10 and 7. Those
that CUDA Tile IR has not are composed of others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

from xdsl.dialects.builtin import IntegerType, f64
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, SSAValue

from xtile.dialects.cuda_tile.enumerations import (
    ComparisonOrdering,
    ComparisonPredicate,
    RoundingMode,
)
from xtile.dialects.cuda_tile.ops import floating_point, integer, mathematics
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.arithmetic import absolute, approximated, as_said
from xtile.translate.core_to_cuda_tile.composed import (
    acosh,
    arc,
    asinh,
    atanh,
    cbrt,
    erf,
    expm1,
    log1p,
    round_away,
    round_even,
    truncated,
)
from xtile.translate.core_to_cuda_tile.lowering import Lowering, emitted
from xtile.translate.core_to_cuda_tile.types import element_type
from xtile.translate.tiles.casts import copy_sign, from_integer
from xtile.translate.tiles.elementwise import Compute, elementwise, in_f32, named

_IS = ComparisonPredicate


def _log10(lowering: Lowering, value: SSAValue) -> SSAValue:
    scaled = lowering.compute(mathematics.Log2Op, value)
    factor = lowering.like(math.log10(2), value)
    return lowering.compute(floating_point.MulFOp, scaled, factor)


_ROUNDED: dict[str, Compute] = {
    "acos": arc("acos"),
    "acosh": acosh,
    "asin": arc("asin"),
    "asinh": asinh,
    "atan": arc("atan"),
    "atan2": emitted(mathematics.Atan2Op),
    "atanh": atanh,
    "cbrt": cbrt,
    "cos": emitted(mathematics.CosOp),
    "cosh": emitted(mathematics.CosHOp),
    "erf": erf,
    "exp": emitted(mathematics.ExpOp),
    "exp2": emitted(mathematics.Exp2Op),
    "expm1": expm1,
    "log": emitted(mathematics.LogOp),
    "log10": _log10,
    "log1p": log1p,
    "log2": emitted(mathematics.Log2Op),
    "powf": emitted(mathematics.PowOp),
    "rsqrt": emitted(mathematics.RsqrtOp),
    "sin": emitted(mathematics.SinOp),
    "sinh": emitted(mathematics.SinHOp),
    "sqrt": emitted(mathematics.SqrtOp),
    "tan": emitted(mathematics.TanOp),
    "tanh": emitted(mathematics.TanHOp),
}
"""The functions whose results are rounded; those of f16 and bf16 are computed in f32."""

_EXACT: dict[str, Compute] = {
    "ceil": emitted(floating_point.CeilOp),
    "copysign": copy_sign,
    "floor": emitted(floating_point.FloorOp),
    "fma": emitted(floating_point.FmaOp),
    "round": round_away,
    "roundeven": round_even,
    "trunc": truncated,
}
"""The functions that are the same in all types."""

_APPROXIMATE: dict[str, Compute] = {
    "exp": emitted(mathematics.ExpOp, rounding_mode=RoundingMode.APPROX),
    "exp2": emitted(mathematics.Exp2Op, flush_to_zero=True),
    "rsqrt": emitted(mathematics.RsqrtOp, flush_to_zero=True),
    "sqrt": emitted(mathematics.SqrtOp, rounding_mode=RoundingMode.APPROX, flush_to_zero=True),
    "tanh": emitted(mathematics.TanHOp, rounding_mode=RoundingMode.APPROX),
}
"""What `fastmath<afn>` allows for f32."""

_SAID: dict[str, Callable[..., Operation]] = {
    "math.exp2": mathematics.Exp2Op,
    "math.fma": floating_point.FmaOp,
    "math.rsqrt": mathematics.RsqrtOp,
    "math.sqrt": mathematics.SqrtOp,
}
"""The operations that can say how they are rounded, or that they flush to zero."""

_APPROXIMATE_IN_TRITON = frozenset({"exp", "exp2"})
"""The functions that are `ex2.approx` in what Triton 3.9 compiles for NVIDIA, on f32."""


def _rounded(name: str) -> Rule:
    rule = elementwise(in_f32(_ROUNDED[name]))
    if name not in _APPROXIMATE:
        return rule
    rough = _APPROXIMATE[name]
    of_triton = rough if name in _APPROXIMATE_IN_TRITON else None
    return approximated(rule, {FastMathFlag.APPROX_FUNC: rough}, of_triton)


def _clamp(lowering: Lowering, value: SSAValue, least: SSAValue, largest: SSAValue) -> SSAValue:
    below = lowering.compute(floating_point.MinFOp, value, largest, propagate_nan=True)
    return lowering.compute(floating_point.MaxFOp, below, least, propagate_nan=True)


def _sincos(operation: Operation, lowering: Lowering) -> None:
    (value,) = lowering.values(operation.operands)
    kinds = mathematics.SinOp, mathematics.CosOp
    for kind, result in zip(kinds, operation.results, strict=True):
        lowering.define(result, in_f32(emitted(kind))(lowering, value))


# --- questions ---


def _is_nan(lowering: Lowering, value: SSAValue) -> SSAValue:
    return lowering.compare_floats(_IS.NOT_EQUAL, value, value, ComparisonOrdering.UNORDERED)


def _compared_size(predicate: ComparisonPredicate, limit: float) -> Compute:
    def compute(lowering: Lowering, value: SSAValue) -> SSAValue:
        size = absolute(lowering, value)
        return lowering.compare_floats(predicate, size, lowering.like(limit, size))

    return compute


_LEAST_EXPONENTS = {"f16": -14, "bf16": -126, "f32": -126, "f64": -1022}
"""Of normal numbers."""


def _is_normal(lowering: Lowering, value: SSAValue) -> SSAValue:
    least = 2.0 ** _LEAST_EXPONENTS[element_type(value).name]
    size = absolute(lowering, value)
    is_large = lowering.compare_floats(_IS.GREATER_THAN_OR_EQUAL, size, lowering.like(least, size))
    is_finite = lowering.compare_floats(_IS.LESS_THAN, size, lowering.like(math.inf, size))
    made = lowering.both(is_large, is_finite)
    assert made is not None
    return made


# --- powers of integers ---


def _power_of_integer(lowering: Lowering, base: SSAValue, exponent: SSAValue) -> SSAValue:
    """A float to the power of an integer, in f64, which holds all exponents that matter."""
    wide = lowering.converted(base, f64)
    times = from_integer(lowering, exponent, f64)
    made = lowering.compute(mathematics.PowOp, wide, times)
    return lowering.converted(made, element_type(base))


def _absolute_integer(lowering: Lowering, value: SSAValue) -> SSAValue:
    if cast(IntegerType, element_type(value)).width.data == 1:
        return value
    return lowering.compute(integer.AbsIOp, value)


RULES: dict[str, Rule] = {
    **named("math", {name: _rounded(name) for name in _ROUNDED}),
    **named("math", {name: elementwise(compute) for name, compute in _EXACT.items()}),
    "math.fma": as_said(elementwise(_EXACT["fma"]), _SAID),
    **{f"math.{name}": as_said(_rounded(name), _SAID) for name in ("exp2", "rsqrt", "sqrt")},
    "math.absi": elementwise(_absolute_integer),
    "math.clampf": elementwise(_clamp),
    "math.fpowi": elementwise(_power_of_integer),
    "math.isfinite": elementwise(_compared_size(_IS.LESS_THAN, math.inf)),
    "math.isinf": elementwise(_compared_size(_IS.EQUAL, math.inf)),
    "math.isnan": elementwise(_is_nan),
    "math.isnormal": elementwise(_is_normal),
    "math.sincos": _sincos,
}
"""The rule of each operation, by name."""
