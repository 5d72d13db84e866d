"""Loads and stores through pointers, and through pointers to blocks.

Source: Triton 3.9 and 3.7 (pointers to blocks), `TritonOps.td`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from xtile.dialects.triton.operation import element_of
from xtile.dialects.triton.tt.enumerations import PaddingOption
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.observer import AccessKind
from xtile.semantics.ordering import Token
from xtile.semantics.positions import positions_of
from xtile.semantics.state import State
from xtile.semantics.storage import Storage, storage_of
from xtile.semantics.triton.accesses import Accesses
from xtile.semantics.triton.tensors import (
    integer_property,
    integers_property,
    optional_slot,
    pointee_of,
    pointee_storage,
    shape_of,
)
from xtile.semantics.unspecified import (
    ALL,
    STORED,
    forget,
    leave_unspecified,
    pad_with,
    reach,
    reach_positions,
)
from xtile.semantics.upstream.numbers import shape_of as shape_of_type
from xtile.semantics.values import Array, Value, copied, interpreted


class Reader:
    """Reads elements at addresses for an operation."""

    def __init__(self, operation: Any, storage: Storage, shape: tuple[int, ...]) -> None:
        self._accesses = Accesses(operation)
        self._storage = storage
        self._shape = shape

    def read(self, state: State, pointers: Value, mask: Value, other: Value) -> Value:
        """The elements; where a mask is false, those of `other`, and without it any.

        Raises:
            UnlocatedError: An address where the mask is true belongs to no memory.
        """
        storage = self._storage
        positions = list(positions_of(pointers, mask, storage, state.addresses))
        self._accesses.tell(state, AccessKind.READ, positions, storage)
        if mask is None and len(positions) == 1:
            (position,) = positions
            found = storage.read(position.buffer, position.elements)
            return found.reshape(self._shape)[()]
        found = _filling(storage, self._shape, other)
        for position in positions:
            found[position.chosen] = storage.read(position.buffer, position.elements)
        return found.reshape(self._shape)[()]


def _filling(storage: Storage, shape: tuple[int, ...], other: Value) -> Array:
    """What is read where nothing is read, as a flat tensor."""
    if other is None:
        return storage.undefined((int(np.prod(shape)),))
    return interpreted(copied(np.broadcast_to(other, shape)).ravel())


class Writer:
    """Writes elements to addresses for an operation."""

    def __init__(self, operation: Any, storage: Storage) -> None:
        self._accesses = Accesses(operation)
        self._storage = storage

    def write(self, state: State, pointers: Value, values: Value, mask: Value) -> None:
        """Writes the elements where a mask, if any, is true.

        Raises:
            UnlocatedError: An address where the mask is true belongs to no memory.
        """
        state.before = state.before.joined(self.begin(state, pointers, values, mask))

    def begin(self, state: State, pointers: Value, values: Value, mask: Value) -> Token:
        """As `write`; the program does not know that it is done before it has waited."""
        storage = self._storage
        positions = list(positions_of(pointers, mask, storage, state.addresses))
        stored = np.ravel(values)
        token = self._accesses.begin(state, AccessKind.WRITE, positions, storage, stored)
        for position in positions:
            storage.write(position.buffer, position.elements, stored[position.chosen])
        return token


def load(operation: Any, compiler: Compiler) -> Step:
    """The handler of what has `ptr`, may have `mask` and `other`, and gives a result."""
    if shape_of_type(pointee_of(operation.ptr.type)):
        return _load_block(operation, compiler)
    storage = pointee_storage(operation.ptr)
    pointers, result = compiler.slots((operation.ptr, operation.result))
    mask = optional_slot(operation.mask, compiler)
    other = optional_slot(getattr(operation, "other", None), compiler)
    reader = Reader(operation, storage, shape_of(operation.result))

    def step(state: State) -> None:
        values = state.values
        if state.unspecified:
            reach_positions(state, operation, pointers, mask)
        chosen = None if mask is None else values[mask]
        rest = None if other is None else values[other]
        values[result] = reader.read(state, values[pointers], chosen, rest)
        if state.unspecified is None:
            return
        if chosen is None:
            forget(state, result)
        elif other is None:
            leave_unspecified(state, operation, result, storage.number, ~np.asanyarray(chosen))
        else:
            pad_with(state, other, result, ~np.asanyarray(chosen))

    return step


def store(operation: Any, compiler: Compiler) -> Step:
    """The handler of what has `ptr` and `value`, and may have a `mask`."""
    if shape_of_type(pointee_of(operation.ptr.type)):
        return _store_block(operation, compiler)
    pointers, value = compiler.slots((operation.ptr, operation.value))
    mask = optional_slot(operation.mask, compiler)
    writer = Writer(operation, pointee_storage(operation.ptr))

    def step(state: State) -> None:
        values = state.values
        chosen = None if mask is None else values[mask]
        if state.unspecified:
            reach_positions(state, operation, pointers, mask)
            reach(state, operation, value, STORED, ALL if mask is None else np.asanyarray(chosen))
        writer.write(state, values[pointers], values[value], chosen)

    return step


@dataclass(frozen=True, slots=True)
class BlockPointer:
    """A pointer to a block of a tensor in memory.

    Attributes:
        address: Of the tensor's first element, in bytes.
        sizes: Of the tensor, in elements.
        strides: In elements.
        offsets: Of the block's first element in the tensor.
    """

    address: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offsets: tuple[int, ...]


def addresses_in(
    address: int, strides: Sequence[int], indices: Sequence[Array], size: int
) -> Array:
    """The addresses of a tensor's elements.

    Args:
        address: Of the first element, in bytes.
        strides: In elements.
        indices: Along each dimension; they broadcast to the result's shape.
        size: Bytes of an element.
    """
    found: Array = np.asanyarray(np.int64(address))
    for stride, index in zip(strides, indices, strict=True):
        found = found + index * np.int64(stride * size)
    return found


def inside_of(sizes: Sequence[int], indices: Sequence[Array], dimensions: Sequence[int]) -> Array:
    """Which indices lie inside of a tensor in some dimensions."""
    inside: Array = np.asanyarray(np.True_)
    for dimension in dimensions:
        index = indices[dimension]
        inside = inside & (index >= 0) & (index < sizes[dimension])
    return inside


def block_indices(offsets: Sequence[int], shape: Sequence[int]) -> list[Array]:
    """The indices of a block's elements along each dimension, ready to be broadcast."""
    return list(np.ix_(*(np.arange(o, o + n) for o, n in zip(offsets, shape, strict=True))))


PADDINGS = {PaddingOption.ZERO: 0.0, PaddingOption.NAN: float("nan")}
"""What is loaded from outside of a tensor."""


class _Block:
    """An operation's access through a pointer to a block."""

    def __init__(self, operation: Any, compiler: Compiler) -> None:
        self._pointer = compiler.slot(operation.ptr)
        block = pointee_of(operation.ptr.type)
        self.shape, self.storage = shape_of_type(block), storage_of(element_of(block))
        self._checked = integers_property(operation, "boundaryCheck")

    def pointers(self, state: State) -> tuple[Array, Array]:
        """The addresses of the elements, and which of them are accessed."""
        pointer: BlockPointer = state.values[self._pointer]
        indices = block_indices(pointer.offsets, self.shape)
        inside = np.broadcast_to(inside_of(pointer.sizes, indices, self._checked), self.shape)
        size = self.storage.step
        return addresses_in(pointer.address, pointer.strides, indices, size), inside


def _load_block(operation: Any, compiler: Compiler) -> Step:
    block, result = _Block(operation, compiler), compiler.slot(operation.result)
    number = block.storage.number
    reader = Reader(operation, block.storage, block.shape)
    padding = integer_property(operation, "padding")
    other = number.number(PADDINGS[PaddingOption(padding)]) if padding else None

    def step(state: State) -> None:
        pointers, inside = block.pointers(state)
        state.values[result] = reader.read(state, pointers, inside, other)
        if state.unspecified is None:
            return
        if other is None:
            leave_unspecified(state, operation, result, number, ~inside)
        else:
            forget(state, result)

    return step


def _store_block(operation: Any, compiler: Compiler) -> Step:
    block, value = _Block(operation, compiler), compiler.slot(operation.value)
    writer = Writer(operation, block.storage)

    def step(state: State) -> None:
        pointers, inside = block.pointers(state)
        if state.unspecified:
            reach(state, operation, value, STORED, inside)
        writer.write(state, pointers, state.values[value], inside)

    return step


def _make_tensor_ptr(operation: Any, compiler: Compiler) -> Step:
    base, result = compiler.slots((operation.base, operation.result))
    groups = (operation.shape, operation.strides, operation.offsets)
    shape, strides, offsets = (compiler.slots(each) for each in groups)

    def step(state: State) -> None:
        values = state.values
        given = (tuple(int(values[slot]) for slot in slots) for slots in (shape, strides, offsets))
        values[result] = BlockPointer(int(values[base]), *given)

    return step


def _advance(operation: Any, compiler: Compiler) -> Step:
    pointer, result = compiler.slots((operation.ptr, operation.result))
    offsets = compiler.slots(operation.offsets)

    def step(state: State) -> None:
        values = state.values
        old: BlockPointer = values[pointer]
        moves = (int(values[slot]) for slot in offsets)
        moved = tuple(offset + move for offset, move in zip(old.offsets, moves, strict=True))
        values[result] = replace(old, offsets=moved)

    return step


HANDLERS: dict[str, Handler] = {
    "tt.advance": _advance,
    "tt.load": load,
    "tt.make_tensor_ptr": _make_tensor_ptr,
    "tt.store": store,
}
"""The handler of each operation, by name."""
