"""Local memory of a block of tiles becomes tiles, which loops and branches carry.

A write makes a new tile, and a read takes a part of the tile that memory holds then. Both are cheap
where they are of a box at a known position, or of one of few elements; anything else is composed of
operations on elements. What memory holds before it is written is 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, ModuleOp
from xdsl.dialects.vector import TransferReadOp, TransferWriteOp
from xdsl.ir import Operation, SSAValue

from xtile.dialects.core.atomics import AtomicRMWOp
from xtile.dialects.core.attributes import Level, level_of
from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
from xtile.dialects.core.subgroup import AtomicUpdateOp
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.shapes import dimensions_of
from xtile.dialects.vector.gathers import GatherOp, ScatterOp
from xtile.dialects.walk import walk
from xtile.rewrite.emitter import AnyMemRef
from xtile.rewrite.facts import constant_of
from xtile.rewrite.kernels import rebuilt, with_kernels_replaced
from xtile.rewrite.memref_layouts import is_local, layout_of, row_major
from xtile.rewrite.rebuilder import RuleTable, copy
from xtile.text.source import source_of
from xtile.transforms.cleanup import clean_up
from xtile.transforms.local_tiles.accesses import seen_by
from xtile.transforms.local_tiles.rules import RULES
from xtile.transforms.local_tiles.tiles import Promotion

_MOST_ELEMENTS = 1 << 16
"""Of memory that becomes a tile."""

_TABLE = RuleTable(RULES, otherwise=copy, keeps_rounding=True)


def local_tiles(module: ModuleOp, *, only_cheap: bool) -> ModuleOp:
    """Returns a module whose kernels of tiles have tiles in place of local memory.

    Memory with other accesses, such as atomic updates, stays.

    Args:
        module: The module; it is not changed.
        only_cheap: Whether memory stays that is not only accessed as boxes at known positions, and
            as single elements of few.
    """
    source = source_of(module)

    def promoted(function: FuncOp) -> FuncOp:
        memories = _candidates(function)
        promotion = Promotion(_TABLE, memories, source)
        result = rebuilt(function, promotion)
        again = {memory for memory in promotion.costly if only_cheap or not _is_packed(memory)}
        if not again:
            return result
        padded = {} if only_cheap else {memory: _with_padding(memory) for memory in again}
        shapes = {memory: shape for memory, shape in padded.items() if shape is not None}
        stays = again - shapes.keys()
        return rebuilt(function, Promotion(_TABLE, memories - stays, source, shapes))

    def is_chosen(function: FuncOp) -> bool:
        return level_of(function) is Level.TILE and bool(_candidates(function))

    result = with_kernels_replaced(module, is_chosen, promoted)
    return module if result is module else clean_up(result)


def _candidates(function: FuncOp) -> frozenset[SSAValue]:
    return frozenset(
        operation.memref
        for operation in walk(function)
        if isinstance(operation, memref.AllocaOp) and _can_be_tile(operation)
    )


def _can_be_tile(alloca: memref.AllocaOp) -> bool:
    type_: AnyMemRef = alloca.memref.type
    if not is_local(type_):
        return False
    layout, shape = layout_of(type_), type_.get_shape()
    if layout.unknowns or math.prod(shape) > _MOST_ELEMENTS or 0 in shape:
        return False
    is_number = hasattr(type_.element_type, "bitwidth") or isinstance(type_.element_type, IndexType)
    return is_number and _is_understood(alloca.memref)


def _is_packed(memory: SSAValue) -> bool:
    layout = layout_of(cast("AnyMemRef", memory.type))
    return layout.strides == row_major(layout.sizes)


def _with_padding(memory: SSAValue) -> tuple[int, ...] | None:
    """The shape of memory with the padding behind each row, which indices beyond the row reach.

    Returns: None if strides are no multiples of each other.
    """
    layout = layout_of(cast("AnyMemRef", memory.type))
    strides = [cast("int", stride) for stride in layout.strides]
    if not strides or strides[-1] != 1 or any(a % b for a, b in pairwise(strides)):
        return None
    return cast("int", layout.sizes[0]), *(a // b for a, b in pairwise(strides))


def _is_understood(memory: SSAValue) -> bool:
    """Whether all uses of memory are accesses that are known here."""
    return all(_is_use_understood(use.operation, use.index) for use in memory.uses)


def _has_known_strides(view: memref.ReinterpretCastOp) -> bool:
    """Whether the dimensions of a view count along those of memory, of which one has stride 1."""
    memory = view.source
    while (seen := seen_by(memory)) is not None:
        memory = seen
    innermost = layout_of(cast("AnyMemRef", memory.type)).strides[-1:]
    return innermost in ((), (1,)) and DYNAMIC_INDEX not in view.static_strides.get_values()


def _is_use_understood(user: Operation, operand: int) -> bool:
    if isinstance(user, memref.DimOp):
        return constant_of(user.index) is not None
    if isinstance(user, memref.SubviewOp):
        steps: Sequence[int] = user.static_strides.get_values()
        return all(step == 1 for step in steps) and _is_understood(user.result)
    if isinstance(user, memref.ReinterpretCastOp):
        return _has_known_strides(user) and _is_understood(user.result)
    if isinstance(user, TransferReadOp | TransferWriteOp):
        along = dimensions_of(user.permutation_map)
        is_memory = isinstance(user, TransferReadOp) or operand == 1
        return is_memory and None not in along
    if isinstance(user, GatherLoadOp | ScatterStoreOp):
        return user.order is None
    if isinstance(user, GatherOp | ScatterOp):
        return operand == 0
    if isinstance(user, AtomicRMWOp | AtomicUpdateOp):
        return operand == 1
    return isinstance(user, memref.LoadOp) or (isinstance(user, memref.StoreOp) and operand == 1)
