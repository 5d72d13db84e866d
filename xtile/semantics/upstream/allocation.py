"""New memory: of a work-item, of the work-group, and of global variables.

Source: MLIR (LLVM 22), `Dialect/MemRef/IR/MemRefOps.td`, `Dialect/GPU/IR/GPUOps.td`;
docs/semantics.md, "Upstream dialects".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, MemRefType, NoneAttr
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.semantics.capacity import check_memory
from xtile.semantics.compiler import Compiler, Step
from xtile.semantics.memory import Buffer, Parts, View
from xtile.semantics.state import State
from xtile.semantics.upstream.numbers import memref_type, number_of
from xtile.semantics.values import Array

_WORK_GROUP_SPACE = 3
"""The number of the memory space that a work-group shares."""

_WORK_GROUP_WORDS = ("workgroup", "slm")
"""What names of that memory space say: `#gpu.address_space<workgroup>`, `#xegpu.memory_space<slm>`
or `#spirv.storage_class<Workgroup>`."""

_ALIGNMENT = 16
"""Bytes that divide the start of each work-item's memory."""

_ALL_BITS = 0xFF


def is_shared(space: Attribute | None) -> bool:
    """Whether a memory space is the one that a work-group shares."""
    if isinstance(space, IntegerAttr):
        return cast("Any", space).value.data == _WORK_GROUP_SPACE
    return any(word in str(space).lower() for word in _WORK_GROUP_WORDS)


def undefined(count: int, dtype: np.dtype[Any]) -> Array:
    """Elements with all bits set: NaN in floating types, -1 in integers, and so easily noticed.

    Raises:
        MemoryError: There is not so much memory.
    """
    check_memory(count * dtype.itemsize)
    if dtype == np.bool_:
        return np.ones(count, np.bool_)
    return np.full(count * dtype.itemsize, _ALL_BITS, np.uint8).view(dtype)


def row_major_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of elements that follow each other, the last index varying fastest."""
    return tuple(math.prod(shape[dimension + 1 :]) for dimension in range(len(shape)))


def allocate(state: State, type: MemRefType[Attribute], shape: Sequence[int], name: str) -> View:
    """New memory for a memref type, whose dynamic sizes are those of `shape`.

    Each work-item gets memory of its own, unless the work-group shares the memory space.

    Raises:
        ValueError: The layout leaves strides open, or cannot be executed.
    """
    strides, offset, count = _layout(type, shape)
    dtype = number_of(type).dtype
    rows, lanes = (1, 1) if is_shared(type.memory_space) else state.actors(is_vector=False)
    if rows * lanes == 1:
        data = undefined(count, dtype)
        buffer = Buffer(data, name, is_local=True, is_initialized=False)
        return View(buffer, offset, tuple(shape), strides)
    step = -(-count * dtype.itemsize // _ALIGNMENT) * _ALIGNMENT // dtype.itemsize
    starts = (np.arange(rows * lanes) * step).reshape(rows, lanes)
    buffer = Buffer(
        undefined(rows * lanes * step, dtype),
        name,
        is_local=True,
        is_initialized=False,
        parts=Parts(starts, count),
    )
    return View(buffer, starts + offset, tuple(shape), strides)


def _layout(type: MemRefType[Attribute], shape: Sequence[int]) -> tuple[tuple[int, ...], int, int]:
    """Strides, offset, and the number of elements.

    That is one stride for each entry of the outermost dimension, so that also the last has the
    padding which the strides leave behind the others.
    """
    if isinstance(type.layout, NoneAttr):
        return row_major_strides(shape), 0, math.prod(shape)
    strides, offset = type.get_strides(), type.get_offset()
    if offset is None or strides is None or None in strides:
        raise ValueError(f"memory of type {type} cannot be allocated: its layout is not known")
    known = cast("tuple[int, ...]", tuple(strides))
    if 0 in shape:
        return known, offset, offset
    last = sum((size - 1) * stride for size, stride in zip(shape, known, strict=True))
    padded = max((size * stride for size, stride in zip(shape, known, strict=True)), default=1)
    return known, offset, offset + max(last + 1, padded)


def name_of(value: SSAValue) -> str:
    """What messages call the memory of a memref value."""
    return f"%{value.name_hint}" if value.name_hint else "local memory"


def attributions(function: Operation, parameters: int, compiler: Compiler) -> list[Step]:
    """What makes the buffers that a function declares next to its parameters."""
    buffers = function.regions[0].blocks[0].args[parameters:]
    return [_attribution(function, buffer, compiler) for buffer in buffers]


def _attribution(function: Operation, buffer: SSAValue, compiler: Compiler) -> Step:
    type_ = memref_type(buffer.type)
    if DYNAMIC_INDEX in type_.get_shape():
        raise ValueError(f"{name_of(buffer)} of type {type_} has no static shape")
    compiler.ends_with_block(function, buffer)
    slot = compiler.slot(buffer)

    def step(state: State) -> None:
        view = allocate(state, type_, type_.get_shape(), name_of(buffer))
        state.values[slot] = view
        if state.observer is not None:
            state.observer.on_alloca(function, view.buffer)

    return step
