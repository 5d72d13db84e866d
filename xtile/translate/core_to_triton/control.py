"""Structured control flow."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.dialects.scf.loops import ForOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_triton.barriers import State
from xtile.translate.core_to_triton.lowering import TARGET, Lowering
from xtile.translate.tiles.loop_counter import LoopCounter


def _translate_body(block: Block, lowering: Lowering) -> Sequence[SSAValue]:
    """Translates the operations of a block but its terminator, and returns what that hands on."""
    last = block.last_op
    has_end = last is not None and last.name in ("scf.yield", "scf.condition")
    for operation in block.ops:
        if operation is not last or not has_end:
            lowering.translate(operation)
    return lowering.flat(last.operands) if last is not None and has_end else ()


def _for(operation: scf.ForOp, lowering: Lowering) -> None:
    variable, *sums = operation.body.block.args
    counter = LoopCounter(operation, lowering)
    initial = lowering.flat(operation.iter_args)
    block = Block(arg_types=[counter.lower.type, *(value.type for value in initial)])
    before = lowering.barriers.state()
    lowering.barriers.enter(operation)
    with lowering.at_end_of(block):
        lowering.define(variable, counter.variable(block.args[0]))
        lowering.define_flat(sums, block.args[1:])
        lowering.emit(scf.YieldOp(*_translate_body(operation.body.block, lowering)))
    lowering.barriers.join(before)
    bounds = counter.lower, counter.upper, counter.step
    loop = lowering.emit(ForOp(*bounds, initial, Region(block)))
    lowering.define_flat(operation.results, loop.results)


def _while(operation: scf.WhileOp, lowering: Lowering) -> None:
    initial = lowering.flat(operation.arguments)
    old_before, old_after = operation.before_region.block, operation.after_region.block
    before = Block(arg_types=[value.type for value in initial])
    lowering.barriers.enter(operation)
    with lowering.at_end_of(before):
        lowering.define_flat(old_before.args, before.args)
        condition, *handed = _translate_body(old_before, lowering)
        lowering.emit(scf.ConditionOp(condition, *handed))
    # A loop ends where its first region does.
    state = lowering.barriers.state()
    types = [value.type for value in handed]
    after = Block(arg_types=types)
    with lowering.at_end_of(after):
        lowering.define_flat(old_after.args, after.args)
        lowering.emit(scf.YieldOp(*_translate_body(old_after, lowering)))
    lowering.barriers.restore(state)
    loop = lowering.emit(scf.WhileOp(initial, types, Region(before), Region(after)))
    lowering.define_flat(operation.results, loop.results)


def _if(operation: scf.IfOp, lowering: Lowering) -> None:
    condition = lowering.value(operation.cond)
    regions: list[Region] = []
    before = lowering.barriers.state()
    ends: list[State] = []
    for old in (operation.true_region, operation.false_region):
        if old.blocks.first is None:
            regions.append(Region())
            ends.append(before)
            continue
        block = Block()
        lowering.barriers.restore(before)
        with lowering.at_end_of(block):
            lowering.emit(scf.YieldOp(*_translate_body(old.block, lowering)))
        regions.append(Region(block))
        ends.append(lowering.barriers.state())
    lowering.barriers.join(*ends)
    types: list[Attribute] = [
        type_ for result in operation.results for type_ in lowering.flat_types(result.type)
    ]
    then, otherwise = regions
    results = lowering.emit(scf.IfOp(condition, types, then, otherwise)).results
    lowering.define_flat(operation.results, results)


def _index_switch(operation: Operation, lowering: Lowering) -> None:
    raise lowering.error(f"scf.index_switch cannot be translated to {TARGET}; use scf.if")


RULES: dict[str, Rule] = {
    "scf.for": _for,
    "scf.if": _if,
    "scf.index_switch": _index_switch,
    "scf.while": _while,
}
"""The rule of each operation, by name."""
