"""Functions of the `math` dialect, by the OpenCL extended instruction set.

Source: OpenCL Extended Instruction Set Specification, 2.1 "Math extended instructions" and 2.2
"Integer instructions"; docs/semantics.md, 1.10 and 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import f32, f64, i1, i32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xtile.dialects.number_attributes import allows_approximation
from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_spirv.arithmetic import maximum, minimum
from xtile.translate.xegpu_to_spirv.combining import narrowed, widened
from xtile.translate.xegpu_to_spirv.conversions import from_integer, resize
from xtile.translate.xegpu_to_spirv.elementwise import (
    Compute,
    elementwise,
    first,
    in_f32,
    instruction,
    like,
    named,
    on_floats,
    opposite,
    wide_pieces,
)
from xtile.translate.xegpu_to_spirv.exponentials import EXPONENTIALS, exponential
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.types import element_type, integer_width, length_of
from xtile.translate.xegpu_to_spirv.vectors.entries import arranged, element, entries

# --- floating numbers ---

_ROUNDED = {
    "acos": "acos",
    "acosh": "acosh",
    "asin": "asin",
    "asinh": "asinh",
    "atan": "atan",
    "atan2": "atan2",
    "atanh": "atanh",
    "cbrt": "cbrt",
    "cos": "cos",
    "cosh": "cosh",
    "erf": "erf",
    "erfc": "erfc",
    "exp": "exp",
    "exp2": "exp2",
    "expm1": "expm1",
    "log": "log",
    "log10": "log10",
    "log1p": "log1p",
    "log2": "log2",
    "powf": "pow",
    "rsqrt": "rsqrt",
    "sin": "sin",
    "sinh": "sinh",
    "sqrt": "sqrt",
    "tan": "tan",
    "tanh": "tanh",
}
"""The functions whose results are rounded; those of f16 are computed in f32."""

_EXACT = {
    "absf": "fabs",
    "ceil": "ceil",
    "copysign": "copysign",
    "floor": "floor",
    "round": "round",
    "roundeven": "rint",
    "trunc": "trunc",
}
"""The functions whose results are numbers of the type."""

_NATIVE = frozenset({"cos", "exp", "exp2", "log", "log10", "log2", "rsqrt", "sin", "sqrt", "tan"})
"""The functions that `fastmath<afn>` allows to be computed with whatever error the device has."""


def _rounded(name: str) -> Rule:
    function = _ROUNDED[name]
    exact = instruction(f"CL.{function}")
    if function not in _NATIVE:
        return in_f32(exact)
    approximate = _native(function)
    if function in EXPONENTIALS:
        exact = exponential(function, exact)
        approximate = exponential(function, approximate)
    rule, native = in_f32(exact), in_f32(approximate)

    def of_both(operation: Operation, lowering: Lowering) -> None:
        (native if allows_approximation(operation) else rule)(operation, lowering)

    return of_both


def _native(name: str) -> Compute:
    """The function with the device's error, which f32 has only."""

    def compute(lowering: Lowering, type_: Attribute, operands: Sequence[SSAValue]) -> SSAValue:
        prefix = "native_" if element_type(type_) == f32 else ""
        return lowering.compute(f"CL.{prefix}{name}", type_, *operands)

    return compute


def fma(lowering: Lowering, type_: Attribute, operands: Sequence[SSAValue]) -> SSAValue:
    """A product and a sum, rounded once."""
    return lowering.compute("CL.fma", type_, *operands)


def _clamp(lowering: Lowering, type_: Attribute, operands: Sequence[SSAValue]) -> SSAValue:
    value, least, largest = operands
    return maximum(lowering, type_, (minimum(lowering, type_, (value, largest)), least))


def _test(name: str) -> Rule:
    """A question about floating numbers."""

    def rule(operation: Operation, lowering: Lowering) -> None:
        pieces = wide_pieces(operation.operands[0], lowering)
        made = [lowering.compute(name, like(piece, i1), piece) for piece in pieces]
        lowering.define_pieces(operation.results[0], made)

    return rule


def _sincos(operation: Operation, lowering: Lowering) -> None:
    (source,) = operation.operands
    type_ = element_type(source.type)
    wide = [widened(lowering, piece, type_) for piece in lowering.pieces(source)]
    for name, result in zip(("CL.sin", "CL.cos"), operation.results, strict=True):
        made = [lowering.compute(name, piece.type, piece) for piece in wide]
        lowering.define_pieces(result, [narrowed(lowering, piece, type_) for piece in made])


def _power_of_integer(operation: Operation, lowering: Lowering) -> None:
    """A floating number to the power of an integer; wide exponents are exact in f64 only."""
    base, exponent = operation.operands
    type_ = element_type(base.type)
    is_wide = integer_width(element_type(exponent.type)) > 32
    made: list[SSAValue] = []
    for number, power in zip(lowering.pieces(base), lowering.pieces(exponent), strict=True):
        wide = widened(lowering, number, type_)
        if is_wide or element_type(exponent.type).name == "index":
            double = like(wide, f64)
            factor = wide if wide.type == double else lowering.compute("FConvert", double, wide)
            times = from_integer(lowering, power, f64, is_signed=True)
            result = lowering.compute("CL.pow", double, factor, times)
            if wide.type != double:
                result = lowering.compute("FConvert", wide.type, result)
        else:
            times = resize(lowering, power, i32)
            result = lowering.compute("CL.pown", wide.type, wide, times)
        made.append(narrowed(lowering, result, type_))
    lowering.define_pieces(operation.results[0], made)


# --- integers ---


def _bits(name: str, on_truth_values: Compute) -> Rule:
    """A function of an integer's bits."""

    def compute(lowering: Lowering, type_: Attribute, operands: Sequence[SSAValue]) -> SSAValue:
        if element_type(type_) == i1:
            return on_truth_values(lowering, type_, operands)
        return lowering.compute(name, type_, *operands)

    return elementwise(compute)


def _integer_power(operation: Operation, lowering: Lowering) -> None:
    """An integer to the power of an integer, by squaring; a negative power is 1 / b^|n|."""
    base, exponent = operation.operands
    (result,) = operation.results
    made = [
        _power(lowering, element(lowering, b), element(lowering, n))
        for b, n in zip(entries(base, lowering), entries(exponent, lowering), strict=True)
    ]
    if result.type == base.type and length_of(made[0].type) == len(made) == 1:
        lowering.define_pieces(result, made)
        return
    lowering.define(result, arranged(lowering, [(one, 0) for one in made], cast(Any, result.type)))


def _power(lowering: Lowering, base: SSAValue, exponent: SSAValue) -> SSAValue:
    type_ = base.type
    compute = lowering.compute
    if type_ == i1:
        # A number to the power of 0 is 1.
        return compute("LogicalOr", i1, base, opposite(lowering, i1, (exponent,)))
    zero, one = lowering.integer(0, type_), lowering.integer(1, type_)
    is_negative = compute("SLessThan", i1, exponent, zero)
    header = Block(arg_types=[type_, type_, type_])
    body, after, end = Block(), Block(), Block()
    with lowering.inside(header):
        power, factor, left = header.args
        goes_on = compute("INotEqual", i1, left, zero)
        lowering.do("LoopMerge", end, after, "None")
        lowering.do("BranchConditional", goes_on, body, end)
        lowering.continue_in(body)
        bit = compute("BitwiseAnd", type_, left, one)
        is_odd = compute("INotEqual", i1, bit, zero)
        longer = lowering.select(is_odd, compute("IMul", type_, power, factor), power)
        square = compute("IMul", type_, factor, factor)
        rest = compute("ShiftRightLogical", type_, left, one)
        lowering.do("Branch", after)
        lowering.continue_in(after)
        lowering.do("Branch", (header, longer, square, rest))
    times = lowering.select(is_negative, zero, exponent)
    lowering.do("Branch", (header, one, base, times))
    lowering.continue_in(end)
    return lowering.select(is_negative, _negative_power(lowering, base, exponent), power)


def _negative_power(lowering: Lowering, base: SSAValue, exponent: SSAValue) -> SSAValue:
    """1 for 1, 1 or -1 for -1, and else 0."""
    type_ = base.type
    compute = lowering.compute
    zero, one, minus = (lowering.integer(n, type_) for n in (0, 1, -1))
    bit = compute("BitwiseAnd", type_, exponent, one)
    is_odd = compute("INotEqual", i1, bit, zero)
    of_minus = lowering.select(is_odd, minus, one)
    is_minus = compute("IEqual", i1, base, minus)
    other = lowering.select(is_minus, of_minus, zero)
    return lowering.select(compute("IEqual", i1, base, one), one, other)


RULES: dict[str, Rule] = {
    **named("math", {name: _rounded(name) for name in _ROUNDED}),
    **named("math", {name: on_floats(instruction(f"CL.{cl}")) for name, cl in _EXACT.items()}),
    "math.absi": _bits("CL.s_abs", first),
    "math.clampf": on_floats(_clamp),
    "math.ctlz": _bits("CL.clz", opposite),
    "math.ctpop": _bits("BitCount", first),
    "math.cttz": _bits("CL.ctz", opposite),
    "math.fma": on_floats(fma),
    "math.fpowi": _power_of_integer,
    "math.ipowi": _integer_power,
    "math.isfinite": _test("IsFinite"),
    "math.isinf": _test("IsInf"),
    "math.isnan": _test("IsNan"),
    "math.isnormal": _test("IsNormal"),
    "math.sincos": _sincos,
    "vector.fma": on_floats(fma),
}
"""The rule of each operation, by name."""
