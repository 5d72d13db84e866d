"""The meaning of the `core` dialect's operations on matrices that a subgroup holds as a whole.

A matrix is held as a vector of its shape that all work-items of a subgroup share: an array
(rows, 1, R, C).

Source: docs/core-form.md, section "Cooperative matrices".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from xtile.dialects.core.cooperative_matrix import (
    WORD_BITS,
    CooperativeMatrixFillOp,
    CooperativeMatrixLoadOp,
    CooperativeMatrixMultiplyAddOp,
    CooperativeMatrixStoreOp,
    CooperativeMatrixType,
    MatrixUse,
    has_words,
    type_of,
)
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.memory import Index, as_index
from xtile.semantics.state import State
from xtile.semantics.upstream.access import read_elements, write_elements
from xtile.semantics.upstream.numbers import number_of
from xtile.semantics.values import Array, Value, contiguous, is_array
from xtile.semantics.vector.arrays import AXES, along, as_array, spread


def _common(state: State, value: Value) -> Value:
    """A number of which the work-items of a subgroup have the same.

    Raises:
        UnlocatedError: They have not.
    """
    if not is_array(value) or value.shape[1] == 1:
        return value
    full, active = state.full(value), state.active()
    first = np.argmax(active, axis=1)[:, np.newaxis]
    agreed = np.take_along_axis(full, first, axis=1)
    if not np.all((full == agreed) | ~active):
        raise UnlocatedError("the work-items of a subgroup have different operands")
    return agreed


def _block(state: State, start: list[int], shape: tuple[int, int]) -> list[Index]:
    """The indices of the elements of a block that lies along the last two dimensions."""
    first = [spread(as_index(_common(state, state.values[slot])), 2) for slot in start]
    for axis, size in enumerate(shape):
        first[axis - 2] = first[axis - 2] + along(size, axis, 2)
    return list(first)


def _load(operation: CooperativeMatrixLoadOp, compiler: Compiler) -> Step:
    memory, *start = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)
    matrix = type_of(operation.result)
    is_packed = operation.packed is not None
    shape = _shape_in_memory(operation)
    dtype = number_of(matrix.component_type).dtype

    def step(state: State) -> None:
        positions = _block(state, start, shape)
        loaded: Array = spread(read_elements(state, operation, state.values[memory], positions), 2)
        full = np.broadcast_to(loaded, (*loaded.shape[:AXES], *shape))
        state.values[result] = _unpacked(full, matrix, dtype) if is_packed else _as(full, dtype)

    return step


def _shape_in_memory(operation: CooperativeMatrixLoadOp) -> tuple[int, int]:
    """Rows and columns of the block of memory."""
    matrix = type_of(operation.result)
    if operation.packed is None:
        return matrix.shape
    rows, words = matrix.packed_shape
    return rows, words if has_words(operation.memory) else words * (WORD_BITS // matrix.bits)


def _as(array: Array, dtype: np.dtype[Any]) -> Array:
    """Elements, which memory may hold as integers with their bits, or those integers."""
    return contiguous(array).view(dtype)


def _unpacked(words: Array, matrix: CooperativeMatrixType, dtype: np.dtype[Any]) -> Array:
    """The elements of packed words, or of the elements that they consist of."""
    rows, columns = matrix.packed_shape
    outer = words.shape[:AXES]
    factors = _as(words, dtype).reshape(*outer, rows, columns, -1)
    if matrix.use.data == MatrixUse.MATRIX_B:
        factors = factors.swapaxes(-1, -2)
    return factors.reshape(*outer, *matrix.shape)


def _store(operation: CooperativeMatrixStoreOp, compiler: Compiler) -> Step:
    value, memory, *start = compiler.slots(operation.operands)
    shape = type_of(operation.matrix).shape
    dtype = number_of(operation.memory.type).dtype

    def step(state: State) -> None:
        positions = _block(state, start, shape)
        stored = _as(state.values[value], dtype)
        write_elements(state, operation, state.values[memory], positions, stored)

    return step


def _fill(operation: CooperativeMatrixFillOp, compiler: Compiler) -> Step:
    value, result = compiler.slots((operation.value, operation.result))
    shape = type_of(operation.result).shape

    def step(state: State) -> None:
        number = spread(as_array(_common(state, state.values[value])), 2)
        state.values[result] = np.broadcast_to(number, (*number.shape[:AXES], *shape))

    return step


def _multiply_add(operation: CooperativeMatrixMultiplyAddOp, compiler: Compiler) -> Step:
    a, b, c = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)
    dtype = _dtype(operation.c)

    def step(state: State) -> None:
        values = state.values
        left, right = (values[factor].astype(dtype) for factor in (a, b))
        values[result] = np.matmul(left, right) + values[c]

    return step


def _dtype(matrix: SSAValue) -> np.dtype[Any]:
    return number_of(type_of(matrix).component_type).dtype


HANDLERS: dict[str, Handler] = {
    CooperativeMatrixFillOp.name: _fill,
    CooperativeMatrixLoadOp.name: _load,
    CooperativeMatrixMultiplyAddOp.name: _multiply_add,
    CooperativeMatrixStoreOp.name: _store,
}
"""The handler of each operation, by name."""
