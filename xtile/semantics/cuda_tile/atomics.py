"""Atomic updates: `atomic_rmw_tko`, `atomic_cas_tko`, `atomic_red_view_tko`.

The elements of a tile are updated one after another, in row-major order.

Source: CUDA Tile IR specification, "Operations", "Atomics"; NVIDIA/cuda-tile 13.3.0, `Ops.td`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.ir import Operation

from xtile.dialects.cuda_tile.enumerations import AtomicRMWMode
from xtile.dialects.cuda_tile.ops.atomics import (
    AtomicCASTkoOp,
    AtomicRedViewTkoOp,
    AtomicRMWTkoOp,
)
from xtile.semantics import access
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.cuda_tile.memory import optional_slot, pointee_storage
from xtile.semantics.cuda_tile.numbers import shape_of
from xtile.semantics.cuda_tile.ordering import Ordering
from xtile.semantics.cuda_tile.views import TileAccess
from xtile.semantics.observer import kind_of_update
from xtile.semantics.positions import positions_of
from xtile.semantics.state import State
from xtile.semantics.storage import check_writable, to_bits
from xtile.semantics.unspecified import (
    ALL,
    STORED,
    leave_unspecified,
    pad_with,
    reach,
    reach_positions,
)
from xtile.semantics.upstream import floats, integers
from xtile.semantics.upstream.constants import word_attribute
from xtile.semantics.upstream.numbers import Number
from xtile.semantics.values import Array, Value, choose

_Update = Callable[[Value, Value], Value]


def _exchange(number: Number) -> _Update:
    return lambda old, value: value


_UPDATES: dict[AtomicRMWMode, Callable[[Number], _Update]] = {
    AtomicRMWMode.AND: integers.BINARY["andi"],
    AtomicRMWMode.OR: integers.BINARY["ori"],
    AtomicRMWMode.XOR: integers.BINARY["xori"],
    AtomicRMWMode.ADD: integers.BINARY["addi"],
    AtomicRMWMode.ADDF: floats.BINARY["addf"],
    AtomicRMWMode.MAX: integers.BINARY["maxsi"],
    AtomicRMWMode.MIN: integers.BINARY["minsi"],
    AtomicRMWMode.UMAX: integers.BINARY["maxui"],
    AtomicRMWMode.UMIN: integers.BINARY["minui"],
    AtomicRMWMode.XCHG: _exchange,
}
"""What an atomic update of each mode stores, given the old value and the operand."""


def _update(operation: Operation, number: Number) -> _Update:
    mode = AtomicRMWMode(word_attribute(operation, "mode", tuple(AtomicRMWMode)))
    return _UPDATES[mode](number)


def _atomic_rmw(operation: AtomicRMWTkoOp, compiler: Compiler) -> Step:
    storage = pointee_storage(operation.pointers)
    function = _update(operation, storage.number)
    argument = compiler.slot(operation.arg)
    return _through_pointers(
        operation,
        compiler,
        lambda state: (np.ravel(state.values[argument]), function),
        (argument,),
        None,
        None,
    )


def _atomic_cas(operation: AtomicCASTkoOp, compiler: Compiler) -> Step:
    number = pointee_storage(operation.pointers).number
    compared, value = compiler.slots((operation.cmp, operation.val))

    def updates(state: State) -> tuple[Array, _Update]:
        wanted = np.ravel(to_bits(state.values[compared], number))
        new = np.ravel(state.values[value])

        def update(old: Value, which: Array) -> Value:
            return choose(to_bits(old, number) == wanted[which], new[which], old)

        return np.arange(new.size), update

    return _through_pointers(operation, compiler, updates, (compared, value), compared, value)


def _through_pointers(
    operation: AtomicRMWTkoOp | AtomicCASTkoOp,
    compiler: Compiler,
    updates: Callable[[State], tuple[Array, _Update]],
    given: Sequence[int],
    unchanged: int | None,
    new: int | None,
) -> Step:
    """Updates what pointers point to, and gives what was there.

    Args:
        operation: The operation.
        compiler: Compiles it.
        updates: Gives an operand for each element, and the update that takes it.
        given: Where the operands are that the update depends on.
        unchanged: What the result is where the mask is false; None: anything.
        new: Where the values are that it stores; None: they depend on what was there.
    """
    storage = pointee_storage(operation.pointers)
    ordering, kind = Ordering(operation, compiler), kind_of_update(operation)
    pointers, result = compiler.slots((operation.pointers, operation.result))
    mask = optional_slot(operation.mask, compiler)
    shape = shape_of(operation.result)

    def step(state: State) -> None:
        values = state.values
        chosen = None if mask is None else values[mask]
        if state.unspecified:
            reach_positions(state, operation, pointers, mask)
            for slot in given:
                matters = ALL if chosen is None else np.asanyarray(chosen)
                reach(state, operation, slot, STORED, matters)
        positions = list(positions_of(values[pointers], chosen, storage, state.addresses))
        stored = None if new is None else np.ravel(values[new])
        ordering.observe(state, kind, positions, storage, stored)
        operands, function = updates(state)
        old = storage.undefined((operands.size,))
        if unchanged is not None:
            old[...] = np.ravel(values[unchanged])
        for position in positions:
            check_writable(position.buffer)
            old[position.chosen] = access.update(
                position.buffer, position.elements, operands[position.chosen], function
            )
        values[result] = old.reshape(shape)[()]
        if state.unspecified is None:
            return
        missing = np.zeros(shape, np.bool_) if chosen is None else ~np.asanyarray(chosen)
        if unchanged is None:
            leave_unspecified(state, operation, result, storage.number, missing)
        else:
            pad_with(state, unchanged, result, missing)

    return step


def _atomic_red_view(operation: AtomicRedViewTkoOp, compiler: Compiler) -> Step:
    tile = TileAccess(operation, compiler)
    ordering, kind = Ordering(operation, compiler), kind_of_update(operation)
    function = _update(operation, tile.storage.number)
    value = compiler.slot(operation.value)

    def step(state: State) -> None:
        tensor, box = tile.tensor_and_box(state)
        if box is None:
            ordering.observe(state, kind, (), tile.storage)
            return
        position = box.position(tensor, tile.storage, state.addresses)
        ordering.observe(state, kind, (position,), tile.storage)
        check_writable(position.buffer)
        if state.unspecified:
            reach(state, operation, value, STORED, box.kept)
        operands = np.asanyarray(state.values[value])[box.kept]
        access.update(position.buffer, position.elements.ravel(), operands.ravel(), function)

    return step


HANDLERS: dict[str, Handler] = {
    "cuda_tile.atomic_cas_tko": _atomic_cas,
    "cuda_tile.atomic_red_view_tko": _atomic_red_view,
    "cuda_tile.atomic_rmw_tko": _atomic_rmw,
}
"""The handler of each operation, by name."""
