"""Asynchronous copies from global to shared memory, and what waits for them.

A copy is done where it begins. An observer learns that what it writes is there only after a wait.

Source: Triton 3.9, `TritonGPUOps.td`; for `amdg`, `TritonAMDGPUOps.td`.
"""

from __future__ import annotations

from typing import Any

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.ordering import NOTHING
from xtile.semantics.state import State
from xtile.semantics.storage import storage_of
from xtile.semantics.triton.memory import Reader
from xtile.semantics.triton.shared_memory import MemDesc, SharedAccess
from xtile.semantics.triton.tensors import integer_property, optional_slot
from xtile.semantics.unspecified import reach_positions
from xtile.semantics.values import Value


class Copy:
    """An operation's copy into shared memory.

    Args:
        operation: Has a `mask` and an `other`, or none.
        target: The view that is written.
        compiler: Compiles it.
        padding: What is written where the mask is false, without `other`; None: anything.
    """

    def __init__(
        self, operation: Any, target: Any, compiler: Compiler, padding: Value = None
    ) -> None:
        storage, shape = storage_of(target.type.element_type), tuple(target.type.get_shape())
        self._target = compiler.slot(target)
        self._mask = optional_slot(operation.mask, compiler)
        self._other = optional_slot(operation.other, compiler)
        self._padding = padding
        self._reader = Reader(operation, storage, shape)
        self._memory = SharedAccess(operation, storage)
        self._tokens = compiler.slots(operation.results)

    def mask(self, state: State) -> Value:
        """Which elements are read; None: all."""
        return None if self._mask is None else state.values[self._mask]

    def run(self, state: State, pointers: Value) -> None:
        """Copies what pointers point to.

        Raises:
            UnlocatedError: An address where the mask is true belongs to no memory.
        """
        values = state.values
        other = self._padding if self._other is None else values[self._other]
        found = self._reader.read(state, pointers, self.mask(state), other)
        target: MemDesc = values[self._target]
        token = self._memory.begin(state, target, found)
        state.copies[-1] = state.copies[-1].joined(token)
        for slot in self._tokens:
            values[slot] = None


def _async_copy(operation: Any, compiler: Compiler) -> Step:
    copy = Copy(operation, operation.result, compiler)
    source, mask = compiler.slot(operation.src), optional_slot(operation.mask, compiler)

    def step(state: State) -> None:
        if state.unspecified:
            reach_positions(state, operation, source, mask)
        copy.run(state, state.values[source])

    return step


def _commit_group(operation: Any, compiler: Compiler) -> Step:
    tokens = compiler.slots(operation.results)

    def step(state: State) -> None:
        state.copies.append(NOTHING)
        for slot in tokens:
            state.values[slot] = None

    return step


def _wait(operation: Any, compiler: Compiler) -> Step:
    """Waits until so many groups are left that are closed; the open one is not waited for."""
    left = integer_property(operation, "num")
    tokens = compiler.slots(operation.results)

    def step(state: State) -> None:
        done = max(0, len(state.copies) - 1 - left)
        for group in state.copies[:done]:
            state.before = state.before.joined(group)
        del state.copies[:done]
        for slot in tokens:
            state.values[slot] = None

    return step


def _wait_for_all(operation: Any, compiler: Compiler) -> Step:
    """Waits until so many instructions of a thread are left, which are not counted here."""
    tokens = compiler.slots(operation.results)

    def step(state: State) -> None:
        for group in state.copies:
            state.before = state.before.joined(group)
        state.copies[:] = [NOTHING]
        for slot in tokens:
            state.values[slot] = None

    return step


HANDLERS: dict[str, Handler] = {
    "amdg.async_wait": _wait_for_all,
    "ttg.async_commit_group": _commit_group,
    "ttg.async_copy_global_to_local": _async_copy,
    "ttg.async_wait": _wait,
}
"""The handler of each operation, by name."""
