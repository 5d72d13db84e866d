"""Memory instructions: loads, stores, atomics, views and barriers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Operation

from xtile.dialects.tensorlang import types
from xtile.dialects.tensorlang.operation import integer_value
from xtile.dialects.tensorlang.ops import arithmetic, collective, memory
from xtile.semantics import access
from xtile.semantics.arithmetic import binary_function
from xtile.semantics.capacity import check_memory
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.instructions.events import (
    report_elements,
    report_subview,
)
from xtile.semantics.instructions.views import expand, fuse, subview
from xtile.semantics.memory import (
    Buffer,
    Group,
    Index,
    View,
    as_index,
    combine,
    from_index,
    parts,
    transform,
)
from xtile.semantics.numeric_types import numpy_type
from xtile.semantics.observer import AccessKind
from xtile.semantics.state import State, select
from xtile.semantics.values import Value, interpreted


def _alloca(operation: collective.AllocaOp, compiler: Compiler) -> Step:
    type_ = operation.result.type
    assert isinstance(type_, types.MemrefType)
    count = type_.allocated_elements
    if count is None:
        raise UnlocatedError("alloca needs a static shape and static strides")
    dtype = numpy_type(type_)
    size = count * dtype.itemsize
    shape, strides = type_.shape, type_.strides
    compiler.ends_with_block(operation, operation.result)
    (result,) = compiler.slots((operation.result,))
    name = f"%{operation.result.name_hint}" if operation.result.name_hint else "local memory"

    def step(state: State) -> None:
        # All bits set: NaN in floating types, -1 in integer types, and so easily noticed.
        check_memory(size)
        data = np.full(size, 0xFF, np.uint8).view(dtype)
        buffer = Buffer(data, name, is_local=True, is_initialized=False)
        state.values[result] = View(buffer, 0, shape, strides)
        if state.observer is not None:
            state.observer.on_alloca(operation, buffer)

    return step


def _lifetime_stop(operation: collective.LifetimeStopOp, compiler: Compiler) -> Step:
    (memref,) = compiler.slots((operation.memref,))

    def step(state: State) -> None:
        if state.observer is not None:
            state.observer.on_lifetime_stop(operation, state.values[memref].buffer)

    return step


def _load(operation: memory.LoadOp | memory.AtomicLoadOp, compiler: Compiler) -> Step:
    if isinstance(operation.memref.type, types.GroupType):
        return _group_load(operation, compiler)
    memref, result, *indices = compiler.slots(
        (operation.memref, operation.result, *operation.indices)
    )
    is_atomic = isinstance(operation, memory.AtomicLoadOp)
    kind = AccessKind.ATOMIC_READ if is_atomic else AccessKind.READ

    def step(state: State) -> None:
        values = state.values
        chosen = [as_index(values[i]) for i in indices]
        loaded: Value = None
        for view, mask in parts(values[memref], state.mask):
            if state.observer is not None:
                report_elements(state, operation, kind, view, chosen, mask)
            value = access.read(view.buffer, view.element(chosen), mask)
            loaded = value if mask is None or loaded is None else select(mask, value, loaded, False)
        values[result] = loaded

    return step


def _group_load(operation: memory.LoadOp | memory.AtomicLoadOp, compiler: Compiler) -> Step:
    group, index, result = compiler.slots(
        (operation.memref, operation.indices[0], operation.result)
    )

    def step(state: State) -> None:
        values = state.values
        values[result] = values[group].load(as_index(values[index]), state.mask)

    return step


def _store(operation: memory.StoreOp | memory.AtomicStoreOp, compiler: Compiler) -> Step:
    value, memref, *indices = compiler.slots(
        (operation.value, operation.memref, *operation.indices)
    )
    is_atomic = isinstance(operation, memory.AtomicStoreOp)
    kind = AccessKind.ATOMIC_WRITE if is_atomic else AccessKind.WRITE

    def step(state: State) -> None:
        values = state.values
        chosen = [as_index(values[i]) for i in indices]
        for view, mask in parts(values[memref], state.mask):
            if state.observer is not None:
                report_elements(state, operation, kind, view, chosen, mask, values[value])
            access.write(view.buffer, view.element(chosen), values[value], mask)

    return step


UPDATES: dict[type[Operation], type[Operation]] = {
    memory.AtomicAddOp: arithmetic.AddOp,
    memory.AtomicMaxOp: arithmetic.MaxOp,
    memory.AtomicMinOp: arithmetic.MinOp,
}
"""The arithmetic instruction that says what an atomic update does."""


def _atomic_update(operation: memory.AtomicUpdateOperation, compiler: Compiler) -> Step:
    function = binary_function(UPDATES[type(operation)], operation.value.type)
    value, memref, result, *indices = compiler.slots(
        (operation.value, operation.memref, operation.result, *operation.indices)
    )

    def step(state: State) -> None:
        values = state.values
        chosen = [as_index(values[i]) for i in indices]
        old = interpreted(np.zeros(state.shape, np.asanyarray(values[value]).dtype))
        for view, mask in parts(values[memref], state.mask):
            if state.observer is not None:
                report_elements(state, operation, AccessKind.ATOMIC_UPDATE, view, chosen, mask)
            active = np.ones(state.shape, np.bool_) if mask is None else state.full(mask)
            positions = np.broadcast_to(view.element(chosen), state.shape)[active]
            operands = state.full(values[value])[active]
            old[active] = access.update(view.buffer, positions, operands, function)
        values[result] = old[0, 0] if state.is_collective else old

    return step


def _associated(operation: memory.AssociatedOp, compiler: Compiler) -> Step:
    tensor, result = compiler.slots((operation.tensor, operation.result))

    def step(state: State) -> None:
        value = state.values[tensor]
        if isinstance(value, Group):
            state.values[result] = np.bool_(value.is_associated)
        else:
            state.values[result] = combine(value, _is_associated)

    return step


def _is_associated(view: View) -> np.bool_:
    return np.bool_(not view.buffer.is_null)


def _size(operation: memory.SizeOp, compiler: Compiler) -> Step:
    if isinstance(operation.tensor.type, types.GroupType):
        return _group_size(operation, operation.tensor.type, compiler)
    tensor, result = compiler.slots((operation.tensor, operation.result))
    mode = integer_value(operation.mode)

    def step(state: State) -> None:
        value = state.values[tensor]
        state.values[result] = combine(value, lambda view: from_index(view.shape[mode]))

    return step


def _group_size(operation: memory.SizeOp, type: types.GroupType, compiler: Compiler) -> Step:
    group, result = compiler.slots((operation.tensor, operation.result))
    # A null group has no entries, and yet the size that its type gives it.
    static_size = None if type.size == types.DYNAMIC else np.int64(type.size)

    def step(state: State) -> None:
        size = np.int64(len(state.values[group].views)) if static_size is None else static_size
        state.values[result] = size

    return step


def _numbers(
    static: DenseArrayBase[types.IntegerType], dynamic: Sequence[int]
) -> list[tuple[int, bool]]:
    """For each entry its number, or the slot that holds it, and whether it is a slot."""
    slots = iter(dynamic)
    return [
        (next(slots), True) if entry == types.DYNAMIC else (entry, False)
        for entry in static.get_values()
    ]


def _evaluate(entries: list[tuple[int, bool]], values: list[Value]) -> list[Index]:
    return [as_index(values[entry]) if is_slot else entry for entry, is_slot in entries]


def _subview(operation: memory.SubviewOp, compiler: Compiler) -> Step:
    memref, result = compiler.slots((operation.memref, operation.result))
    offsets = _numbers(operation.static_offsets, compiler.slots(operation.offsets))
    sizes = _numbers(operation.static_sizes, compiler.slots(operation.sizes))
    is_kept = [is_slot or size != 0 for size, is_slot in sizes]

    def step(state: State) -> None:
        values = state.values
        from_ = _evaluate(offsets, values)
        extents = _evaluate(sizes, values)
        chosen = [n if kept else None for n, kept in zip(extents, is_kept, strict=True)]
        if state.observer is not None:
            report_subview(state, operation, values[memref], from_, chosen)
        values[result] = transform(
            values[memref], lambda view, _: subview(view, from_, chosen), state.mask
        )

    return step


def _expand(operation: memory.ExpandOp, compiler: Compiler) -> Step:
    memref, result = compiler.slots((operation.memref, operation.result))
    sizes = _numbers(operation.static_expand_shape, compiler.slots(operation.expand_shape))
    mode = integer_value(operation.mode)

    def step(state: State) -> None:
        shape = _evaluate(sizes, state.values)
        state.values[result] = transform(
            state.values[memref], lambda view, mask: expand(view, mode, shape, mask), state.mask
        )

    return step


def _fuse(operation: memory.FuseOp, compiler: Compiler) -> Step:
    memref, result = compiler.slots((operation.memref, operation.result))
    first, last = integer_value(operation.from_mode), integer_value(operation.to_mode)
    type_ = operation.result.type
    assert isinstance(type_, types.MemrefType)
    stride = type_.strides[first]
    told = None if stride == types.DYNAMIC else stride

    def step(state: State) -> None:
        state.values[result] = transform(
            state.values[memref], lambda view, mask: fuse(view, first, last, told, mask), state.mask
        )

    return step


def _barrier(operation: memory.BarrierOp, compiler: Compiler) -> Step:
    global_fence = operation.global_fence is not None
    local_fence = operation.local_fence is not None

    def step(state: State) -> None:
        # Work-items run in lockstep, so that nobody is ever ahead.
        if state.observer is not None:
            state.observer.on_barrier(operation, state.active(), global_fence, local_fence)

    return step


HANDLERS: dict[type[Operation], Handler] = {
    collective.AllocaOp: _alloca,
    collective.LifetimeStopOp: _lifetime_stop,
    memory.LoadOp: _load,
    memory.AtomicLoadOp: _load,
    memory.StoreOp: _store,
    memory.AtomicStoreOp: _store,
    memory.AtomicAddOp: _atomic_update,
    memory.AtomicMaxOp: _atomic_update,
    memory.AtomicMinOp: _atomic_update,
    memory.AssociatedOp: _associated,
    memory.SizeOp: _size,
    memory.SubviewOp: _subview,
    memory.ExpandOp: _expand,
    memory.FuseOp: _fuse,
    memory.BarrierOp: _barrier,
}
