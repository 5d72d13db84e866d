"""Quotients and remainders of integers.

SPIR-V leaves undefined what the quotient by 0 is, and that of the smallest integer by -1.
Processors stop there, so such divisors are replaced (docs/semantics.md, 1.4 and 7).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_spirv.elementwise import (
    Compute,
    elementwise,
    first,
    is_folded,
    like,
    named,
)
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.types import element_type


def _division(compute: Compute, is_remainder: bool) -> Rule:
    """Truth values are divided by true: any other divisor is 0."""

    def rule(operation: Operation, lowering: Lowering) -> None:
        if is_folded(operation, lowering):
            return
        if element_type(operation.results[0].type) != i1:
            of_integers(operation, lowering)
        elif is_remainder:
            none = elementwise(lambda lowering, type_, operands: lowering.integer(0, type_))
            none(operation, lowering)
        else:
            elementwise(first)(operation, lowering)

    of_integers = elementwise(compute)
    return rule


def _is_safe_divisor(lowering: Lowering, divisor: SSAValue) -> bool:
    """Whether it is known to be neither 0 nor -1."""
    return lowering.constants.numbers.get(divisor, 0) not in (0, -1)


def _safe_signed(
    lowering: Lowering, type_: Attribute, divisor: SSAValue
) -> tuple[SSAValue, SSAValue | None]:
    """A divisor that no number fails to be divided by, and whether the given one is -1.

    0 and -1 become 1: the first because processors stop there, the second because the quotient of
    the smallest integer does not fit.
    """
    if _is_safe_divisor(lowering, divisor):
        return divisor, None
    truth = like(divisor, i1)
    one = lowering.integer(1, type_)
    shifted = lowering.compute("IAdd", type_, divisor, one)
    is_special = lowering.compute("ULessThan", truth, shifted, lowering.integer(2, type_))
    safe = lowering.select(is_special, one, divisor)
    return safe, lowering.compute("IEqual", truth, divisor, lowering.integer(-1, type_))


def _safe_unsigned(lowering: Lowering, type_: Attribute, divisor: SSAValue) -> SSAValue:
    """The divisor, or 1 if it is 0, where processors stop."""
    if lowering.constants.numbers.get(divisor, 0) != 0:
        return divisor
    return lowering.compute("CL.u_max", type_, divisor, lowering.integer(1, type_))


def _signed_quotient(
    lowering: Lowering, type_: Attribute, operands: Sequence[SSAValue]
) -> SSAValue:
    divisor, is_negation = _safe_signed(lowering, type_, operands[1])
    quotient = lowering.compute("SDiv", type_, operands[0], divisor)
    if is_negation is None:
        return quotient
    negated = lowering.compute("SNegate", type_, operands[0])
    return lowering.select(is_negation, negated, quotient)


def _signed_remainder(
    lowering: Lowering, type_: Attribute, operands: Sequence[SSAValue]
) -> SSAValue:
    divisor, _ = _safe_signed(lowering, type_, operands[1])
    return lowering.compute("SRem", type_, operands[0], divisor)


def _unsigned(name: str) -> Compute:
    def compute(lowering: Lowering, type_: Attribute, operands: Sequence[SSAValue]) -> SSAValue:
        divisor = _safe_unsigned(lowering, type_, operands[1])
        return lowering.compute(name, type_, operands[0], divisor)

    return compute


def _rounded_quotient(is_up: bool) -> Compute:
    """The signed quotient rounded down or up."""

    def compute(lowering: Lowering, type_: Attribute, operands: Sequence[SSAValue]) -> SSAValue:
        a, b = operands
        truth = like(a, i1)
        zero, one = lowering.integer(0, type_), lowering.integer(1, type_)
        quotient = _signed_quotient(lowering, type_, operands)
        rest = _signed_remainder(lowering, type_, operands)
        has_rest = lowering.compute("INotEqual", truth, rest, zero)
        signs = lowering.compute("BitwiseXor", type_, a, b)
        side = "SGreaterThanEqual" if is_up else "SLessThan"
        is_off = lowering.compute(
            "LogicalAnd", truth, has_rest, lowering.compute(side, truth, signs, zero)
        )
        correction = lowering.select(is_off, one, zero)
        return lowering.compute("IAdd" if is_up else "ISub", type_, quotient, correction)

    return compute


def _unsigned_quotient_up(
    lowering: Lowering, type_: Attribute, operands: Sequence[SSAValue]
) -> SSAValue:
    a, divisor = operands[0], _safe_unsigned(lowering, type_, operands[1])
    zero, one = lowering.integer(0, type_), lowering.integer(1, type_)
    quotient = lowering.compute("UDiv", type_, a, divisor)
    rest = lowering.compute("UMod", type_, a, divisor)
    has_rest = lowering.compute("INotEqual", like(a, i1), rest, zero)
    return lowering.compute("IAdd", type_, quotient, lowering.select(has_rest, one, zero))


_DIVISIONS: dict[str, Rule] = {
    "divs": _division(_signed_quotient, is_remainder=False),
    "divu": _division(_unsigned("UDiv"), is_remainder=False),
    "rems": _division(_signed_remainder, is_remainder=True),
    "remu": _division(_unsigned("UMod"), is_remainder=True),
    "floordivs": _division(_rounded_quotient(is_up=False), is_remainder=False),
    "ceildivs": _division(_rounded_quotient(is_up=True), is_remainder=False),
    "ceildivu": _division(_unsigned_quotient_up, is_remainder=False),
}
"""Quotients and remainders, by the names that the `index` dialect gives them."""

RULES: dict[str, Rule] = {
    **named("arith", {f"{name}i": rule for name, rule in _DIVISIONS.items()}),
    **named("index", _DIVISIONS),
}
"""The rule of each operation, by name."""
