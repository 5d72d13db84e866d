"""Code that is executed where a condition holds only."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import i1
from xdsl.ir import Block, SSAValue

from xtile.translate.xegpu_to_spirv.lowering import Lowering

Condition = SSAValue | None
"""A truth value; None holds always."""


def both(lowering: Lowering, a: Condition, b: Condition) -> Condition:
    """Whether two conditions hold."""
    if a is None or b is None:
        return b if a is None else a
    return lowering.compute("LogicalAnd", i1, a, b)


def value_where(
    lowering: Lowering, condition: Condition, make: Callable[[], SSAValue], otherwise: SSAValue
) -> SSAValue:
    """What `make` emits where a condition holds, `otherwise` elsewhere."""
    if condition is None:
        return make()
    end, chosen = Block(arg_types=[otherwise.type]), Block()
    with lowering.inside(chosen):
        lowering.do("Branch", (end, make()))
    lowering.do("SelectionMerge", end, "None")
    lowering.do("BranchConditional", condition, chosen, (end, otherwise))
    lowering.continue_in(end)
    return end.args[0]


def do_where(lowering: Lowering, condition: Condition, act: Callable[[], None]) -> None:
    """Executes what `act` emits where a condition holds."""
    if condition is None:
        act()
        return
    end, chosen = Block(), Block()
    with lowering.inside(chosen):
        act()
        lowering.do("Branch", end)
    lowering.do("SelectionMerge", end, "None")
    lowering.do("BranchConditional", condition, chosen, end)
    lowering.continue_in(end)
