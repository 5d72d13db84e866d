"""Structured control flow, through which tiles pass in private memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from math import gcd

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.dialects.core.attributes import UNROLL_ATTRIBUTE, Level
from xtile.dialects.scf.loops import UNSIGNED, ForOp
from xtile.dialects.shared_attributes import INDEX
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule, again
from xtile.translate.core_to_vectors.deep_products import DeepLoop, deep_loop
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_vectors.tile import Tile, shape_of

_NEVER = BoolAttr.from_bool(False)
"""The value of the attribute that says to leave a loop as it is."""


def _split(
    lowering: Vectors, values: Sequence[SSAValue], like: Sequence[SSAValue]
) -> tuple[list[SSAValue], list[SSAValue]]:
    """Those values for which `like` is no tile, and those for which it is."""
    pairs = list(zip(values, like, strict=True))
    tiles = [value for value, other in pairs if lowering.is_tile(other)]
    return [value for value, other in pairs if not lowering.is_tile(other)], tiles


def _variables(lowering: Vectors, values: Sequence[SSAValue]) -> list[Tile]:
    """New private memory for tiles that control flow hands on."""
    made: list[Tile] = []
    for value in values:
        element = lowering.component_type(value.type)
        shape = shape_of(value.type)
        buffer = lowering.allocate(element, math.prod(shape))
        made.append(lowering.stored(buffer, shape, element))
    return made


def _define_all(lowering: Vectors, old: Sequence[SSAValue], new: Sequence[Tile]) -> None:
    for value, tile in zip(old, new, strict=True):
        lowering.define(value, tile)


def _assign(lowering: Vectors, values: Sequence[SSAValue], targets: Sequence[Tile]) -> None:
    """Stores tiles in the memory of others, as if all at once."""
    pairs: list[tuple[Tile, SSAValue]] = []
    for value, target in zip(values, targets, strict=True):
        tile = lowering.tile(value)
        assert target.buffer is not None
        if tile.buffer is not target.buffer:
            pairs.append((tile, target.buffer))
    written = {buffer for _, buffer in pairs}
    copies: list[SSAValue] = []
    safe: list[tuple[Tile, SSAValue]] = []
    for tile, buffer in pairs:
        if tile.others & written or tile.aligned & (written - {buffer}):
            copy = lowering.allocate(tile.element, tile.count)
            lowering.store_tile(tile, copy)
            copies.append(copy)
            tile = lowering.stored(copy, tile.shape, tile.element)
        safe.append((tile, buffer))
    for tile, buffer in safe:
        lowering.store_tile(tile, buffer)
    for copy in copies:
        lowering.free(copy)


def _region(
    lowering: Vectors,
    old: Region,
    variables: Sequence[Tile],
    receivers: Sequence[SSAValue],
    targets: Sequence[Tile],
) -> Region:
    """A region of at most one block, translated.

    Args:
        lowering: Where to emit.
        old: The region.
        variables: What the tiles among its arguments have become.
        receivers: The values that become what it hands on.
        targets: Where the tiles go that it hands on.
    """
    if old.blocks.first is None:
        return Region()
    block = old.block
    scalars, tiles = _split(lowering, block.args, block.args)
    _define_all(lowering, tiles, variables)
    types = [t for scalar in scalars for t in lowering.types(scalar.type)]
    new = Block(arg_types=types)
    lowering.define_flat(scalars, list(new.args))
    with lowering.at_end_of(new):
        for operation in block.ops:
            if isinstance(operation, scf.YieldOp | scf.ConditionOp):
                _end(operation, lowering, receivers, targets)
            else:
                lowering.translate(operation)
    return Region([new])


def _end(
    operation: Operation,
    lowering: Vectors,
    receivers: Sequence[SSAValue],
    targets: Sequence[Tile],
) -> None:
    """Hands values on; the first operand of a condition is kept."""
    first = len(operation.operands) - len(receivers)
    handed = _handed_on(lowering, operation.operands[first:], receivers, targets)
    operands = [*lowering.flat(operation.operands[:first]), *handed]
    lowering.emit(type(operation).create(operands=operands))
    lowering.release_after(operation)


def _handed_on(
    lowering: Vectors,
    values: Sequence[SSAValue],
    receivers: Sequence[SSAValue],
    targets: Sequence[Tile],
) -> Sequence[SSAValue]:
    """Stores those values where they go whose receivers are tiles; returns what the others are."""
    scalars, tiles = _split(lowering, values, receivers)
    _assign(lowering, tiles, targets)
    return lowering.flat(scalars)


def _types(lowering: Vectors, values: Sequence[SSAValue]) -> list[Attribute]:
    return [type_ for value in values for type_ in lowering.types(value.type)]


def _if(operation: scf.IfOp, lowering: Vectors) -> None:
    results = operation.results
    scalars, tiles = _split(lowering, results, results)
    targets = _variables(lowering, tiles)
    condition = lowering.value(operation.cond)
    first, second = (
        _region(lowering, region, (), results, targets) for region in operation.regions
    )
    new = lowering.emit(scf.IfOp(condition, _types(lowering, scalars), first, second))
    lowering.define_flat(scalars, list(new.results))
    _define_all(lowering, tiles, targets)


def _for(operation: scf.ForOp, lowering: Vectors) -> None:
    """A loop; what is known of its variable is recorded before its body is translated."""
    old = operation.body.block
    arguments = old.args[1:]
    scalars, tiles = _split(lowering, operation.iter_args, arguments)
    own, carried = _split(lowering, arguments, arguments)
    variables = _variables(lowering, carried)
    _assign(lowering, tiles, variables)
    _define_all(lowering, carried, variables)
    deep = deep_loop(operation, lowering) if lowering.level is Level.TILE else None
    if deep is None:
        ends = _loop(operation, lowering, lowering.flat(scalars), own, variables)
    else:
        ends = _deep_loop(operation, lowering, deep, lowering.flat(scalars), own)
    results, made = _split(lowering, operation.results, arguments)
    lowering.define_flat(results, ends)
    _define_all(lowering, made, variables)


def _loop(
    operation: scf.ForOp,
    lowering: Vectors,
    initial: Sequence[SSAValue],
    own: Sequence[SSAValue],
    variables: Sequence[Tile],
) -> Sequence[SSAValue]:
    """Emits a loop; returns its results that are no tiles.

    Args:
        operation: The loop of the source.
        lowering: Where to emit.
        initial: What it carries first, other than tiles.
        own: What it carries, other than tiles.
        variables: Where the tiles are that it carries.
    """
    old = operation.body.block
    index, *arguments = old.args
    block = Block(arg_types=_types(lowering, [index, *own]))
    lowering.define_flat([index, *own], list(block.args))
    _learn_variable(operation, lowering, block.args[0])
    with lowering.at_end_of(block):
        for inner in old.ops:
            if isinstance(inner, scf.YieldOp):
                _end(inner, lowering, arguments, variables)
            else:
                lowering.translate(inner)
    lower, upper, step = lowering.values([operation.lb, operation.ub, operation.step])
    new = ForOp(lower, upper, step, initial, Region([block]))
    new.properties |= operation.properties
    for name, attribute in operation.attributes.items():
        # The operations on tiles are loops themselves, which are enough code.
        if name != UNROLL_ATTRIBUTE or not variables or attribute == _NEVER:
            new.attributes[name] = attribute
    return lowering.emit(new).results


def _deep_loop(
    operation: scf.ForOp,
    lowering: Vectors,
    deep: DeepLoop,
    initial: Sequence[SSAValue],
    own: Sequence[SSAValue],
) -> Sequence[SSAValue]:
    """Emits a loop around loops that collect factors; takes and returns what `_loop` does."""
    lowering.remark(f"factors of {deep.most} iterations are multiplied at once", operation)
    index, *arguments = operation.body.block.args
    sums = {number for _, number in deep.products.values()}
    others = [number for number in range(len(arguments)) if number not in sums]
    receivers = [arguments[number] for number in others]
    targets = [lowering.tile(each) for each in receivers if lowering.is_tile(each)]
    first, last = (_as_index(lowering, bound) for bound in (operation.lb, operation.ub))
    whole = deep.step * deep.most
    with lowering.carrying_loop(first, last, initial, whole) as (start, given, ends):
        end = lowering.smaller(lowering.add(start, whole), last)
        counted = [lowering.index(0), *given]
        with lowering.carrying_loop(start, end, counted, deep.step) as (i, (count, *values), after):
            variable = _as_type(lowering, i, index.type)
            _learn_variable(operation, lowering, variable)
            lowering.define_flat([index, *own], [variable, *values])
            for inner in operation.body.block.ops:
                if inner in deep.products:
                    product, number = deep.products[inner]
                    product.put(count)
                    becomes = replace(lowering.tile(arguments[number]), buffer=None)
                    lowering.define(inner.results[0], becomes)
                    lowering.release_after(inner)
                elif isinstance(inner, scf.YieldOp):
                    handed = [inner.operands[number] for number in others]
                    after.append(lowering.as_value(lowering.add(count, 1)))
                    after += _handed_on(lowering, handed, receivers, targets)
                    lowering.release_after(inner)
                else:
                    lowering.translate(inner)
        count, *handed = after
        for product, number in deep.products.values():
            product.multiply(lowering.tile(arguments[number]), count)
        ends += handed
    for product, _ in deep.products.values():
        product.free()
    return ends


def _as_index(lowering: Vectors, bound: SSAValue) -> Index:
    (number,) = lowering.numbers([bound])
    if isinstance(number, int) or number.type == INDEX:
        return number
    return lowering.emit(arith.IndexCastOp(number, INDEX)).result


def _as_type(lowering: Vectors, index: Index, type_: Attribute) -> SSAValue:
    value = lowering.as_value(index)
    return value if type_ == INDEX else lowering.emit(arith.IndexCastOp(value, type_)).result


def _learn_variable(operation: scf.ForOp, lowering: Vectors, variable: SSAValue) -> None:
    lower, step = lowering.values([operation.lb, operation.step])
    facts = lowering.facts
    divisor = gcd(facts.divisor(lower), facts.divisor(step))
    has_sign = UNSIGNED not in operation.properties
    facts.assume(variable, divisor, has_sign and facts.is_not_negative(lower))


def _while(operation: scf.WhileOp, lowering: Vectors) -> None:
    """The tiles of the condition and those of the body have memory of their own."""
    arguments, results = operation.before_region.block.args, operation.results
    scalars, tiles = _split(lowering, operation.arguments, arguments)
    before = _variables(lowering, _split(lowering, arguments, arguments)[1])
    _assign(lowering, tiles, before)
    own, made = _split(lowering, results, results)
    after = _variables(lowering, made)
    regions = [
        _region(lowering, operation.before_region, before, results, after),
        _region(lowering, operation.after_region, after, arguments, before),
    ]
    new = again(operation, lowering.flat(scalars), _types(lowering, own), regions=regions)
    lowering.emit(new)
    lowering.define_flat(own, list(new.results))
    _define_all(lowering, made, after)
    for variable in before:
        assert variable.buffer is not None
        lowering.free(variable.buffer)


RULES: dict[str, Rule] = {
    scf.ForOp.name: _for,
    scf.IfOp.name: _if,
    scf.WhileOp.name: _while,
}
