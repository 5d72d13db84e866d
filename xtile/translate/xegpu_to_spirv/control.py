"""Structured control flow: constructs become blocks, values that they carry blocks' arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, i1, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.dialects.core.attributes import UNROLL_ATTRIBUTE
from xtile.translate.rule import Rule
from xtile.translate.xegpu_to_spirv.loops import Bounds, check_kinds, counted_loop
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.regions import results_of, translate_region
from xtile.translate.xegpu_to_spirv.types import integer_width

# --- loops ---


def _for(operation: scf.ForOp, lowering: Lowering) -> None:
    # The operation's own names for its operands take longer.
    given = operation.operands
    lower, upper, step = (lowering.condition(given[i]) for i in range(3))
    is_unsigned = "unsignedCmp" in operation.properties
    (region,) = operation.regions
    old = region.block
    narrow = lower.type
    is_widened = _may_wrap(lowering, upper, step, is_unsigned)
    if is_widened:
        name = "UConvert" if is_unsigned else "SConvert"
        lower, upper, step = (lowering.compute(name, i64, x) for x in (lower, upper, step))

    def emit(variable: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
        if is_widened:
            variable = lowering.compute("UConvert", narrow, variable)
        lowering.define(old.args[0], variable)
        lowering.define_flat(old.args[1:], carried)
        return results_of(region, lowering)

    results = counted_loop(
        lowering,
        (lower, upper, step),
        lowering.flat(given[3:]),
        emit,
        control=_loop_control(operation, lowering),
        comparison="ULessThan" if is_unsigned else "SLessThan",
    )
    lowering.define_flat(operation.results, results)


def _may_wrap(lowering: Lowering, upper: SSAValue, step: SSAValue, is_unsigned: bool) -> bool:
    """Whether the variable of a narrow type may leave it after the last iteration.

    i64 is not looked at (docs/core-form.md, "Instructions").
    """
    width = integer_width(upper.type)
    if width == i64.bitwidth:
        return False
    numbers = lowering.constants.numbers
    if upper not in numbers or step not in numbers:
        return True
    end = numbers[upper] + numbers[step]
    return is_unsigned or end > 2 ** (width - 1)


def _loop_control(operation: Operation, lowering: Lowering) -> str | tuple[str | int, ...]:
    """What is said of unrolling.

    The sums of a matrix unit fill the registers: several iterations at once gain nothing.
    """
    unroll = operation.attributes.get(UNROLL_ATTRIBUTE)
    if not isinstance(unroll, IntegerAttr):
        has_unit = lowering.device.matrix_unit is not None
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
        lowering.do("Branch", (header, *yielded))
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

    results = _nest(lowering, bounds, lowering.flat(operation.initVals), emit, ())
    lowering.define_flat(operation.results, results)


def _forall(operation: Operation, lowering: Lowering) -> None:
    """Iterations in order, on memory: results would be tensors."""
    if operation.results:
        raise lowering.error("scf.forall with results works on tensors; use memrefs")
    given = iter(lowering.values(operation.operands))
    sides = [
        [
            next(given) if number == DYNAMIC_INDEX else lowering.integer(number, i64)
            for number in cast(Any, operation.properties[name]).get_values()
        ]
        for name in ("staticLowerBound", "staticUpperBound", "staticStep")
    ]
    (region,) = operation.regions

    def emit(variables: Sequence[SSAValue], carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
        for argument, variable in zip(region.block.args, variables, strict=True):
            lowering.define(argument, variable)
        translate_region(region, lowering)
        return ()

    _nest(lowering, list(zip(*sides, strict=True)), [], emit, ())


def _nest(
    lowering: Lowering,
    bounds: Sequence[Bounds],
    carried: Sequence[SSAValue],
    emit: Callable[[Sequence[SSAValue], Sequence[SSAValue]], Sequence[SSAValue]],
    variables: tuple[SSAValue, ...],
) -> Sequence[SSAValue]:
    """Emits loops in each other, the last of which counts fastest."""
    if not bounds:
        return emit(variables, carried)

    def inner(variable: SSAValue, own: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return _nest(lowering, bounds[1:], own, emit, (*variables, variable))

    return counted_loop(lowering, bounds[0], carried, inner)


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
    "scf.forall": _forall,
    "scf.if": _if,
    "scf.index_switch": _index_switch,
    "scf.parallel": _parallel,
    "scf.while": _while,
}
"""The rule of each operation, by name."""
