"""Quotients and remainders of integers.

CUDA Tile IR leaves undefined what the quotient of the smallest integer by -1 is, and any by 0. The
first is itself (docs/semantics.md, 1.4), the second a mistake of the program.
"""

from __future__ import annotations

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue

from xtile.dialects.cuda_tile.enumerations import ComparisonPredicate, RoundingMode, Signedness
from xtile.dialects.cuda_tile.ops import integer
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.elementwise import Compute, elementwise, first, named
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.types import element_type, scalar_tile
from xtile.translate.tiles.types import INDEX


def _is_minus_1(lowering: Lowering, divisor: SSAValue) -> SSAValue | None:
    """Where a divisor is -1; None if it certainly is not."""
    owner = divisor.owner
    if isinstance(owner, Operation) and owner.name == "cuda_tile.constant":
        number = lowering.facts.number(divisor)
        if isinstance(number, int) and number != -1:
            return None
    if lowering.facts.is_not_negative(divisor):
        return None
    return lowering.compare(ComparisonPredicate.EQUAL, divisor, lowering.like(-1, divisor))


def _quotient(is_signed: bool, rounding: RoundingMode) -> Compute:
    signedness = Signedness.SIGNED if is_signed else Signedness.UNSIGNED

    def compute(lowering: Lowering, a: SSAValue, b: SSAValue) -> SSAValue:
        if element_type(a) == i1:
            return first(lowering, a)  # Any other divisor than true is 0.
        is_minus_1 = _is_minus_1(lowering, b) if is_signed else None
        divisor = b
        if is_minus_1 is not None:
            divisor = lowering.select(is_minus_1, lowering.like(1, b), b)
        made = lowering.compute(
            integer.DivIOp, a, divisor, signedness=signedness, rounding=rounding
        )
        if is_minus_1 is None:
            return made
        negated = lowering.compute(integer.SubIOp, lowering.like(0, a), a)
        return lowering.select(is_minus_1, negated, made)

    return compute


def _remainder(is_signed: bool) -> Compute:
    signedness = Signedness.SIGNED if is_signed else Signedness.UNSIGNED

    def compute(lowering: Lowering, a: SSAValue, b: SSAValue) -> SSAValue:
        if element_type(a) == i1:
            return lowering.like(0, a)
        is_minus_1 = _is_minus_1(lowering, b) if is_signed else None
        if is_minus_1 is not None:
            b = lowering.select(is_minus_1, lowering.like(1, b), b)
        return lowering.compute(integer.RemIOp, a, b, signedness=signedness)

    return compute


_DIVISIONS: dict[str, Compute] = {
    "divsi": _quotient(True, RoundingMode.ZERO),
    "divui": _quotient(False, RoundingMode.ZERO),
    "floordivsi": _quotient(True, RoundingMode.NEGATIVE_INF),
    "ceildivsi": _quotient(True, RoundingMode.POSITIVE_INF),
    "ceildivui": _quotient(False, RoundingMode.POSITIVE_INF),
    "remsi": _remainder(True),
    "remui": _remainder(False),
}


def _division(compute: Compute) -> Rule:
    """A division of indices that are known is a number."""
    plain = elementwise(compute)

    def rule(operation: Operation, lowering: Lowering) -> None:
        a, b = lowering.values(operation.operands)
        if a.type == scalar_tile(INDEX):
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
