"""Loads and stores of single lanes on a condition, through pointers of LLVM.

All lanes of a program have one condition and one pointer here, as scalars always do.

Source: Triton 3.9, `third_party/amd`, `TritonAMDGPUOps.td` (`MaskedLoadOp`, `MaskedStoreOp`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.state import State
from xtile.semantics.storage import Storage, storage_of
from xtile.semantics.triton.memory import Reader, Writer
from xtile.semantics.unspecified import STORED, pad_with, reach, reach_positions
from xtile.semantics.upstream.numbers import shape_of as shape_of_type
from xtile.semantics.values import Array


class _Elements:
    """What a lane accesses: one number, or a vector of some that follow each other."""

    def __init__(self, type_: Any) -> None:
        self.storage: Storage = storage_of(getattr(type_, "element_type", type_))
        self.shape = shape_of_type(type_)

    def pointers(self, pointer: Any) -> Array:
        """The address of each."""
        count = int(np.prod(self.shape))
        return (pointer + np.arange(count) * np.int64(self.storage.step)).reshape(self.shape)

    def mask(self, condition: Any) -> Array:
        """The condition, for each."""
        return np.broadcast_to(np.bool_(condition), self.shape)


def _masked_load(operation: Any, compiler: Compiler) -> Step:
    elements = _Elements(operation.result.type)
    reader = Reader(operation, elements.storage, elements.shape)
    pointer, condition, other = compiler.slots((operation.ptr, operation.mask, operation.falseVal))
    result = compiler.slot(operation.result)

    def step(state: State) -> None:
        values = state.values
        if state.unspecified:
            reach_positions(state, operation, pointer, condition)
        mask = elements.mask(values[condition])
        values[result] = reader.read(state, elements.pointers(values[pointer]), mask, values[other])
        pad_with(state, other, result, ~mask)

    return step


def _masked_store(operation: Any, compiler: Compiler) -> Step:
    elements = _Elements(operation.value.type)
    writer = Writer(operation, elements.storage)
    pointer, value, condition = compiler.slots((operation.ptr, operation.value, operation.mask))

    def step(state: State) -> None:
        values = state.values
        mask = elements.mask(values[condition])
        if state.unspecified:
            reach_positions(state, operation, pointer, condition)
            reach(state, operation, value, STORED, mask)
        writer.write(state, elements.pointers(values[pointer]), values[value], mask)

    return step


HANDLERS: dict[str, Handler] = {
    "amdg.masked_load": _masked_load,
    "amdg.masked_store": _masked_store,
}
"""The handler of each operation, by name."""
