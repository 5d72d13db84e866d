"""Atomic updates of memory.

Source: CUDA Tile IR specification, "Atomics"; docs/semantics.md, 7, "Memory". What the hardware has
no instruction for is a loop of compare-and-swap.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, cast

from xdsl.dialects.builtin import BFloat16Type, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.atomic_kinds import AtomicRMWKind, kind_of
from xtile.dialects.core import atomics as core_atomics
from xtile.dialects.core.attributes import MemoryOrder
from xtile.dialects.core.subgroup import AtomicUpdateOp
from xtile.dialects.cuda_tile.enumerations import AtomicRMWMode
from xtile.dialects.cuda_tile.ops import atomics, memory
from xtile.dialects.cuda_tile.types import PartitionViewType, is_integer
from xtile.dialects.memory_orders import RELAXED, Ordering, ordering_of
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.compare_and_swap import swapped
from xtile.translate.core_to_cuda_tile.gathers import located
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.memory_order import said
from xtile.translate.core_to_cuda_tile.tile_views import tile_in_view
from xtile.translate.core_to_cuda_tile.types import element_type
from xtile.translate.tiles.accesses import pointer_to
from xtile.translate.tiles.combining import combine
from xtile.translate.tiles.types import shape_of
from xtile.translate.tiles.updates import access_of_update, kept, update_of
from xtile.translate.tiles.words import have_equal_bits

_INTEGER_MODES = {
    "addi": AtomicRMWMode.ADD,
    "andi": AtomicRMWMode.AND,
    "maxs": AtomicRMWMode.MAX,
    "maxu": AtomicRMWMode.UMAX,
    "mins": AtomicRMWMode.MIN,
    "minu": AtomicRMWMode.UMIN,
    "ori": AtomicRMWMode.OR,
    "xori": AtomicRMWMode.XOR,
}
"""The updates of integers of 32 and 64 bits that there are instructions for."""

_WIDTHS = (32, 64)


def update(
    lowering: Lowering,
    kind: str,
    alias_set: Hashable,
    pointers: SSAValue,
    value: SSAValue,
    mask: SSAValue | None,
    is_used: bool,
    how: Ordering,
) -> SSAValue | None:
    """Updates elements atomically.

    Args:
        lowering: Where to emit.
        kind: How, such as `addf`.
        alias_set: The memory.
        pointers: Points to the elements.
        value: The operands.
        mask: Which elements are updated; None: all.
        is_used: Whether anybody looks at what they were before.
        how: What else is ordered, and for whom.

    Returns:
        What the elements were before, where the mask holds; None if nobody looks at it.
    """
    order = lowering.order
    token = order.before_write(alias_set)
    mode = _mode(kind, element_type(value), lowering.target.name)
    if mode is not None:
        operation: Operation = atomics.AtomicRMWTkoOp(
            pointers, mode, value, mask, token, **said(how)
        )
        old, done = lowering.emit(operation).results
    elif kind == "assign" and not is_used and how.order is MemoryOrder.RELAXED:
        operation = memory.StorePtrTkoOp(pointers, value, mask, token, **said(how))
        old, done = None, lowering.emit(operation).results[0]
    else:

        def change(old: SSAValue) -> SSAValue:
            return value if kind == "assign" else combine(lowering, kind, old, value)

        old, done = swapped(lowering, change, pointers, value, mask, token, how)
    order.after_write(alias_set, done)
    return old


_WITHOUT_BFLOAT16 = frozenset({"sm_80", "sm_86", "sm_89"})
"""Architectures whose atomic addition takes no bf16 (tileiras 13.5)."""


def _mode(kind: str, element: Attribute, chip: str) -> AtomicRMWMode | None:
    """The instruction of an update; None if there is none."""
    if kind == "assign":
        width = cast(Any, element).bitwidth
        return AtomicRMWMode.XCHG if width in _WIDTHS else None
    if is_integer(element):
        width = cast(IntegerType, element).width.data
        return _INTEGER_MODES.get(kind) if width in _WIDTHS else None
    is_missing = isinstance(element, BFloat16Type) and chip in _WITHOUT_BFLOAT16
    return AtomicRMWMode.ADDF if kind == "addf" and not is_missing else None


# --- single elements ---


def _atomic_rmw(operation: Operation, lowering: Lowering) -> None:
    value, target, *indices = operation.operands
    number = cast("IntegerAttr[Any]", operation.properties["kind"]).value.data
    kind, how = AtomicRMWKind(number).name, ordering_of(operation)
    described, (result,) = lowering.descriptor(target), operation.results
    pointer = pointer_to(lowering, described, lowering.numbers(indices))
    is_used, given = bool(result.uses), lowering.value(value)
    old = update(lowering, kind, described.alias_set, pointer, given, None, is_used, how)
    if old is not None:
        lowering.define(result, old)


# --- tiles ---


def _atomic_update(operation: AtomicUpdateOp, lowering: Lowering) -> None:
    is_relaxed = ordering_of(operation) == RELAXED
    if is_relaxed and not operation.result.uses and _update_view(operation, lowering):
        return
    pointers, mask = update_of(operation, lowering)
    kind, alias_set = str(operation.kind.data.value), lowering.alias_set_of(operation.memory)
    value, (result,) = lowering.value(operation.value), operation.results
    is_used, how = bool(result.uses), ordering_of(operation)
    old = update(lowering, kind, alias_set, pointers, value, mask, is_used, how)
    if old is not None:
        lowering.define(result, kept(lowering, old, mask))


def _update_view(operation: AtomicUpdateOp, lowering: Lowering) -> bool:
    """Updates a tile of a view, if it is known to be one, and there is an instruction."""
    access, value = access_of_update(operation, lowering), lowering.value(operation.value)
    kind, element = str(operation.kind.data.value), element_type(value)
    mode = None if kind == "assign" else _mode(kind, element, lowering.target.name)
    is_checked = set(operation.checked.get_values()) <= set(access.axes)
    tile = tile_in_view(lowering, access, None) if is_checked and mode is not None else None
    if tile is None or mode is None or not isinstance(tile.view.type, PartitionViewType):
        return False
    order, alias_set = lowering.order, access.memory.alias_set
    update = atomics.AtomicRedViewTkoOp(
        tile.view,
        tile.indices,
        mode,
        lowering.reshape(value, tile.shape),
        order.before_write(alias_set),
    )
    order.after_write(alias_set, lowering.emit(update).results[0])
    return True


# --- elements anywhere ---


def _rmw_elements(operation: core_atomics.AtomicRMWOp, lowering: Lowering) -> None:
    pointers, alias_set = located(lowering, operation, shape_of(operation.value.type))
    mask = lowering.optional_value(operation.mask)
    value = lowering.value(operation.value)
    kind, is_used = kind_of(operation.kind).name, bool(operation.result.uses)
    how = ordering_of(operation)
    old = update(lowering, kind, alias_set, pointers, value, mask, is_used, how)
    if old is not None:
        lowering.define(operation.result, kept(lowering, old, mask))


def _compare_and_swap(operation: core_atomics.AtomicCompareAndSwapOp, lowering: Lowering) -> None:
    pointers, alias_set = located(lowering, operation, shape_of(operation.value.type))
    mask = lowering.optional_value(operation.mask)
    expected, value = lowering.values((operation.expected, operation.value))
    how = ordering_of(operation)
    token = lowering.order.before_write(alias_set)
    if cast(Any, element_type(value)).bitwidth in _WIDTHS:
        swap = atomics.AtomicCASTkoOp(pointers, expected, value, mask, token, **said(how))
        old, done = lowering.emit(swap).results
    else:

        def change(old: SSAValue) -> SSAValue:
            return lowering.select(have_equal_bits(lowering, old, expected), value, old)

        old, done = swapped(lowering, change, pointers, value, mask, token, how)
    lowering.order.after_write(alias_set, done)
    lowering.define(operation.result, kept(lowering, old, mask))


RULES: dict[str, Rule] = {
    "core.atomic_compare_and_swap": _compare_and_swap,
    "core.atomic_rmw": _rmw_elements,
    "core.atomic_update": _atomic_update,
    "memref.atomic_rmw": _atomic_rmw,
}
"""The rule of each operation, by name."""
