"""Cooperative matrix instructions that access memory."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from xtile.dialects.tensorlang.operation import integer_value
from xtile.dialects.tensorlang.ops import arithmetic
from xtile.dialects.tensorlang.ops import cooperative_matrix as ops
from xtile.dialects.tensorlang.types import CoopmatrixType
from xtile.semantics import access
from xtile.semantics.arithmetic import binary_function
from xtile.semantics.blocks import Block, Shape, blocks
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.instructions.events import require_uniform
from xtile.semantics.layout import owners_of
from xtile.semantics.memory import View
from xtile.semantics.numeric_types import numpy_type
from xtile.semantics.observer import Access, AccessKind
from xtile.semantics.state import State
from xtile.semantics.values import Array, Value, interpreted


def _shape(operation: ops.CooperativeMatrixAccess, type: CoopmatrixType) -> Shape:
    return Shape(
        type.rows,
        type.columns,
        operation.transpose is not None,
        operation.rows_checked,
        operation.cols_checked,
    )


def _require(state: State, operation: Operation, memref: Value, x: Value, y: Value) -> None:
    """Reports what must be dynamically uniform: the block."""
    if state.observer is None:
        return
    require_uniform(state, operation, "the first index", x)
    require_uniform(state, operation, "the second index", y)
    if isinstance(memref, View):
        for number in (memref.offset, *memref.shape, *memref.strides):
            require_uniform(state, operation, "the memref", number)
    else:
        require_uniform(state, operation, "the memref", memref.selector)


def _report(
    state: State,
    operation: Operation,
    kind: AccessKind,
    block: Block,
    type: CoopmatrixType,
    matrix: Array | None = None,
) -> None:
    """Reports the elements of one subgroup's block, each accessed by the component's owner."""
    assert state.observer is not None
    assert block.row is not None
    rows, columns = np.arange(*block.rows), np.arange(*block.columns)
    i, j = (index.ravel() for index in np.meshgrid(rows, columns))
    owners = owners_of(type, state.subgroup_size)[i, j]
    indices = [block.position[0] + i, block.position[1] + j]
    sizes = [np.full(len(i), size) for size in block.shape]
    if isinstance(operation, ops.CooperativeMatrixAccess) and operation.transpose is not None:
        indices.reverse()
        sizes.reverse()
    first = state.first_thread + block.row * state.lanes
    state.observer.on_access(
        Access(
            operation,
            kind,
            block.view.buffer,
            block.positions(),
            tuple(indices),
            tuple(sizes),
            first + owners,
            None if matrix is None else matrix[block.row % len(matrix)][i, j],
        )
    )


def _load(
    operation: ops.CooperativeMatrixLoadOp | ops.CooperativeMatrixAtomicLoadOp,
    compiler: Compiler,
) -> Step:
    type_ = operation.result.type
    assert isinstance(type_, CoopmatrixType)
    shape, dtype = _shape(operation, type_), numpy_type(type_)
    is_atomic = isinstance(operation, ops.CooperativeMatrixAtomicLoadOp)
    kind = AccessKind.ATOMIC_READ if is_atomic else AccessKind.READ
    memref, x, y, result = compiler.slots(
        (operation.memref, operation.x, operation.y, operation.result)
    )

    def step(state: State) -> None:
        v = state.values
        _require(state, operation, v[memref], v[x], v[y])
        is_shared = state.observer is None
        loaded: Array | None = None
        for block in blocks(state, v[memref], v[x], v[y], shape, is_shared):
            if loaded is None:
                count = 1 if block.row is None else state.rows
                loaded = interpreted(np.zeros((count, *type_.shape), dtype))
            if state.observer is not None:
                _report(state, operation, kind, block, type_)
            if not block.is_empty:
                loaded[block.row or 0][block.part] = block.array()
        v[result] = loaded

    return step


def _store(
    operation: ops.CooperativeMatrixStoreOp | ops.CooperativeMatrixAtomicStoreOp,
    compiler: Compiler,
) -> Step:
    type_ = operation.matrix.type
    assert isinstance(type_, CoopmatrixType)
    shape = _shape(operation, type_)
    is_atomic = isinstance(operation, ops.CooperativeMatrixAtomicStoreOp)
    kind = AccessKind.ATOMIC_WRITE if is_atomic else AccessKind.WRITE
    matrix, memref, x, y = compiler.slots(
        (operation.matrix, operation.memref, operation.x, operation.y)
    )

    def step(state: State) -> None:
        v = state.values
        _require(state, operation, v[memref], v[x], v[y])
        stored: Array = v[matrix]
        is_shared = state.observer is None and len(stored) == 1
        for block in blocks(state, v[memref], v[x], v[y], shape, is_shared):
            if state.observer is not None:
                _report(state, operation, kind, block, type_, stored)
            if not block.is_empty:
                row = (block.row or 0) % len(stored)
                block.array()[...] = stored[row][block.part]

    return step


UPDATES: dict[type[Operation], type[Operation]] = {
    ops.CooperativeMatrixAtomicAddOp: arithmetic.AddOp,
    ops.CooperativeMatrixAtomicMaxOp: arithmetic.MaxOp,
    ops.CooperativeMatrixAtomicMinOp: arithmetic.MinOp,
}
"""The arithmetic instruction that says what an atomic update does."""


def _atomic_update(operation: ops.CooperativeMatrixAtomicUpdate, compiler: Compiler) -> Step:
    type_ = operation.matrix.type
    assert isinstance(type_, CoopmatrixType)
    shape, dtype = _shape(operation, type_), numpy_type(type_)
    function = binary_function(UPDATES[type(operation)], type_.component_type)
    matrix, memref, x, y, result = compiler.slots(
        (operation.matrix, operation.memref, operation.x, operation.y, operation.result)
    )

    def step(state: State) -> None:
        v = state.values
        _require(state, operation, v[memref], v[x], v[y])
        operand: Array = v[matrix]
        old = interpreted(np.zeros((state.rows, *type_.shape), dtype))
        for block in blocks(state, v[memref], v[x], v[y], shape, False):
            assert block.row is not None
            if state.observer is not None:
                _report(state, operation, AccessKind.ATOMIC_UPDATE, block, type_)
            if block.is_empty:
                continue
            # Elements of a block may coincide where a size is checked against nothing.
            values = operand[block.row % len(operand)][block.part]
            before = access.update(block.view.buffer, block.positions(), values.T.ravel(), function)
            old[block.row][block.part] = before.reshape(values.T.shape).T
        v[result] = old

    return step


def _prefetch(operation: ops.CooperativeMatrixPrefetchOp, compiler: Compiler) -> Step:
    memref, x, y = compiler.slots((operation.memref, operation.x, operation.y))
    rows, columns = integer_value(operation.rows), integer_value(operation.columns)
    shape = Shape(rows, columns, False, True, True)

    def step(state: State) -> None:
        # A hint about memory that exists; what lies outside is not fetched.
        v = state.values
        _require(state, operation, v[memref], v[x], v[y])
        for block in blocks(state, v[memref], v[x], v[y], shape, True):
            if not block.is_empty:
                block.array()

    return step


HANDLERS: dict[type[Operation], Handler] = {
    ops.CooperativeMatrixLoadOp: _load,
    ops.CooperativeMatrixAtomicLoadOp: _load,
    ops.CooperativeMatrixStoreOp: _store,
    ops.CooperativeMatrixAtomicStoreOp: _store,
    ops.CooperativeMatrixAtomicAddOp: _atomic_update,
    ops.CooperativeMatrixAtomicMaxOp: _atomic_update,
    ops.CooperativeMatrixAtomicMinOp: _atomic_update,
    ops.CooperativeMatrixPrefetchOp: _prefetch,
}
