"""Memory that the threads of a program share, and views of it.

Its elements lie in row-major order of what was allocated, whatever layout the type says: that shows
only where memory is seen as elements of another type.

Source: Triton 3.9, `TritonGPUOps.td`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from xtile.semantics import access
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.memory import Buffer
from xtile.semantics.observer import AccessKind, IntArray, kind_of_update
from xtile.semantics.ordering import Token
from xtile.semantics.positions import ALL, Position
from xtile.semantics.state import State
from xtile.semantics.storage import Storage, storage_of
from xtile.semantics.triton.accesses import Accesses
from xtile.semantics.triton.atomics import leave_masked, update_of
from xtile.semantics.triton.products import unpacked_halves
from xtile.semantics.triton.shapes import along, check_indices
from xtile.semantics.triton.tensors import (
    integer_property,
    integers_property,
    number_in,
    optional_slot,
    shape_of,
)
from xtile.semantics.unspecified import STORED, reach
from xtile.semantics.upstream.allocation import name_of, undefined
from xtile.semantics.values import Array, Value, contiguous


@dataclass(frozen=True, slots=True)
class MemDesc:
    """A view of shared memory.

    Attributes:
        buffer: The memory.
        elements: Where in the buffer each element of the view is; of the view's shape.
    """

    buffer: Buffer
    elements: IntArray

    def position(self, chosen: Any = ...) -> Position:
        """Where elements of the view are, as a flat tensor has them."""
        return Position(self.buffer, np.ravel(self.elements[chosen]), ALL)


class SharedAccess:
    """An operation's accesses to shared memory of a type of elements."""

    def __init__(self, operation: Any, storage: Storage) -> None:
        self._accesses = Accesses(operation)
        self.storage = storage

    def read(self, state: State, memory: MemDesc, chosen: Any = ...) -> Array:
        """Some elements of a view, by default all."""
        found, token = self.begin_read(state, memory, chosen)
        state.before = state.before.joined(token)
        return found

    def begin_read(self, state: State, memory: MemDesc, chosen: Any = ...) -> tuple[Array, Token]:
        """As `read`; the program does not know that it is done before it has waited."""
        position = memory.position(chosen)
        token = self._accesses.begin(state, AccessKind.READ, (position,), self.storage)
        found = self.storage.read(position.buffer, position.elements)
        return found.reshape(memory.elements[chosen].shape), token

    def write(self, state: State, memory: MemDesc, values: Value, chosen: Any = ...) -> None:
        """Writes some elements of a view, by default all."""
        state.before = state.before.joined(self.begin(state, memory, values, chosen))

    def begin(self, state: State, memory: MemDesc, values: Value, chosen: Any = ...) -> Token:
        """As `write`; the program does not know that it is done before it has waited."""
        position, stored = memory.position(chosen), np.ravel(values)
        token = self._accesses.begin(state, AccessKind.WRITE, (position,), self.storage, stored)
        self.storage.write(position.buffer, position.elements, stored)
        return token


def _local_alloc(operation: Any, compiler: Compiler) -> Step:
    type_, result = operation.result.type, compiler.slot(operation.result)
    shape: tuple[int, ...] = tuple(type_.get_shape())
    memory = SharedAccess(operation, storage_of(type_.element_type))
    source, name = optional_slot(operation.src, compiler), name_of(operation.result)
    count = int(np.prod(shape))

    def step(state: State) -> None:
        data = undefined(count, memory.storage.dtype)
        buffer = Buffer(data, name, is_local=True, is_initialized=False)
        if state.observer is not None:
            state.observer.on_alloca(operation, buffer)
        made = MemDesc(buffer, np.arange(count).reshape(shape))
        state.values[result] = made
        if source is not None:
            reach(state, operation, source, STORED)
            memory.write(state, made, state.values[source])

    return step


def _local_dealloc(operation: Any, compiler: Compiler) -> Step:
    source = compiler.slot(operation.src)

    def step(state: State) -> None:
        memory: MemDesc = state.values[source]
        if state.observer is not None:
            state.observer.on_lifetime_stop(operation, memory.buffer)
        memory.buffer.free()

    return step


def _local_load(operation: Any, compiler: Compiler) -> Step:
    memory = SharedAccess(operation, storage_of(operation.src.type.element_type))
    source, result = compiler.slots((operation.src, operation.result))

    def step(state: State) -> None:
        state.values[result] = memory.read(state, state.values[source])

    return step


def _local_store(operation: Any, compiler: Compiler) -> Step:
    memory = SharedAccess(operation, storage_of(operation.dst.type.element_type))
    source, target = compiler.slots((operation.src, operation.dst))

    def step(state: State) -> None:
        reach(state, operation, source, STORED)
        memory.write(state, state.values[target], state.values[source])

    return step


class _Indexed:
    """Elements of shared memory at indices along an axis."""

    def __init__(self, operation: Any, memory: Any, compiler: Compiler) -> None:
        self._memory, self._indices = compiler.slots((memory, operation.indices))
        self._number = number_in(operation.indices)
        self._axis = integer_property(operation, "axis")

    def memory_and_index(self, state: State) -> tuple[MemDesc, tuple[Any, ...]]:
        """The view, and the multi-index of each element.

        Raises:
            UnlocatedError: An index lies outside.
        """
        memory: MemDesc = state.values[self._memory]
        indices = self._number.unsigned(np.asanyarray(state.values[self._indices])).astype(np.int64)
        check_indices(indices, memory.elements.shape[self._axis], self._axis)
        return memory, along(indices, self._axis)


def _local_gather(operation: Any, compiler: Compiler) -> Step:
    memory = SharedAccess(operation, storage_of(operation.src.type.element_type))
    indexed, result = _Indexed(operation, operation.src, compiler), compiler.slot(operation.result)

    def step(state: State) -> None:
        state.values[result] = memory.read(state, *indexed.memory_and_index(state))

    return step


def _local_scatter(operation: Any, compiler: Compiler) -> Step:
    memory = SharedAccess(operation, storage_of(operation.dst.type.element_type))
    indexed, source = _Indexed(operation, operation.dst, compiler), compiler.slot(operation.values)

    def step(state: State) -> None:
        reach(state, operation, source, STORED)
        target, index = indexed.memory_and_index(state)
        memory.write(state, target, state.values[source], index)

    return step


def _local_atomic_scatter(operation: Any, compiler: Compiler) -> Step:
    storage = storage_of(operation.dst.type.element_type)
    indexed, source = _Indexed(operation, operation.dst, compiler), compiler.slot(operation.values)
    result, mask = compiler.slot(operation.result), optional_slot(operation.mask, compiler)
    function, accesses = update_of(operation, storage.number), Accesses(operation)
    kind = kind_of_update(operation)

    def step(state: State) -> None:
        values = state.values
        target, index = indexed.memory_and_index(state)
        elements = target.elements[index]
        chosen = np.ones(elements.shape, np.bool_) if mask is None else np.asanyarray(values[mask])
        position = Position(target.buffer, elements[chosen], ALL)
        accesses.tell(state, kind, (position,), storage)
        old = storage.undefined(elements.shape)
        operands = np.asanyarray(values[source])[chosen]
        old[chosen] = access.update(target.buffer, position.elements, operands, function)
        values[result] = old
        leave_masked(state, operation, result, storage.number, chosen)

    return step


def _view(operation: Any, compiler: Compiler, function: Callable[[IntArray], IntArray]) -> Step:
    """The step that gives another view of the same elements."""
    source, result = compiler.slots((operation.operands[0], operation.results[0]))

    def step(state: State) -> None:
        memory: MemDesc = state.values[source]
        state.values[result] = MemDesc(memory.buffer, function(memory.elements))

    return step


def _memdesc_index(operation: Any, compiler: Compiler) -> Step:
    source, index = compiler.slots((operation.src, operation.index))
    result = compiler.slot(operation.result)

    def step(state: State) -> None:
        memory: MemDesc = state.values[source]
        number, size = int(state.values[index]), memory.elements.shape[0]
        if not 0 <= number < size:
            raise UnlocatedError(f"the index {number} lies outside of {size} parts of the memory")
        state.values[result] = MemDesc(memory.buffer, memory.elements[number])

    return step


def _memdesc_subview(operation: Any, compiler: Compiler) -> Step:
    """A part, of which the first dimensions may be left out where they have one element."""
    source, *offsets = compiler.slots(operation.operands)
    result, shape = compiler.slot(operation.result), tuple(operation.result.type.get_shape())

    def step(state: State) -> None:
        memory: MemDesc = state.values[source]
        starts = [int(state.values[slot]) for slot in offsets]
        sizes = (1,) * (len(starts) - len(shape)) + shape
        part = _part(memory.elements, starts, sizes)
        state.values[result] = MemDesc(memory.buffer, part.reshape(shape))

    return step


def _part(elements: IntArray, starts: Any, sizes: tuple[int, ...]) -> IntArray:
    """Some of a view's elements.

    Raises:
        UnlocatedError: There are no such.
    """
    for dimension, (start, size) in enumerate(zip(starts, sizes, strict=True)):
        whole = elements.shape[dimension]
        if start < 0 or start + size > whole:
            raise UnlocatedError(
                f"{size} elements from {start} on lie outside of dimension {dimension}, which has "
                f"size {whole}"
            )
    return elements[tuple(slice(s, s + size) for s, size in zip(starts, sizes, strict=True))]


def _memdesc_subslice(operation: Any, compiler: Compiler) -> Step:
    offsets = integers_property(operation, "offsets")
    shape = tuple(operation.result.type.get_shape())
    return _view(operation, compiler, lambda elements: _part(elements, offsets, shape))


def _memdesc_trans(operation: Any, compiler: Compiler) -> Step:
    order = integers_property(operation, "order")
    return _view(operation, compiler, lambda elements: elements.transpose(order))


def _memdesc_reshape(operation: Any, compiler: Compiler) -> Step:
    shape = tuple(operation.result.type.get_shape())
    return _view(operation, compiler, lambda elements: elements.reshape(shape))


def _memdesc_reinterpret(operation: Any, compiler: Compiler) -> Step:
    """The same bytes as elements of another type and shape."""
    source, result = compiler.slots((operation.src, operation.result))
    type_ = operation.result.type
    shape, storage = tuple(type_.get_shape()), storage_of(type_.element_type)
    count = int(np.prod(shape))

    def step(state: State) -> None:
        memory: MemDesc = state.values[source]
        flat = np.ravel(memory.elements)
        first = int(flat[0])
        if not np.array_equal(flat, np.arange(first, first + flat.size)):
            raise UnlocatedError(
                "only a view whose elements follow each other can be seen as elements of another "
                "type"
            )
        start = first * memory.buffer.data.dtype.itemsize
        size = storage.dtype.itemsize
        available = flat.size * memory.buffer.data.dtype.itemsize
        if start % size or count * size > available:
            raise UnlocatedError(f"{count * size} bytes are seen of a view that has {available}")
        elements = np.arange(start // size, start // size + count).reshape(shape)
        state.values[result] = MemDesc(memory.buffer.typed(storage.dtype), elements)

    return step


def _local_load_packed_transposed(operation: Any, compiler: Compiler) -> Step:
    """Numbers of four bits that are packed along one dimension, packed along the other."""
    memory = SharedAccess(operation, storage_of(operation.src.type.element_type))
    source, result = compiler.slots((operation.src, operation.result))
    # Along this dimension the memory has half of the result's size.
    axis = 0 if operation.src.type.get_shape()[0] < shape_of(operation.result)[0] else 1

    def step(state: State) -> None:
        found = memory.read(state, state.values[source])
        halves = np.moveaxis(unpacked_halves(found, axis), axis, 0)
        state.values[result] = _as_bytes(halves, axis)

    return step


def _as_bytes(halves: Array, axis: int) -> Array:
    """Numbers of four bits, the dimension `axis` of which is first, packed along the other one."""
    joined = halves[:, 0::2] | halves[:, 1::2] << np.uint8(4)
    return contiguous(np.moveaxis(joined, 0, axis)).view(np.int8)


HANDLERS: dict[str, Handler] = {
    "amdg.local_load_packed_transposed": _local_load_packed_transposed,
    "ttg.local_alloc": _local_alloc,
    "ttg.local_atomic_scatter_rmw": _local_atomic_scatter,
    "ttg.local_dealloc": _local_dealloc,
    "ttg.local_gather": _local_gather,
    "ttg.local_load": _local_load,
    "ttg.local_scatter": _local_scatter,
    "ttg.local_store": _local_store,
    "ttg.memdesc_index": _memdesc_index,
    "ttg.memdesc_reinterpret": _memdesc_reinterpret,
    "ttg.memdesc_reshape": _memdesc_reshape,
    "ttg.memdesc_subslice": _memdesc_subslice,
    "ttg.memdesc_subview": _memdesc_subview,
    "ttg.memdesc_trans": _memdesc_trans,
}
"""The handler of each operation, by name."""
