"""Structured control flow: it carries the parts of tiles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects import scf
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.rewrite.rebuilder import Rule, again
from xtile.rewrite.tile_emitter import shape_of
from xtile.transforms.distribute_tiles.distribution import Distribution
from xtile.transforms.distribute_tiles.spreads import Spread

Carried = list[Spread | None]
"""How each value that is carried is spread; None for numbers."""


def _spread_of_any(
    distribution: Distribution, alike: Iterable[SSAValue], shape: Sequence[int]
) -> Spread:
    """How a tile is spread that control flow carries, of the values that it may be."""
    known = list(alike)
    for value in known:
        spread = distribution.table_of(value)
        if spread is not None:
            return spread
    return distribution.spread_of_shape(shape)


def _types(distribution: Distribution, type_: Attribute, spread: Spread | None) -> list[Attribute]:
    return [type_] if spread is None else distribution.part_types(type_, spread)


def _flat(
    distribution: Distribution, old: Sequence[SSAValue], spreads: Sequence[Spread | None]
) -> list[SSAValue]:
    """The parts of tiles, and numbers, one after the other."""
    values: list[SSAValue] = []
    for value, spread in zip(old, spreads, strict=True):
        if spread is None:
            values.append(distribution.value(value))
        else:
            values += distribution.tile(value).parts(distribution, spread)
    return values


def _define_flat(
    distribution: Distribution,
    old: Sequence[SSAValue],
    spreads: Sequence[Spread | None],
    new: Sequence[SSAValue],
) -> None:
    """Records the values that several values have become, one after the other."""
    remaining = list(new)
    for value, spread in zip(old, spreads, strict=True):
        count = len(_types(distribution, value.type, spread))
        own, remaining = remaining[:count], remaining[count:]
        if spread is None:
            own[0].name_hint = value.name_hint
            distribution.define(value, own[0])
        else:
            distribution.held(value, spread, own)


def _open(
    distribution: Distribution,
    old: Block,
    spreads: Sequence[Spread | None],
    numbers: Sequence[Attribute] = (),
) -> Block:
    """A new block for one whose last arguments are carried."""
    carried = list(old.args)[len(numbers) :]
    types = [
        each
        for argument, spread in zip(carried, spreads, strict=True)
        for each in _types(distribution, argument.type, spread)
    ]
    block = Block(arg_types=[*numbers, *types])
    for was, becomes in zip(list(old.args)[: len(numbers)], block.args, strict=False):
        becomes.name_hint = was.name_hint
        distribution.define(was, becomes)
    _define_flat(distribution, carried, spreads, list(block.args)[len(numbers) :])
    return block


def _translate(
    distribution: Distribution, old: Block, new: Block, spreads: Sequence[Spread | None]
) -> Region:
    """Translates a block whose end hands values on that are spread so."""
    with distribution.at_end_of(new), distribution.yielding(spreads):
        distribution.translate_block(old)
    return Region(new)


def _end(block: Block) -> Operation:
    assert block.last_op is not None
    return block.last_op


def _spreads(
    distribution: Distribution, results: Sequence[SSAValue], *alike: Sequence[SSAValue]
) -> Carried:
    """How the results of control flow are spread, and what they may be."""
    return [
        _spread_of_any(distribution, [result, *others], shape)
        if (shape := shape_of(result.type))
        else None
        for result, *others in zip(results, *alike, strict=True)
    ]


# --- rules ---


def _for(operation: scf.ForOp, distribution: Distribution) -> None:
    body = operation.body.block
    yielded, carried = _end(body).operands, list(body.args)[1:]
    spreads = _spreads(distribution, operation.results, yielded, carried, operation.iter_args)
    initial = _flat(distribution, operation.iter_args, spreads)
    bounds = distribution.values([operation.lb, operation.ub, operation.step])
    block = _open(distribution, body, spreads, [bounds[0].type])
    region = _translate(distribution, body, block, spreads)
    _emit(operation, distribution, [*bounds, *initial], [region], spreads)


def _if(operation: scf.IfOp, distribution: Distribution) -> None:
    blocks = [region.blocks.first for region in operation.regions]
    ends = [_end(block).operands for block in blocks if block is not None]
    spreads = _spreads(distribution, operation.results, *ends) if operation.results else []
    regions = [
        Region() if block is None else _translate(distribution, block, Block(), spreads)
        for block in blocks
    ]
    _emit(operation, distribution, distribution.values(operation.operands), regions, spreads)


def _while(operation: scf.WhileOp, distribution: Distribution) -> None:
    before, after = operation.before_region.block, operation.after_region.block
    condition, end = _end(before), _end(after)
    into = _spreads(distribution, list(before.args), operation.arguments, end.operands)
    out = _spreads(distribution, operation.results, condition.operands[1:], list(after.args))
    initial = _flat(distribution, operation.arguments, into)
    first = _translate(distribution, before, _open(distribution, before, into), out)
    second = _translate(distribution, after, _open(distribution, after, out), into)
    _emit(operation, distribution, initial, [first, second], out)


def _emit(
    operation: Operation,
    distribution: Distribution,
    operands: Sequence[SSAValue],
    regions: Sequence[Region],
    spreads: Carried,
) -> None:
    types = [
        each
        for result, spread in zip(operation.results, spreads, strict=True)
        for each in _types(distribution, result.type, spread)
    ]
    made = again(operation, operands, types, regions=regions)
    distribution.emit(made)
    _define_flat(distribution, list(operation.results), spreads, list(made.results))


def _yield(operation: Operation, distribution: Distribution) -> None:
    values = _flat(distribution, operation.operands, distribution.yields)
    distribution.emit(type(operation).create(operands=values))


def _condition(operation: scf.ConditionOp, distribution: Distribution) -> None:
    condition, *rest = operation.operands
    values = [distribution.value(condition), *_flat(distribution, rest, distribution.yields)]
    distribution.emit(type(operation).create(operands=values))


def _inlined(operation: Operation, distribution: Distribution) -> None:
    """A region that is executed once."""
    block = operation.regions[0].block
    for inner in block.ops:
        if inner is not block.last_op:
            distribution.translate(inner)
    for result, value in zip(operation.results, _end(block).operands, strict=True):
        distribution.define(result, distribution.meaning(value))


def _switch(operation: Operation, distribution: Distribution) -> None:
    ends = [_end(region.block).operands for region in operation.regions]
    spreads = _spreads(distribution, operation.results, *ends) if operation.results else []
    regions = [
        _translate(distribution, region.block, Block(), spreads) for region in operation.regions
    ]
    _emit(operation, distribution, distribution.values(operation.operands), regions, spreads)


RULES: dict[str, Rule] = {
    "scf.condition": _condition,
    "scf.execute_region": _inlined,
    "scf.for": _for,
    "scf.if": _if,
    "scf.index_switch": _switch,
    "scf.while": _while,
    "scf.yield": _yield,
}
"""The rule of each operation, by name."""
