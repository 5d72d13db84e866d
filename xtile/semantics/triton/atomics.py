"""Atomic accesses through pointers.

The elements of a tensor are updated one after another, in row-major order.

Source: Triton 3.9, `TritonOps.td`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from xtile.dialects.triton.tt.enumerations import RMWOp
from xtile.semantics import access
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.observer import kind_of_update
from xtile.semantics.positions import positions_of
from xtile.semantics.state import State
from xtile.semantics.storage import Storage, check_writable, to_bits
from xtile.semantics.triton.accesses import Accesses
from xtile.semantics.triton.memory import Reader, load, store
from xtile.semantics.triton.tensors import (
    integer_property,
    optional_slot,
    pointee_storage,
    shape_of,
)
from xtile.semantics.unspecified import ALL, STORED, leave_unspecified, reach, reach_positions
from xtile.semantics.upstream import floats, integers
from xtile.semantics.upstream.numbers import Kind, Number
from xtile.semantics.values import Array, Value, choose

Update: TypeAlias = Callable[[Value, Value], Value]
"""What an update stores, given what is there and the operand."""


def _exchange(number: Number) -> Update:
    return lambda old, value: value


_UPDATES: dict[RMWOp, Callable[[Number], Update]] = {
    RMWOp.AND: integers.BINARY["andi"],
    RMWOp.OR: integers.BINARY["ori"],
    RMWOp.XOR: integers.BINARY["xori"],
    RMWOp.ADD: integers.BINARY["addi"],
    RMWOp.FADD: floats.BINARY["addf"],
    RMWOp.MAX: integers.BINARY["maxsi"],
    RMWOp.MIN: integers.BINARY["minsi"],
    RMWOp.UMAX: integers.BINARY["maxui"],
    RMWOp.UMIN: integers.BINARY["minui"],
    RMWOp.EXCH: _exchange,
}

_OF_ALL_NUMBERS = (RMWOp.EXCH,)


def update_of(operation: Any, number: Number) -> Update:
    """The update of an operation with `atomic_rmw_op`.

    Raises:
        ValueError: There is none for numbers of that kind.
    """
    kind = RMWOp(integer_property(operation, "atomic_rmw_op"))
    is_of_floats = kind is RMWOp.FADD
    if kind not in _OF_ALL_NUMBERS and is_of_floats != (number.kind is Kind.FLOAT):
        raise ValueError(f"there is no atomic update {kind.name.lower()} of {number.text}")
    return _UPDATES[kind](number)


class Updater:
    """Updates elements at addresses for an operation."""

    def __init__(self, operation: Any, storage: Storage, shape: tuple[int, ...]) -> None:
        self._accesses, self._kind = Accesses(operation), kind_of_update(operation)
        self._storage = storage
        self._shape = shape

    def update(
        self,
        state: State,
        pointers: Value,
        mask: Value,
        operands: Array,
        function: Update,
        stored: Array | None = None,
    ) -> Value:
        """Updates the elements where a mask, if any, is true; returns what was there.

        Args:
            state: What runs.
            pointers: The addresses.
            mask: Which elements are updated; None: all.
            operands: A number for each element, in row-major order.
            function: The update.
            stored: What is stored where anything is, if that is known.

        Raises:
            UnlocatedError: An address where the mask is true belongs to no memory.
        """
        storage = self._storage
        positions = list(positions_of(pointers, mask, storage, state.addresses))
        self._accesses.tell(state, self._kind, positions, storage, stored)
        old = storage.undefined((operands.size,))
        for position in positions:
            check_writable(position.buffer)
            old[position.chosen] = storage.decoded(
                access.update(
                    position.buffer, position.elements, operands[position.chosen], function
                )
            )
        return old.reshape(self._shape)[()]


def atomic_rmw(operation: Any, compiler: Compiler) -> Step:
    """The handler of what updates what `ptr` points to with `val`."""
    storage = pointee_storage(operation.ptr)
    function = update_of(operation, storage.number)
    pointers, value = compiler.slots((operation.ptr, operation.val))
    result, mask = compiler.slot(operation.result), optional_slot(operation.mask, compiler)
    updater = Updater(operation, storage, shape_of(operation.result))

    def step(state: State) -> None:
        values = state.values
        chosen = None if mask is None else values[mask]
        tell_of_unspecified(state, operation, (pointers, mask), (value,))
        operands = np.ravel(values[value])
        values[result] = updater.update(state, values[pointers], chosen, operands, function)
        leave_masked(state, operation, result, storage.number, chosen)

    return step


def tell_of_unspecified(
    state: State, operation: Any, where: tuple[int, int | None], given: Sequence[int]
) -> None:
    """Tells the observer if an update depends on something unspecified.

    Args:
        state: What runs.
        operation: The operation.
        where: The slots of the pointers and the mask.
        given: The slots of what the update depends on.
    """
    if not state.unspecified:
        return
    pointers, mask = where
    reach_positions(state, operation, pointers, mask)
    for slot in given:
        chosen = ALL if mask is None else np.asanyarray(state.values[mask])
        reach(state, operation, slot, STORED, chosen)


def leave_masked(state: State, operation: Any, result: int, number: Number, mask: Value) -> None:
    """Says that a result is unspecified where a mask is false."""
    if state.unspecified is not None:
        shape = np.shape(state.values[result])
        missing = np.zeros(shape, np.bool_) if mask is None else ~np.asanyarray(mask)
        leave_unspecified(state, operation, result, number, missing)


def exchange_where_equal(wanted: Value, new: Value, number: Number) -> tuple[Array, Update]:
    """The operands and the update that compares bits and then exchanges."""
    bits, values = np.ravel(to_bits(wanted, number)), np.ravel(new)

    def update(old: Value, which: Array) -> Value:
        return choose(to_bits(old, number) == bits[which], values[which], old)

    return np.arange(values.size), update


def _atomic_cas(operation: Any, compiler: Compiler) -> Step:
    storage = pointee_storage(operation.ptr)
    pointers, wanted, new = compiler.slots((operation.ptr, operation.cmp, operation.val))
    result = compiler.slot(operation.result)
    updater = Updater(operation, storage, shape_of(operation.result))

    def step(state: State) -> None:
        values = state.values
        tell_of_unspecified(state, operation, (pointers, None), (wanted, new))
        operands, function = exchange_where_equal(values[wanted], values[new], storage.number)
        stored = np.ravel(values[new])
        values[result] = updater.update(state, values[pointers], None, operands, function, stored)
        leave_masked(state, operation, result, storage.number, None)

    return step


def _atomic_poll(operation: Any, compiler: Compiler) -> Step:
    """Programs run one after another, so what is not there yet does not come."""
    storage = pointee_storage(operation.ptr)
    pointers, expected = compiler.slots((operation.ptr, operation.expected))
    result = compiler.slot(operation.result)
    reader = Reader(operation, storage, shape_of(operation.result))
    may_end = operation.timeout is not None

    def step(state: State) -> None:
        values = state.values
        found = reader.read(state, values[pointers], None, None)
        holds = found == values[expected]
        if not may_end and not np.all(holds):
            raise UnlocatedError(
                "the program waits for a value that no program before it has written; programs "
                "run one after another here, in the order of the grid"
            )
        values[result] = holds

    return step


HANDLERS: dict[str, Handler] = {
    "tt.atomic_cas": _atomic_cas,
    "tt.atomic_load": load,
    "tt.atomic_poll": _atomic_poll,
    "tt.atomic_rmw": atomic_rmw,
    "tt.atomic_store": store,
}
"""The handler of each operation, by name."""
