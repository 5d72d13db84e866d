"""Loops with a variable, which also copies of memory are."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import Block, Operation, SSAValue

from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.types import integer_width, is_vector, length_of

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
    is_unsigned: bool = False,
    may_wrap: bool = False,
) -> Sequence[SSAValue]:
    """Emits a loop and goes on behind it.

    Args:
        lowering: Where to emit.
        bounds: The values of the variable.
        inits: What is carried into the first iteration.
        emit: Emits the body, from the variable and what is carried into it, and returns what is
            carried into the next iteration.
        control: What is said of unrolling.
        is_unsigned: Whether the bounds have no sign.
        may_wrap: Whether the step after the last iteration may leave the variable's type; it then
            stops at the type's last number, which no end lies above.

    Returns:
        What is carried out of the last iteration.
    """
    lower, upper, step = bounds
    header = Block(arg_types=[lower.type, *(value.type for value in inits)])
    body, after, end = Block(), Block(), Block()
    variable, *carried = header.args
    advance = _saturating(lowering, step, is_unsigned) if may_wrap else _plain(lowering, step)
    with lowering.inside(header):
        below = "ULessThan" if is_unsigned else "SLessThan"
        goes_on = lowering.compute(below, i1, variable, upper)
        lowering.do("LoopMerge", end, after, control)
        lowering.do("BranchConditional", goes_on, body, end)
        lowering.continue_in(body)
        yielded = emit(variable, carried)
        check_kinds(lowering, inits, yielded)
        lowering.do("Branch", after)
        lowering.continue_in(after)
        following = advance(variable)
        lowering.do("Branch", (header, following, *next_values(lowering, yielded)))
    lowering.do("Branch", (header, lower, *inits))
    lowering.continue_in(end)
    return carried


def _plain(lowering: Lowering, step: SSAValue) -> Callable[[SSAValue], SSAValue]:
    return lambda variable: lowering.compute("IAdd", step.type, variable, step)


def _saturating(
    lowering: Lowering, step: SSAValue, is_unsigned: bool
) -> Callable[[SSAValue], SSAValue]:
    """How a loop's variable goes on that must not wrap around."""
    width = integer_width(step.type)
    last = lowering.integer((1 << width) - 1 if is_unsigned else (1 << (width - 1)) - 1, step.type)
    latest = lowering.compute("ISub", step.type, last, step)
    above = "UGreaterThan" if is_unsigned else "SGreaterThan"

    def advance(variable: SSAValue) -> SSAValue:
        is_last = lowering.compute(above, i1, variable, latest)
        following = lowering.compute("IAdd", step.type, variable, step)
        return lowering.select(is_last, last, following)

    return advance


def next_values(lowering: Lowering, values: Sequence[SSAValue]) -> list[SSAValue]:
    """What is carried into the next iteration, in a form that phis may name before it exists.

    Intel's graphics compiler (1.0.12504) puts an OpCompositeConstruct that a phi names in advance
    where the phi is. With another phi behind it the compiler aborts.
    """
    return [_renamed(lowering, value) for value in values]


def _renamed(lowering: Lowering, value: SSAValue) -> SSAValue:
    owner, type_ = value.owner, value.type
    is_built = isinstance(owner, Operation) and owner.name == "spirv.CompositeConstruct"
    if not (is_built and is_vector(type_)):
        return value
    return lowering.compute("VectorShuffle", type_, value, value, *range(length_of(type_)))


def check_kinds(lowering: Lowering, before: Sequence[SSAValue], after: Sequence[SSAValue]) -> None:
    """Checks that what meets has one type: memrefs may be in different kinds of memory."""
    for a, b in zip(before, after, strict=True):
        if a.type != b.type:
            raise lowering.error("memrefs that are in different kinds of memory cannot meet here")
