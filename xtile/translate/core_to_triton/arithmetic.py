"""Numbers: `arith` and `math` on tensors, as far as Triton compiles them.

Source: MLIR (LLVM 22), `arith`, `math`; Triton 3.4 to 3.9, `ElementwiseOpToLLVM.cpp` and the
front end's `tl.math`, which say what is compiled and of which types.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any, cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    MemRefType,
    f32,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, SSAValue

from xtile.dialects.arith.comparisons import CmpFOp, CmpIOp
from xtile.dialects.number_attributes import Rounding, has_flag, saturates
from xtile.dialects.triton.tt import ops as tt
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_triton.lowering import TARGET, Lowering
from xtile.translate.core_to_triton.types import is_of_scales, is_of_tf32, tensor_of
from xtile.translate.tiles.casts import (
    copy_sign,
    directed,
    direction_of,
    from_integer,
    in_computed_type,
    narrow,
    rounded_to,
)
from xtile.translate.tiles.elementwise import Compute, elementwise, in_f32, named

_VENDORS_COMPILE = frozenset(
    (
        *("addi", "andi", "divui", "maxsi", "maxui", "minsi", "minui", "muli", "ori", "remui"),
        *("shli", "shrsi", "shrui", "subi", "xori"),
    )
)
"""The operations on integers that tensors have as they are."""


def remade(operation: Operation, lowering: Lowering, *operands: SSAValue) -> SSAValue:
    """The same operation on what its operands have become, or on others of one type."""
    type_ = operands[0].type
    made = type(operation).create(
        operands=operands,
        result_types=[type_] * len(operation.results),
        properties=operation.properties.copy(),
    )
    return lowering.emit(made).results[0]


def _again(operation: Operation) -> Compute:
    """The same operation, on other operands."""

    def compute(lowering: Lowering, *operands: SSAValue) -> SSAValue:
        return remade(operation, lowering, *operands)

    return compute


def _same(operation: Operation, lowering: Lowering) -> None:
    """The operation as it is; of indices and of what is known it is folded."""
    a, b = lowering.values(operation.operands)
    (result,) = operation.results
    if a.type != i64:
        lowering.define(result, remade(operation, lowering, a, b))
        return
    name = operation.name.removeprefix("arith.")
    folded = _FOLDED.get(name)
    if folded is not None:
        a, b = lowering.facts.number(a), lowering.facts.number(b)
        lowering.define(result, lowering.as_value(folded(lowering, a, b)))
    else:
        lowering.define(result, lowering.pure_arith(name, a, b))


_FOLDED = {"addi": Lowering.add, "muli": Lowering.multiply, "subi": Lowering.subtract}


# --- floats ---


def _float(operation: Operation, lowering: Lowering) -> None:
    """Arithmetic on floats; on those of 8 bits it is in f32, and so is it on tf32."""
    value = narrow(_again(operation))(lowering, *lowering.values(operation.operands))
    _define(operation, lowering, value)


def _define(operation: Operation, lowering: Lowering, value: SSAValue) -> None:
    """Records a float; numbers of tf32 are rounded to as many bits."""
    (result,) = operation.results
    lowering.define(result, _as_tf32(lowering, value) if is_of_tf32(result.type) else value)


_UNUSED = 13
"""The bits of an f32 that tf32 does not have."""


def _as_tf32(lowering: Lowering, value: SSAValue, *, toward_zero: bool = False) -> SSAValue:
    """Floats of f32 rounded to the bits that tf32 has, to nearest even; NaN stays."""
    bits = lowering.bitcast(value, i32)
    kept = lowering.like(-(1 << _UNUSED), bits)
    sum_ = bits
    if not toward_zero:
        one = lowering.like(1, bits)
        odd = lowering.arith("shrui", bits, lowering.like(_UNUSED, bits))
        odd = lowering.arith("andi", odd, one)
        half = lowering.arith("addi", odd, lowering.like((1 << (_UNUSED - 1)) - 1, bits))
        sum_ = lowering.arith("addi", bits, half)
    rounded = lowering.bitcast(lowering.arith("andi", sum_, kept), f32)
    is_number = lowering.cmpf("oeq", value, value)
    return lowering.select(is_number, rounded, value)


def _quotient(operation: Operation, lowering: Lowering) -> None:
    """Triton's `arith.divf` of f32 is an approximation, which only some flags allow."""
    is_rough = any(has_flag(operation, flag) for flag in _ROUGH)

    def divide(lowering: Lowering, a: SSAValue, b: SSAValue) -> SSAValue:
        if lowering.element(a) == f32 and not is_rough:
            return lowering.emit(tt.PreciseDivFOp(a, b)).results[0]
        return lowering.make(arith.DivfOp, a.type, a, b)

    value = narrow(in_f32(divide))(lowering, *lowering.values(operation.operands))
    _define(operation, lowering, value)


_ROUGH = (FastMathFlag.ALLOW_RECIP, FastMathFlag.APPROX_FUNC)


def _convert(operation: Operation, lowering: Lowering) -> None:
    """Casts between floats; what is too large for 8 bits becomes infinite or NaN."""
    (value,), (result,) = lowering.values(operation.operands), operation.results
    element = lowering.element_of(result.type)
    direction = direction_of(operation, lowering)
    if is_of_tf32(result.type):
        if direction not in (None, Rounding.TOWARD_ZERO):
            raise lowering.error(f"numbers are not rounded {direction} to tf32 in {TARGET}")
        if lowering.element(value) == f64:
            raise lowering.error("f64 is not rounded to tf32; cast it to f32 first")
        value = lowering.converted(value, f32)
        is_zero = direction is Rounding.TOWARD_ZERO
        made = _as_tf32(lowering, value, toward_zero=is_zero)
    elif saturates(operation):
        made = lowering.converted(value, element)
    elif direction is None:
        made = rounded_to(lowering, value, element)
    else:
        made = directed(lowering, value, element, direction)
    lowering.define(result, made)


# --- comparisons and choices ---


def _compare(operation: Operation, lowering: Lowering) -> None:
    a, b = (in_computed_type(lowering, value) for value in lowering.values(operation.operands))
    properties = operation.properties.copy()
    kind = CmpIOp if operation.name == "arith.cmpi" else CmpFOp
    type_ = lowering.tile(i1, lowering.shape(a))
    lowering.define(operation.results[0], lowering.make(kind, type_, a, b, properties=properties))


def _select(operation: Operation, lowering: Lowering) -> None:
    """Chooses numbers, vectors or memrefs; one condition may choose all of them."""
    condition, *values = operation.operands
    truth = lowering.value(condition)
    chosen, other = lowering.flat(values[:1]), lowering.flat(values[1:])
    made = [
        a if a is b else lowering.select(truth, a, b) for a, b in zip(chosen, other, strict=True)
    ]
    lowering.define_flat(operation.results, made)


# --- constants ---


def _constant(operation: Operation, lowering: Lowering) -> None:
    (result,) = operation.results
    value, type_ = cast("Any", operation.properties["value"]), tensor_of(result.type)
    if is_of_scales(result.type):
        raise lowering.error(f"constants of f8E8M0FNU have no form in {TARGET}; load the scales")
    if isinstance(value, IntegerAttr | FloatAttr):
        lowering.define(result, lowering.constant(cast("Any", value).value.data, type_))
        return
    if not isinstance(value, DenseIntOrFPElementsAttr):
        raise lowering.error(f"{value} is no constant of numbers")
    numbers = cast("Any", value).get_values()
    if len(set(map(repr, numbers))) == 1:
        lowering.define(result, lowering.constant(numbers[0], type_))
    else:
        lowering.define(result, lowering.constants(numbers, cast("Any", type_)))


def _poison(operation: Operation, lowering: Lowering) -> None:
    """Any number will do; 0 is the one that leaves sums alone, and the null pointer."""
    (result,) = operation.results
    if isinstance(result.type, MemRefType):
        raise lowering.error(f"memory of which nothing is specified has no form in {TARGET}")
    lowering.define(result, lowering.constant(0, tensor_of(result.type)))


# --- functions ---

_LIBRARIES = {"NVIDIA": ("libdevice", "__nv_{name}{f}"), "AMD": ("ocml", "__ocml_{name}_{type}")}
"""What Triton's front end calls the library of each vendor, and how functions are called there."""

_OF_LIBRARIES: Mapping[str, str] = {
    "acos": "acos",
    "acosh": "acosh",
    "asin": "asin",
    "asinh": "asinh",
    "atan": "atan",
    "atan2": "atan2",
    "atanh": "atanh",
    "cbrt": "cbrt",
    "cosh": "cosh",
    "erfc": "erfc",
    "expm1": "expm1",
    "log10": "log10",
    "log1p": "log1p",
    "powf": "pow",
    "round": "round",
    "roundeven": "rint",
    "sinh": "sinh",
    "tan": "tan",
    "tanh": "tanh",
    "trunc": "trunc",
}
"""The functions of `math` that Triton has no operation for."""


def external(lowering: Lowering, name: str, *operands: SSAValue) -> SSAValue:
    """A function of floats of the vendor's library, by its name without a type."""
    is_single = lowering.element(operands[0]) == f32
    library, pattern = _LIBRARIES[lowering.vendor]
    symbol = pattern.format(
        name=name, f="f" if is_single else "", type="f32" if is_single else "f64"
    )
    made = tt.ExternElementwiseOp(operands, symbol, operands[0].type, libname=library)
    return lowering.emit(made).results[0]


def _of_library(operation: Operation, lowering: Lowering) -> None:
    name = _OF_LIBRARIES[operation.name.removeprefix("math.")]

    def call(lowering: Lowering, *operands: SSAValue) -> SSAValue:
        return external(lowering, name, *operands)

    elementwise(in_f32(call))(operation, lowering)


def _function(operation: Operation, lowering: Lowering) -> None:
    """A function that Triton has for f32 and f64."""
    elementwise(in_f32(_again(operation)))(operation, lowering)


def _root(operation: Operation, lowering: Lowering) -> None:
    """Triton's `math.sqrt` of f32 is an approximation."""
    if has_flag(operation, FastMathFlag.APPROX_FUNC):
        _function(operation, lowering)
        return

    def root(lowering: Lowering, value: SSAValue) -> SSAValue:
        if lowering.element(value) == f32:
            return lowering.emit(tt.PreciseSqrtOp(value)).results[0]
        return lowering.make(math.SqrtOp, value.type, value)

    elementwise(in_f32(root))(operation, lowering)


def _clamp(lowering: Lowering, value: SSAValue, least: SSAValue, largest: SSAValue) -> SSAValue:
    below = lowering.arith("minimumf", value, largest)
    return lowering.arith("maximumf", below, least)


def _sincos(operation: Operation, lowering: Lowering) -> None:
    (value,) = lowering.values(operation.operands)
    for kind, result in zip((math.SinOp, math.CosOp), operation.results, strict=True):

        def compute(lowering: Lowering, x: SSAValue, kind: Any = kind) -> SSAValue:
            return lowering.make(kind, x.type, x)

        lowering.define(result, in_f32(compute)(lowering, value))


def _absolute_integer(lowering: Lowering, value: SSAValue) -> SSAValue:
    if lowering.element(value) == i1:
        return value
    return lowering.arith("maxsi", value, lowering.arith("subi", lowering.like(0, value), value))


def _power_of_integer(lowering: Lowering, base: SSAValue, exponent: SSAValue) -> SSAValue:
    """A float to the power of an integer, in f64, which holds all exponents that matter."""
    wide, times = lowering.converted(base, f64), from_integer(lowering, exponent, f64)
    return lowering.converted(external(lowering, "pow", wide, times), lowering.element(base))


# --- questions ---


def _size(lowering: Lowering, value: SSAValue) -> SSAValue:
    return lowering.make(math.AbsFOp, value.type, value)


def _compared_size(predicate: str, limit: float) -> Compute:
    def compute(lowering: Lowering, value: SSAValue) -> SSAValue:
        size = _size(lowering, value)
        return lowering.cmpf(predicate, size, lowering.like(limit, size))

    return compute


def _is_nan(lowering: Lowering, value: SSAValue) -> SSAValue:
    return lowering.cmpf("uno", value, value)


_LEAST_EXPONENTS = {"f16": -14, "bf16": -126, "f32": -126, "f64": -1022}
"""Of normal numbers."""


def _is_normal(lowering: Lowering, value: SSAValue) -> SSAValue:
    least = 2.0 ** _LEAST_EXPONENTS[lowering.element(value).name]
    size = _size(lowering, value)
    is_large = lowering.cmpf("oge", size, lowering.like(least, size))
    is_finite = lowering.cmpf("olt", size, lowering.like(inf, size))
    return lowering.arith("andi", is_large, is_finite)


RULES: dict[str, Rule] = {
    **named("arith", dict.fromkeys(_VENDORS_COMPILE, _same)),
    **named(
        "arith",
        dict.fromkeys(
            (
                *("addf", "maximumf", "maxnumf", "minimumf", "minnumf", "mulf", "negf"),
                *("remf", "subf"),
            ),
            _float,
        ),
    ),
    "arith.cmpf": _compare,
    "arith.cmpi": _compare,
    "arith.constant": _constant,
    "arith.divf": _quotient,
    "arith.extf": _convert,
    "arith.select": _select,
    "arith.truncf": _convert,
    **named("math", dict.fromkeys(_OF_LIBRARIES, _of_library)),
    **named(
        "math",
        dict.fromkeys(
            ("ceil", "cos", "erf", "exp", "exp2", "floor", "log", "log2", "rsqrt", "sin"), _function
        ),
    ),
    **named("math", dict.fromkeys(("absf", "fma"), _float)),
    "math.absi": elementwise(_absolute_integer),
    "math.clampf": elementwise(_clamp),
    "math.copysign": elementwise(copy_sign),
    "math.fpowi": elementwise(_power_of_integer),
    "math.isfinite": elementwise(_compared_size("olt", inf)),
    "math.isinf": elementwise(_compared_size("oeq", inf)),
    "math.isnan": elementwise(_is_nan),
    "math.isnormal": elementwise(_is_normal),
    "math.sincos": _sincos,
    "math.sqrt": _root,
    "ub.poison": _poison,
}
"""The rule of each operation, by name."""
