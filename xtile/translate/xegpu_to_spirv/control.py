"""Structured control flow: constructs become blocks, values that they carry blocks' arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerAttr, IntegerType, i1, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.translate.rule import Rule
from xtile.translate.xegpu_to_spirv.lowering import Lowering

UNROLL_ATTRIBUTE = "core.unroll"
"""How often a loop is to be unrolled: a number, or a truth value."""


def _yields(region: Region) -> Sequence[SSAValue]:
    """What a region's last operation gives to the construct."""
    last = region.block.last_op
    return () if last is None else last.operands


def _translate_region(region: Region, lowering: Lowering) -> list[SSAValue]:
    """Emits a region's operations, and returns what its last one gives to the construct."""
    last = region.block.last_op
    for operation in region.block.ops:
        if operation is not last or operation.name not in _YIELDS:
            lowering.translate(operation)
    return lowering.flat(_yields(region))


_YIELDS = frozenset({"scf.yield", "scf.condition", "scf.reduce", "memref.alloca_scope.return"})


# --- loops ---


def _for(operation: scf.ForOp, lowering: Lowering) -> None:
    lower, upper, step = (
        lowering.condition(x) for x in (operation.lb, operation.ub, operation.step)
    )
    is_unsigned = "unsignedCmp" in operation.properties
    old = operation.body.block
    narrow = lower.type
    is_widened = _may_wrap(lowering, upper, step, is_unsigned)
    if is_widened:
        name = "UConvert" if is_unsigned else "SConvert"
        lower, upper, step = (lowering.compute(name, i64, x) for x in (lower, upper, step))
    inits = lowering.flat(operation.iter_args)

    def define(variable: SSAValue) -> None:
        if is_widened:
            variable = lowering.compute("UConvert", narrow, variable)
        lowering.define(old.args[0], variable)

    loop = _Loop(lowering, operation, is_unsigned)
    results = loop.run(
        (lower, upper, step),
        inits,
        old.args[1:],
        define,
        lambda: _translate_region(operation.body, lowering),
    )
    lowering.define_flat(operation.results, results)


def _may_wrap(lowering: Lowering, upper: SSAValue, step: SSAValue, is_unsigned: bool) -> bool:
    """Whether the variable of a narrow type may leave it after the last iteration.

    i64 is not looked at (docs/core-form.md, "Instructions").
    """
    width = cast(IntegerType, upper.type).width.data
    if width == i64.width.data:
        return False
    numbers = lowering.constants.numbers
    if upper not in numbers or step not in numbers:
        return True
    end = numbers[upper] + numbers[step]
    return is_unsigned or end > 2 ** (width - 1)


class _Loop:
    """A loop with a variable."""

    def __init__(self, lowering: Lowering, operation: Operation, is_unsigned: bool) -> None:
        self._lowering = lowering
        self._control = _loop_control(operation, lowering)
        self._comparison = "ULessThan" if is_unsigned else "SLessThan"

    def run(
        self,
        bounds: tuple[SSAValue, SSAValue, SSAValue],
        inits: Sequence[SSAValue],
        arguments: Sequence[SSAValue],
        define: Callable[[SSAValue], None],
        translate_body: Callable[[], Sequence[SSAValue]],
    ) -> Sequence[SSAValue]:
        """Emits the loop and goes on behind it.

        Args:
            bounds: The first value of the variable, the one it stays below, and the step.
            inits: What is carried into the first iteration.
            arguments: What the source calls what is carried.
            define: Records the variable.
            translate_body: Emits the body, and returns what is carried into the next iteration.

        Returns:
            What is carried out of the last one.
        """
        lowering = self._lowering
        lower, upper, step = bounds
        types = [value.type for value in inits]
        header = Block(arg_types=[lower.type, *types])
        body, after, end = Block(), Block(), Block()
        variable, *carried = header.args
        with lowering.inside(header):
            goes_on = lowering.compute(self._comparison, i1, variable, upper)
            lowering.do("LoopMerge", end, after, self._control)
            lowering.do("BranchConditional", goes_on, body, end)
            lowering.continue_in(body)
            define(variable)
            lowering.define_flat(arguments, carried)
            _check_kinds(lowering, inits, yielded := list(translate_body()))
            lowering.do("Branch", after)
            lowering.continue_in(after)
            following = lowering.compute("IAdd", variable.type, variable, step)
            lowering.do("Branch", (header, following, *yielded))
        lowering.do("Branch", (header, lower, *inits))
        lowering.continue_in(end)
        return carried


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


def _check_kinds(lowering: Lowering, before: Sequence[SSAValue], after: Sequence[SSAValue]) -> None:
    """Checks that what meets has one type: memrefs may be in different kinds of memory."""
    for a, b in zip(before, after, strict=True):
        if a.type != b.type:
            raise lowering.error("memrefs that are in different kinds of memory cannot meet here")


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
        for inner in first.ops:
            if inner is not first.last_op:
                lowering.translate(inner)
        last = first.last_op
        assert last is not None
        goes_on = lowering.condition(last.operands[0])
        passed = lowering.flat(last.operands[1:])
        lowering.do("BranchConditional", goes_on, body, end)
        lowering.continue_in(body)
        lowering.define_flat(second.args, passed)
        yielded = _translate_region(operation.after_region, lowering)
        _check_kinds(lowering, inits, yielded)
        lowering.do("Branch", after)
        lowering.continue_in(after)
        lowering.do("Branch", (header, *yielded))
    lowering.do("Branch", (header, *inits))
    lowering.continue_in(end)
    lowering.define_flat(operation.results, passed)


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
            yielded = _translate_region(region, lowering)
            if types is None:
                types = [value.type for value in yielded]
                for type_ in types:
                    end.insert_arg(type_, len(end.args))
            _check_kinds(lowering, end.args, yielded)
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


def _inline(operation: Operation, lowering: Lowering) -> None:
    """A region of one block that is executed where it stands."""
    (region,) = operation.regions
    if len(region.blocks) > 1:
        raise lowering.error(f"{operation.name} with several blocks cannot be translated to SPIR-V")
    lowering.define_flat(operation.results, _translate_region(region, lowering))


RULES: dict[str, Rule] = {
    "memref.alloca_scope": _inline,
    "scf.execute_region": _inline,
    "scf.for": _for,
    "scf.if": _if,
    "scf.index_switch": _index_switch,
    "scf.while": _while,
}
"""The rule of each operation, by name."""
