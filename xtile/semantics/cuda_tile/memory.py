"""Memory through pointers: `load_ptr_tko`, `store_ptr_tko`, `offset`, `alloca`, and tokens.

Source: CUDA Tile IR specification, "Operations", "Memory"; NVIDIA/cuda-tile 13.3.0, `Ops.td`.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from xdsl.ir import Operation, SSAValue

from xtile.dialects.cuda_tile.ops.memory import (
    AllocaOp,
    JoinTokensOp,
    LoadPtrTkoOp,
    StorePtrTkoOp,
)
from xtile.dialects.cuda_tile.types import PointerType
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.cuda_tile.numbers import operand_number, shape_of, tile_type
from xtile.semantics.cuda_tile.ordering import Ordering
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.memory import Buffer
from xtile.semantics.observer import AccessKind
from xtile.semantics.ordering import NOTHING, Token
from xtile.semantics.positions import positions_of
from xtile.semantics.state import State
from xtile.semantics.storage import Storage, storage_of
from xtile.semantics.unspecified import (
    ALL,
    STORED,
    forget,
    leave_unspecified,
    pad_with,
    reach,
    reach_positions,
)
from xtile.semantics.upstream.allocation import name_of, undefined
from xtile.semantics.upstream.constants import integer_attribute
from xtile.semantics.values import Array, copied, interpreted


def pointee_storage(pointers: SSAValue) -> Storage:
    """How the elements that a tile of pointers points to lie in memory.

    Raises:
        ValueError: The value is no tile of pointers.
    """
    pointer = tile_type(pointers).element_type
    if not isinstance(pointer, PointerType):
        raise ValueError(f"expected a tile of pointers, but got {pointers.type}")
    return storage_of(pointer.pointee_type)


def optional_slot(value: SSAValue | None, compiler: Compiler) -> int | None:
    """The slot of an operand that need not be there."""
    return None if value is None else compiler.slot(value)


def _load(operation: LoadPtrTkoOp, compiler: Compiler) -> Step:
    storage = pointee_storage(operation.source)
    ordering = Ordering(operation, compiler)
    source, result = compiler.slots((operation.source, operation.result))
    mask = optional_slot(operation.mask, compiler)
    padding = optional_slot(operation.padding_value, compiler)
    shape = shape_of(operation.result)

    def step(state: State) -> None:
        load(state)
        if state.unspecified is None:
            return
        if mask is None:
            forget(state, result)
            return
        missing = ~np.asanyarray(state.values[mask])
        if padding is None:
            leave_unspecified(state, operation, result, storage.number, missing)
        else:
            pad_with(state, padding, result, missing)

    def load(state: State) -> None:
        values = state.values
        chosen = None if mask is None else values[mask]
        if state.unspecified:
            reach_positions(state, operation, source, mask)
        positions = list(positions_of(values[source], chosen, storage, state.addresses))
        ordering.observe(state, AccessKind.READ, positions, storage)
        if mask is None and len(positions) == 1:
            (position,) = positions
            values[result] = storage.read(position.buffer, position.elements).reshape(shape)[()]
            return
        loaded = _filling(storage, shape, None if padding is None else values[padding])
        for position in positions:
            loaded[position.chosen] = storage.read(position.buffer, position.elements)
        values[result] = loaded.reshape(shape)[()]

    return step


def _filling(storage: Storage, shape: tuple[int, ...], padding: Array | None) -> Array:
    """What a load gives where it loads nothing, as a flat tile."""
    if padding is None:
        return storage.undefined((int(np.prod(shape)),))
    return interpreted(copied(np.broadcast_to(padding, shape)).ravel())


def _store(operation: StorePtrTkoOp, compiler: Compiler) -> Step:
    storage = pointee_storage(operation.destination)
    ordering = Ordering(operation, compiler)
    destination, value = compiler.slots((operation.destination, operation.value))
    mask = optional_slot(operation.mask, compiler)

    def step(state: State) -> None:
        values = state.values
        chosen = None if mask is None else values[mask]
        if state.unspecified:
            reach_positions(state, operation, destination, mask)
            reach(state, operation, value, STORED, ALL if chosen is None else np.asanyarray(chosen))
        positions = list(positions_of(values[destination], chosen, storage, state.addresses))
        stored = np.ravel(values[value])
        ordering.observe(state, AccessKind.WRITE, positions, storage, stored)
        for position in positions:
            storage.write(position.buffer, position.elements, stored[position.chosen])

    return step


def _offset(operation: Operation, compiler: Compiler) -> Step:
    step_size = np.int64(pointee_storage(operation.operands[0]).step)
    number = operand_number(operation, 1)
    pointers, offsets = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)

    def step(state: State) -> None:
        distance = number.signed(state.values[offsets]).astype(np.int64) * step_size
        state.values[result] = state.values[pointers] + distance

    return step


def _alloca(operation: AllocaOp, compiler: Compiler) -> Step:
    storage = pointee_storage(operation.result)
    count = integer_attribute(operation, "num_elem") or 0
    units = -(-count // 2) if storage.is_packed else count
    result = compiler.slot(operation.result)
    name = name_of(operation.result)
    is_local = operation.is_global is None
    scale = 2 if storage.is_packed else 1

    def step(state: State) -> None:
        try:
            data = undefined(units, storage.dtype)
        except (MemoryError, ValueError):
            raise UnlocatedError(f"{count} elements do not fit into memory") from None
        buffer = Buffer(data, name, is_local=is_local, is_initialized=False)
        # It is freed at the end of the block, which may be executed again.
        state.shared[operation] = buffer
        if state.observer is not None:
            state.observer.on_alloca(operation, buffer)
        state.values[result] = np.int64(scale * state.addresses.address_of(buffer))

    return step


def free(state: State, operation: Operation) -> None:
    """Ends the life of the memory of an `alloca`, if it was executed."""
    buffer = state.shared.pop(operation, None)
    if buffer is None:
        return
    if state.observer is not None:
        state.observer.on_lifetime_stop(operation, buffer)
    buffer.free()


def _make_token(operation: Operation, compiler: Compiler) -> Step:
    (result,) = compiler.slots(operation.results)

    def step(state: State) -> None:
        state.values[result] = None if state.observer is None else NOTHING

    return step


def _join_tokens(operation: JoinTokensOp, compiler: Compiler) -> Step:
    tokens = compiler.slots(operation.tokens)
    result = compiler.slot(operation.result)

    def step(state: State) -> None:
        if state.observer is None:
            state.values[result] = None
            return
        joined = NOTHING
        for token in tokens:
            joined = joined.joined(cast("Token", state.values[token]))
        state.values[result] = joined

    return step


def _pass_token(operation: Operation, compiler: Compiler) -> Step:
    """What only orders other operations: launches run alone, and memory has one address here."""
    tokens = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)

    def step(state: State) -> None:
        if state.observer is None:
            state.values[result] = None
        else:
            state.values[result] = state.values[tokens[0]] if tokens else NOTHING

    return step


HANDLERS: dict[str, Handler] = {
    "cuda_tile.alloca": _alloca,
    "cuda_tile.gdc_launch_dependents_tko": _pass_token,
    "cuda_tile.gdc_wait_tko": _pass_token,
    "cuda_tile.join_tokens": _join_tokens,
    "cuda_tile.load_ptr_tko": _load,
    "cuda_tile.make_token": _make_token,
    "cuda_tile.memory_fence_alias_tko": _pass_token,
    "cuda_tile.offset": _offset,
    "cuda_tile.store_ptr_tko": _store,
}
"""The handler of each operation, by name."""
