"""Sums, products, bits, minima and maxima of numbers, and conversions from floats to floats.

Source: CUDA Tile IR specification, "Integer", "Bitwise", "Floating Point", "Conversions";
docs/semantics.md, 1 and 7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from xdsl.dialects.builtin import Float8E8M0FNUType, f32
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.cuda_tile.enumerations import RoundingMode
from xtile.dialects.cuda_tile.ops import conversions, floating_point
from xtile.dialects.number_attributes import (
    ROUNDED,
    Rounding,
    flushes,
    has_flag,
    rounding_of,
    saturates,
    says_how_to_round,
)
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.contraction import contracted
from xtile.translate.core_to_cuda_tile.lowering import Lowering, emitted
from xtile.translate.core_to_cuda_tile.types import element_of, element_type, scalar_tile, tile_type
from xtile.translate.tiles.casts import directed, direction_of, narrow, rounded_to
from xtile.translate.tiles.elementwise import Compute, arithmetic, elementwise, named
from xtile.translate.tiles.types import INDEX

INTEGERS = (
    *("addi", "andi", "maxsi", "maxui", "minsi", "minui", "muli", "ori", "shli", "shrsi", "shrui"),
    *("subi", "xori"),
)
"""The operations on integers."""

FLOATS = (
    *("addf", "divf", "maximumf", "maxnumf", "minimumf", "minnumf", "mulf", "negf", "remf"),
    "subf",
)
"""The operations on floats."""


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
}
"""The operations that can say how they are rounded, or that they flush to zero."""


def absolute(lowering: Lowering, value: SSAValue) -> SSAValue:
    """The absolute value of floats."""
    return lowering.compute(floating_point.AbsFOp, value)


def as_said(rule: Rule, said: Mapping[str, Callable[..., Operation]]) -> Rule:
    """The rule of an operation that can say how it is rounded, from that where it does not.

    Args:
        rule: The rule where it does not.
        said: What is emitted where it does, by the operation's name.
    """

    def of_both(operation: Operation, lowering: Lowering) -> None:
        if not says_how_to_round(operation):
            rule(operation, lowering)
            return
        mode = _MODES[rounding_of(operation)]
        made = lowering.compute(
            said[operation.name],
            *lowering.values(operation.operands),
            flush_to_zero=flushes(operation),
            **({"rounding_mode": mode} if operation.name in ROUNDED else {}),
        )
        lowering.define(operation.results[0], made)

    return of_both


def approximated(
    rule: Rule, allowed: Mapping[FastMathFlag, Compute], of_triton: Compute | None = None
) -> Rule:
    """The rule of an operation that is computed otherwise on f32 where a flag allows it.

    Args:
        rule: How it is computed without a flag.
        allowed: How it is with each flag.
        of_triton: How it is without a flag in kernels of Triton; None: as in others.
    """
    by_flag = {flag: elementwise(compute) for flag, compute in allowed.items()}
    own = None if of_triton is None else elementwise(of_triton)

    def chosen(operation: Operation, lowering: Lowering) -> None:
        is_single = element_type(lowering.value(operation.operands[0])) == f32
        flags = [flag for flag in by_flag if is_single and has_flag(operation, flag)]
        plain = own if is_single and own is not None and lowering.computes_as_triton else rule
        (by_flag[flags[0]] if flags else plain)(operation, lowering)

    return chosen


_QUOTIENTS = {
    FastMathFlag.ALLOW_RECIP: emitted(floating_point.DivFOp, rounding_mode=RoundingMode.APPROX),
    FastMathFlag.APPROX_FUNC: emitted(floating_point.DivFOp, rounding_mode=RoundingMode.FULL),
}
"""A product with the reciprocal, which is 0 for divisors above 2^126, and one without that gap."""


def _float(name: str) -> Rule:
    rule = elementwise(narrow(arithmetic(name)))
    if name in ("addf", "mulf", "subf"):
        return contracted(as_said(rule, _SAID))
    return as_said(approximated(rule, _QUOTIENTS) if name == "divf" else rule, _SAID)


_FOLDED: dict[str, Callable[[Lowering, Index, Index], Index]] = {
    "addi": Lowering.add,
    "subi": Lowering.subtract,
    "muli": Lowering.multiply,
}
"""Index arithmetic of which accesses of memory use what is known."""

_SHARED = frozenset({"andi", "ori", "xori", "maxsi", "maxui", "minsi", "minui"})


def _integer(name: str) -> Rule:
    plain = elementwise(arithmetic(name))
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
            value = lowering.shared(key, (a, b), lambda: lowering.arith(name, a, b))
            lowering.define(result, value)
        else:
            plain(operation, lowering)

    return rule


def _convert(operation: Operation, lowering: Lowering) -> None:
    (value,) = lowering.values(operation.operands)
    (result,) = operation.results
    element = element_of(result.type)
    direction = direction_of(operation, lowering)
    if saturates(operation):
        made = _saturated(lowering, value, element, direction)
    elif isinstance(element, Float8E8M0FNUType):
        raise lowering.error(
            "CUDA Tile IR rounds absolute values to f8E8M0FNU, and upwards; write core.saturate"
        )
    elif direction is None:
        made = rounded_to(lowering, value, element)
    else:
        made = directed(lowering, value, element, direction)
    lowering.define(result, made)


def _saturated(
    lowering: Lowering, value: SSAValue, element: Attribute, direction: Rounding | None
) -> SSAValue:
    """Floats in a type, limited to its largest number; powers of two are rounded up, or to zero."""
    if not isinstance(element, Float8E8M0FNUType):
        return lowering.converted(value, element)
    target = tile_type(value).with_element_type(element)
    mode = RoundingMode.POSITIVE_INF
    if direction is Rounding.TOWARD_ZERO:
        mode = RoundingMode.ZERO
    return lowering.compute(conversions.FToFOp, value, target, rounding_mode=mode)


RULES: dict[str, Rule] = {
    **named("arith", {name: _integer(name) for name in INTEGERS}),
    **named("arith", {name: _float(name) for name in FLOATS}),
    "arith.extf": _convert,
    "arith.truncf": _convert,
    # Products of f32 in parts have it, and no other function of `mathematics.py`.
    "math.absf": elementwise(absolute),
}
"""The rule of each operation, by name."""
