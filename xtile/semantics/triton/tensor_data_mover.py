"""Blocks and rows that gfx1250's tensor data mover copies between global and local memory.

A copy is done where it begins. An observer learns that it is over only after a wait, which counts
the copies of a program in their order. What lies outside of a tensor is read as 0, and not written.

Source: Triton 3.6 to 3.9, `third_party/amd`, `TritonAMDGPUOps.td` and `TDMUtility.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.ordering import NOTHING, Token
from xtile.semantics.state import State
from xtile.semantics.storage import Storage, storage_of
from xtile.semantics.triton.descriptors import Descriptor
from xtile.semantics.triton.memory import Reader, Writer, addresses_in, block_indices, inside_of
from xtile.semantics.triton.shared_memory import MemDesc, SharedAccess
from xtile.semantics.triton.tensors import integer_property, number_in, optional_slot
from xtile.semantics.unspecified import reach
from xtile.semantics.values import Array


def _update(operation: Any, compiler: Compiler) -> Step:
    """A descriptor of the block so many elements further, with other bounds, or not used at all."""
    source, result = compiler.slots((operation.desc, operation.result))
    offsets = compiler.slots(operation.add_offsets)
    bounds = compiler.slots(operation.set_bounds)
    condition = optional_slot(operation.pred, compiler)
    is_clamped = operation.clamp_bounds is not None

    def step(state: State) -> None:
        values, made = state.values, state.values[source]
        moves = [int(values[slot]) for slot in offsets]
        if moves:
            made = _moved(made, moves, is_clamped=is_clamped)
        if bounds:
            made = replace(made, sizes=tuple(int(values[slot]) for slot in bounds))
        if condition is not None:
            made = replace(made, is_used=int(values[condition]) != 0)
        values[result] = made

    return step


def _moved(descriptor: Descriptor, moves: Sequence[int], *, is_clamped: bool) -> Descriptor:
    """The block so many elements further; where that is before the tensor, nothing is inside."""
    step = descriptor.element_bytes
    distance = sum(move * stride for move, stride in zip(moves, descriptor.strides, strict=True))
    sizes = descriptor.sizes
    if is_clamped:
        pairs = zip(sizes, moves, strict=True)
        sizes = tuple(0 if move < 0 else max(0, size - move) for size, move in pairs)
    return replace(descriptor, address=descriptor.address + distance * step, sizes=sizes)


class _Copy:
    """A copy of an operation between memory that a descriptor names and local memory.

    Args:
        operation: The operation.
        descriptor: The descriptor.
        memory: The local memory.
        compiler: Compiles it.
        rows: The numbers of the rows that are copied; None: those of the block.
    """

    def __init__(
        self,
        operation: Any,
        descriptor: SSAValue,
        memory: SSAValue,
        compiler: Compiler,
        rows: SSAValue | None = None,
    ) -> None:
        if getattr(operation, "barrier", None) is not None:
            raise ValueError("a copy that arrives at a barrier cannot be executed; wait for it")
        type_: Any = memory.type
        self._operation = operation
        self.storage: Storage = storage_of(type_.element_type)
        self.shape: tuple[int, ...] = tuple(type_.get_shape())
        self.local = SharedAccess(operation, self.storage)
        self._descriptor, self._memory = compiler.slots((descriptor, memory))
        self._indices = compiler.slots(getattr(operation, "indices", ()))
        self._condition = optional_slot(getattr(operation, "pred", None), compiler)
        self._rows = optional_slot(rows, compiler)
        self._row_number = None if rows is None else number_in(rows)

    def memory(self, state: State) -> MemDesc:
        """The local memory."""
        return state.values[self._memory]

    def elements(self, state: State) -> tuple[Array, Array] | None:
        """The addresses of the elements, and which of them are inside; None: nothing is copied.

        Raises:
            UnlocatedError: The block begins before the tensor.
        """
        values = state.values
        descriptor: Descriptor = values[self._descriptor]
        is_wanted = self._condition is None or int(values[self._condition]) != 0
        if not (descriptor.is_used and is_wanted):
            return None
        starts = [int(values[slot]) for slot in self._indices] or [0] * len(self.shape)
        if min(starts) < 0:
            raise UnlocatedError(f"a block begins at {starts}, before its tensor")
        indices = block_indices(starts, self.shape)
        if self._rows is not None and self._row_number is not None:
            if state.unspecified:
                reach(state, self._operation, self._rows, "the number of a row")
            rows = self._row_number.unsigned(np.asanyarray(values[self._rows]))
            indices[0] = rows.astype(np.int64)[:, np.newaxis]
        inside = inside_of(descriptor.sizes, indices, range(len(indices)))
        size = self.storage.step
        pointers = addresses_in(descriptor.address, descriptor.strides, indices, size)
        return pointers, np.broadcast_to(inside, pointers.shape)


class _CopyToLocal(_Copy):
    def __init__(
        self,
        operation: Any,
        descriptor: SSAValue,
        memory: SSAValue,
        compiler: Compiler,
        rows: SSAValue | None = None,
    ) -> None:
        super().__init__(operation, descriptor, memory, compiler, rows)
        self._reader = Reader(operation, self.storage, self.shape)

    def begin(self, state: State) -> Token:
        """Copies; returns what comes before, once something has waited."""
        elements = self.elements(state)
        if elements is None:
            return NOTHING
        pointers, inside = elements
        found = self._reader.read(state, pointers, inside, self.storage.number.number(0))
        return self.local.begin(state, self.memory(state), found)


class _CopyToGlobal(_Copy):
    def __init__(
        self,
        operation: Any,
        descriptor: SSAValue,
        memory: SSAValue,
        compiler: Compiler,
        rows: SSAValue | None = None,
    ) -> None:
        super().__init__(operation, descriptor, memory, compiler, rows)
        self._writer = Writer(operation, self.storage)

    def begin(self, state: State) -> Token:
        """Copies; returns what comes before, once something has waited."""
        elements = self.elements(state)
        if elements is None:
            return NOTHING
        pointers, inside = elements
        found, is_read = self.local.begin_read(state, self.memory(state))
        return is_read.joined(self._writer.begin(state, pointers, found, inside))


def _beginning(operation: Any, compiler: Compiler, copies: Sequence[Any]) -> Step:
    """The step of an operation that begins copies."""
    tokens = compiler.slots(operation.results)

    def step(state: State) -> None:
        begun = NOTHING
        for copy in copies:
            begun = begun.joined(copy.begin(state))
        state.moves.append(begun)
        for slot in tokens:
            state.values[slot] = None

    return step


def _to_local(operation: Any, compiler: Compiler) -> Step:
    copy = _CopyToLocal(operation, operation.desc, operation.result, compiler)
    return _beginning(operation, compiler, [copy])


def _to_global(operation: Any, compiler: Compiler) -> Step:
    copy = _CopyToGlobal(operation, operation.desc, operation.src, compiler)
    return _beginning(operation, compiler, [copy])


def _gather(operation: Any, compiler: Compiler) -> Step:
    rows = operation.src_row_indices
    copy = _CopyToLocal(operation, operation.desc, operation.dst, compiler, rows)
    return _beginning(operation, compiler, [copy])


def _scatter(operation: Any, compiler: Compiler) -> Step:
    rows = operation.dst_row_indices
    copy = _CopyToGlobal(operation, operation.desc, operation.src, compiler, rows)
    return _beginning(operation, compiler, [copy])


def _fused(operation: Any, compiler: Compiler) -> Step:
    pairs = zip(operation.descs, operation.dests, strict=True)
    copies = [_CopyToLocal(operation, desc, dest, compiler) for desc, dest in pairs]
    return _beginning(operation, compiler, copies)


def _prefetch(operation: Any, compiler: Compiler) -> Step:
    if operation.maybeOffsets is not None:
        raise ValueError("the offsets of what is brought into a cache cannot be executed")

    def step(state: State) -> None:
        """Nothing that a program sees."""

    return step


def _waiting(operation: Any, compiler: Compiler, left: int) -> Step:
    """Waits until so many copies are left that were begun last."""
    tokens = compiler.slots(operation.results)

    def step(state: State) -> None:
        done = max(0, len(state.moves) - left)
        for copy in state.moves[:done]:
            state.before = state.before.joined(copy)
        del state.moves[:done]
        for slot in tokens:
            state.values[slot] = None

    return step


def _wait(operation: Any, compiler: Compiler) -> Step:
    return _waiting(operation, compiler, integer_property(operation, "num"))


def _wait_for_all(operation: Any, compiler: Compiler) -> Step:
    """Counts instructions, of which a copy may be several: all are waited for here."""
    return _waiting(operation, compiler, 0)


HANDLERS: dict[str, Handler] = {
    "amdg.async_tdm_copy_global_to_local": _to_local,
    "amdg.async_tdm_copy_local_to_global": _to_global,
    "amdg.async_tdm_fused_copy_global_to_local": _fused,
    "amdg.async_tdm_gather": _gather,
    "amdg.async_tdm_intrinsic_wait": _wait_for_all,
    "amdg.async_tdm_scatter": _scatter,
    "amdg.async_tdm_wait": _wait,
    "amdg.tdm_prefetch": _prefetch,
    "amdg.update_tensor_descriptor": _update,
}
"""The handler of each operation, by name."""
