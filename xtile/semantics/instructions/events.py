"""Builds the events of memory instructions for an observer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation

from xtile.semantics.memory import Index, Mask, Memref, View, parts
from xtile.semantics.observer import Access, AccessKind, IntArray
from xtile.semantics.state import State
from xtile.semantics.values import Value, is_array


def _active(state: State, mask: Mask) -> Value:
    return state.active() if mask is None else state.full(mask)


def report_elements(
    state: State,
    operation: Operation,
    kind: AccessKind,
    view: View,
    indices: Sequence[Index],
    mask: Mask,
    values: Value = None,
) -> None:
    """Reports that each active work-item accesses one element.

    In a collective region, all work-items access the same one, between automatic barriers.
    """
    assert state.observer is not None
    active = _active(state, mask)
    if state.is_collective:
        state.observer.on_phase()
        active = np.zeros(state.shape, np.bool_)
        active[0, 0] = True

    def flat(value: Value) -> IntArray:
        return np.broadcast_to(value, state.shape)[active]

    state.observer.on_access(
        Access(
            operation,
            kind,
            view.buffer,
            flat(view.element(indices)),
            tuple(flat(index) for index in indices),
            tuple(flat(size) for size in view.shape),
            None if state.is_collective else state.threads()[active],
            None if values is None else flat(values),
        )
    )


def report_block(state: State, operation: Operation, kind: AccessKind, view: View) -> None:
    """Reports that the work-group accesses all of a memref."""
    assert state.observer is not None
    shape = tuple(int(np.asanyarray(size).flat[0]) for size in view.shape)
    indices = tuple(index.ravel() for index in np.indices(shape, np.int64))
    count = int(np.prod(shape))
    elements = np.broadcast_to(view.element(indices), (count,))
    sizes = tuple(np.full(count, size) for size in shape)
    state.observer.on_access(
        Access(operation, kind, view.buffer, elements, indices, sizes, None, None)
    )


def report_subview(
    state: State,
    operation: Operation,
    memref: Memref,
    offsets: Sequence[Index],
    sizes: Sequence[Index | None],
) -> None:
    """Reports the block that a subview takes."""
    assert state.observer is not None
    for view, mask in parts(memref, state.mask):
        active = _active(state, mask)

        def flat(value: Value, active: Value = active) -> IntArray:
            return np.broadcast_to(value, state.shape)[active]

        extents = [1 if size is None else size for size in sizes]
        state.observer.on_subview(
            operation,
            tuple(flat(size) for size in view.shape),
            tuple(flat(offset) for offset in offsets),
            tuple(flat(extent) for extent in extents),
            flat(_uses_padding(view, offsets, extents)).astype(np.bool_),
            state.threads()[active],
        )


def _uses_padding(view: View, offsets: Sequence[Index], extents: Sequence[Index]) -> Value:
    """Whether a block that leaves the shape is in memory that belongs to the memref all the same.

    All of an allocation belongs to it. Of an argument's memory the padding does that its strides
    leave between two entries of the next mode.
    """
    first = view.element(offsets)
    last = first + sum(
        (extent - 1) * stride for extent, stride in zip(extents, view.strides, strict=True)
    )
    inside = np.logical_and(np.asanyarray(first) >= 0, np.asanyarray(last) < view.buffer.size)
    if view.buffer.is_local or not offsets:
        return inside
    ends = [offset + extent for offset, extent in zip(offsets, extents, strict=True)]
    for end, stride, following in zip(ends, view.strides, view.strides[1:], strict=False):
        inside = np.logical_and(inside, end * stride <= following)
    return np.logical_and(inside, ends[-1] <= view.shape[-1])


def require_uniform(state: State, operation: Operation, what: str, value: Value) -> None:
    """Reports a value on which the active work-items of each subgroup must agree."""
    if state.observer is not None and is_array(value):
        state.observer.on_uniform_required(
            operation, what, state.full(value), state.active(), state.first_thread
        )


def require_converged(state: State, operation: Operation) -> None:
    """Reports an instruction that all or none of each subgroup's work-items must execute."""
    if state.observer is not None and state.mask is not None:
        state.observer.on_converged_required(operation, state.active(), state.first_thread)
