"""Arithmetic and comparisons of numbers: the dialects `arith` and `index`, but for conversions.

Where SPIR-V leaves a result undefined that docs/semantics.md defines, the rule says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, IntegerType, i1, i8, i64
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.index import IndexCmpPredicate, IndexCmpPredicateAttr
from xtile.transforms.cleanup.folding import fold_numbers
from xtile.translate.rule import Rule
from xtile.translate.xegpu_to_spirv.elementwise import (
    Compute,
    elementwise,
    instruction,
    like,
    named,
    on_floats,
    wide_pieces,
)
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.types import (
    bit_width,
    element_type,
    is_vector,
    register_type,
)

# --- integers ---


def is_folded(operation: Operation, lowering: Lowering) -> bool:
    """Records the result of an operation on constants, which is a constant too.

    Sizes of work-groups become known after everything else was folded.
    """
    known = lowering.constants.numbers
    numbers: list[int | float] = []
    for operand in operation.operands:
        number = known.get(lowering.value(operand))
        if number is None:
            return False
        numbers.append(number)
    attribute = fold_numbers(operation, numbers)
    if not isinstance(attribute, IntegerAttr):
        return False
    (result,) = operation.results
    number = cast("IntegerAttr[IntegerType]", attribute).value.data
    lowering.define(result, lowering.integer(number, register_type(result.type)))
    return True


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


def _integers(name: str, on_truth_values: str | None) -> Rule:
    """An instruction of integers, and the one of truth values; None gives the first operand."""
    of_integers = elementwise(instruction(name))
    of_truth_values = elementwise(
        (lambda lowering, type_, operands: operands[0])
        if on_truth_values is None
        else instruction(on_truth_values)
    )

    def rule(operation: Operation, lowering: Lowering) -> None:
        if is_folded(operation, lowering):
            return
        is_truth = element_type(operation.results[0].type) == i1
        (of_truth_values if is_truth else of_integers)(operation, lowering)

    return rule


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
            elementwise(lambda lowering, type_, operands: operands[0])(operation, lowering)

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


INTEGER_ARITHMETIC: dict[str, tuple[str, str | None]] = {
    "add": ("IAdd", "LogicalNotEqual"),
    "sub": ("ISub", "LogicalNotEqual"),
    "mul": ("IMul", "LogicalAnd"),
    "and": ("BitwiseAnd", "LogicalAnd"),
    "or": ("BitwiseOr", "LogicalOr"),
    "xor": ("BitwiseXor", "LogicalNotEqual"),
    # true is -1 as a signed number.
    "maxs": ("CL.s_max", "LogicalAnd"),
    "maxu": ("CL.u_max", "LogicalOr"),
    "mins": ("CL.s_min", "LogicalOr"),
    "minu": ("CL.u_min", "LogicalAnd"),
    "shl": ("ShiftLeftLogical", None),
    "shrs": ("ShiftRightArithmetic", None),
    "shru": ("ShiftRightLogical", None),
}
"""The instruction on integers and that on truth values, by the names of the `index` dialect.

None gives the first operand: a shift of one bit is by 0.
"""

_INTEGERS: dict[str, Rule] = {
    **{name: _integers(*names) for name, names in INTEGER_ARITHMETIC.items()},
    "add": _sum(1, _integers(*INTEGER_ARITHMETIC["add"])),
    "sub": _sum(-1, _integers(*INTEGER_ARITHMETIC["sub"])),
    "divs": _division(_signed_quotient, is_remainder=False),
    "divu": _division(_unsigned("UDiv"), is_remainder=False),
    "rems": _division(_signed_remainder, is_remainder=True),
    "remu": _division(_unsigned("UMod"), is_remainder=True),
    "floordivs": _division(_rounded_quotient(is_up=False), is_remainder=False),
    "ceildivs": _division(_rounded_quotient(is_up=True), is_remainder=False),
    "ceildivu": _division(_unsigned_quotient_up, is_remainder=False),
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
        return lowering.compute("LogicalNotEqual", truth, a, b), carry
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


# --- comparisons ---

_INTEGER_COMPARISONS = (
    "IEqual",
    "INotEqual",
    "SLessThan",
    "SLessThanEqual",
    "SGreaterThan",
    "SGreaterThanEqual",
    "ULessThan",
    "ULessThanEqual",
    "UGreaterThan",
    "UGreaterThanEqual",
)
"""In the order of the numbers of `arith.cmpi`'s predicate, and of those of `index.cmp`."""

_FLOAT_COMPARISONS = (
    None,
    "FOrdEqual",
    "FOrdGreaterThan",
    "FOrdGreaterThanEqual",
    "FOrdLessThan",
    "FOrdLessThanEqual",
    "FOrdNotEqual",
    "Ordered",
    "FUnordEqual",
    "FUnordGreaterThan",
    "FUnordGreaterThanEqual",
    "FUnordLessThan",
    "FUnordLessThanEqual",
    "FUnordNotEqual",
    "Unordered",
    None,
)
"""In the order of the numbers of `arith.cmpf`'s predicate; the first is false, the last true."""


def _predicate(operation: Operation) -> int:
    return cast("IntegerAttr[IntegerType]", operation.properties["predicate"]).value.data


def _compare_integers(operation: Operation, lowering: Lowering) -> None:
    if not is_folded(operation, lowering):
        _define_comparison(operation, lowering, _INTEGER_COMPARISONS[_predicate(operation)])


def _compare_indices(operation: Operation, lowering: Lowering) -> None:
    predicate = cast(IndexCmpPredicateAttr, operation.properties["pred"]).data
    number = list(IndexCmpPredicate).index(predicate)
    _define_comparison(operation, lowering, _INTEGER_COMPARISONS[number])


def _define_comparison(operation: Operation, lowering: Lowering, name: str) -> None:
    is_truth = element_type(operation.operands[0].type) == i1

    def compute(lowering: Lowering, type_: Attribute, operands: Sequence[SSAValue]) -> SSAValue:
        if is_truth:
            operands = [_as_byte(lowering, operand) for operand in operands]
        return lowering.compute(name, type_, *operands)

    elementwise(compute)(operation, lowering)


def _as_byte(lowering: Lowering, value: SSAValue) -> SSAValue:
    """Truth values as i8: 0 and -1, the largest unsigned number."""
    type_ = like(value, i8)
    return lowering.select(value, lowering.integer(-1, type_), lowering.integer(0, type_))


def _compare_floats(operation: Operation, lowering: Lowering) -> None:
    predicate = _predicate(operation)
    name = _FLOAT_COMPARISONS[predicate]
    result = operation.results[0]
    a, b = (wide_pieces(operand, lowering) for operand in operation.operands)
    pieces: list[SSAValue] = []
    for left, right in zip(a, b, strict=True):
        truth = like(left, i1)
        if name is None:
            pieces.append(lowering.integer(int(predicate > 0), truth))
        else:
            pieces.append(lowering.compute(name, truth, left, right))
    lowering.define_pieces(result, pieces)


def _select(operation: Operation, lowering: Lowering) -> None:
    """Chooses numbers, vectors or memrefs; one condition may choose all of them."""
    condition, *values = operation.operands
    conditions = lowering.pieces(condition)
    chosen, other = lowering.flat(values[:1]), lowering.flat(values[1:])
    if len(conditions) == 1:
        conditions = conditions * len(chosen)
    made: list[SSAValue] = []
    for truth, a, b in zip(conditions, chosen, other, strict=True):
        if a.type != b.type:
            raise lowering.error("the memrefs to choose from are in different kinds of memory")
        made.append(a if a is b else lowering.select(truth, a, b))
    lowering.define_flat(operation.results, made)


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
    "arith.cmpf": _compare_floats,
    "arith.cmpi": _compare_integers,
    "arith.mulsi_extended": _extended(_product("CL.s_mul_hi")),
    "arith.mului_extended": _extended(_product("CL.u_mul_hi")),
    "arith.select": _select,
    "index.cmp": _compare_indices,
}
"""The rule of each operation, by name."""
