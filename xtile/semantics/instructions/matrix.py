"""Cooperative matrix instructions that compute."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from xtile.dialects.tensorlang.attributes import ReduceMode
from xtile.dialects.tensorlang.operation import integer_value
from xtile.dialects.tensorlang.ops import arithmetic
from xtile.dialects.tensorlang.ops import cooperative_matrix as ops
from xtile.dialects.tensorlang.types import CoopmatrixType
from xtile.semantics.accumulation import accumulation_type
from xtile.semantics.arithmetic import reduction_ufunc
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.instructions.events import require_uniform
from xtile.semantics.layout import Layout, extract, insert, layout_of
from xtile.semantics.linalg import product_function
from xtile.semantics.numeric_types import cast_function
from xtile.semantics.state import State, per_row
from xtile.semantics.values import Array, Value, copied, is_array


def matrix_type(operation: Operation, index: int = 0) -> CoopmatrixType:
    """The type of a matrix result.

    Raises:
        ValueError: The result is no matrix.
    """
    type_ = operation.results[index].type
    if not isinstance(type_, CoopmatrixType):
        raise ValueError(f"expected a coopmatrix, but got {type_}")
    return type_


def require_layout(type: CoopmatrixType, subgroup_size: int) -> Layout:
    """The layout of a matrix.

    Raises:
        UnlocatedError: None is defined.
    """
    layout = layout_of(type, subgroup_size)
    if layout is None:
        raise UnlocatedError(
            f"the work-item layout of {type.text()} is not defined for subgroup size "
            f"{subgroup_size}: rows must be a multiple or a divisor of it"
        )
    return layout


def _mul_add(operation: ops.CooperativeMatrixMulAddOp, compiler: Compiler) -> Step:
    types = [operation.a.type, operation.b.type, operation.c.type]
    assert all(isinstance(type_, CoopmatrixType) for type_ in types)
    a_type, b_type, c_type = (t.component_type for t in types if isinstance(t, CoopmatrixType))
    result_type = matrix_type(operation).component_type
    wide = accumulation_type(c_type)
    product = product_function(a_type, b_type, wide)
    to_wide, to_c = cast_function(c_type, wide), cast_function(wide, c_type)
    to_result = cast_function(c_type, result_type)
    a, b, c, result = compiler.slots((operation.a, operation.b, operation.c, operation.result))

    def step(state: State) -> None:
        v = state.values
        v[result] = to_result(to_c(product(v[a], v[b]) + to_wide(v[c])))

    return step


def _construct(operation: ops.CooperativeMatrixConstructOp, compiler: Compiler) -> Step:
    shape = matrix_type(operation).shape
    number, result = compiler.slots((operation.number, operation.result))

    def step(state: State) -> None:
        value = state.values[number]
        require_uniform(state, operation, "the number", value)
        uniform = np.asanyarray(per_row(value, state))
        rows = uniform.shape[0] if uniform.ndim else 1
        state.values[result] = np.broadcast_to(uniform.reshape(rows, 1, 1), (rows, *shape))

    return step


def _scale(operation: ops.CooperativeMatrixScaleOp, compiler: Compiler) -> Step:
    type_, size = matrix_type(operation), compiler.configuration.subgroup_size
    scalar, matrix, result = compiler.slots((operation.scalar, operation.matrix, operation.result))

    def step(state: State) -> None:
        values = state.values
        values[result] = by_component(values[scalar]) * values[matrix]

    def by_component(value: Value) -> Value:
        """A scalar value as each component's work-item has it."""
        if not is_array(value):
            return value
        if value.shape[1] == 1:
            return value[:, :, np.newaxis]
        return value[:, require_layout(type_, size).owners]

    return step


_REDUCTIONS: dict[type[Operation], type[Operation]] = {
    ops.CooperativeMatrixReduceAddOp: arithmetic.AddOp,
    ops.CooperativeMatrixReduceMaxOp: arithmetic.MaxOp,
    ops.CooperativeMatrixReduceMinOp: arithmetic.MinOp,
}


def _reduce(operation: ops.CooperativeMatrixReduce, compiler: Compiler) -> Step:
    type_ = matrix_type(operation).component_type
    wide = accumulation_type(type_)
    to_wide, to_narrow = cast_function(type_, wide), cast_function(wide, type_)
    ufunc = reduction_ufunc(_REDUCTIONS[type(operation)], wide)
    axis = 2 if operation.reduce_mode.data == ReduceMode.ROW else 1
    matrix, result = compiler.slots((operation.matrix, operation.result))

    def step(state: State) -> None:
        values = to_wide(state.values[matrix])
        reduced = ufunc.reduce(values, axis=axis, dtype=values.dtype, keepdims=True)
        state.values[result] = to_narrow(reduced)

    return step


def _entry(type: CoopmatrixType, index: int, subgroup_size: int) -> tuple[Layout, int]:
    """The layout of a matrix and a checked index into the work-item vector."""
    layout = require_layout(type, subgroup_size)
    if not 0 <= index < layout.length:
        raise UnlocatedError(
            f"index {index} is not in the work-item vector of {type.text()}, which has "
            f"{layout.length} entries at subgroup size {subgroup_size}"
        )
    return layout, index


def _extract(operation: ops.CooperativeMatrixExtractOp, compiler: Compiler) -> Step:
    type_ = operation.matrix.type
    assert isinstance(type_, CoopmatrixType)
    size = compiler.configuration.subgroup_size
    layout, index = _entry(type_, integer_value(operation.index), size)
    matrix, result = compiler.slots((operation.matrix, operation.result))

    def step(state: State) -> None:
        state.values[result] = extract(state.values[matrix], layout, index)

    return step


def _insert(operation: ops.CooperativeMatrixInsertOp, compiler: Compiler) -> Step:
    type_ = matrix_type(operation)
    size = compiler.configuration.subgroup_size
    layout, index = _entry(type_, integer_value(operation.index), size)
    value, matrix, result = compiler.slots((operation.value, operation.matrix, operation.result))

    def step(state: State) -> None:
        values = state.values
        inserted = copied(np.broadcast_to(values[matrix], (state.rows, *type_.shape)))
        insert(inserted, layout, index, state.full(values[value]), state.active())
        values[result] = inserted

    return step


_PURE_MODULES = frozenset(
    {
        "xtile.dialects.tensorlang.ops.arithmetic",
        "xtile.dialects.tensorlang.ops.control",
    }
)


def _is_elementwise(operation: ops.CooperativeMatrixApplyOp) -> bool:
    """Whether the region only computes with scalars, so that components can be its lanes."""
    inner = list(operation.body.walk())
    return all(
        type(op).__module__ in _PURE_MODULES
        and not any(isinstance(v.type, CoopmatrixType) for v in (*op.operands, *op.results))
        for op in inner
    )


def _captured(operation: ops.CooperativeMatrixApplyOp, compiler: Compiler) -> tuple[int, ...]:
    """The slots of the values that the region uses from outside."""
    inner = list(operation.body.walk())
    values = {value for op in inner for value in op.operands}
    defined = {result for op in inner for result in op.results}
    regions = [region for op in inner for region in op.regions]
    defined |= {arg for region in regions for block in region.blocks for arg in block.args}
    defined |= set(operation.body.block.args)
    return compiler.slots(values - defined)


def _apply(operation: ops.CooperativeMatrixApplyOp, compiler: Compiler) -> Step:
    type_ = matrix_type(operation)
    i, j, component = compiler.slots(operation.body.block.args)
    matrix, result = compiler.slots((operation.matrix, operation.result))
    captured = _captured(operation, compiler)
    body = compiler.region(operation.body)
    layout = layout_of(type_, compiler.configuration.subgroup_size)
    # An observer wants to know the work-items, where there are any.
    is_elementwise = _is_elementwise(operation) and (not compiler.is_observed or layout is None)
    m, n = type_.shape
    rows = np.repeat(np.arange(m, dtype=np.int32), n)[np.newaxis, :]
    columns = np.tile(np.arange(n, dtype=np.int32), m)[np.newaxis, :]

    def step(state: State) -> None:
        if is_elementwise and not any(_is_varying(state.values[slot]) for slot in captured):
            state.values[result] = over_components(state)
        elif layout is not None:
            state.values[result] = over_work_items(state, layout)
        else:
            require_layout(type_, state.subgroup_size)

    def over_components(state: State) -> Array:
        """Runs the region once, with a lane for each component."""
        values, operand = state.values, state.values[matrix]
        values[i], values[j] = rows, columns
        values[component] = operand.reshape(len(operand), m * n)
        before = (state.mask, state.lanes, state.observer)
        active = state.active_rows()
        state.mask = None if active is None else active[:, np.newaxis]
        state.lanes = m * n
        state.observer = None
        try:
            body.run(state)
        finally:
            state.mask, state.lanes, state.observer = before
        mapped = np.asanyarray(values[body.yields[0]])
        count = mapped.shape[0] if mapped.ndim else 1
        return np.broadcast_to(mapped, (count, m * n)).reshape(count, m, n)

    def over_work_items(state: State, layout: Layout) -> Array:
        """Runs the region once for each entry of the work-items' vectors."""
        values = state.values
        operand = np.broadcast_to(values[matrix], (state.rows, m, n))
        mapped = np.zeros_like(operand)
        before = state.mask
        try:
            for entry in range(layout.length):
                active = layout.is_component[entry] & state.full(
                    np.bool_(True) if before is None else before
                )
                if not active.any():
                    continue
                values[i] = layout.rows[entry].astype(np.int32)[np.newaxis, :]
                values[j] = layout.columns[entry].astype(np.int32)[np.newaxis, :]
                values[component] = extract(operand, layout, entry)
                state.mask = None if active.all() else active
                body.run(state)
                insert(mapped, layout, entry, state.full(values[body.yields[0]]), active)
        finally:
            state.mask = before
        return mapped

    return step


def _is_varying(value: Value) -> bool:
    """Whether a scalar value differs between the work-items of a subgroup."""
    return is_array(value) and value.shape[1] > 1


HANDLERS: dict[type[Operation], Handler] = {
    ops.CooperativeMatrixApplyOp: _apply,
    ops.CooperativeMatrixConstructOp: _construct,
    ops.CooperativeMatrixExtractOp: _extract,
    ops.CooperativeMatrixInsertOp: _insert,
    ops.CooperativeMatrixMulAddOp: _mul_add,
    ops.CooperativeMatrixReduceAddOp: _reduce,
    ops.CooperativeMatrixReduceMaxOp: _reduce,
    ops.CooperativeMatrixReduceMinOp: _reduce,
    ops.CooperativeMatrixScaleOp: _scale,
}
