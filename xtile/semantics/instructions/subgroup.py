"""The subgroup instructions: work-items of a subgroup exchange values.

Work-items that are not active take no part. Sums of 16-bit floating types are computed in f32 and
each result is rounded once.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Attribute, Operation

from xtile.dialects.tensorlang.ops import arithmetic
from xtile.dialects.tensorlang.ops import subgroup as ops
from xtile.semantics.accumulation import accumulation_type
from xtile.semantics.arithmetic import identity_of, reduction_ufunc
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.instructions.events import require_converged, require_uniform
from xtile.semantics.numeric_types import cast_function
from xtile.semantics.state import State, per_row
from xtile.semantics.values import Array


def _broadcast(operation: ops.SubgroupBroadcastOp, compiler: Compiler) -> Step:
    a, index, result = compiler.slots((operation.a, operation.index, operation.result))

    def step(state: State) -> None:
        values = state.values
        require_converged(state, operation)
        require_uniform(state, operation, "the index", values[index])
        lane = per_row(values[index], state)
        active = lane if state.active_rows() is None else _of_active_rows(lane, state)
        if np.any((active < 0) | (active >= state.lanes)):
            raise UnlocatedError(f"the index must be from 0 to {state.lanes - 1}, but is {active}")
        full = state.full(values[a])
        lanes = np.clip(np.broadcast_to(lane, (state.rows, 1)), 0, state.lanes - 1)
        values[result] = np.take_along_axis(full, lanes.astype(np.int64), axis=1)

    return step


def _of_active_rows(lane: Array, state: State) -> Array:
    return np.broadcast_to(lane, (state.rows, 1))[state.active_rows()]


_REDUCTIONS: dict[type[Operation], type[Operation]] = {
    ops.SubgroupReduceAddOp: arithmetic.AddOp,
    ops.SubgroupReduceMaxOp: arithmetic.MaxOp,
    ops.SubgroupReduceMinOp: arithmetic.MinOp,
}
_INCLUSIVE: dict[type[Operation], type[Operation]] = {
    ops.SubgroupInclusiveScanAddOp: arithmetic.AddOp,
    ops.SubgroupInclusiveScanMaxOp: arithmetic.MaxOp,
    ops.SubgroupInclusiveScanMinOp: arithmetic.MinOp,
}
_EXCLUSIVE: dict[type[Operation], type[Operation]] = {
    ops.SubgroupExclusiveScanAddOp: arithmetic.AddOp,
    ops.SubgroupExclusiveScanMaxOp: arithmetic.MaxOp,
    ops.SubgroupExclusiveScanMinOp: arithmetic.MinOp,
}
_OPERATORS = _REDUCTIONS | _INCLUSIVE | _EXCLUSIVE
"""The arithmetic instruction that combines two work-items' values."""


def _combine(operation: ops.SubgroupOperation, compiler: Compiler) -> Step:
    type_: Attribute = operation.a.type
    operator = _OPERATORS[type(operation)]
    wide = accumulation_type(type_) if operator is arithmetic.AddOp else type_
    to_wide, to_narrow = cast_function(type_, wide), cast_function(wide, type_)
    identity, ufunc = identity_of(operator, wide), reduction_ufunc(operator, wide)
    is_reduction = type(operation) in _REDUCTIONS
    is_exclusive = type(operation) in _EXCLUSIVE
    a, result = compiler.slots((operation.a, operation.result))

    def step(state: State) -> None:
        require_converged(state, operation)
        full = to_wide(state.full(state.values[a]))
        if state.mask is not None:
            full = np.where(state.active(), full, identity)
        if is_reduction:
            combined = ufunc.reduce(full, axis=1, dtype=full.dtype, keepdims=True)
        else:
            combined = ufunc.accumulate(full, axis=1, dtype=full.dtype)
            if is_exclusive:
                first = np.full((state.rows, 1), identity)
                combined = np.concatenate((first, combined[:, :-1]), axis=1)
        state.values[result] = to_narrow(combined)

    return step


HANDLERS: dict[type[Operation], Handler] = {
    ops.SubgroupBroadcastOp: _broadcast,
    **dict.fromkeys(_OPERATORS, _combine),
}
