"""Loops and branches carry the tiles that they change."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import IntegerAttr, MemRefType
from xdsl.dialects.vector import TransferReadOp, TransferWriteOp
from xdsl.ir import Block, Operation, Region, SSAValue

from xtile.dialects.core.atomics import AtomicRMWOp
from xtile.dialects.core.attributes import UNROLL_ATTRIBUTE
from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
from xtile.dialects.core.subgroup import AtomicUpdateOp
from xtile.dialects.effects import written_operands
from xtile.dialects.scf.loops import ForOp
from xtile.dialects.vector.gathers import GatherOp, ScatterOp
from xtile.dialects.walk import walk
from xtile.rewrite.facts import constant_of
from xtile.rewrite.rebuilder import copy
from xtile.transforms.local_tiles.accesses import View, seen_by
from xtile.transforms.local_tiles.tiles import Promotion

_MOST_TURNS = 16
"""Of a loop that is unrolled because its source says so."""

_ACCESSES = (
    memref.LoadOp,
    memref.StoreOp,
    GatherLoadOp,
    ScatterStoreOp,
    GatherOp,
    ScatterOp,
    AtomicRMWOp,
    AtomicUpdateOp,
    TransferReadOp,
    TransferWriteOp,
)


def _body(promotion: Promotion, region: Region, block: Block, written: list[SSAValue]) -> None:
    """Translates a region, whose end hands on the tiles that it changes."""
    with promotion.at_end_of(block):
        ends: list[SSAValue] = []
        for operation in region.block.ops if region.blocks.first is not None else ():
            if isinstance(operation, scf.YieldOp):
                ends = promotion.values(operation.operands)
            elif isinstance(operation, scf.ConditionOp):
                first, *others = operation.operands
                tiles = [promotion.held[memory] for memory in written]
                values = [*promotion.values(others), *tiles]
                promotion.emit(scf.ConditionOp(promotion.value(first), *values))
                return
            else:
                promotion.translate(operation)
        promotion.emit(scf.YieldOp(*ends, *(promotion.held[memory] for memory in written)))


def _hold(promotion: Promotion, written: list[SSAValue], tiles: Sequence[SSAValue]) -> None:
    promotion.held |= dict(zip(written, tiles, strict=True))


def _finish(promotion: Promotion, old: Operation, new: Operation, written: list[SSAValue]) -> None:
    new.attributes |= old.attributes
    promotion.emit(new)
    for was, becomes in zip(old.results, new.results, strict=False):
        promotion.define(was, becomes)
    _hold(promotion, written, new.results[len(old.results) :])


def loop(operation: scf.ForOp, promotion: Promotion) -> None:
    """A loop carries the tiles that it changes; where its source says so it is unrolled."""
    written = _written_in(operation, promotion)
    turns = _turns(operation, promotion)
    if turns is not None:
        _unroll(operation, promotion, turns)
        return
    if not written:
        copy(operation, promotion)
        return
    old = operation.body.block
    tiles = [promotion.held[memory] for memory in written]
    initial = [*promotion.values(operation.iter_args), *tiles]
    block = Block(arg_types=[old.args[0].type, *(value.type for value in initial)])
    for was, becomes in zip(old.args, block.args, strict=False):
        promotion.define(was, becomes)
    _hold(promotion, written, block.args[len(old.args) :])
    _body(promotion, operation.body, block, written)
    first, last, step = promotion.values((operation.lb, operation.ub, operation.step))
    new = ForOp(first, last, step, initial, Region(block))
    new.properties |= operation.properties
    _finish(promotion, operation, new, written)


def _turns(operation: scf.ForOp, promotion: Promotion) -> range | None:
    """The numbers that a loop goes through, if it is to be unrolled and accesses local memory."""
    unroll = operation.attributes.get(UNROLL_ATTRIBUTE)
    bounds = [constant_of(bound) for bound in (operation.lb, operation.ub, operation.step)]
    if not isinstance(unroll, IntegerAttr) or not unroll.value.data or None in bounds:
        return None
    first, last, step = (bound or 0 for bound in bounds)
    turns = range(first, last, step) if step > 0 else range(0)
    accesses = any(
        _root_view(promotion, operand) is not None
        for nested in walk(operation)
        if isinstance(nested, _ACCESSES)
        for operand in nested.operands
        if isinstance(operand.type, MemRefType)
    )
    return turns if accesses and 0 < len(turns) <= _MOST_TURNS else None


def _unroll(operation: scf.ForOp, promotion: Promotion, turns: range) -> None:
    variable, *carried = operation.body.block.args
    values = promotion.values(operation.iter_args)
    for number in turns:
        promotion.define(variable, promotion.constant(number, variable.type))
        for argument, value in zip(carried, values, strict=True):
            promotion.define(argument, value)
        for nested in operation.body.block.ops:
            if isinstance(nested, scf.YieldOp):
                values = promotion.values(nested.operands)
            else:
                promotion.translate(nested)
    for result, value in zip(operation.results, values, strict=True):
        promotion.define(result, value)


def branch(operation: scf.IfOp, promotion: Promotion) -> None:
    """A branch returns the tiles that it changes."""
    written = _written_in(operation, promotion)
    if not written:
        copy(operation, promotion)
        return
    before = {memory: promotion.held[memory] for memory in written}
    regions: list[Region] = []
    for region in operation.regions:
        promotion.held |= before
        block = Block()
        _body(promotion, region, block, written)
        regions.append(Region(block))
    promotion.held |= before
    if_true, if_false = regions
    types = [*operation.result_types, *(tile.type for tile in before.values())]
    new = scf.IfOp(promotion.value(operation.cond), types, if_true, if_false)
    _finish(promotion, operation, new, written)


def while_loop(operation: scf.WhileOp, promotion: Promotion) -> None:
    """A loop carries the tiles that it changes."""
    written = _written_in(operation, promotion)
    if not written:
        copy(operation, promotion)
        return
    initial = promotion.values(operation.arguments)
    initial += [promotion.held[memory] for memory in written]
    regions: list[Region] = []
    types = [value.type for value in initial]
    tiles = types[len(operation.arguments) :]
    for region in (operation.before_region, operation.after_region):
        old = region.block
        block = Block(arg_types=[*(argument.type for argument in old.args), *tiles])
        for was, becomes in zip(old.args, block.args, strict=False):
            promotion.define(was, becomes)
        _hold(promotion, written, block.args[len(old.args) :])
        _body(promotion, region, block, written)
        regions.append(Region(block))
    before, after = regions
    new = scf.WhileOp(initial, [*operation.result_types, *tiles], before, after)
    _finish(promotion, operation, new, written)


def _written_in(operation: Operation, promotion: Promotion) -> list[SSAValue]:
    """The tiles that an operation's regions change, in the order of their allocation."""
    found = {
        view.memory
        for nested in walk(operation)
        for memory in written_operands(nested)
        if (view := _root_view(promotion, memory)) is not None and view.memory in promotion.held
    }
    return [memory for memory in promotion.held if memory in found]


def _root_view(promotion: Promotion, memory: SSAValue) -> View | None:
    """The view that memory is, or that what it is a part of is: it may not be translated yet."""
    while memory not in promotion.views:
        seen = seen_by(memory)
        if seen is None:
            return None
        memory = seen
    return promotion.views[memory]
