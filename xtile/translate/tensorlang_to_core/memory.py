"""Loads, stores, atomics, barriers and local memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Attribute, Block, Region, SSAValue

from xtile.dialects.atomic_kinds import AtomicRMWKind, kind_attribute
from xtile.dialects.core.attributes import AtomicKind
from xtile.dialects.core.subgroup import AtomicKindAttr, AtomicUpdateOp, ParallelOp
from xtile.dialects.gpu.enumerations import Dimension
from xtile.dialects.memory_orders import RELAXED, Ordering, ordering_of
from xtile.dialects.tensorlang.operation import TensorLangOperation
from xtile.dialects.tensorlang.ops import collective, cooperative_matrix
from xtile.dialects.tensorlang.ops import memory as ops
from xtile.dialects.tensorlang.types import COMPLEX_TYPES, FLOATING_TYPES, INDEX, GroupType
from xtile.rewrite.rebuilder import Rebuilder, Rules
from xtile.translate.tensorlang_to_core.arithmetic import compare
from xtile.translate.tensorlang_to_core.builtins import dimension_value
from xtile.translate.tensorlang_to_core.emit import constant, emit, make
from xtile.translate.tensorlang_to_core.subgroup import is_collective
from xtile.translate.tensorlang_to_core.types import WORKGROUP, core_type, strided_type
from xtile.translate.tensorlang_to_core.views import load_entry


def _alloca(operation: collective.AllocaOp, r: Rebuilder) -> None:
    properties = {"alignment": operation.alignment}
    type = core_type(operation.result.type)
    r.replace(operation, make("memref.alloca", [[], []], [type], properties))


def _lifetime_stop(operation: collective.LifetimeStopOp, r: Rebuilder) -> None:
    """Local memory that is not used any more needs no operation."""


def _indices(indices: Sequence[SSAValue], r: Rebuilder) -> list[SSAValue]:
    return r.values(indices)[::-1]


def _load(operation: ops.LoadOp, r: Rebuilder) -> None:
    if isinstance(operation.memref.type, GroupType):
        load_entry(operation, r)
        return
    operands = [r.value(operation.memref), _indices(operation.indices, r)]
    r.replace(operation, make("memref.load", operands, [operation.result.type]))


def _store(operation: ops.StoreOp, r: Rebuilder) -> None:
    value, memref = r.values((operation.value, operation.memref))
    r.emit(make("memref.store", [value, memref, _indices(operation.indices, r)]))


# Atomics


_ADD = (AtomicKind.ADD_FLOAT, AtomicKind.ADD_INTEGER)
_MAX = (AtomicKind.MAXIMUM_FLOAT, AtomicKind.MAXIMUM_SIGNED)
_MIN = (AtomicKind.MINIMUM_FLOAT, AtomicKind.MINIMUM_SIGNED)

_UPDATES: dict[type[TensorLangOperation], tuple[AtomicKind, AtomicKind]] = {
    ops.AtomicAddOp: _ADD,
    ops.AtomicMaxOp: _MAX,
    ops.AtomicMinOp: _MIN,
    cooperative_matrix.CooperativeMatrixAtomicAddOp: _ADD,
    cooperative_matrix.CooperativeMatrixAtomicMaxOp: _MAX,
    cooperative_matrix.CooperativeMatrixAtomicMinOp: _MIN,
}
"""The kind for floating and complex, and for integer types."""


def update_kind(operation: type[TensorLangOperation], type: Attribute) -> AtomicKind:
    """What an atomic update instruction does to elements of a type."""
    floating, integer = _UPDATES[operation]
    return floating if type in FLOATING_TYPES or type in COMPLEX_TYPES else integer


def loading_update(type: Attribute) -> tuple[AtomicKind, float | complex]:
    """The update that changes no number of a type, which is an atomic load, and its operand."""
    if type in COMPLEX_TYPES:
        return AtomicKind.ADD_FLOAT, complex(-0.0, -0.0)
    if type in FLOATING_TYPES:
        return AtomicKind.ADD_FLOAT, -0.0
    return AtomicKind.OR_INTEGER, 0


def ordering_between_groups(operation: TensorLangOperation) -> Ordering:
    """What an access orders for other work-groups; inside of one, barriers do."""
    ordering = ordering_of(operation)
    says_it = ordering.order is not RELAXED.order and ordering.has_wide_scope
    return ordering if says_it else RELAXED


def _update(
    r: Rebuilder,
    kind: AtomicKind,
    value: SSAValue,
    memref: SSAValue,
    indices: Sequence[SSAValue],
    ordering: Ordering,
) -> SSAValue:
    """Emits an atomic update of one element, and returns what it was before."""
    type = value.type
    if type != INDEX and type not in COMPLEX_TYPES:
        properties = {"kind": kind_attribute(AtomicRMWKind[kind.value])}
        made = make("memref.atomic_rmw", [value, memref, indices], [type], properties)
    else:
        made = atomic_update(kind, value, memref, indices)
    made.attributes |= ordering.attributes
    return r.emit(made).results[0]


def atomic_update(
    kind: AtomicKind,
    value: SSAValue,
    memref: SSAValue,
    indices: Sequence[SSAValue],
    checked: Sequence[int] = (),
    transpose: Attribute | None = None,
) -> AtomicUpdateOp:
    """An atomic update of what `memref.atomic_rmw` does not know."""
    return AtomicUpdateOp.build(
        operands=[value, memref, indices],
        result_types=[value.type],
        properties={
            "kind": AtomicKindAttr(kind),
            "checked": DenseArrayBase.from_list(i64, list(checked)),
            "transpose": transpose,
        },
    )


def _atomic_load(operation: ops.AtomicLoadOp, r: Rebuilder) -> None:
    kind, neutral = loading_update(operation.result.type)
    value = constant(r, neutral, operation.result.type)
    _atomic(operation, kind, value, operation.result, r)


def _atomic_store(operation: ops.AtomicStoreOp, r: Rebuilder) -> None:
    _atomic(operation, AtomicKind.ASSIGN, r.value(operation.value), None, r)


def _atomic_update(operation: ops.AtomicUpdateOperation, r: Rebuilder) -> None:
    kind = update_kind(type(operation), operation.value.type)
    _atomic(operation, kind, r.value(operation.value), operation.result, r)


def _atomic(
    operation: ops.AtomicLoadOp | ops.AtomicStoreOp | ops.AtomicUpdateOperation,
    kind: AtomicKind,
    value: SSAValue,
    result: SSAValue | None,
    r: Rebuilder,
) -> None:
    memref, indices = r.value(operation.memref), _indices(operation.indices, r)
    ordering = ordering_between_groups(operation)

    def update() -> SSAValue:
        return _update(r, kind, value, memref, indices, ordering)

    if not is_collective(operation):
        old = update()
    else:
        needs_old = result is not None and result.first_use is not None
        old = _by_each_work_item(r, update, value.type, needs_old)
    if result is not None:
        r.define(result, old)


def _by_each_work_item(
    r: Rebuilder, update: Callable[[], SSAValue], type: Attribute, needs_old: bool
) -> SSAValue | None:
    """What every work-item does once; its value there is that of the first work-item.

    docs/semantics.md 3.7.
    """
    body = Block()
    first: SSAValue | None = None
    if needs_old:
        space = strided_type(type, [], [], 0, WORKGROUP)
        first = emit(r, "memref.alloca", [[], []], space)
    with r.at_end_of(body):
        old = update()
        if first is not None:
            _store_by_first(r, old, first)
    r.emit(ParallelOp.build(regions=[Region([body])]))
    return None if first is None else emit(r, "memref.load", [first, []], type)


def _store_by_first(r: Rebuilder, value: SSAValue, memref: SSAValue) -> None:
    ids = [dimension_value(r, "gpu.thread_id", each) for each in (Dimension.X, Dimension.Y)]
    either = emit(r, "arith.ori", ids, INDEX)
    body = Block()
    with r.at_end_of(body):
        r.emit(make("memref.store", [value, memref, []]))
        r.emit(make("scf.yield", [[]]))
    is_first = compare(r, "eq", either, r.index(0))
    r.emit(make("scf.if", [is_first], [[]], regions=[Region([body]), Region()]))


def _barrier(operation: ops.BarrierOp, r: Rebuilder) -> None:
    """Upstream's barrier fences all memory."""
    r.emit(make("gpu.barrier"))


RULES: Rules = {
    collective.AllocaOp: _alloca,
    collective.LifetimeStopOp: _lifetime_stop,
    ops.LoadOp: _load,
    ops.StoreOp: _store,
    ops.AtomicLoadOp: _atomic_load,
    ops.AtomicStoreOp: _atomic_store,
    ops.AtomicAddOp: _atomic_update,
    ops.AtomicMaxOp: _atomic_update,
    ops.AtomicMinOp: _atomic_update,
    ops.BarrierOp: _barrier,
}
