"""Quotients and remainders of integers.

Languages of tiles leave undefined what the quotient of the smallest integer by -1 is, and any by 0.
The first is itself (docs/semantics.md, 1.4), the second a mistake of the program.
"""

from __future__ import annotations

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue

from xtile.rewrite.rebuilder import Rule
from xtile.translate.tiles.elementwise import Compute, elementwise, named
from xtile.translate.tiles.lowering import TileLowering
from xtile.translate.tiles.types import INDEX


def _is_minus_1(lowering: TileLowering, divisor: SSAValue) -> SSAValue | None:
    """Where a divisor is -1; None if it certainly is not."""
    number = lowering.number_of(divisor)
    if number is not None and number != -1:
        return None
    if lowering.facts.is_not_negative(divisor):
        return None
    return lowering.cmpi("eq", divisor, lowering.like(-1, divisor))


def _quotient(name: str) -> Compute:
    def compute(lowering: TileLowering, a: SSAValue, b: SSAValue) -> SSAValue:
        if lowering.element(a) == i1:
            return a  # Any other divisor than true is 0.
        is_minus_1 = _is_minus_1(lowering, b) if name.endswith("si") else None
        if is_minus_1 is None:
            return lowering.arith(name, a, b)
        divisor = lowering.select(is_minus_1, lowering.like(1, b), b)
        made = lowering.arith(name, a, divisor)
        negated = lowering.arith("subi", lowering.like(0, a), a)
        return lowering.select(is_minus_1, negated, made)

    return compute


def _remainder(name: str) -> Compute:
    def compute(lowering: TileLowering, a: SSAValue, b: SSAValue) -> SSAValue:
        if lowering.element(a) == i1:
            return lowering.like(0, a)
        is_minus_1 = _is_minus_1(lowering, b) if name.endswith("si") else None
        if is_minus_1 is not None:
            b = lowering.select(is_minus_1, lowering.like(1, b), b)
        return lowering.arith(name, a, b)

    return compute


_DIVISIONS: dict[str, Compute] = {
    **{
        name: _quotient(name) for name in ("ceildivsi", "ceildivui", "divsi", "divui", "floordivsi")
    },
    **{name: _remainder(name) for name in ("remsi", "remui")},
}


def _division(compute: Compute) -> Rule:
    """A division of indices is computed once."""
    plain = elementwise(compute)

    def rule(operation: Operation, lowering: TileLowering) -> None:
        a, b = lowering.values(operation.operands)
        if a.type == lowering.tile(INDEX):
            key = compute, a, b
            value = lowering.shared(key, (a, b), lambda: compute(lowering, a, b))
            lowering.define(operation.results[0], value)
        else:
            plain(operation, lowering)

    return rule


RULES: dict[str, Rule] = named(
    "arith", {name: _division(compute) for name, compute in _DIVISIONS.items()}
)
"""The rule of each operation, by name."""
