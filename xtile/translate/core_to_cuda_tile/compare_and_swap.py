"""Atomic updates that there are no instructions for, as loops of compare-and-swap."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import i1
from xdsl.ir import Block, Region, SSAValue

from xtile.dialects.core.attributes import MemoryOrder
from xtile.dialects.cuda_tile.enumerations import (
    ComparisonPredicate,
)
from xtile.dialects.cuda_tile.ops import (
    atomics,
    bitwise,
    control_flow,
    loops,
    memory,
)
from xtile.dialects.cuda_tile.types import TokenType
from xtile.dialects.memory_orders import Ordering
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.memory_order import said
from xtile.translate.core_to_cuda_tile.types import tile_type
from xtile.translate.tiles.reductions import holds_anywhere
from xtile.translate.tiles.words import word_of


def swapped(
    lowering: Lowering,
    change: Callable[[SSAValue], SSAValue],
    pointers: SSAValue,
    value: SSAValue,
    mask: SSAValue | None,
    token: SSAValue | None,
    how: Ordering,
) -> tuple[SSAValue, SSAValue]:
    """Tries to replace elements until nobody else did meanwhile.

    Args:
        lowering: Where to emit.
        change: What elements become.
        pointers: Points to the elements.
        value: The operands, which have the elements' type.
        mask: Which elements are updated; None: all.
        token: What is waited for.
        how: What the exchange orders, and for whom.

    Returns:
        What the elements were before, where the mask holds, and a token.
    """
    word = word_of(lowering, pointers, value)
    pending = mask
    if pending is None:
        pending = lowering.constant(1, tile_type(value).with_element_type(i1))
    padding = lowering.constant(0, word.type)
    first = lowering.emit(
        memory.LoadPtrTkoOp(
            word.pointers, pending, padding, token, **said(how._replace(order=MemoryOrder.RELAXED))
        )
    )
    expected, before = first.results
    block = Block(arg_types=[pending.type, expected.type, TokenType()])
    with lowering.at_end_of(block):
        left, known, last = block.args
        new = change(word.element(known))
        exchange = atomics.AtomicCASTkoOp(
            word.pointers,
            known,
            word.with_element(known, new),
            left,
            last,
            **said(how),
        )
        found, done = lowering.emit(exchange).results
        failed = lowering.compare(ComparisonPredicate.NOT_EQUAL, found, known)
        left = lowering.compute(bitwise.AndIOp, left, failed)
        known = lowering.select(left, found, known)
        goes_on, ends = Block(), Block()
        with lowering.at_end_of(goes_on):
            lowering.emit(control_flow.YieldOp([]))
        with lowering.at_end_of(ends):
            lowering.emit(control_flow.BreakOp([known, done]))
        any_left = holds_anywhere(lowering, left)
        branch = control_flow.IfOp(any_left, [], Region(goes_on), Region(ends))
        lowering.emit(branch)
        lowering.emit(control_flow.ContinueOp([left, known, done]))
    loop = loops.LoopOp([pending, expected, before], [expected.type, TokenType()], Region(block))
    final, done = lowering.emit(loop).results
    return word.element(final), done
