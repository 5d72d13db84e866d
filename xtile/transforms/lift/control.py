"""Branches and loops of work-items: what these do differently, all do under masks.

Of a branch both sides are executed, each where its condition holds; a loop goes on as long as any
work-item does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, i1
from xdsl.dialects.vector import CombiningKindFlag
from xdsl.ir import Attribute, Block, Region, SSAValue

from xtile.dialects.arith.casts import IndexCastOp
from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.scf.loops import UNSIGNED, ForOp
from xtile.dialects.upstream import value_type
from xtile.rewrite.facts import constant_of
from xtile.rewrite.ranges import may_wrap
from xtile.transforms.lift.divergence import yielded
from xtile.transforms.lift.widening import Wide, Widening
from xtile.transforms.lift.work_group import LANE, OF_SUBGROUPS


def body(region: Region, widening: Widening) -> Sequence[SSAValue]:
    """Translates the operations of a region in place; returns what it hands on at its end."""
    block = region.blocks.first
    if block is None:
        return ()
    for operation in block.ops:
        if operation.name not in _ENDS:
            widening.lift(operation)
    return yielded(region)


_ENDS = frozenset({"core.yield", "gpu.return", "scf.condition", "scf.yield"})


def _carried(widening: Widening, old: Iterable[SSAValue], as_: Iterable[SSAValue]) -> list[Wide]:
    """Values with the axes of those that they become."""
    return [
        widening.like(widening.wide(value), target) for value, target in zip(old, as_, strict=False)
    ]


def _values(wides: Iterable[Wide]) -> list[SSAValue]:
    return [part for wide in wides for part in wide.parts]


def _define(widening: Widening, old: Sequence[SSAValue], values: Iterable[SSAValue]) -> None:
    """Says what values of the source are, which are handed on as their parts."""
    given = iter(values)
    for value in old:
        parts = tuple(next(given) for _ in widening.types_of(value))
        if widening.divergence.of(value):
            widening.define(value, Wide(parts, widening.divergence.axes(value)))
        else:
            widening.kernel.define(value, parts[0])


# --- branches ---


def branch(operation: scf.IfOp, widening: Widening) -> None:
    """A branch on a condition that differs executes both sides."""
    condition = widening.wide(operation.cond)
    if not condition.axes:
        _either(operation, widening)
        return
    with widening.under(condition):
        chosen = body(operation.true_region, widening)
    others: Sequence[SSAValue] = ()
    if operation.false_region.blocks.first is not None:
        with widening.under(widening.negated(condition)):
            others = body(operation.false_region, widening)
    for result, a, b in zip(operation.results, chosen, others, strict=False):
        decides = condition
        if LANE in condition.axes and LANE not in widening.divergence.of(result):
            # docs/semantics.md 5.8: that of the first region, if any lane takes it.
            decides = widening.any(_active(widening, condition), OF_SUBGROUPS)
        merged = widening.select(decides, widening.wide(a), widening.wide(b))
        widening.define(result, widening.like(merged, result))


def _active(widening: Widening, condition: Wide) -> Wide:
    return condition if widening.mask is None else widening.both(widening.mask, condition)


def _either(operation: scf.IfOp, widening: Widening) -> None:
    kernel, regions = widening.kernel, list[Region]()
    for region in operation.regions:
        if region.blocks.first is None:
            regions.append(Region())
            continue
        block = Block()
        with kernel.at_end_of(block):
            ends = body(region, widening)
            kernel.emit(scf.YieldOp(*_values(_carried(widening, ends, operation.results))))
        regions.append(Region(block))
    types = [type_ for result in operation.results for type_ in widening.types_of(result)]
    if_true, if_false = regions
    new = scf.IfOp(kernel.value(operation.cond), types, if_true, if_false)
    new.attributes |= operation.attributes
    _define(widening, operation.results, kernel.emit(new).results)


# --- counted loops ---


def loop(operation: scf.ForOp, widening: Widening) -> None:
    """A loop whose bounds differ runs as often as for any work-item."""
    bounds = (operation.lb, operation.ub, operation.step)
    if widening.divergence.of_all(bounds):
        _longest(operation, widening)
        return
    kernel, old = widening.kernel, operation.body.block
    index, *positions = old.args
    initial = _values(_carried(widening, operation.iter_args, positions))
    block = Block(arg_types=[index.type, *(value.type for value in initial)])
    kernel.define(index, block.args[0])
    _define(widening, positions, block.args[1:])
    with kernel.at_end_of(block):
        ends = body(operation.body, widening)
        kernel.emit(scf.YieldOp(*_values(_carried(widening, ends, positions))))
    first, last, step = _bounds(operation, widening)
    new = ForOp(first, last, step, initial, Region(block))
    new.properties |= operation.properties
    new.attributes |= operation.attributes
    _finish(widening, operation.results, positions, kernel.emit(new).results)


def _bounds(operation: scf.ForOp, widening: Widening) -> list[SSAValue]:
    """The bounds of a loop, which runs not at all where nobody executes it."""
    first, last, step = widening.kernel.values((operation.lb, operation.ub, operation.step))
    if widening.mask is None or constant_of(operation.ub) is not None:
        return [first, last, step]
    executed = widening.any(widening.mask).value
    return [first, widening.kernel.pure(SelectOp, executed, last, first), step]


def _finish(
    widening: Widening,
    results: Sequence[SSAValue],
    positions: Sequence[SSAValue],
    values: Sequence[SSAValue],
) -> None:
    """Says what the results of a loop are, which have the axes of what it carries."""
    given = iter(values)
    for result, position in zip(results, positions, strict=True):
        parts = tuple(next(given) for _ in widening.types_of(position))
        if widening.divergence.of(position):
            wide = Wide(parts, widening.divergence.axes(position))
            widening.define(result, widening.like(wide, result))
        else:
            widening.kernel.define(result, parts[0])


def _longest(operation: scf.ForOp, widening: Widening) -> None:
    """All take as many turns as any; in turn t those act that have more than t of them."""
    kernel = widening.kernel
    if UNSIGNED in operation.properties:
        raise kernel.error(
            "bounds without a sign cannot differ between work-items; use signed ones"
        )
    index, *positions = operation.body.block.args
    first, last, step = (widening.wide(v) for v in (operation.lb, operation.ub, operation.step))
    turns = _turns(widening, first, last, step)
    most = widening.reduced(CombiningKindFlag.MAXSI, turns, frozenset(turns.axes))
    initial = _values(_carried(widening, operation.iter_args, positions))
    block = Block(arg_types=[IndexType(), *(value.type for value in initial)])
    block.args[0].name_hint = "turn"
    _define(widening, positions, block.args[1:])
    before = [widening.wide(position) for position in positions]
    with kernel.at_end_of(block):
        turn = Wide((block.args[0],))
        moved = _as_type(widening, turn, index.type)
        value = widening.computed(arith.AddiOp, first, widening.computed(arith.MuliOp, moved, step))
        widening.define(index, widening.like(value, index))
        if step.axes or last.axes or may_wrap(operation.ub, operation.step):
            acts = widening.compared("slt", turn, turns)
        else:
            acts = widening.compared("slt", value, last)
        with widening.under(acts):
            ends = body(operation.body, widening)
        after = [
            widening.select(acts, widening.wide(end), was)
            for end, was in zip(ends, before, strict=True)
        ]
        handed = [
            widening.like(each, position) for each, position in zip(after, positions, strict=True)
        ]
        kernel.emit(scf.YieldOp(*_values(handed)))
    new = ForOp(kernel.index(0), most.value, kernel.index(1), initial, Region(block))
    _finish(widening, operation.results, positions, kernel.emit(new).results)


def _turns(widening: Widening, first: Wide, last: Wide, step: Wide) -> Wide:
    """How many turns each work-item takes, as index; those that do not act take none.

    The bounds may lie further apart than their type reaches, so the distance has no sign.
    """
    first, last, step = (_as_type(widening, bound, IndexType()) for bound in (first, last, step))
    nothing, one = (widening.number(number, IndexType()) for number in (0, 1))
    positive = widening.computed(arith.MaxSIOp, step, one)
    length = widening.computed(arith.SubiOp, last, first)
    turns = widening.computed(arith.CeilDivUIOp, length, positive)
    turns = widening.select(widening.compared("sle", last, first), nothing, turns)
    return turns if widening.mask is None else widening.select(widening.mask, turns, nothing)


def _as_type(widening: Widening, wide: Wide, type_: Attribute) -> Wide:
    """Integers in another type, one of which is index."""
    if value_type(wide.value.type) == type_:
        return wide
    return widening.computed(IndexCastOp, wide, type=type_)


# --- other loops ---


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
    initial = _values(_carried(widening, operation.arguments, before.args))
    first = Block(arg_types=[value.type for value in initial])
    _define(widening, before.args, first.args)
    with kernel.at_end_of(first):
        body(operation.before_region, widening)
        given = _values(_carried(widening, handed, after.args))
        kernel.emit(scf.ConditionOp(kernel.value(condition), *given))
    second = Block(arg_types=[value.type for value in given])
    _define(widening, after.args, second.args)
    with kernel.at_end_of(second):
        ends = body(operation.after_region, widening)
        kernel.emit(scf.YieldOp(*_values(_carried(widening, ends, before.args))))
    types = [value.type for value in given]
    new = scf.WhileOp(initial, types, Region(first), Region(second))
    new.attributes |= operation.attributes
    _finish(widening, operation.results, after.args, kernel.emit(new).results)


def _until_all_left(
    operation: scf.WhileOp, widening: Widening, condition: SSAValue, handed: Sequence[SSAValue]
) -> None:
    """The loop carries who has not left it yet, and what it has handed to those who have."""
    kernel = widening.kernel
    before, after = operation.before_region.block, operation.after_region.block
    axes = sorted(widening.divergence.of_loop(operation))
    # Who leaves later keeps what was handed to it last, so results are carried, too.
    nothing = [kernel.poison(type_) for each in after.args for type_ in widening.types_of(each)]
    start = [*_values(_carried(widening, operation.arguments, before.args)), *nothing]
    everybody = widening.number(1, i1)
    if widening.mask is not None:
        everybody = widening.any(widening.mask, frozenset(axes))
    everybody = widening.aligned(everybody, axes)
    block = Block(arg_types=[everybody.value.type, *(value.type for value in start)])
    count = len(start) - len(nothing)
    _define(widening, before.args, block.args[1 : 1 + count])
    goes_on = Wide((block.args[0],), tuple(axes))
    with kernel.at_end_of(block):
        _define(widening, after.args, block.args[1 + count :])
        last = [widening.wide(argument) for argument in after.args]
        with widening.under(goes_on):
            body(operation.before_region, widening)
        given = [
            widening.select(goes_on, new, old)
            for new, old in zip(_carried(widening, handed, after.args), last, strict=True)
        ]
        still = widening.aligned(widening.both(goes_on, widening.wide(condition)), axes)
        kernel.emit(scf.ConditionOp(widening.any(still).value, still.value, *_values(given)))
    second = Block(arg_types=[still.value.type, *(value.type for value in _values(given))])
    _define(widening, after.args, second.args[1:])
    with kernel.at_end_of(second), widening.under(Wide((second.args[0],), tuple(axes))):
        ends = body(operation.after_region, widening)
        next_ = _values(_carried(widening, ends, before.args))
        kernel.emit(scf.YieldOp(second.args[0], *next_, *second.args[1:]))
    types = [argument.type for argument in second.args]
    new = scf.WhileOp([everybody.value, *start], types, Region(block), Region(second))
    _finish(widening, operation.results, after.args, kernel.emit(new).results[1:])
