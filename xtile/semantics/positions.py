"""Where in memory the elements of a tile lie, and what an observer learns of accesses to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from xdsl.ir import Operation

from xtile.semantics.addresses import AddressSpace
from xtile.semantics.memory import Buffer, View, parts
from xtile.semantics.observer import Access, AccessKind, IntArray, Observer
from xtile.semantics.ordering import Order, Token
from xtile.semantics.storage import Storage
from xtile.semantics.values import Array, Value, contiguous


@dataclass(frozen=True, slots=True)
class Position:
    """Elements of one buffer.

    Attributes:
        buffer: The memory, in units of the storage.
        elements: The positions of the elements, one for each of `chosen`.
        chosen: Which elements of a tile lie here, as indices or slices of it.
    """

    buffer: Buffer
    elements: IntArray
    chosen: Any


ALL = slice(None)
"""Chooses all elements of a flat tile."""


def base_of(address: int, storage: Storage, addresses: AddressSpace) -> tuple[Buffer, int]:
    """The memory at an address, and the number of the element there.

    Raises:
        UnlocatedError: There is none, or it lies between elements.
    """
    position = address >> 1 if storage.is_packed else address
    view = addresses.memory_at(position, storage.dtype, None)
    assert isinstance(view, View)
    assert isinstance(view.offset, int)
    if storage.is_packed:
        return view.buffer, 2 * view.offset + (address & 1)
    return view.buffer, view.offset


def positions_of(
    pointers: Value, mask: Value | None, storage: Storage, addresses: AddressSpace
) -> Iterator[Position]:
    """Where pointers point: a position in each buffer, with indices into the flat tile.

    Args:
        pointers: A tile of addresses.
        mask: Which of them count; None: all.
        storage: How elements lie in memory.
        addresses: Where the memory of the launch lies.

    Raises:
        UnlocatedError: An address belongs to no memory, or lies between elements.
    """
    flat: Array = np.ravel(pointers)
    chosen: Any = ALL
    if mask is not None:
        chosen = np.flatnonzero(mask)
        flat = flat[chosen]
    if flat.size == 0:
        return
    found = addresses.memory_at(flat >> 1 if storage.is_packed else flat, storage.dtype, None)
    for view, active in parts(found, None):
        elements = np.asanyarray(view.offset, np.int64)
        if storage.is_packed:
            elements = 2 * elements + (flat & 1)
        if active is None:
            yield Position(view.buffer, elements, chosen)
        else:
            numbers = np.arange(np.size(pointers)) if chosen is ALL else chosen
            yield Position(view.buffer, elements[active], numbers[active])


def tell(
    operation: Operation,
    observer: Observer,
    kind: AccessKind,
    positions: Sequence[Position],
    storage: Storage,
    values: Array | None,
    order: Order,
) -> Token:
    """Tells an observer of an access.

    Args:
        operation: What accesses.
        observer: Is told.
        kind: A read, write or update; whether it is atomic follows from the order.
        positions: What is accessed.
        storage: How elements lie in memory.
        values: What is written, indexed as the positions say; None if it is not known yet. Of an
            update, what it stores where it does.
        order: What the access comes after.

    Returns:
        What comes before whatever takes the token of the access.
    """
    strong = _ATOMIC[kind] if order.is_strong else kind
    accesses = (_accesses(operation, strong, each, storage, values) for each in positions)
    return observer.on_tile_access(list(chain.from_iterable(accesses)), order)


def _accesses(
    operation: Operation,
    kind: AccessKind,
    position: Position,
    storage: Storage,
    values: Array | None,
) -> Iterator[Access]:
    if kind is AccessKind.ATOMIC_UPDATE:
        if values is not None and _has_parts(position, storage):
            yield from _updates_of_parts(operation, position, storage, values)
            return
        values = None
    units = np.ravel(storage.units(position.elements))
    written = None
    if values is not None and not storage.is_packed:
        written = np.ravel(storage.encoded(values[position.chosen]))
    yield _of_elements(operation, kind, position.buffer, units, written)


def _updates_of_parts(
    operation: Operation, position: Position, storage: Storage, values: Array
) -> Iterator[Access]:
    """An update of words that hold several elements of the memory.

    The elements that the new words keep are only read: it is no matter when others read them.
    """
    root = position.buffer.root
    words = np.ravel(storage.units(position.elements))
    count = position.buffer.data.dtype.itemsize // root.data.dtype.itemsize
    new = np.ravel(storage.encoded(values[position.chosen]))
    old = position.buffer.data[words]
    shape = (words.size, count, root.data.dtype.itemsize)
    changes = (_bytes_of(new, shape) != _bytes_of(old, shape)).any(axis=2)
    elements = words[:, np.newaxis] * count + np.arange(count)
    kinds = ((AccessKind.ATOMIC_UPDATE, changes), (AccessKind.ATOMIC_READ, ~changes))
    for kind, which in kinds:
        if which.any():
            yield _of_elements(operation, kind, root, elements[which], None)


def _of_elements(
    operation: Operation,
    kind: AccessKind,
    buffer: Buffer,
    elements: IntArray,
    written: Array | None,
) -> Access:
    size = np.broadcast_to(np.int64(buffer.size), elements.shape)
    return Access(operation, kind, buffer, elements, (elements,), (size,), None, written)


def _has_parts(position: Position, storage: Storage) -> bool:
    """Whether what is accessed lies in memory of smaller elements, and inside of it."""
    buffer = position.buffer
    units = storage.units(position.elements)
    is_inside = bool(np.all((units >= 0) & (units < buffer.size)))
    return is_inside and buffer.root.data.dtype.itemsize < buffer.data.dtype.itemsize


def _bytes_of(words: Array, shape: tuple[int, int, int]) -> Array:
    return contiguous(words).view(np.uint8).reshape(shape)


_ATOMIC = {
    AccessKind.READ: AccessKind.ATOMIC_READ,
    AccessKind.WRITE: AccessKind.ATOMIC_WRITE,
    AccessKind.ATOMIC_UPDATE: AccessKind.ATOMIC_UPDATE,
    AccessKind.ATOMIC_EXCHANGE: AccessKind.ATOMIC_EXCHANGE,
}
"""For each kind of access the one that allows concurrent accesses."""
