"""Tells an observer where arithmetic on index values loses the exact result."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, cast

from xtile.dialects.tensorlang.ops import arithmetic as ops
from xtile.semantics.compiler import Compiler, Step
from xtile.semantics.state import State


def _shift_left(a: int, b: int) -> int:
    return a << (b & 63)


_EXACT: dict[type[Any], Callable[..., Any]] = {
    ops.AddOp: operator.add,
    ops.SubOp: operator.sub,
    ops.MulOp: operator.mul,
    ops.ShlOp: _shift_left,
    ops.AbsOp: abs,
    ops.NegOp: operator.neg,
    ops.CastOp: int,
}
"""The instructions that can overflow, in Python's unbounded integers."""


def observed(operation: Any, compiler: Compiler, step: Step) -> Step:
    """`step`, followed by a check of its result if the launch is observed."""
    exact = _EXACT.get(cast("type[Any]", type(operation)))
    if exact is None or not compiler.is_observed:
        return step
    operands = compiler.slots(operation.operands)
    result = compiler.slot(operation.result)

    def observed_step(state: State) -> None:
        step(state)
        if state.observer is None:
            return
        active = state.active()
        columns = [state.full(state.values[slot])[active].tolist() for slot in operands]
        computed = state.full(state.values[result])[active].tolist()
        wanted = [exact(*row) for row in zip(*columns, strict=True)]
        if wanted == computed:
            return
        wrong = [i for i, value in enumerate(wanted) if value != computed[i]]
        threads = state.threads()[active][wrong]
        state.observer.on_index_overflow(operation, [wanted[i] for i in wrong], threads)

    return observed_step
