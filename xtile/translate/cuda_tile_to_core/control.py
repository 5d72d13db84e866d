"""Loops and branches, and what leaves them early.

The core form has no `break`, `continue` and `return` inside of a region. What stands behind an `if`
that may be left early goes into its branch that comes to its end; where both may, a flag says
whether one did. So nothing is executed twice, and nothing that the source does not execute:

    loop { a; if c { break r }; b; continue x }
    scf.while { a; scf.if c { yield false, r, _ } else { b; yield true, _, x } ; condition }

Source: CUDA Tile IR specification, "Control Flow"; docs/core-form.md, "Early exits are flags".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import scf
from xdsl.dialects.builtin import UnitAttr, i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.dialects.cuda_tile.ops.control_flow import IfOp
from xtile.dialects.cuda_tile.ops.loops import ForOp, LoopOp
from xtile.dialects.scf import loops
from xtile.rewrite.rebuilder import Rule
from xtile.translate.cuda_tile_to_core.raising import Raising

_YIELD, _RETURN = "cuda_tile.yield", "cuda_tile.return"
_CONTINUE, _BREAK = "cuda_tile.continue", "cuda_tile.break"
_EXITS = (_CONTINUE, _BREAK, _RETURN)

Values = Sequence[SSAValue]


@dataclass(frozen=True)
class _Target:
    """What a region that is being built yields, wherever control goes at its end.

    Attributes:
        types: The types of what it yields.
        leave: What it yields where an exit of some name, with some values, is reached.
        end: What it yields where a `yield` of some values is reached.
    """

    types: Sequence[Attribute]
    leave: Callable[[str, Values], Values]
    end: Callable[[Values], Values]


def _never(*given: object) -> Values:
    raise AssertionError(f"there is no way to get here: {given}")


def run_entry(block: Block, raising: Raising) -> None:
    """Translates the body of an entry."""
    _run(list(block.ops), _Target((), lambda name, values: (), _never), raising)


def _run(operations: Sequence[Operation], target: _Target, raising: Raising) -> Values:
    """Translates operations to the end of their block; returns what the region yields."""
    for position, operation in enumerate(operations):
        if operation.name == _YIELD:
            return target.end(raising.kept(operation.operands))
        if operation.name in _EXITS:
            return target.leave(operation.name, raising.kept(operation.operands))
        if _may_leave(operation):
            rest = operations[position + 1 :]
            if isinstance(operation, LoopOp):
                return _leaving_loop(operation, rest, target, raising)
            assert isinstance(operation, IfOp)
            return _leaving_if(operation, rest, target, raising)
        raising.translate(operation)
    return target.end(())


def _may_leave(operation: Operation) -> bool:
    """Whether control may go from inside of an operation to somewhere else than behind it."""
    if isinstance(operation, LoopOp):
        return any(inner.name == _RETURN for inner in operation.walk())
    return isinstance(operation, IfOp) and any(
        inner.name in _EXITS or _may_leave(inner)
        for region in operation.regions
        for block in region.blocks
        for inner in block.ops
    )


def _falls(region: Region) -> bool:
    """Whether control may come to the end of a branch, and go on behind the `if`."""
    block = region.blocks.first
    if block is None:
        return True
    is_ended = any(
        isinstance(each, IfOp) and not any(map(_falls, each.regions)) for each in block.ops
    )
    last = block.last_op
    return not is_ended and (last is None or last.name not in _EXITS)


# --- branches ---


def _if(operation: IfOp, raising: Raising) -> None:
    """An `if` that is not left early."""
    types = raising.types(operation.results)
    target = _Target(types, _never, lambda values: values)
    raising.define_kept(operation.results, _branch(operation, target, raising))


def _branch(operation: IfOp, target: _Target, raising: Raising) -> Values:
    """Emits an `scf.if` whose branches are those of an `if`; returns what they yield."""
    then, otherwise = (_region(region, target, raising) for region in operation.regions)
    if not target.types and not operation.else_region.blocks and _is_bare(otherwise):
        otherwise = Region()
    condition = raising.value(operation.condition)
    return raising.emit(scf.IfOp(condition, target.types, then, otherwise)).results


def _region(old: Region, target: _Target, raising: Raising) -> Region:
    first = old.blocks.first
    block = Block()
    with raising.at_end_of(block):
        values = _run([] if first is None else list(first.ops), target, raising)
        raising.emit(scf.YieldOp(*values))
    return Region(block)


def _is_bare(region: Region) -> bool:
    return region.block.first_op is region.block.last_op


def _choose(
    condition: SSAValue,
    types: Sequence[Attribute],
    then: Callable[[], Values],
    otherwise: Callable[[], Values],
    raising: Raising,
) -> Values:
    """Emits an `scf.if`; returns what its branches yield."""
    first, second = Block(), Block()
    for block, body in ((first, then), (second, otherwise)):
        with raising.at_end_of(block):
            raising.emit(scf.YieldOp(*body()))
    return raising.emit(scf.IfOp(condition, types, Region(first), Region(second))).results


def _leaving_if(
    operation: IfOp, rest: Sequence[Operation], target: _Target, raising: Raising
) -> Values:
    """An `if` that may be left early, and what stands behind it."""

    def go_on(values: Values) -> Values:
        raising.define_kept(operation.results, values)
        return _run(rest, target, raising)

    if not all(map(_falls, operation.regions)):
        return _branch(operation, replace(target, end=go_on), raising)
    types = raising.types(operation.results)
    both = _Target(
        (i1, *target.types, *types),
        lambda name, values: [
            raising.constant(0, i1),
            *target.leave(name, values),
            *map(raising.poison, types),
        ],
        lambda values: [raising.constant(1, i1), *map(raising.poison, target.types), *values],
    )
    ended, *values = _branch(operation, both, raising)
    count = len(target.types)
    outcome, own = values[:count], values[count:]
    return _choose(ended, target.types, lambda: go_on(own), lambda: outcome, raising)


def _leaving_loop(
    operation: LoopOp, rest: Sequence[Operation], target: _Target, raising: Raising
) -> Values:
    """A loop in which there is a `return`, and what stands behind it."""
    *values, returned = _emit_loop(operation, raising, has_return=True)
    raising.define_kept(operation.results, values)
    return _choose(
        returned,
        target.types,
        lambda: target.leave(_RETURN, ()),
        lambda: _run(rest, target, raising),
        raising,
    )


# --- loops ---


def _for(operation: ForOp, raising: Raising) -> None:
    """A loop in which `continue` may stand in branches, but no `return`."""
    old, initial = operation.region.block, raising.kept(operation.init_values)
    block = raising.opened(old)
    target = _Target([value.type for value in initial], lambda name, values: values, _never)
    with raising.at_end_of(block):
        raising.emit(scf.YieldOp(*_run(list(old.ops), target, raising)))
    bounds = operation.lower_bound, operation.upper_bound, operation.step
    first, last, step = raising.values(bounds)
    loop = loops.ForOp(first, last, step, initial, Region(block))
    if operation.unsigned_cmp is not None:
        loop.properties[loops.UNSIGNED] = UnitAttr()
    raising.define_kept(operation.results, raising.emit(loop).results)


def _loop(operation: LoopOp, raising: Raising) -> None:
    raising.define_kept(operation.results, _emit_loop(operation, raising, has_return=False))


def _emit_loop(operation: LoopOp, raising: Raising, *, has_return: bool) -> Values:
    """Emits a loop whose body comes before its condition.

    Returns its results, and with `has_return` whether there was one.
    """
    old, results = operation.region.block, raising.types(operation.results)
    block = raising.opened(old)
    flag = [i1] if has_return else []

    def outcome(again: int, returned: int, values: Values | None, carried: Values) -> Values:
        """Whether there is another iteration, the results, and what is carried on."""
        given = [raising.poison(type_) for type_ in results] if values is None else values
        flags = [raising.constant(returned, type_) for type_ in flag]
        return [raising.constant(again, i1), *given, *flags, *carried]

    def leave(name: str, values: Values) -> Values:
        if name == _CONTINUE:
            return outcome(1, 0, None, values)
        is_return = name == _RETURN
        return outcome(0, is_return, None if is_return else values, block.args)

    types = [i1, *results, *flag, *block.arg_types]
    with raising.at_end_of(block):
        again, *handed = _run(list(old.ops), _Target(types, leave, _never), raising)
        raising.emit(scf.ConditionOp(again, *handed))
    after = Block(arg_types=types[1:])
    count = len(results) + len(flag)
    with raising.at_end_of(after):
        raising.emit(scf.YieldOp(*after.args[count:]))
    initial = raising.kept(operation.init_values)
    loop = scf.WhileOp(initial, types[1:], Region(block), Region(after))
    return raising.emit(loop).results[:count]


RULES: dict[str, Rule] = {
    "cuda_tile.for": _for,
    "cuda_tile.if": _if,
    "cuda_tile.loop": _loop,
}
"""The rule of each operation, by name; exits belong to what is around them."""
