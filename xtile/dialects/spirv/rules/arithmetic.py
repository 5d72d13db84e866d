"""Arithmetic, comparisons and conversions.

Source: SPIR-V specification, sections 3.49.11 (Conversion) to 3.49.15 (Relational and Logical);
OpenCL extended instruction set, section 2.1.
"""

from __future__ import annotations

from xdsl.dialects.builtin import AnyFloat, IntegerType, VectorType, i1
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xtile.dialects.spirv.instruction import Instruction
from xtile.dialects.spirv.rules.types import (
    Rule,
    component_of,
    for_all,
    is_number,
    require_kind,
    require_same,
    require_shape,
    require_values,
    result_of,
)
from xtile.dialects.spirv.types import CooperativeMatrixType
from xtile.dialects.spirv.words import ArgumentError


def _same(kind: str) -> Rule:
    """Operands and result are of one type."""

    def check(instruction: Instruction) -> None:
        result = result_of(instruction)
        require_kind(result, kind, "the result")
        for index, value in enumerate(instruction.values):
            require_same(value.type, result, f"operand {index + 1}")

    return check


def _comparison(kind: str) -> Rule:
    """Operands are of one type, and the result is as many booleans."""

    def check(instruction: Instruction) -> None:
        result = result_of(instruction)
        require_kind(result, "booleans", "the result")
        types = require_values(instruction, 1)
        for index, type in enumerate(types):
            require_kind(type, kind, f"operand {index + 1}")
            require_same(type, types[0], f"operand {index + 1}")
        require_shape(result, types[0], "the result")

    return check


def _conversion(source: str, target: str) -> Rule:
    """The result has as many components of another type."""

    def check(instruction: Instruction) -> None:
        result, (operand, *_) = result_of(instruction), require_values(instruction, 1)
        require_kind(operand, source, "operand 1")
        require_kind(result, target, "the result")
        require_shape(result, operand, "the result")

    return check


def _shift(instruction: Instruction) -> None:
    result = result_of(instruction)
    value, amount, *_ = require_values(instruction, 2)
    require_kind(result, "integers", "the result")
    require_same(value, result, "operand 1")
    require_kind(amount, "integers", "operand 2")
    require_shape(amount, result, "operand 2")


def _select(instruction: Instruction) -> None:
    result = result_of(instruction)
    condition, *objects = require_values(instruction, 3)
    require_kind(condition, "booleans", "operand 1")
    if condition != i1:
        require_shape(condition, result, "operand 1")
    for index, type in enumerate(objects):
        require_same(type, result, f"operand {index + 2}")


def _bitcast(instruction: Instruction) -> None:
    result, (operand, *_) = result_of(instruction), require_values(instruction, 1)
    bits, expected = _bits(operand), _bits(result)
    if bits is not None and expected is not None and bits != expected:
        raise ArgumentError(f"{operand} has {bits} bits, but {result} has {expected}")


def _bits(type: Attribute) -> int | None:
    """The number of bits of a scalar or a vector, or None."""
    component = component_of(type)
    if not is_number(component) or isinstance(type, CooperativeMatrixType):
        return None
    assert isa(component, IntegerType | AnyFloat)
    count = type.get_shape()[0] if isa(type, VectorType) else 1
    return component.bitwidth * count


RULES: dict[str, Rule] = dict(
    (
        *for_all(
            "IAdd ISub IMul UDiv SDiv UMod SRem SMod SNegate Not BitwiseAnd BitwiseOr BitwiseXor",
            _same("integers"),
        ),
        *for_all("FAdd FSub FMul FDiv FRem FMod FNegate", _same("floats")),
        *for_all("LogicalAnd LogicalOr LogicalNot LogicalEqual LogicalNotEqual", _same("booleans")),
        *for_all("ShiftLeftLogical ShiftRightLogical ShiftRightArithmetic", _shift),
        *for_all(
            "IEqual INotEqual UGreaterThan SGreaterThan UGreaterThanEqual SGreaterThanEqual "
            "ULessThan SLessThan ULessThanEqual SLessThanEqual",
            _comparison("integers"),
        ),
        *for_all(
            "FOrdEqual FUnordEqual FOrdNotEqual FUnordNotEqual FOrdLessThan FUnordLessThan "
            "FOrdGreaterThan FUnordGreaterThan FOrdLessThanEqual FUnordLessThanEqual "
            "FOrdGreaterThanEqual FUnordGreaterThanEqual IsNan IsInf IsFinite IsNormal "
            "SignBitSet Ordered Unordered",
            _comparison("floats"),
        ),
        *for_all("ConvertFToU ConvertFToS", _conversion("floats", "integers")),
        *for_all("ConvertSToF ConvertUToF", _conversion("integers", "floats")),
        *for_all("UConvert SConvert", _conversion("integers", "integers")),
        *for_all("FConvert", _conversion("floats", "floats")),
        *for_all("ConvertFToBF16INTEL", _conversion("floats", "integers")),
        *for_all("ConvertBF16ToFINTEL", _conversion("integers", "floats")),
        *for_all("Select", _select),
        *for_all("Bitcast", _bitcast),
    )
)
"""The rule of each instruction."""

EXTENDED_RULES: dict[str, Rule] = dict(
    (
        *for_all(
            "acos acosh acospi asin asinh asinpi atan atan2 atanh atanpi atan2pi cbrt ceil "
            "copysign cos cosh cospi erfc erf exp exp2 exp10 expm1 fabs fdim floor fma fmax fmin "
            "fmod hypot lgamma log log2 log10 log1p logb mad maxmag minmag nextafter pow powr "
            "remainder rint round rsqrt sin sinh sinpi sqrt tan tanh tanpi tgamma trunc half_cos "
            "half_divide half_exp half_exp2 half_exp10 half_log half_log2 half_log10 half_powr "
            "half_recip half_rsqrt half_sin half_sqrt half_tan native_cos native_divide native_exp "
            "native_exp2 native_exp10 native_log native_log2 native_log10 native_powr "
            "native_recip native_rsqrt native_sin native_sqrt native_tan fclamp fmax_common "
            "fmin_common",
            _same("floats"),
        ),
        *for_all(
            "s_abs s_abs_diff s_add_sat u_add_sat s_hadd u_hadd s_rhadd u_rhadd s_clamp u_clamp "
            "clz ctz s_mad_hi u_mad_sat s_mad_sat s_max u_max s_min u_min s_mul_hi rotate "
            "s_sub_sat u_sub_sat popcount s_mad24 u_mad24 s_mul24 u_mul24 u_abs u_abs_diff "
            "u_mul_hi u_mad_hi",
            _same("integers"),
        ),
    )
)
"""The rule of each instruction of OpenCL.std."""
