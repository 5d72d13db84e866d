"""Conversions between types of numbers.

Source: SPIR-V Specification, 3.52.11 "Conversion Instructions"; docs/semantics.md, 1.9 and 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    FloatTF32Type,
    IntegerAttr,
    bf16,
    f32,
    f64,
    i1,
    i8,
    i16,
)
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.spirv import decorate, operation
from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_spirv import bfloat16
from xtile.translate.xegpu_to_spirv.elementwise import elementwise, is_folded, like, named
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.types import (
    bit_width,
    element_type,
    piece_types,
)

# --- integers to integers ---


def resize(
    lowering: Lowering, value: SSAValue, target: Attribute, is_signed: bool = True
) -> SSAValue:
    """Integers in another width: extended with their sign or with zeros, or cut off."""
    source = element_type(value.type)
    if source == target:
        return value
    type_ = like(value, target)
    if source == i1:
        ones = lowering.integer(-1 if is_signed else 1, type_)
        return lowering.select(value, ones, lowering.integer(0, type_))
    if target == i1:
        odd = lowering.compute("BitwiseAnd", value.type, value, lowering.integer(1, value.type))
        return lowering.compute("INotEqual", type_, odd, lowering.integer(0, value.type))
    return lowering.compute("SConvert" if is_signed else "UConvert", type_, value)


def _resized(is_signed: bool) -> Rule:
    """The rule of a change of width."""

    def compute(lowering: Lowering, type_: Attribute, operands: Sequence[SSAValue]) -> SSAValue:
        return resize(lowering, operands[0], element_type(type_), is_signed)

    plain = elementwise(compute)

    def rule(operation: Operation, lowering: Lowering) -> None:
        if not is_folded(operation, lowering):
            plain(operation, lowering)

    return rule


# --- floats to floats ---


def _extend(operation: Operation, lowering: Lowering) -> None:
    source, target = _elements(operation)

    def compute(lowering: Lowering, type_: Attribute, operands: Sequence[SSAValue]) -> SSAValue:
        value = operands[0]
        if source == bf16:
            value = bfloat16.widen(lowering, value)
        return value if value.type == type_ else lowering.compute("FConvert", type_, value)

    if target == bf16:
        raise lowering.error(f"no type but bf16 is as narrow: {source} cannot be extended to bf16")
    elementwise(compute)(operation, lowering)


_ROUNDING_MODES = ("RTE", "RTN", "RTP", "RTZ", None)
"""In the order of `arith`'s numbers: to_nearest_even, downward, upward, toward_zero, .._away."""


def _truncate(operation: Operation, lowering: Lowering) -> None:
    source, target = _elements(operation)
    mode = _rounding_mode(operation, lowering)
    if target == bf16:
        if mode not in (None, "RTE"):
            raise lowering.error("bf16 is rounded to nearest, ties to even, only")
        elementwise(lambda lowering, type_, operands: _to_bfloat16(lowering, operands[0], source))(
            operation, lowering
        )
        return
    if source == bf16:
        raise lowering.error(f"bf16 numbers cannot be rounded to {target}")
    if isinstance(target, FloatTF32Type):
        if source != f32 or mode not in (None, "RTE"):
            raise lowering.error("f32 is rounded to tf32, to nearest, ties to even, only")
        from xtile.translate.xegpu_to_spirv.xegpu.matrix_products import to_tf32

        elementwise(lambda lowering, _, operands: to_tf32(lowering, operands[0]))(
            operation, lowering
        )
        return

    def compute(lowering: Lowering, type_: Attribute, operands: Sequence[SSAValue]) -> SSAValue:
        return convert(lowering, "FConvert", type_, operands[0], mode)

    elementwise(compute)(operation, lowering)


def _rounding_mode(operation: Operation, lowering: Lowering) -> str | None:
    given = operation.properties.get("roundingmode")
    if given is None:
        return None
    mode = _ROUNDING_MODES[cast("IntegerAttr[Any]", given).value.data]
    if mode is None:
        raise lowering.error("SPIR-V does not round to nearest with ties away from zero")
    return mode


def convert(
    lowering: Lowering, name: str, type_: Attribute, value: SSAValue, rounding: str | None = None
) -> SSAValue:
    """A conversion instruction, in a rounding mode where it is not to nearest, ties to even."""
    instruction = operation(name, type_, value)
    if rounding not in (None, "RTE"):
        decorate(instruction, ("FPRoundingMode", rounding))
    return lowering.emit(instruction).results[0]


def _to_bfloat16(lowering: Lowering, value: SSAValue, source: Attribute) -> SSAValue:
    if source not in (f32, f64):
        value = lowering.compute("FConvert", like(value, f32), value)
    return bfloat16.narrow(lowering, value)


# --- between integers and floats ---


def _from_integer(is_signed: bool) -> Rule:
    def rule(operation: Operation, lowering: Lowering) -> None:
        _, target = _elements(operation)

        def compute(lowering: Lowering, type_: Attribute, operands: Sequence[SSAValue]) -> SSAValue:
            return from_integer(lowering, operands[0], target, is_signed)

        elementwise(compute)(operation, lowering)

    return rule


def from_integer(
    lowering: Lowering, value: SSAValue, target: Attribute, is_signed: bool
) -> SSAValue:
    """Integers as floating numbers of a type, rounded once; bf16 as its bits."""
    if element_type(value.type) == i1:
        value = resize(lowering, value, i8, is_signed)
    name = "ConvertSToF" if is_signed else "ConvertUToF"
    if target != bf16:
        return lowering.compute(name, like(value, target), value)
    if bit_width(element_type(value.type)) <= i16.bitwidth:
        return bfloat16.narrow(lowering, lowering.compute(name, like(value, f32), value))
    return bfloat16.narrow(lowering, _to_single_by_odd(lowering, value, is_signed))


_SINGLE_PRECISION = 24
"""Bits of the significand of f32."""


def _to_single_by_odd(lowering: Lowering, value: SSAValue, is_signed: bool) -> SSAValue:
    """Integers of 32 or 64 bits as f32, rounded so that bf16 is as if it were rounded once.

    What is cut off leaves a one in the last place (Boldo and Melquiond, "When double rounding is
    odd"). f64 is not used, which not all devices have.
    """
    type_ = value.type
    truth, single = like(value, i1), like(value, f32)
    compute, integer = lowering.compute, lowering.integer
    zero, one = integer(0, type_), integer(1, type_)
    size = compute("CL.s_abs", type_, value) if is_signed else value
    excess = integer(bit_width(element_type(type_)) - _SINGLE_PRECISION, type_)
    unused = compute("CL.clz", type_, size)
    cut = compute("CL.s_max", type_, compute("ISub", type_, excess, unused), zero)
    high = compute("ShiftRightLogical", type_, size, cut)
    kept = compute("ShiftLeftLogical", type_, high, cut)
    is_inexact = compute("INotEqual", truth, kept, size)
    sticky = lowering.select(is_inexact, compute("ShiftLeftLogical", type_, one, cut), zero)
    exact = compute("ConvertUToF", single, compute("BitwiseOr", type_, kept, sticky))
    if not is_signed:
        return exact
    is_negative = compute("SLessThan", truth, value, zero)
    return lowering.select(is_negative, compute("FNegate", single, exact), exact)


def _to_integer(is_signed: bool) -> Rule:
    """What is out of range becomes the nearest integer, and NaN becomes 0."""

    def compute(lowering: Lowering, type_: Attribute, operands: Sequence[SSAValue]) -> SSAValue:
        return to_integer(lowering, operands[0], element_type(type_), is_signed)

    def rule(operation: Operation, lowering: Lowering) -> None:
        source, _ = _elements(operation)

        def of_bfloat16(
            lowering: Lowering, type_: Attribute, operands: Sequence[SSAValue]
        ) -> SSAValue:
            return compute(lowering, type_, [bfloat16.widen(lowering, operands[0])])

        elementwise(of_bfloat16 if source == bf16 else compute)(operation, lowering)

    return rule


def to_integer(lowering: Lowering, value: SSAValue, target: Attribute, is_signed: bool) -> SSAValue:
    """Floating numbers as integers, cut off and saturated."""
    if target == i1:
        return _to_truth(lowering, value, is_signed)
    if not is_signed:
        # Intel's CPU runtime makes a NaN the largest i32; fmax makes it 0, as it should be.
        value = lowering.compute("CL.fmax", value.type, value, lowering.floating(0.0, value.type))
    lanes = lowering.kernel.subgroup_size or 0
    if lowering.target.vector_unit is not None and lanes > _MOST_LANES:
        return _saturated(lowering, value, target, is_signed)
    name = "ConvertFToS" if is_signed else "ConvertFToU"
    instruction = operation(name, like(value, target), value)
    decorate(instruction, "SaturatedConversion")
    return lowering.emit(instruction).results[0]


_MOST_LANES = 16
"""Intel's CPU runtime calls a function for saturated conversions, and has none for more lanes."""


def _saturated(lowering: Lowering, value: SSAValue, target: Attribute, is_signed: bool) -> SSAValue:
    """A conversion whose limits are chosen by comparisons."""
    bits = bit_width(target)
    least, past = (-(1 << bits - 1), 1 << bits - 1) if is_signed else (0, 1 << bits)
    type_, truth = like(value, target), like(value, i1)

    def choose(name: str, limit: SSAValue, number: int, other: SSAValue) -> SSAValue:
        condition = lowering.compute(name, truth, value, limit)
        return lowering.select(condition, lowering.integer(number, type_), other)

    made = lowering.compute("ConvertFToS" if is_signed else "ConvertFToU", type_, value)
    # A limit that the type has not is infinite, and no number is beyond it.
    for name, limit, number in (
        ("FOrdGreaterThanEqual", past, past - 1),
        ("FOrdLessThanEqual", least, least),
    ):
        made = choose(name, lowering.floating(float(limit), value.type), number, made)
    return choose("FUnordNotEqual", value, 0, made)


def _to_truth(lowering: Lowering, value: SSAValue, is_signed: bool) -> SSAValue:
    """Whether the number is as large as true, which is -1 as a signed number and else 1."""
    type_ = value.type
    limit = lowering.floating(-1.0 if is_signed else 1.0, type_)
    name = "FOrdLessThanEqual" if is_signed else "FOrdGreaterThanEqual"
    return lowering.compute(name, like(value, i1), value, limit)


# --- bits ---


def _bitcast(operation: Operation, lowering: Lowering) -> None:
    """Numbers of one type as those of another of the same width."""
    source, target = _elements(operation)
    (result,) = operation.results
    if bit_width(source) == 1 or bit_width(source) != bit_width(target):
        raise lowering.error(f"a bitcast of {source} to {target} cannot be translated to SPIR-V")
    pieces = lowering.pieces(operation.operands[0])
    types = piece_types(result.type)
    lowering.define_pieces(
        result, [bitcast(lowering, p, t) for p, t in zip(pieces, types, strict=True)]
    )


def bitcast(lowering: Lowering, value: SSAValue, type_: Attribute) -> SSAValue:
    """The same bits as another type."""
    return value if value.type == type_ else lowering.compute("Bitcast", type_, value)


def _elements(operation: Operation) -> tuple[Attribute, Attribute]:
    """The types of the numbers of the first operand and of the result."""
    return element_type(operation.operands[0].type), element_type(operation.results[0].type)


RULES: dict[str, Rule] = {
    **named(
        "arith",
        {
            "bitcast": _bitcast,
            "extf": _extend,
            "extsi": _resized(is_signed=True),
            "extui": _resized(is_signed=False),
            "fptosi": _to_integer(is_signed=True),
            "fptoui": _to_integer(is_signed=False),
            "index_cast": _resized(is_signed=True),
            "index_castui": _resized(is_signed=False),
            "sitofp": _from_integer(is_signed=True),
            "truncf": _truncate,
            "trunci": _resized(is_signed=True),
            "uitofp": _from_integer(is_signed=False),
        },
    ),
    "index.casts": _resized(is_signed=True),
    "index.castu": _resized(is_signed=False),
}
"""The rule of each operation, by name."""
