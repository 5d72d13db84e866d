"""Matrices in shared local memory.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUOps.td`, `create_mem_desc`, `load_matrix` and
`store_matrix`; `XeGPUDialect.cpp`, `MemDescType::getStrideShape` and `getLinearOffsets`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from math import prod

import numpy as np
from xdsl.dialects.builtin import VectorType
from xdsl.ir import SSAValue

from xtile.dialects.xegpu.operation import shape_of
from xtile.dialects.xegpu.ops.matrix import CreateMemDescOp, LoadMatrixOp, StoreMatrixOp
from xtile.dialects.xegpu.types import MemDescType
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.configuration import require_full_subgroups
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.memory import Index, Mask, Memref, View, transform
from xtile.semantics.state import State
from xtile.semantics.upstream.access import read_elements, write_elements
from xtile.semantics.upstream.numbers import number_of
from xtile.semantics.values import Value, is_array
from xtile.semantics.xegpu.block_coordinates import to_lanes
from xtile.semantics.xegpu.descriptors import Numbers
from xtile.semantics.xegpu.levels import acting, agreed, level_of, spread


def _create_mem_desc(operation: CreateMemDescOp, compiler: Compiler) -> Step:
    matrix = operation.mem_desc.type
    assert isinstance(matrix, MemDescType)
    dtype = number_of(matrix.element_type).dtype
    size = prod(matrix.get_shape())
    source, result = compiler.slots((operation.source, operation.mem_desc))

    def view_as_matrix(view: View, mask: Mask) -> View:
        buffer = view.buffer.typed(dtype)
        start = view.offset * view.buffer.data.dtype.itemsize
        if np.any(start % dtype.itemsize):
            raise UnlocatedError(
                f"the memory of the matrix begins between elements of {dtype.itemsize} bytes"
            )
        return View(buffer, start // dtype.itemsize, (size,), (1,))

    def step(state: State) -> None:
        memory: Memref = state.values[source]
        state.values[result] = transform(memory, view_as_matrix, state.mask)

    return step


class _Addressing:
    """Where the elements of a matrix lie in its memory."""

    def __init__(self, matrix: MemDescType) -> None:
        self._shape = matrix.get_shape()
        self._block = matrix.block_shape
        self._strides = matrix.strides
        if self._block == self._shape:
            return
        self._inner, self._outer = matrix.blocked_strides

    def position(self, coordinates: Sequence[Index]) -> Index:
        """The position of the element at coordinates."""
        if self._block == self._shape:
            return _dot(coordinates, self._strides)
        blocks = [index // size for index, size in zip(coordinates, self._block, strict=True)]
        rests = [index % size for index, size in zip(coordinates, self._block, strict=True)]
        return _dot(blocks, self._outer) + _dot(rests, self._inner)


def _dot(numbers: Sequence[Index], strides: Sequence[int]) -> Index:
    total: Index = 0
    for number, stride in zip(numbers, strides, strict=True):
        total = total + number * stride
    return total


def _elements(
    operation: LoadMatrixOp | StoreMatrixOp, data: SSAValue, compiler: Compiler
) -> Callable[[State], Index]:
    """What gives the positions of the elements that an access moves.

    A vector of one dimension is a lane's: its elements follow each other in memory, where
    `subgroup_block_io` deals them to the lanes in turn. One of two dimensions is a part of the
    matrix.
    """
    matrix = operation.mem_desc.type
    assert isinstance(matrix, MemDescType)
    addressing = _Addressing(matrix)
    offsets = Numbers(operation.mixed_offsets, compiler)
    shape = shape_of(data.type)
    if not isinstance(data.type, VectorType):
        return lambda state: addressing.position(offsets.values(state))
    lanes = compiler.configuration.subgroup_size
    if operation.subgroup_block_io is not None and _is_for_lane(operation, shape):
        require_full_subgroups(compiler.configuration)
        dealt = to_lanes(np.arange(prod(shape) * lanes), 1, lanes).reshape(1, lanes, *shape)

        def position_of_block(state: State) -> Index:
            first = [agreed(offset, state) for offset in offsets.values(state)]
            return spread(addressing.position(first), len(shape)) + dealt

        return position_of_block
    if len(shape) == 1:
        following = np.arange(shape[0]).reshape(1, 1, -1)
        return lambda state: spread(addressing.position(offsets.values(state)), 1) + following
    part = np.indices(shape).reshape(len(shape), 1, 1, *shape)

    def position_of_part(state: State) -> Index:
        first = offsets.values(state)
        return addressing.position(
            [spread(start, len(shape)) + index for start, index in zip(first, part, strict=True)]
        )

    return position_of_part


def _is_for_lane(operation: LoadMatrixOp | StoreMatrixOp, shape: tuple[int, ...]) -> bool:
    """Whether a vector that moves with `subgroup_block_io` is the part of one lane."""
    return operation.layout is None and sum(size != 1 for size in shape) <= 1


def _acting(
    operation: LoadMatrixOp | StoreMatrixOp, state: State, *values: Value
) -> AbstractContextManager[None]:
    """Who acts: each work-item where something differs between them, else who shares a vector."""
    is_shared = all(is_array(value) and value.ndim > 2 and value.shape[1] == 1 for value in values)
    return acting(state, level_of(operation)) if is_shared else nullcontext()


def _load_matrix(operation: LoadMatrixOp, compiler: Compiler) -> Step:
    elements = _elements(operation, operation.res, compiler)
    memory, result = compiler.slots((operation.mem_desc, operation.res))

    def step(state: State) -> None:
        position = elements(state)
        with _acting(operation, state, position):
            state.values[result] = read_elements(
                state, operation, state.values[memory], (position,)
            )

    return step


def _store_matrix(operation: StoreMatrixOp, compiler: Compiler) -> Step:
    elements = _elements(operation, operation.data, compiler)
    value, memory = compiler.slots((operation.data, operation.mem_desc))

    def step(state: State) -> None:
        position, stored = elements(state), state.values[value]
        with _acting(operation, state, position, stored):
            write_elements(state, operation, state.values[memory], (position,), stored)

    return step


HANDLERS: dict[str, Handler] = {
    "xegpu.create_mem_desc": _create_mem_desc,
    "xegpu.load_matrix": _load_matrix,
    "xegpu.store_matrix": _store_matrix,
}
"""The handler of each operation, by name."""
