"""Sums, products, bits, minima and maxima of numbers.

Source: CUDA Tile IR specification, "Integer", "Bitwise", "Floating Point"; docs/semantics.md, 1 and
7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from xdsl.dialects.builtin import f32, i1
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, SSAValue

from xtile.dialects.cuda_tile.enumerations import ComparisonPredicate, RoundingMode, Signedness
from xtile.dialects.cuda_tile.ops import bitwise, floating_point, integer, mathematics
from xtile.dialects.number_attributes import (
    ROUNDED,
    Rounding,
    flushes,
    rounding_of,
    says_how_to_round,
)
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.conversions import narrow
from xtile.translate.core_to_cuda_tile.elementwise import (
    Compute,
    elementwise,
    emitted,
    first,
    named,
)
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.types import element_type, scalar_tile
from xtile.translate.fast_math import has_flag
from xtile.translate.tiles.types import INDEX

_AND, _OR, _DIFFER = (
    emitted(bitwise.AndIOp),
    emitted(bitwise.OrIOp),
    emitted(bitwise.XOrIOp),
)


def _signed(kind: Callable[..., Operation], is_signed: bool) -> Compute:
    return emitted(kind, signedness=Signedness.SIGNED if is_signed else Signedness.UNSIGNED)


INTEGERS: dict[str, tuple[Compute, Compute]] = {
    "addi": (emitted(integer.AddIOp), _DIFFER),
    "subi": (emitted(integer.SubIOp), _DIFFER),
    "muli": (emitted(integer.MulIOp), _AND),
    "andi": (_AND, _AND),
    "ori": (_OR, _OR),
    "xori": (_DIFFER, _DIFFER),
    # True is -1 as a signed number.
    "maxsi": (_signed(integer.MaxIOp, True), _AND),
    "maxui": (_signed(integer.MaxIOp, False), _OR),
    "minsi": (_signed(integer.MinIOp, True), _OR),
    "minui": (_signed(integer.MinIOp, False), _AND),
    # One bit is shifted by 0.
    "shli": (emitted(integer.ShLIOp), first),
    "shrsi": (_signed(integer.ShRIOp, True), first),
    "shrui": (_signed(integer.ShRIOp, False), first),
}
"""What is done with integers, and with truth values."""

FLOATS: dict[str, Compute] = {
    "addf": emitted(floating_point.AddFOp),
    "subf": emitted(floating_point.SubFOp),
    "mulf": emitted(floating_point.MulFOp),
    "divf": emitted(floating_point.DivFOp),
    "negf": emitted(floating_point.NegFOp),
    "remf": emitted(floating_point.RemFOp),
    "maxnumf": emitted(floating_point.MaxFOp),
    "minnumf": emitted(floating_point.MinFOp),
    "maximumf": emitted(floating_point.MaxFOp, propagate_nan=True),
    "minimumf": emitted(floating_point.MinFOp, propagate_nan=True),
}
"""What is done with floats."""


_MODES = {
    None: RoundingMode.NEAREST_EVEN,
    Rounding.DOWNWARD: RoundingMode.NEGATIVE_INF,
    Rounding.TOWARD_ZERO: RoundingMode.ZERO,
    Rounding.UPWARD: RoundingMode.POSITIVE_INF,
}

_SAID: dict[str, Callable[..., Operation]] = {
    "arith.addf": floating_point.AddFOp,
    "arith.divf": floating_point.DivFOp,
    "arith.mulf": floating_point.MulFOp,
    "arith.subf": floating_point.SubFOp,
    "arith.maximumf": partial(floating_point.MaxFOp, propagate_nan=True),
    "arith.maxnumf": floating_point.MaxFOp,
    "arith.minimumf": partial(floating_point.MinFOp, propagate_nan=True),
    "arith.minnumf": floating_point.MinFOp,
    "math.exp2": mathematics.Exp2Op,
    "math.fma": floating_point.FmaOp,
    "math.rsqrt": mathematics.RsqrtOp,
    "math.sqrt": mathematics.SqrtOp,
}
"""The operations that can say how they are rounded, or that they flush to zero."""


def as_said(rule: Rule) -> Rule:
    """The rule of an operation that can say how it is rounded, from that where it does not."""

    def of_both(operation: Operation, lowering: Lowering) -> None:
        if not says_how_to_round(operation):
            rule(operation, lowering)
            return
        mode = _MODES[rounding_of(operation)]
        made = lowering.compute(
            _SAID[operation.name],
            *lowering.values(operation.operands),
            flush_to_zero=flushes(operation),
            **({"rounding_mode": mode} if operation.name in ROUNDED else {}),
        )
        lowering.define(operation.results[0], made)

    return of_both


def approximated(rule: Rule, allowed: Mapping[FastMathFlag, Compute]) -> Rule:
    """The rule of an operation that is computed otherwise on f32 where a flag allows it."""
    by_flag = {flag: elementwise(compute) for flag, compute in allowed.items()}

    def chosen(operation: Operation, lowering: Lowering) -> None:
        is_single = element_type(lowering.value(operation.operands[0])) == f32
        flags = [flag for flag in by_flag if is_single and has_flag(operation, flag)]
        (by_flag[flags[0]] if flags else rule)(operation, lowering)

    return chosen


_QUOTIENTS = {
    FastMathFlag.ALLOW_RECIP: emitted(floating_point.DivFOp, rounding_mode=RoundingMode.APPROX),
    FastMathFlag.APPROX_FUNC: emitted(floating_point.DivFOp, rounding_mode=RoundingMode.FULL),
}
"""A product with the reciprocal, which is 0 for divisors above 2^126, and one without that gap."""


def _float(name: str) -> Rule:
    rule = elementwise(narrow(FLOATS[name]))
    return as_said(approximated(rule, _QUOTIENTS) if name == "divf" else rule)


def of_integers(name: str) -> Compute:
    """A function of integers of any width."""
    on_integers, on_truth_values = INTEGERS[name]

    def compute(lowering: Lowering, *operands: SSAValue) -> SSAValue:
        is_truth = element_type(operands[0]) == i1
        return (on_truth_values if is_truth else on_integers)(lowering, *operands)

    return compute


_FOLDED: dict[str, Callable[[Lowering, Index, Index], Index]] = {
    "addi": Lowering.add,
    "subi": Lowering.subtract,
    "muli": Lowering.multiply,
}
"""Index arithmetic of which accesses of memory use what is known."""

_SHARED = frozenset({"andi", "ori", "xori", "maxsi", "maxui", "minsi", "minui"})


def _integer(name: str) -> Rule:
    plain = elementwise(of_integers(name))
    folded = _FOLDED.get(name)

    def rule(operation: Operation, lowering: Lowering) -> None:
        a, b = lowering.values(operation.operands)
        (result,) = operation.results
        if a.type != scalar_tile(INDEX):
            plain(operation, lowering)
        elif folded is not None:
            a, b = lowering.facts.number(a), lowering.facts.number(b)
            lowering.define(result, lowering.as_value(folded(lowering, a, b)))
        elif name in _SHARED:
            key = name, a, b
            value = lowering.shared(key, (a, b), lambda: of_integers(name)(lowering, a, b))
            lowering.define(result, value)
        else:
            plain(operation, lowering)

    return rule


# --- results of twice the width ---


def _extended(sides: Callable[[Lowering, SSAValue, SSAValue], tuple[SSAValue, SSAValue]]) -> Rule:
    """The rule of an operation with two results, from what emits them."""

    def rule(operation: Operation, lowering: Lowering) -> None:
        made = sides(lowering, *lowering.values(operation.operands))
        for result, value in zip(operation.results, made, strict=True):
            lowering.define(result, value)

    return rule


def _sum_and_carry(lowering: Lowering, a: SSAValue, b: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The sum, and whether it does not fit: it is less than an operand then."""
    total = of_integers("addi")(lowering, a, b)
    if element_type(a) == i1:
        return total, _AND(lowering, a, b)
    return total, lowering.compare(ComparisonPredicate.LESS_THAN, total, a, is_signed=False)


def _product(is_signed: bool) -> Callable[..., tuple[SSAValue, SSAValue]]:
    """The lower and the upper half of a product."""

    def sides(lowering: Lowering, a: SSAValue, b: SSAValue) -> tuple[SSAValue, SSAValue]:
        if element_type(a) == i1:
            # (-1) (-1) is 1, too.
            return _AND(lowering, a, b), lowering.like(0, a)
        low = lowering.compute(integer.MulIOp, a, b)
        high = lowering.compute(integer.MulhiIOp, a, b)
        return low, _signed_upper_half(lowering, high, a, b) if is_signed else high

    return sides


def _signed_upper_half(lowering: Lowering, high: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
    """A negative number is 2^n too large as an unsigned one, and adds the other to the half."""
    zero = lowering.like(0, a)
    for number, other in ((a, b), (b, a)):
        is_negative = lowering.compare(ComparisonPredicate.LESS_THAN, number, zero)
        excess = lowering.select(is_negative, other, zero)
        high = lowering.compute(integer.SubIOp, high, excess)
    return high


RULES: dict[str, Rule] = {
    **named("arith", {name: _integer(name) for name in INTEGERS}),
    **named("arith", {name: _float(name) for name in FLOATS}),
    "arith.addui_extended": _extended(_sum_and_carry),
    "arith.mulsi_extended": _extended(_product(is_signed=True)),
    "arith.mului_extended": _extended(_product(is_signed=False)),
}
"""The rule of each operation, by name."""
