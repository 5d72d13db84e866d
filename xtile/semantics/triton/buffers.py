"""Buffer operations: accesses through one pointer and a tensor of offsets in elements.

An offset is 32 bits of bytes for the hardware, which leaves out what lies outside of 2 GiB. A load
without `other` gives 0 where its mask is false: so does the hardware, and Triton relies on it.

Source: Triton 3.9, `TritonAMDGPUOps.td`; AMD, "CDNA3 Instruction Set Architecture" (buffer
resources).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.promises import element_position, report_broken_promise
from xtile.semantics.state import State
from xtile.semantics.storage import Storage
from xtile.semantics.triton.atomics import (
    Updater,
    exchange_where_equal,
    leave_masked,
    update_of,
)
from xtile.semantics.triton.copies import Copy
from xtile.semantics.triton.memory import Reader, Writer
from xtile.semantics.triton.tensors import (
    integer_property,
    optional_slot,
    pointee_storage,
    shape_of,
)
from xtile.semantics.unspecified import (
    ALL,
    STORED,
    forget,
    pad_with,
    reach,
    reach_positions,
)
from xtile.semantics.values import Array, Value

_LARGEST = 2**31 - 1
"""The bytes that a buffer has."""


class _Buffer:
    """The pointer, the offsets and the mask of a buffer operation."""

    def __init__(self, operation: Any, compiler: Compiler) -> None:
        self._operation = operation
        self.storage: Storage = pointee_storage(operation.ptr)
        self._pointer, self._offsets = compiler.slots((operation.ptr, operation.offsets))
        self._mask = optional_slot(getattr(operation, "mask", None), compiler)
        self._contiguity = integer_property(operation, "contiguity", 1)

    def mask(self, state: State) -> Value:
        """Which elements are accessed; None: all."""
        return None if self._mask is None else state.values[self._mask]

    def pointers(self, state: State) -> Array:
        """The addresses of the elements.

        Raises:
            UnlocatedError: An offset does not fit into what the hardware has for it.
        """
        if state.unspecified:
            reach_positions(state, self._operation, self._offsets, self._mask)
        mask, offsets = self.mask(state), np.asanyarray(state.values[self._offsets])
        size = self.storage.step
        distance = offsets.astype(np.int64) * size
        outside = (distance < 0) | (distance + size - 1 > _LARGEST)
        if mask is not None:
            outside = outside & mask
        if outside.any():
            at = int(outside.argmax())
            raise UnlocatedError(
                f"the offset {np.ravel(offsets)[at]} of {element_position(at, offsets.shape)} is "
                f"{np.ravel(distance)[at]} bytes, but a buffer operation reaches from 0 to "
                f"{_LARGEST} bytes: the hardware would leave it out"
            )
        if state.observer is not None and self._contiguity > 1:
            self._check_contiguity(state, offsets, mask)
        return state.values[self._pointer] + distance

    def _check_contiguity(self, state: State, offsets: Array, mask: Value) -> None:
        """Checks that elements are accessed together along some dimension."""
        count = self._contiguity
        broken = [
            _not_together(np.moveaxis(offsets, axis, -1), _moved(mask, axis), count)
            for axis in range(offsets.ndim)
            if offsets.shape[axis] % count == 0
        ]
        if not broken or all(each.any() for each in broken):
            message = f"contiguity = {count} is promised, but does not hold"
            shown = broken[-1] if broken else np.ones(offsets.shape, np.bool_)
            report_broken_promise(state, self._operation, shown, message)

    def tell_of_values(self, state: State, slot: int) -> None:
        """Tells the observer if what is stored depends on something unspecified."""
        if state.unspecified:
            chosen = ALL if self._mask is None else np.asanyarray(self.mask(state))
            reach(state, self._operation, slot, STORED, chosen)


def _moved(mask: Value, axis: int) -> Value:
    return None if mask is None else np.moveaxis(np.asanyarray(mask), axis, -1)


def _not_together(offsets: Array, mask: Value, count: int) -> Array:
    """Which elements that are accessed do not follow those of their group.

    A mask may cut a group: Triton then makes the access shorter by what it knows of the mask, which
    is nothing that the operation promises. Source: Triton 3.9, `LoadStoreOpToLLVM.cpp`,
    `getMaskElemsAndUpdateVeclen`.
    """
    groups = offsets.reshape(*offsets.shape[:-1], -1, count)
    begins = groups - np.arange(count)
    if mask is None:
        return (begins != begins[..., :1]).reshape(offsets.shape)
    masks = mask.reshape(groups.shape)
    first = np.take_along_axis(begins, masks.argmax(-1, keepdims=True), -1)
    return ((begins != first) & masks).reshape(offsets.shape)


def _buffer_load(operation: Any, compiler: Compiler) -> Step:
    buffer, result = _Buffer(operation, compiler), compiler.slot(operation.result)
    other = optional_slot(operation.other, compiler)
    reader = Reader(operation, buffer.storage, shape_of(operation.result))
    zero = buffer.storage.number.number(0)

    def step(state: State) -> None:
        mask, rest = buffer.mask(state), zero if other is None else state.values[other]
        state.values[result] = reader.read(state, buffer.pointers(state), mask, rest)
        if state.unspecified is None:
            return
        if mask is None or other is None:
            forget(state, result)
        else:
            pad_with(state, other, result, ~np.asanyarray(mask))

    return step


def _buffer_store(operation: Any, compiler: Compiler) -> Step:
    buffer, value = _Buffer(operation, compiler), compiler.slot(operation.value)
    writer = Writer(operation, buffer.storage)

    def step(state: State) -> None:
        buffer.tell_of_values(state, value)
        pointers = buffer.pointers(state)
        writer.write(state, pointers, state.values[value], buffer.mask(state))

    return step


def _buffer_load_to_local(operation: Any, compiler: Compiler) -> Step:
    buffer = _Buffer(operation, compiler)
    zero = buffer.storage.number.number(0)
    copy = Copy(operation, operation.dest, compiler, zero)

    def step(state: State) -> None:
        copy.run(state, buffer.pointers(state))

    return step


def _buffer_atomic_rmw(operation: Any, compiler: Compiler) -> Step:
    buffer, result = _Buffer(operation, compiler), compiler.slot(operation.result)
    value, number = compiler.slot(operation.value), buffer.storage.number
    function = update_of(operation, number)
    updater = Updater(operation, buffer.storage, shape_of(operation.result))

    def step(state: State) -> None:
        buffer.tell_of_values(state, value)
        pointers, mask = buffer.pointers(state), buffer.mask(state)
        operands = np.ravel(state.values[value])
        state.values[result] = updater.update(state, pointers, mask, operands, function)
        leave_masked(state, operation, result, number, mask)

    return step


def _buffer_atomic_cas(operation: Any, compiler: Compiler) -> Step:
    buffer, result = _Buffer(operation, compiler), compiler.slot(operation.result)
    wanted, new = compiler.slots((operation.cmp, operation.val))
    number = buffer.storage.number
    updater = Updater(operation, buffer.storage, shape_of(operation.result))

    def step(state: State) -> None:
        values = state.values
        for slot in (wanted, new):
            buffer.tell_of_values(state, slot)
        operands, function = exchange_where_equal(values[wanted], values[new], number)
        stored = np.ravel(values[new])
        pointers = buffer.pointers(state)
        values[result] = updater.update(state, pointers, None, operands, function, stored)
        leave_masked(state, operation, result, number, None)

    return step


HANDLERS: dict[str, Handler] = {
    "amdg.buffer_atomic_cas": _buffer_atomic_cas,
    "amdg.buffer_atomic_rmw": _buffer_atomic_rmw,
    "amdg.buffer_load": _buffer_load,
    "amdg.buffer_load_to_local": _buffer_load_to_local,
    "amdg.buffer_store": _buffer_store,
}
"""The handler of each operation, by name."""
