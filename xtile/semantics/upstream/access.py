"""Reading, writing and updating elements of memrefs.

Indices are numbers of elements: Python integers, or arrays with the axes (rows, lanes) for one
element for each work-item, or (rows, lanes, *shape) for a vector of elements. The result has the
axes of the indices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from xdsl.ir import Operation

from xtile.semantics import access
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.memory import Buffer, Index, Mask, Memref, View, ViewChoice, parts
from xtile.semantics.observer import Access, AccessKind, IntArray, kind_of_update
from xtile.semantics.state import State
from xtile.semantics.values import Array, Value, choose, is_array, with_axes, zeros_beside


def read_elements(
    state: State,
    operation: Operation,
    memref: Memref,
    indices: Sequence[Index],
    where: Value = None,
    kind: AccessKind = AccessKind.READ,
) -> Value:
    """The elements at indices.

    Args:
        state: The work-group.
        operation: What reads.
        memref: What is read.
        indices: An index for each dimension.
        where: Which elements are read, in active work-items; None: all. What is not read is any
            number.
        kind: How they are read.

    Raises:
        UnlocatedError: An element that is read lies outside of the memory.
    """
    rank = _rank(memref, indices, where)
    loaded: Value = None
    for view, mask in _accessed(state, memref, where, rank):
        position = _position(view, indices, rank)
        _check(state, operation, kind, view, indices, position, mask)
        value = _read(view.buffer, position, mask)
        loaded = value if loaded is None or mask is None else choose(mask, value, loaded)
    return loaded


def _read(buffer: Buffer, position: Index, mask: Mask) -> Value:
    if mask is None or isinstance(position, int) or mask.any():
        return access.read(buffer, position, mask)
    shape = np.broadcast_shapes(position.shape, mask.shape)
    return zeros_beside(buffer.data, shape)


def write_elements(
    state: State,
    operation: Operation,
    memref: Memref,
    indices: Sequence[Index],
    value: Value,
    where: Value = None,
    kind: AccessKind = AccessKind.WRITE,
) -> None:
    """Writes elements at indices; where several are written to one position, the last one stays.

    An observer is told of elements of one vector that differ and are written to one position.

    Args:
        state: The work-group.
        operation: What writes.
        memref: What is written to.
        indices: An index for each dimension.
        value: What is written.
        where: Which elements are written, in active work-items; None: all.
        kind: How they are written.

    Raises:
        UnlocatedError: An element that is written lies outside of the memory, or is constant.
    """
    rank = _rank(memref, indices, where, value)
    for view, mask in _accessed(state, memref, where, rank):
        position = _position(view, indices, rank)
        _check(state, operation, kind, view, indices, position, mask, value)
        if state.observer is not None and rank > 0:
            _check_duplicates(state, operation, position, value, mask)
        if mask is None or mask.any():
            access.write(view.buffer, position, value, mask)


def _check_duplicates(
    state: State, operation: Operation, position: Index, value: Value, mask: Mask
) -> None:
    """Tells the observer of different elements of a vector that are written to one position."""
    given: tuple[Value, ...] = (position, value) if mask is None else (position, value, mask)
    shape = np.broadcast_shapes(*(np.shape(each) for each in given))
    active = np.ones(shape, np.bool_) if mask is None else np.broadcast_to(mask, shape)
    owners: Value = np.arange(shape[0] * shape[1], dtype=np.int64).reshape(shape[0], shape[1])
    owners = with_axes(owners, len(shape) - 2)
    flat: list[Array] = [np.broadcast_to(each, shape)[active] for each in (owners, position, value)]
    order = np.lexsort(flat[1::-1])
    owner, where, stored = (each[order] for each in flat)
    repeated = (owner[1:] == owner[:-1]) & (where[1:] == where[:-1])
    is_number = stored == stored  # Every NaN is as good as another.
    repeated &= (stored[1:] != stored[:-1]) & (is_number[1:] | is_number[:-1])
    if repeated.any():
        first = int(repeated.argmax())
        message = (
            f"{stored[first]} and {stored[first + 1]} are written to one location by one "
            "operation, and which of them stays is not specified"
        )
        assert state.observer is not None
        state.observer.on_broken_promise(operation, message)


def update_elements(
    state: State,
    operation: Operation,
    memref: Memref,
    indices: Sequence[Index],
    value: Value,
    function: Callable[[Value, Value], Value],
    where: Value = None,
) -> Array:
    """Replaces elements by function(element, value), one after another; returns the old ones.

    Args:
        state: The work-group.
        operation: What updates.
        memref: What is updated.
        indices: An index for each dimension.
        value: The second operand of the function.
        function: What is stored of the element and the value.
        where: Which elements are updated, in active work-items; None: all.

    Raises:
        UnlocatedError: An element lies outside of the memory, or is constant.
    """
    rank = _rank(memref, indices, where, value)
    shape = _acting_shape(state, rank, (*indices, *_offsets(memref)), where, value)
    old: Array | None = None
    for view, mask in _accessed(state, memref, where, rank):
        position = _position(view, indices, rank)
        _check(state, operation, kind_of_update(operation), view, indices, position, mask)
        acting = np.ones(shape, np.bool_) if mask is None else _fitted(mask, shape)
        if old is None:
            old = zeros_beside(view.buffer.data, shape)
        positions = np.broadcast_to(np.asanyarray(position, np.int64), shape)[acting]
        old[acting] = access.update(
            view.buffer, positions, np.broadcast_to(value, shape)[acting], function
        )
    assert old is not None
    return old


def check_updatable(
    state: State, operation: Operation, view: View, indices: Sequence[Index], mask: Mask
) -> tuple[IntArray, Array]:
    """The positions of the elements that work-items update one after another, and who does.

    Raises:
        UnlocatedError: An element lies outside of the memory, or is constant.
    """
    position = _position(view, indices, 0)
    shape = _acting_shape(state, 0, indices, None, None)
    _check(state, operation, AccessKind.ATOMIC_UPDATE, view, indices, position, mask)
    acting = np.ones(shape, np.bool_) if mask is None else _fitted(mask, shape)
    return np.broadcast_to(np.asanyarray(position, np.int64), shape), acting


def _rank(memref: Memref, indices: Sequence[Index], *others: Value) -> int:
    """The number of axes after rows and lanes."""
    return _axes(*_offsets(memref), *indices, *others)


def _axes(*values: Value) -> int:
    return max([0, *(np.ndim(value) - 2 for value in values)])


def _offsets(memref: Memref) -> list[Index]:
    """Where views begin; those of pointers have a position for each element of a vector."""
    views = [memref] if isinstance(memref, View) else memref.views.values()
    return [view.offset for view in views]


def _accessed(state: State, memref: Memref, where: Value, rank: int) -> Iterator[tuple[View, Mask]]:
    """Each view that a memref is somewhere, and which elements are accessed through it."""
    active = None if state.mask is None else with_axes(state.mask, rank)
    if isinstance(memref, ViewChoice):
        selector = with_axes(memref.selector, rank + 2 - memref.selector.ndim)
        memref = ViewChoice(selector, memref.views)
    for view, mask in parts(memref, active):
        if where is None:
            yield view, mask
            continue
        chosen = with_axes(where, rank + 2 - np.ndim(where)) if is_array(where) else where
        yield view, np.asanyarray(chosen) if mask is None else chosen & mask


def _position(view: View, indices: Sequence[Index], rank: int) -> Index:
    """The position in the buffer of the elements at indices."""
    position = _spread(view.offset, rank)
    for index, stride in zip(indices, view.strides, strict=True):
        position = position + _spread(index, rank) * _spread(stride, rank)
    return position


def _spread(index: Index, rank: int) -> Index:
    """A number with `rank` axes after rows and lanes, if it is not the same for all."""
    return index if isinstance(index, int) else with_axes(index, rank + 2 - index.ndim)


def _acting_shape(
    state: State, rank: int, indices: Sequence[Index], *others: Value
) -> tuple[int, ...]:
    """The axes of what is updated: once for each that acts on its own."""
    actors = state.actors(is_vector=rank > 0)
    shapes = [
        np.shape(with_axes(value, rank + 2 - np.ndim(value))) for value in (*indices, *others)
    ]
    return np.broadcast_shapes((*actors, *(1,) * rank), *(shape for shape in shapes if shape))


def _fitted(mask: Array, shape: tuple[int, ...]) -> Array:
    """A mask for fewer rows or lanes: each acts if one of those that it stands for does."""
    for axis in (0, 1):
        if shape[axis] == 1:
            mask = np.logical_or.reduce(mask, axis=axis, keepdims=True)
    return np.broadcast_to(mask, shape)


def _check(
    state: State,
    operation: Operation,
    kind: AccessKind,
    view: View,
    indices: Sequence[Index],
    position: Index,
    mask: Mask,
    value: Value = None,
) -> None:
    """Checks what a buffer's bounds do not say, and tells the observer of the access."""
    buffer = view.buffer
    if buffer.parts is not None:
        buffer.parts.check(position, mask, buffer.name)
    if kind.writes and not buffer.data.flags.writeable:
        raise UnlocatedError(f"{buffer.name} is constant and must not be written to")
    if state.observer is not None:
        _report(state, operation, kind, view, indices, position, mask, value)


def _report(
    state: State,
    operation: Operation,
    kind: AccessKind,
    view: View,
    indices: Sequence[Index],
    position: Index,
    mask: Mask,
    value: Value,
) -> None:
    """Reports the elements that active work-items access."""
    assert state.observer is not None
    rank = _axes(position, *indices, mask, value)
    shape = _acting_shape(state, rank, (*indices, position), value)
    active = np.ones(shape, np.bool_) if mask is None else _fitted(mask, shape)
    threads = with_axes(state.threads()[: shape[0], : shape[1]], rank)

    def flat(value: Value) -> IntArray:
        return np.broadcast_to(with_axes(value, rank + 2 - np.ndim(value)), shape)[active]

    state.observer.on_access(
        Access(
            operation,
            kind,
            view.buffer,
            flat(position),
            tuple(flat(index) for index in indices),
            tuple(flat(size) for size in view.shape),
            flat(threads),
            None if value is None else flat(value),
        )
    )
