"""Reads tiles before a loop that are the same in all of its iterations.

Only reads move that never fail, because a loop may run no iteration, and only of memory that
nothing in the loop may change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.vector import TransferReadOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from xtile.dialects.core.arguments import argument_of, is_noalias
from xtile.dialects.core.attributes import Level, level_of
from xtile.dialects.effects import leaves_memory, only_reads, synchronizes, written_operands
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.shapes import dimensions_of
from xtile.dialects.walk import walk
from xtile.rewrite.facts import constant_of
from xtile.rewrite.kernels import kernels_of
from xtile.rewrite.tile_emitter import shape_of
from xtile.text.source import clone_with_source


def hoist_reads(module: ModuleOp) -> ModuleOp:
    """Returns a module whose kernels of tiles read before loops what these do not change.

    Everything else stays as it is; without such a read it is the module itself.

    Args:
        module: The module; it is not changed.
    """
    if not any(True for kernel in kernels_of(module) for loop in _loops(kernel) if _movable(loop)):
        return module
    result = clone_with_source(module)
    for kernel in kernels_of(result):
        # What leaves an inner loop may leave the one around it, too.
        for loop in reversed(list(_loops(kernel))):
            for read in _movable(loop):
                around = loop.parent
                assert around is not None
                read.detach()
                around.insert_op_before(read, loop)
    return result


def _loops(kernel: FuncOp) -> Iterator[scf.ForOp]:
    if level_of(kernel) is Level.TILE:
        yield from (each for each in walk(kernel) if isinstance(each, scf.ForOp))


def _movable(loop: scf.ForOp) -> list[TransferReadOp]:
    """The reads that every iteration does, of the same elements."""
    body = loop.body.block
    reads = [
        each
        for each in body.ops
        if isinstance(each, TransferReadOp)
        and not any(_is_inside(operand, body) for operand in each.operands)
        and _never_fails(each)
    ]
    if not reads:
        return []
    changed = changed_memory(loop)
    if changed is None:
        return []
    return [read for read in reads if not any(may_be_same(read.source, each) for each in changed)]


def _is_inside(value: SSAValue, body: Block) -> bool:
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent
    return block is body


def _never_fails(read: TransferReadOp) -> bool:
    """Whether all indices are checked, or known to be inside."""
    sizes = cast("MemRefType[Attribute]", read.source.type).get_shape()
    shape = shape_of(read.result.type)
    along = dimensions_of(read.permutation_map)
    for dimension, (index, size) in enumerate(zip(read.indices, sizes, strict=True)):
        axis = along.index(dimension) if dimension in along else None
        if axis is not None and not bool(read.in_bounds.data[axis].value.data):
            continue
        start, length = constant_of(index), 1 if axis is None else shape[axis]
        if start is None or not 0 <= start <= size - length:
            return False
    return True


def changed_memory(operation: Operation) -> list[SSAValue] | None:
    """The memory that an operation, and what it holds, writes.

    None where something else is done to memory, or other blocks may have changed it afterwards.
    """
    changed: list[SSAValue] = []
    for each in walk(operation):
        written = written_operands(each)
        changed += written
        is_known = written or each.regions or leaves_memory(each)
        is_known = is_known or only_reads(each) or is_side_effect_free(each)
        if synchronizes(each) or not is_known:
            return None
    return changed


def may_be_same(a: SSAValue, b: SSAValue) -> bool:
    """Whether two memrefs may share memory."""
    first, second = argument_of(a), argument_of(b)
    if first is None or second is None or first is second:
        return True
    return not (is_noalias(first) or is_noalias(second))
