"""Loops with a variable, which also copies of memory are."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import Block, SSAValue

from xtile.translate.xegpu_to_spirv.lowering import Lowering

Bounds = tuple[SSAValue, SSAValue, SSAValue]
"""The first value of a loop's variable, the one that it stays below, and the step."""

Control = str | tuple[str | int, ...]
"""What is said of unrolling (SPIR-V Specification, 3.23 "Loop Control")."""


def counted_loop(
    lowering: Lowering,
    bounds: Bounds,
    inits: Sequence[SSAValue],
    emit: Callable[[SSAValue, Sequence[SSAValue]], Sequence[SSAValue]],
    *,
    control: Control = "None",
    comparison: str = "SLessThan",
) -> Sequence[SSAValue]:
    """Emits a loop and goes on behind it.

    Args:
        lowering: Where to emit.
        bounds: The values of the variable.
        inits: What is carried into the first iteration.
        emit: Emits the body, from the variable and what is carried into it, and returns what is
            carried into the next iteration.
        control: What is said of unrolling.
        comparison: The instruction that tells whether the variable is below its end.

    Returns:
        What is carried out of the last iteration.
    """
    lower, upper, step = bounds
    header = Block(arg_types=[lower.type, *(value.type for value in inits)])
    body, after, end = Block(), Block(), Block()
    variable, *carried = header.args
    with lowering.inside(header):
        goes_on = lowering.compute(comparison, i1, variable, upper)
        lowering.do("LoopMerge", end, after, control)
        lowering.do("BranchConditional", goes_on, body, end)
        lowering.continue_in(body)
        yielded = emit(variable, carried)
        check_kinds(lowering, inits, yielded)
        lowering.do("Branch", after)
        lowering.continue_in(after)
        following = lowering.compute("IAdd", variable.type, variable, step)
        lowering.do("Branch", (header, following, *yielded))
    lowering.do("Branch", (header, lower, *inits))
    lowering.continue_in(end)
    return carried


def check_kinds(lowering: Lowering, before: Sequence[SSAValue], after: Sequence[SSAValue]) -> None:
    """Checks that what meets has one type: memrefs may be in different kinds of memory."""
    for a, b in zip(before, after, strict=True):
        if a.type != b.type:
            raise lowering.error("memrefs that are in different kinds of memory cannot meet here")
