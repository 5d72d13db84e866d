"""Structured control flow: constructs become blocks, values that they carry blocks' arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.dialects.core.attributes import UNROLL_ATTRIBUTE
from xtile.dialects.scf.loops import UNSIGNED
from xtile.rewrite.ranges import may_wrap
from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_spirv.loops import Bounds, check_kinds, counted_loop, next_values
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.regions import results_of, translate_region

# --- code that is executed where a condition holds only ---

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


# --- loops ---


def _for(operation: scf.ForOp, lowering: Lowering) -> None:
    # The operation's own names for its operands take longer.
    given = operation.operands
    lower, upper, step = (lowering.condition(given[i]) for i in range(3))
    (region,) = operation.regions
    old = region.block

    def emit(variable: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
        lowering.define(old.args[0], variable)
        lowering.define_flat(old.args[1:], carried)
        return results_of(region, lowering)

    is_unsigned = UNSIGNED in operation.properties
    results = counted_loop(
        lowering,
        (lower, upper, step),
        lowering.flat(given[3:]),
        emit,
        control=_loop_control(operation, lowering),
        is_unsigned=is_unsigned,
        may_wrap=may_wrap(given[1], given[2], is_unsigned=is_unsigned),
    )
    lowering.define_flat(operation.results, results)


def _loop_control(operation: Operation, lowering: Lowering) -> str | tuple[str | int, ...]:
    """What is said of unrolling.

    The sums of a matrix unit fill the registers: several iterations at once gain nothing.
    """
    unroll = operation.attributes.get(UNROLL_ATTRIBUTE)
    if not isinstance(unroll, IntegerAttr):
        has_unit = bool(lowering.target.matrix_units)
        is_product = has_unit and any(inner.name == "xegpu.dpas" for inner in operation.walk())
        return "DontUnroll" if is_product else "None"
    number = cast("IntegerAttr[Any]", unroll)
    count = number.value.data
    if number.type == i1:
        return "Unroll" if count else "DontUnroll"
    return ("PartialCount", count) if count > 1 else "DontUnroll"


def _while(operation: scf.WhileOp, lowering: Lowering) -> None:
    inits = lowering.flat(operation.arguments)
    header = Block(arg_types=[value.type for value in inits])
    before, body, after = Block(), Block(), Block()
    first = operation.before_region.block
    second = operation.after_region.block
    with lowering.inside(header):
        lowering.define_flat(first.args, header.args)
        # The end's arguments have the types of what the condition passes on.
        end = Block()
        lowering.do("LoopMerge", end, after, _loop_control(operation, lowering))
        lowering.do("Branch", before)
        lowering.continue_in(before)
        last = translate_region(operation.before_region, lowering)
        assert last is not None
        goes_on = lowering.condition(last.operands[0])
        passed = lowering.flat(last.operands[1:])
        lowering.do("BranchConditional", goes_on, body, end)
        lowering.continue_in(body)
        lowering.define_flat(second.args, passed)
        yielded = results_of(operation.after_region, lowering)
        check_kinds(lowering, inits, yielded)
        lowering.do("Branch", after)
        lowering.continue_in(after)
        lowering.do("Branch", (header, *next_values(lowering, yielded)))
    lowering.do("Branch", (header, *inits))
    lowering.continue_in(end)
    lowering.define_flat(operation.results, passed)


# --- nests of loops ---


def _parallel(operation: scf.ParallelOp, lowering: Lowering) -> None:
    """Iterations in order; each combines its values with the results so far."""
    lower, upper, step = (
        [lowering.condition(value) for value in values]
        for values in (operation.lowerBound, operation.upperBound, operation.step)
    )
    body = operation.body.block
    bounds = list(zip(lower, upper, step, strict=True))
    guards = list(map(may_wrap, operation.upperBound, operation.step))

    def emit(variables: Sequence[SSAValue], carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
        for argument, variable in zip(body.args, variables, strict=True):
            lowering.define(argument, variable)
        last = translate_region(operation.body, lowering)
        lowering.define_flat(operation.results, carried)
        if last is None:
            return carried
        for result, value, region in zip(
            operation.results, last.operands, last.regions, strict=True
        ):
            before, own = region.block.args
            lowering.define(before, lowering.meaning(result))
            lowering.define(own, lowering.meaning(value))
            lowering.define_flat([result], results_of(region, lowering))
        return lowering.flat(operation.results)

    sides = list(zip(bounds, guards, strict=True))
    results = _nest(lowering, sides, lowering.flat(operation.initVals), emit, ())
    lowering.define_flat(operation.results, results)


def _nest(
    lowering: Lowering,
    sides: Sequence[tuple[Bounds, bool]],
    carried: Sequence[SSAValue],
    emit: Callable[[Sequence[SSAValue], Sequence[SSAValue]], Sequence[SSAValue]],
    variables: tuple[SSAValue, ...],
) -> Sequence[SSAValue]:
    """Emits loops in each other, the last of which counts fastest.

    Args:
        lowering: Where to emit.
        sides: The bounds of each loop, and whether its variable may wrap around.
        carried: What is carried into the first iteration.
        emit: Emits the body, from the variables and what is carried into it.
        variables: Those of the loops around it.
    """
    if not sides:
        return emit(variables, carried)
    bounds, guard = sides[0]

    def inner(variable: SSAValue, own: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return _nest(lowering, sides[1:], own, emit, (*variables, variable))

    return counted_loop(lowering, bounds, carried, inner, may_wrap=guard)


# --- branches ---


def _if(operation: scf.IfOp, lowering: Lowering) -> None:
    end = Block()
    chosen = Block()
    has_else = operation.false_region.blocks.first is not None
    other = Block() if has_else else end
    regions = [(chosen, operation.true_region)]
    if has_else:
        regions.append((other, operation.false_region))
    condition = lowering.condition(operation.cond)
    results = _branches(lowering, end, regions)
    lowering.do("SelectionMerge", end, "None")
    lowering.do("BranchConditional", condition, chosen, other)
    lowering.continue_in(end)
    lowering.define_flat(operation.results, results)


def _branches(
    lowering: Lowering, end: Block, regions: Sequence[tuple[Block, Region]]
) -> Sequence[SSAValue]:
    """Emits regions of which one is taken, and returns what they give to the construct."""
    types: list[Attribute] | None = None
    for block, region in regions:
        with lowering.inside(block):
            yielded = results_of(region, lowering)
            if types is None:
                types = [value.type for value in yielded]
                for type_ in types:
                    end.insert_arg(type_, len(end.args))
            check_kinds(lowering, end.args, yielded)
            lowering.do("Branch", (end, *yielded))
    return end.args


def _index_switch(operation: scf.IndexSwitchOp, lowering: Lowering) -> None:
    end, default = Block(), Block()
    cases = [Block() for _ in operation.case_regions]
    regions = [(default, operation.default_region)]
    regions += zip(cases, operation.case_regions, strict=True)
    selector = lowering.condition(operation.arg)
    results = _branches(lowering, end, regions)
    numbers = cast("Sequence[int]", operation.cases.get_values())
    pairs = [item for pair in zip(numbers, cases, strict=True) for item in pair]
    lowering.do("SelectionMerge", end, "None")
    lowering.do("Switch", selector, default, *pairs)
    lowering.continue_in(end)
    lowering.define_flat(operation.results, results)


RULES: dict[str, Rule] = {
    "scf.for": _for,
    "scf.if": _if,
    "scf.index_switch": _index_switch,
    "scf.parallel": _parallel,
    "scf.while": _while,
}
"""The rule of each operation, by name."""
