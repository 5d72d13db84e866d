"""Loops of work-items that go on as long as a condition holds."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import i1
from xdsl.ir import Block, Region, SSAValue

from xtile.transforms.lift.widening import Wide, Widening
from xtile.transforms.predication import yielded


def while_loop(operation: scf.WhileOp, widening: Widening) -> None:
    """A loop goes on as long as its condition holds for any work-item that has not left it."""
    condition, *handed = yielded(operation.before_region)
    if widening.divergence.of_loop(operation):
        _until_all_left(operation, widening, condition, handed)
    else:
        _together(operation, widening, condition, handed)


def _together(
    operation: scf.WhileOp, widening: Widening, condition: SSAValue, handed: Sequence[SSAValue]
) -> None:
    kernel = widening.kernel
    before, after = operation.before_region.block, operation.after_region.block
    initial = widening.carried(operation.arguments, before.args)
    first = Block(arg_types=[value.type for value in initial])
    widening.adopt(before.args, first.args)
    with kernel.at_end_of(first):
        widening.lift_region(operation.before_region)
        given = widening.carried(handed, after.args)
        kernel.emit(scf.ConditionOp(kernel.value(condition), *given))
    second = Block(arg_types=[value.type for value in given])
    widening.adopt(after.args, second.args)
    with kernel.at_end_of(second):
        ends = widening.lift_region(operation.after_region)
        kernel.emit(scf.YieldOp(*widening.carried(ends, before.args)))
    types = [value.type for value in given]
    new = scf.WhileOp(initial, types, Region(first), Region(second))
    new.attributes |= operation.attributes
    widening.adopt(operation.results, kernel.emit(new).results, after.args)


def _until_all_left(
    operation: scf.WhileOp, widening: Widening, condition: SSAValue, handed: Sequence[SSAValue]
) -> None:
    """The loop carries who has not left it yet, and what it has handed to those who have."""
    kernel = widening.kernel
    before, after = operation.before_region.block, operation.after_region.block
    axes = sorted(widening.divergence.of_loop(operation))
    # Who leaves later keeps what was handed to it last, so results are carried, too.
    nothing = [kernel.poison(type_) for each in after.args for type_ in widening.types_of(each)]
    start = [*widening.carried(operation.arguments, before.args), *nothing]
    everybody = widening.number(1, i1)
    if widening.mask is not None:
        everybody = widening.any(widening.mask, frozenset(axes))
    everybody = widening.aligned(everybody, axes)
    block = Block(arg_types=[everybody.value.type, *(value.type for value in start)])
    count = len(start) - len(nothing)
    widening.adopt(before.args, block.args[1 : 1 + count])
    goes_on = Wide((block.args[0],), tuple(axes))
    with kernel.at_end_of(block):
        widening.adopt(after.args, block.args[1 + count :])
        last = [widening.wide(argument) for argument in after.args]
        with widening.under(goes_on):
            widening.lift_region(operation.before_region)
        kept = [
            widening.select(goes_on, widening.wide(new), old)
            for new, old in zip(handed, last, strict=True)
        ]
        given = [part for wide in kept for part in wide.parts]
        still = widening.aligned(widening.both(goes_on, widening.wide(condition)), axes)
        kernel.emit(scf.ConditionOp(widening.any(still).value, still.value, *given))
    second = Block(arg_types=[still.value.type, *(value.type for value in given)])
    widening.adopt(after.args, second.args[1:])
    with kernel.at_end_of(second), widening.under(Wide((second.args[0],), tuple(axes))):
        ends = widening.lift_region(operation.after_region)
        next_ = widening.carried(ends, before.args)
        kernel.emit(scf.YieldOp(second.args[0], *next_, *second.args[1:]))
    types = [argument.type for argument in second.args]
    new = scf.WhileOp([everybody.value, *start], types, Region(block), Region(second))
    widening.adopt(operation.results, kernel.emit(new).results[1:], after.args)
