"""The meaning of the `core` dialect's operations on the entries of a subgroup's matrices.

A vector of R rows and C columns is spread over the work-items as a matrix_acc of C rows and R
columns of the tensor language is.

Source: docs/core-form.md, section "Fragments"; docs/semantics.md 5.2 and 5.7.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from xdsl.dialects.builtin import VectorType, f32
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.core.subgroup import FragmentExtractOp, FragmentInsertOp, MapOp
from xtile.dialects.tensorlang.attributes import MatrixUse
from xtile.dialects.tensorlang.operation import integer_value
from xtile.dialects.tensorlang.types import CoopmatrixType
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.instructions.events import require_converged
from xtile.semantics.layout import Layout, extract, insert, layout_of
from xtile.semantics.state import State
from xtile.semantics.upstream.numbers import number_of
from xtile.semantics.values import Array, copied, interpreted


def _layout(value: SSAValue, compiler: Compiler) -> Layout:
    """Where the elements of a vector are.

    Raises:
        UnlocatedError: That is not defined.
    """
    type = cast("VectorType[Attribute]", value.type)
    rows, columns = type.get_shape() if type.get_num_dims() == 2 else (*type.get_shape(), 1)
    # It depends on the sizes only, and matrices of the tensor language hold numbers.
    matrix = CoopmatrixType.get(f32, columns, rows, MatrixUse.ACC)
    size = compiler.configuration.subgroup_size
    layout = layout_of(matrix, size)
    if layout is None:
        raise UnlocatedError(
            f"how {type} is spread over a subgroup of {size} work-items is not defined: the "
            "columns must be a multiple or a divisor of them"
        )
    return layout


def _entry(layout: Layout, index: int) -> int:
    if not 0 <= index < layout.length:
        raise UnlocatedError(
            f"there is no entry {index}: a work-item has the entries 0 to {layout.length - 1}"
        )
    return index


def _transposed(vector: Array) -> Array:
    """One matrix for each row of the work-group's state, with the vector's columns as rows.

    A vector of one dimension is a column.
    """
    return vector[:, 0].swapaxes(1, 2) if vector.ndim == 4 else vector


def _from_transposed(matrix: Array, rank: int) -> Array:
    return matrix if rank == 1 else matrix.swapaxes(1, 2)[:, np.newaxis]


def _rank(vector: SSAValue) -> int:
    return cast("VectorType[Attribute]", vector.type).get_num_dims()


def _extract(operation: FragmentExtractOp, compiler: Compiler) -> Step:
    layout = _layout(operation.source, compiler)
    index = _entry(layout, integer_value(operation.index))
    source, result = compiler.slots((operation.source, operation.result))

    def step(state: State) -> None:
        require_converged(state, operation)
        state.values[result] = extract(_transposed(state.values[source]), layout, index)

    return step


def _insert(operation: FragmentInsertOp, compiler: Compiler) -> Step:
    layout = _layout(operation.dest, compiler)
    index = _entry(layout, integer_value(operation.index))
    value, dest, result = compiler.slots((operation.value, operation.dest, operation.result))
    rank = _rank(operation.dest)

    def step(state: State) -> None:
        require_converged(state, operation)
        matrix = _transposed(state.values[dest])
        inserted = copied(np.broadcast_to(matrix, (state.rows, *matrix.shape[1:])))
        insert(inserted, layout, index, state.full(state.values[value]), state.active())
        state.values[result] = _from_transposed(inserted, rank)

    return step


def _map(operation: MapOp, compiler: Compiler) -> Step:
    layout = _layout(operation.sources[0], compiler)
    row, column, *elements = compiler.slots(operation.body.block.args)
    sources, results = compiler.slots(operation.sources), compiler.slots(operation.mapped)
    body = compiler.region(operation.body)
    dtypes = [number_of(result.type).dtype for result in operation.mapped]
    rank = _rank(operation.sources[0])

    def step(state: State) -> None:
        require_converged(state, operation)
        values = state.values
        matrices = [_transposed(values[source]) for source in sources]
        shape = (state.rows, *matrices[0].shape[1:])
        operands = [np.broadcast_to(matrix, shape) for matrix in matrices]
        mapped = [interpreted(np.zeros(shape, dtype)) for dtype in dtypes]
        before = state.mask
        try:
            for entry in range(layout.length):
                active = layout.is_component[entry] & state.full(
                    np.bool_(True) if before is None else before
                )
                if not active.any():
                    continue
                values[row] = layout.columns[entry][np.newaxis, :]
                values[column] = layout.rows[entry][np.newaxis, :]
                for element, operand in zip(elements, operands, strict=True):
                    values[element] = extract(operand, layout, entry)
                state.mask = None if active.all() else active
                body.run(state)
                for matrix, value in zip(mapped, body.yields, strict=True):
                    insert(matrix, layout, entry, state.full(values[value]), active)
        finally:
            state.mask = before
        for result, matrix in zip(results, mapped, strict=True):
            values[result] = _from_transposed(matrix, rank)

    return step


HANDLERS: dict[str, Handler] = {
    "core.fragment_extract": _extract,
    "core.fragment_insert": _insert,
    "core.map": _map,
}
"""The handler of each operation, by name."""
