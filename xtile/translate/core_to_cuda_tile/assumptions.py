"""What is assumed of integers.

Source: CUDA Tile IR specification, "assume".
"""

from __future__ import annotations

from xtile.dialects.core.assumptions import AssumeOp
from xtile.dialects.cuda_tile.attributes import (
    AssumePredicateAttr,
    BoundedAttr,
    DivByAttr,
    SameElementsAttr,
)
from xtile.dialects.cuda_tile.ops import miscellaneous
from xtile.dialects.cuda_tile.ops.miscellaneous_rules import MAXIMUM_DIVISOR
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.lowering import Lowering


def _assume(operation: AssumeOp, lowering: Lowering) -> None:
    """An assumption holds where it stands, so that it is not emitted any earlier."""
    value = lowering.value(operation.value)
    for predicate in _predicates(operation):
        value = lowering.compute(miscellaneous.AssumeOp, value, predicate)
    if operation.run is None and operation.divisor > 1:
        lowering.facts.learn_divisor(value, operation.divisor)
    lowering.define(operation.result, value)


def _predicates(operation: AssumeOp) -> list[AssumePredicateAttr]:
    """What CUDA Tile IR can say of it: of a divisor the power of two in it."""
    predicates: list[AssumePredicateAttr] = []
    if operation.least is not None or operation.most is not None:
        predicates.append(BoundedAttr(operation.least, operation.most))
    if operation.groups is not None:
        predicates.append(SameElementsAttr(operation.groups))
    power = min(operation.divisor & -operation.divisor, MAXIMUM_DIVISOR)
    if operation.run is not None or power > 1:
        predicates.append(DivByAttr(power, *(operation.run or ())))
    return predicates


RULES: dict[str, Rule] = {"core.assume": _assume}
"""The rule of each operation, by name."""
