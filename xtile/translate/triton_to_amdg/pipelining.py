"""Loops of products: operands of the next iteration are loaded while those of this one are used.

Through registers, local memory holds each operand once:

    load the first operands, and write them to local memory
    for each iteration:
        read its operands from local memory
        load those of the next one, if there is one
        multiply
        write what was loaded to local memory

gfx950 copies past the registers, to local memory that holds each operand twice:

    begin to copy the first operands
    for each iteration:
        wait for the copies
        begin to copy the operands of the next one, if there is one, to the other half
        read those of this one from local memory
        multiply

Triton places the barriers where its own passes would.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xtile.dialects.effects import changes_memory
from xtile.dialects.scf.loops import UNSIGNED
from xtile.dialects.triton.amdg.ops import BufferLoadOp, BufferLoadToLocalOp
from xtile.dialects.triton.tt.ops.products import DotOp, DotScaledOp
from xtile.dialects.triton.ttg.ops import (
    AsyncCommitGroupOp,
    AsyncWaitOp,
    ConvertLayoutOp,
    LocalAllocOp,
    LocalDeallocOp,
    LocalLoadOp,
    LocalStoreOp,
    MemDescIndexOp,
)
from xtile.dialects.triton.ttg.types import AsyncTokenType
from xtile.dialects.walk import walk
from xtile.targets.target import Target
from xtile.translate.triton_to_amdg.staged import Staged, staged_loads
from xtile.translate.triton_to_amdg.staging import COPYING, memory_of, memory_of_copy, to_write
from xtile.translate.triton_to_amdg.turns import Turns


def pipeline_loops(function: Operation, chip: Target) -> None:
    """Lets the loops of a function load operands of products ahead, where they can be."""
    for loop in [each for each in walk(function) if isinstance(each, scf.ForOp)]:
        # What an iteration writes, the next one may load.
        if any(changes_memory(each) or each.name == "tt.call" for each in walk(loop)):
            continue
        staged = staged_loads(loop)
        if staged and UNSIGNED not in loop.properties:
            _pipeline(loop, staged, chip)


def _pipeline(loop: scf.ForOp, staged: Sequence[Staged], chip: Target) -> None:
    """Lets a loop load ahead, as far as local memory has room for it."""
    copied = [each for each in staged if chip.name in COPYING and each.can_be_copied]
    for attempt in (copied, []):
        needed = sum(each.bytes(is_copied=each in attempt) for each in staged)
        if needed > chip.local_memory:
            continue
        turns = Turns(loop)
        for each in staged:
            if each not in attempt:
                _load_ahead(turns, each)
        if attempt:
            _copy_ahead(turns, attempt)
        return


# --- through registers ---


def _load_ahead(turns: Turns, staged: Staged) -> None:
    allocation = turns.insert(
        LocalAllocOp(memory_of(staged.load.result, staged.operand)), turns.before
    )
    _write(turns, _loaded(turns, "first", staged), staged, allocation, turns.before)
    ahead = _loaded(turns, "next", staged)
    for use in staged.uses:
        _read(turns, use, allocation)
    _write(turns, ahead, staged, allocation, turns.end)
    turns.erase(staged.load)
    turns.insert_after(LocalDeallocOp(allocation))


def _read(turns: Turns, use: ConvertLayoutOp, allocation: SSAValue) -> None:
    """Reads an operand from local memory.

    Those of the first product are read before others are loaded, so that registers do not hold
    both while addresses are computed.
    """
    block = turns.loop.body.block
    product = next(each for each in block.ops if isinstance(each, DotOp | DotScaledOp))
    made = LocalLoadOp(allocation, use.result.type)
    if use.parent is block and use.is_before_in_block(product):
        value = turns.insert(made, InsertPoint.at_start(block))
        Rewriter.replace_op(use, [], [value])
    else:
        Rewriter.replace_op(use, made)


def _loaded(turns: Turns, turn: str, staged: Staged) -> SSAValue:
    """The load of another iteration, if that is one."""
    load, given = staged.load, turns.operands(turn, staged.load)
    is_buffer = isinstance(load, BufferLoadOp)
    stride = [given.stride] if is_buffer else []
    made = type(load).build(
        operands=[*given.address, *stride, [given.mask], given.other],
        properties={
            name: value for name, value in load.properties.items() if name != "operandSegmentSizes"
        },
        attributes=load.attributes.copy(),
        result_types=[load.result.type],
    )
    return turns.insert(made, turns.point(turn))


def _write(
    turns: Turns, value: SSAValue, staged: Staged, memory: SSAValue, point: InsertPoint
) -> None:
    """Writes a loaded operand to local memory."""
    transposing = to_write(value, staged.operand)
    if transposing is not None:
        value = turns.insert(transposing, point)
    store = LocalStoreOp(value, memory)
    store.location = turns.loop.location
    Rewriter.insert_op(store, point)


# --- past the registers ---


def _copy_ahead(turns: Turns, copied: Sequence[Staged]) -> None:
    """Copies operands of the next iteration to the half of local memory that this one leaves."""
    block = turns.loop.body.block
    zero = turns.insert(arith.ConstantOp(IntegerAttr(0, i32)), turns.before)
    one = turns.insert(arith.ConstantOp(IntegerAttr(1, i32)), turns.before)
    half = block.insert_arg(i32, len(block.args))
    tokens = [block.insert_arg(AsyncTokenType(), len(block.args)) for _ in copied]
    done = turns.insert(AsyncWaitOp(tokens, 0), turns.top)
    following = turns.insert(arith.SubiOp(one, half), turns.top)
    first: list[SSAValue] = []
    after: list[SSAValue] = []
    for staged in copied:
        memory = memory_of_copy(staged.load.result, staged.operand, copies=2)
        allocation = turns.insert(LocalAllocOp(memory), turns.before)
        first.append(_copy(turns, "first", staged, allocation, zero))
        after.append(_copy(turns, "next", staged, allocation, following))
        for use in staged.uses:
            part = _part(turns, staged, allocation, half, InsertPoint.before(use))
            Rewriter.replace_op(use, LocalLoadOp(part, use.result.type, done))
        turns.erase(staged.load)
        turns.insert_after(LocalDeallocOp(allocation))
    _hand_on(turns, [zero, *first], [following, *after])


def _part(
    turns: Turns, staged: Staged, allocation: SSAValue, half: SSAValue, point: InsertPoint
) -> SSAValue:
    """One half of the local memory of an operand."""
    type_ = memory_of_copy(staged.load.result, staged.operand)
    return turns.insert(MemDescIndexOp(allocation, half, type_), point)


def _copy(
    turns: Turns, turn: str, staged: Staged, allocation: SSAValue, half: SSAValue
) -> SSAValue:
    """The token of a copy that begins for another iteration."""
    load, given = staged.load, turns.operands(turn, staged.load)
    assert isinstance(load, BufferLoadOp)
    pointer, offsets = given.address
    made = BufferLoadToLocalOp(
        _part(turns, staged, allocation, half, turns.point(turn)),
        pointer,
        offsets,
        given.mask,
        stride=given.stride[0] if given.stride else None,
        contiguity=1 if load.contiguity is None else load.contiguity.value.data,
    )
    token = turns.insert(made, turns.point(turn))
    return turns.insert(AsyncCommitGroupOp([token]), turns.point(turn))


def _hand_on(turns: Turns, first: Sequence[SSAValue], after: Sequence[SSAValue]) -> None:
    """Replaces a loop by one that hands on more, as arguments that its block has already."""
    old = turns.loop
    block, count = old.body.block, len(old.results)
    last = block.last_op
    assert last is not None
    Rewriter.replace_op(last, scf.YieldOp(*last.operands, *after), [])
    region = old.detach_region(old.body)
    made = scf.ForOp(old.lb, old.ub, old.step, [*old.iter_args, *first], region)
    made.attributes.update(old.attributes)
    made.location = old.location
    wait = AsyncWaitOp(made.results[count + 1 :], 0)
    wait.location = old.location
    Rewriter.insert_op(wait, InsertPoint.after(old))
    Rewriter.replace_op(old, made, list(made.results[:count]))
