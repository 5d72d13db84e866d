"""Sums, products, bits, minima and maxima of numbers: the dialects `arith` and `index`.

Where SPIR-V leaves a result undefined that docs/semantics.md defines, the rule says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects.builtin import IntegerType, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_spirv.elementwise import (
    Compute,
    differ,
    elementwise,
    first,
    instruction,
    is_folded,
    like,
    named,
    on_floats,
)
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.types import bit_width, element_type, is_vector

# --- integers ---


def _sum(sign: int, rule: Rule) -> Rule:
    """The rule of a sum or a difference, of which addresses use what is known."""

    def of_both(operation: Operation, lowering: Lowering) -> None:
        rule(operation, lowering)
        (result,) = operation.results
        if bit_width(result.type) == i64.bitwidth and not is_vector(result.type):
            a, b = lowering.numbers(operation.operands)
            total = lowering.value(result)
            if isinstance(b, int):
                lowering.learn_sum(total, a, sign * b)
            elif sign > 0:
                lowering.learn_sum(total, a, b)

    return of_both


def _integers(of_integers: Compute, of_truth_values: Compute) -> Rule:
    """A function of integers, and the one of truth values."""
    on_integers, on_truth_values = elementwise(of_integers), elementwise(of_truth_values)

    def rule(operation: Operation, lowering: Lowering) -> None:
        if is_folded(operation, lowering):
            return
        is_truth = element_type(operation.results[0].type) == i1
        (on_truth_values if is_truth else on_integers)(operation, lowering)

    return rule


def chosen_by(comparison: str) -> Compute:
    """The first of two integers where a comparison of them holds, and else the second.

    OpenCL's functions are not used for it: Intel's CPU runtime 2026.2 has been seen to compute
    `s_min(row + 1, size - 1)` wrong, in a loop over rows that one work-item of a kernel executes.
    """

    def compute(lowering: Lowering, type_: Attribute, operands: Sequence[SSAValue]) -> SSAValue:
        a, b = operands
        return lowering.select(lowering.compute(comparison, like(a, i1), a, b), a, b)

    return compute


_AND, _OR = instruction("LogicalAnd"), instruction("LogicalOr")

INTEGER_ARITHMETIC: dict[str, tuple[Compute, Compute]] = {
    "add": (instruction("IAdd"), differ),
    "sub": (instruction("ISub"), differ),
    "mul": (instruction("IMul"), _AND),
    "and": (instruction("BitwiseAnd"), _AND),
    "or": (instruction("BitwiseOr"), _OR),
    "xor": (instruction("BitwiseXor"), differ),
    # true is -1 as a signed number.
    "maxs": (chosen_by("SGreaterThan"), _AND),
    "maxu": (chosen_by("UGreaterThan"), _OR),
    "mins": (chosen_by("SLessThan"), _OR),
    "minu": (chosen_by("ULessThan"), _AND),
    # One bit is shifted by 0.
    "shl": (instruction("ShiftLeftLogical"), first),
    "shrs": (instruction("ShiftRightArithmetic"), first),
    "shru": (instruction("ShiftRightLogical"), first),
}
"""What is done with integers and with truth values, by the names of the `index` dialect."""

_INTEGERS: dict[str, Rule] = {
    **{name: _integers(*names) for name, names in INTEGER_ARITHMETIC.items()},
    "add": _sum(1, _integers(*INTEGER_ARITHMETIC["add"])),
    "sub": _sum(-1, _integers(*INTEGER_ARITHMETIC["sub"])),
}
"""Arithmetic on integers; `arith` appends an `i` to each name."""


# --- results of twice the width ---


def _extended(sides: Callable[[Lowering, SSAValue, SSAValue], tuple[SSAValue, SSAValue]]) -> Rule:
    """The rule of an operation with two results, from what emits them."""

    def rule(operation: Operation, lowering: Lowering) -> None:
        a, b = (lowering.pieces(operand) for operand in operation.operands)
        made = [sides(lowering, left, right) for left, right in zip(a, b, strict=True)]
        for result, pieces in zip(operation.results, zip(*made, strict=True), strict=True):
            lowering.define_pieces(result, pieces)

    return rule


def _sum_and_carry(lowering: Lowering, a: SSAValue, b: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The sum, and whether it does not fit: it is less than an operand then."""
    truth = like(a, i1)
    if a.type == truth:
        carry = lowering.compute("LogicalAnd", truth, a, b)
        return differ(lowering, truth, (a, b)), carry
    total = lowering.compute("IAdd", a.type, a, b)
    return total, lowering.compute("ULessThan", truth, total, a)


def _product(
    high: str,
) -> Callable[[Lowering, SSAValue, SSAValue], tuple[SSAValue, SSAValue]]:
    """The lower and the upper half of a product."""

    def sides(lowering: Lowering, a: SSAValue, b: SSAValue) -> tuple[SSAValue, SSAValue]:
        if element_type(a.type) == i1:
            # (-1) (-1) is 1, too.
            return lowering.compute("LogicalAnd", a.type, a, b), lowering.integer(0, a.type)
        low = lowering.compute("IMul", a.type, a, b)
        return low, lowering.compute(high, a.type, a, b)

    return sides


# --- floating numbers ---


def _extremum(is_maximum: bool) -> Compute:
    """The larger or smaller number, where NaN stays NaN and -0 is less than +0."""

    def compute(lowering: Lowering, type_: Attribute, operands: Sequence[SSAValue]) -> SSAValue:
        a, b = operands
        truth = like(a, i1)
        bits = like(a, IntegerType(cast(IntegerType, element_type(type_)).bitwidth))
        left, right = (lowering.compute("Bitcast", bits, x) for x in operands)
        # Of equal numbers only the zeros' bits differ.
        either = "BitwiseAnd" if is_maximum else "BitwiseOr"
        equal = lowering.compute("Bitcast", type_, lowering.compute(either, bits, left, right))
        name = "FOrdGreaterThan" if is_maximum else "FOrdLessThan"
        first = lowering.select(lowering.compute(name, truth, a, b), a, b)
        number = lowering.select(lowering.compute("FOrdEqual", truth, a, b), equal, first)
        is_nan = lowering.compute("Unordered", truth, a, b)
        return lowering.select(is_nan, lowering.compute("FAdd", type_, a, b), number)

    return compute


maximum, minimum = _extremum(is_maximum=True), _extremum(is_maximum=False)

FLOAT_ARITHMETIC: dict[str, Compute] = {
    "addf": instruction("FAdd"),
    "subf": instruction("FSub"),
    "mulf": instruction("FMul"),
    "divf": instruction("FDiv"),
    "negf": instruction("FNegate"),
    # The precision of OpFRem depends on the size of the quotient; that of fmod does not.
    "remf": instruction("CL.fmod"),
    "maxnumf": instruction("CL.fmax"),
    "minnumf": instruction("CL.fmin"),
    "maximumf": maximum,
    "minimumf": minimum,
}
"""Arithmetic on floating numbers, by the names that `arith` gives it."""

RULES: dict[str, Rule] = {
    **named("arith", {f"{name}i": rule for name, rule in _INTEGERS.items()}),
    **named("arith", {name: on_floats(compute) for name, compute in FLOAT_ARITHMETIC.items()}),
    **named("index", _INTEGERS),
    "arith.addui_extended": _extended(_sum_and_carry),
    "arith.mulsi_extended": _extended(_product("CL.s_mul_hi")),
    "arith.mului_extended": _extended(_product("CL.u_mul_hi")),
}
"""The rule of each operation, by name."""
