"""Atomic updates of memory: of boxes, of single elements and of points, with an order."""

from __future__ import annotations

from xdsl.ir import Operation

from xtile.dialects.atomic_kinds import AtomicRMWKind, kind_of
from xtile.dialects.core.atomics import AtomicRMWOp
from xtile.dialects.core.attributes import MemoryScope
from xtile.dialects.core.subgroup import AtomicUpdateOp
from xtile.dialects.memory_orders import ordering_of
from xtile.dialects.xegpu.attributes import (
    FenceScope,
    FenceScopeAttr,
    MemorySpace,
    MemorySpaceAttr,
)
from xtile.dialects.xegpu.ops.barriers import FenceOp
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import shape_of
from xtile.text.source import spelling_of
from xtile.translate.tiles_to_xegpu.lowering import Lowering
from xtile.translate.tiles_to_xegpu.points import Access, access_of, update
from xtile.translate.tiles_to_xegpu.transfers import box_access


def _atomic_rmw(operation: AtomicRMWOp, lowering: Lowering) -> None:
    """An update of points, which may be ordered."""
    type_ = operation.value.type
    access = access_of(lowering, operation.memory, operation.indices, operation.mask, type_)
    _update(operation, lowering, kind_of(operation.kind), access)


def _update(operation: Operation, lowering: Lowering, kind: AtomicRMWKind, access: Access) -> None:
    """An update; accesses of all subgroups come before a release and after an acquire.

    Its first operand is what is updated with, and its result what was there.
    """
    ordering = ordering_of(operation)
    if ordering.scope is MemoryScope.SYSTEM:
        raise lowering.error(
            "XeGPU's fences are for the work-group and for the GPU, none for the system; use the "
            "scope device"
        )
    value = lowering.value(operation.operands[0])
    if ordering.releases:
        _fence(lowering)
        lowering.barrier()
    old = update(lowering, kind, value, access, ordering)
    if ordering.acquires:
        _fence(lowering)
        lowering.barrier()
    lowering.define(operation.results[0], old)


def _fence(lowering: Lowering) -> None:
    properties = {
        "memory_kind": MemorySpaceAttr(MemorySpace.GLOBAL),
        "fence_scope": FenceScopeAttr(FenceScope.GPU),
    }
    lowering.emit(FenceOp.build(properties=properties))


def _atomic_update(operation: AtomicUpdateOp, lowering: Lowering) -> None:
    """An update of a box of memory, or of one element."""
    if operation.transpose is not None:
        raise lowering.error(f"{spelling_of(operation)} of a transposed block has no XeGPU yet")
    rank = len(shape_of(operation.value.type))
    checked = set(operation.checked.get_values())
    first = lowering.memory(operation.memory).rank - rank
    access = box_access(
        lowering,
        operation.memory,
        operation.indices,
        operation.value,
        [first + i in checked for i in range(rank)],
    )
    _update(operation, lowering, AtomicRMWKind[operation.kind.data.value], access)


def _memref_atomic(operation: Operation, lowering: Lowering) -> None:
    """An update of one element, which the work-group does once."""
    value, target, *indices = operation.operands
    access = box_access(lowering, target, indices, value, [])
    _update(operation, lowering, kind_of(operation.properties["kind"]), access)


RULES: dict[str, Rule] = {
    "core.atomic_rmw": _atomic_rmw,
    "core.atomic_update": _atomic_update,
    "memref.atomic_rmw": _memref_atomic,
}
"""The rule of each operation, by name."""
