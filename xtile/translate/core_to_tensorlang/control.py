"""Structured control flow: `for` and `if` of the tensor language, of which the rest is made.

What a value of the source becomes may be several values here, or none: `flat` lists those that
loops and branches carry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase
from xdsl.ir import Block, Operation, Region, SSAValue

from xtile.dialects.core.attributes import UNROLL_ATTRIBUTE
from xtile.dialects.scf.loops import UNSIGNED
from xtile.dialects.tensorlang.ops import control as ops
from xtile.rewrite.facts import constant_of
from xtile.rewrite.ranges import range_of
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_tensorlang.arithmetic import compare
from xtile.translate.core_to_tensorlang.carried import Carrier
from xtile.translate.core_to_tensorlang.lowering import Lowering, Values, refuse_because


def _for(operation: Operation, r: Lowering) -> None:
    lower, upper, step, *init = operation.operands
    _check_unsigned(operation, r)
    old = operation.regions[0].block
    carrier = Carrier(r, init, operation.results)
    first = r.value(lower)
    body = Block(arg_types=[first.type, *(value.type for value in carrier.init)])
    r.define(old.args[0], body.args[0])
    with r.at_end_of(body):
        carrier.begin(old.args[1:], body.args[1:])
        r.translate_block(old)
        yielded = carrier.yielded(_terminator(old).operands)
        if yielded:
            r.emit(ops.YieldOp(yielded))
    by = None if constant_of(step) == 1 else r.value(step)
    loop = ops.ForOp(first, r.value(upper), by, carrier.init, Region([body]))
    unroll = operation.attributes.get(UNROLL_ATTRIBUTE)
    if unroll is not None:
        loop.unroll = unroll
    carrier.finish(r.emit(loop).results)


def _check_unsigned(operation: Operation, r: Lowering) -> None:
    if UNSIGNED in operation.properties and any(
        range_of(bound)[0] < 0 for bound in operation.operands[:2]
    ):
        raise r.error(
            "the loops of the tensor language count with a sign, and these bounds have none"
        )


def _terminator(block: Block) -> Operation:
    last = block.last_op
    assert last is not None
    return last


def _if(operation: Operation, r: Lowering) -> None:
    condition = r.value(operation.operands[0])
    carrier = Carrier(r, (), operation.results)
    regions = [_branch(region, carrier, r) for region in operation.regions if region.blocks]
    types = [value.type for value in carrier.last]
    carrier.finish(r.emit(ops.IfOp(condition, types, *regions)).results)


def _branch(old: Region, carrier: Carrier, r: Lowering) -> Region:
    block = Block()
    with r.at_end_of(block):
        r.translate_block(old.block)
        last = old.block.last_op
        values = carrier.yielded(() if last is None else last.operands)
        if values:
            r.emit(ops.YieldOp(values))
    return Region([block])


def _index_switch(operation: Operation, r: Lowering) -> None:
    """A chain of comparisons; the last region is that of all other numbers."""
    cases = cast("DenseArrayBase[Any]", operation.properties["cases"]).get_values()
    default, *regions = operation.regions
    carrier = Carrier(r, (), operation.results)
    argument = r.value(operation.operands[0])

    def choose(number: int) -> Region:
        if number == len(regions):
            return _branch(default, carrier, r)
        block = Block()
        with r.at_end_of(block):
            values = emit(number)
            if values:
                r.emit(ops.YieldOp(values))
        return Region([block])

    def emit(number: int) -> Values:
        is_it = compare(r, "eq", argument, r.constant(int(cases[number]), argument.type))
        then = _branch(regions[number], carrier, r)
        types = [value.type for value in carrier.last]
        return r.emit(ops.IfOp(is_it, types, then, choose(number + 1))).results

    if regions:
        carrier.finish(emit(0))
    else:
        _inline(default, operation.results, r)


def _execute_region(operation: Operation, r: Lowering) -> None:
    if len(operation.regions[0].blocks) != 1:
        raise r.error("the tensor language has no branches between blocks")
    _inline(operation.regions[0], operation.results, r)


def _inline(region: Region, results: Sequence[SSAValue], r: Lowering) -> None:
    r.translate_block(region.block)
    for result, value in zip(results, _terminator(region.block).operands, strict=True):
        r.define(result, r.meaning(value))


_LEVELS, _WIDTH = 6, 256
"""Loops in each other, and the trips of each, that a loop without a known end becomes."""


def _while(operation: Operation, r: Lowering) -> None:
    """A loop whose end is not known: loops in each other, which do nothing once it has ended.

    There may be 2^48 trips. Behind the last one each of these loops runs to its end, which is
    short.
    """
    before, after = (region.block for region in operation.regions)
    condition = _terminator(before)
    carried = Carrier(r, operation.operands, before.args)
    results = Carrier(r, (), operation.results)

    def test(values: Values) -> tuple[SSAValue, Values]:
        carried.begin(before.args, values)
        r.translate_block(before)
        holds = r.value(condition.operands[0])
        return holds, results.yielded(condition.operands[1:])

    holds, first = test(carried.init)
    count = len(first)

    def turn(values: Values) -> Values:
        """One trip, after which the condition is tested again."""
        results.begin(after.args, values[:count])
        r.translate_block(after)
        holds, given = test(carried.yielded(_terminator(after).operands))
        return [*given, holds]

    def trips(level: int, values: Values) -> Values:
        if level == 0:
            return turn(values)

        def body(_: SSAValue, carried: Values) -> Values:
            return r.if_(carried[-1], lambda: trips(level - 1, carried), lambda: carried)

        return r.for_(0, _WIDTH, 1, values, body, BoolAttr.from_bool(False))

    results.finish(trips(_LEVELS, [*first, holds])[:count])


def _yield(operation: Operation, r: Lowering) -> None:
    """What it returns stands at the end of its block already."""


def _assert(operation: Operation, r: Lowering) -> None:
    r.remark("the tensor language has no assertions; this one is left out")


RULES: dict[str, Rule] = {
    "cf.assert": _assert,
    "cf.br": refuse_because("the tensor language has no branches between blocks"),
    "cf.cond_br": refuse_because("the tensor language has no branches between blocks"),
    "scf.condition": _yield,
    "scf.execute_region": _execute_region,
    "scf.for": _for,
    "scf.if": _if,
    "scf.index_switch": _index_switch,
    "scf.while": _while,
    "scf.yield": _yield,
}
"""The rule of each operation, by name."""
