"""Control flow: if and for, in which work-items can diverge."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation, SSAValue

from xtile.dialects.tensorlang.ops import control as ops
from xtile.dialects.tensorlang.types import CoopmatrixType
from xtile.semantics.compiler import Body, Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.instructions.events import require_uniform
from xtile.semantics.memory import Mask, where_active
from xtile.semantics.numeric_types import numpy_type
from xtile.semantics.state import State, select
from xtile.semantics.values import Value, first_where, is_array


def _if(operation: ops.IfOp, compiler: Compiler) -> Step:
    condition = compiler.slot(operation.condition)
    then, otherwise = compiler.region(operation.then), compiler.region(operation.otherwise)
    results = compiler.slots(operation.results_)
    is_matrix = _are_matrices(operation.results_)

    def step(state: State) -> None:
        chosen = state.values[condition]
        if not is_array(chosen):
            _run_branch(then if chosen else otherwise, results, state)
            return
        if any(is_matrix):
            require_uniform(state, operation, "the condition", chosen)
        taken, left = _split(chosen, state.mask)
        if not left.any():
            _run_branch(then, results, state)
        elif not taken.any():
            _run_branch(otherwise, results, state)
        else:
            _run_both(state, taken, left)

    def _run_both(state: State, taken: npt.NDArray[np.bool_], left: npt.NDArray[np.bool_]) -> None:
        before = state.mask
        try:
            state.mask = taken
            then.run(state)
            from_then = [state.values[slot] for slot in then.yields]
            state.mask = left
            otherwise.run(state)
        finally:
            state.mask = before
        from_else = [state.values[slot] for slot in otherwise.yields]
        for slot, a, b, matrix in zip(results, from_then, from_else, is_matrix, strict=True):
            state.values[slot] = select(taken, a, b, matrix)

    return step


def _are_matrices(values: Sequence[SSAValue]) -> list[bool]:
    return [isinstance(value.type, CoopmatrixType) for value in values]


def _split(
    condition: npt.NDArray[np.bool_], mask: Mask
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """The active work-items for which the condition holds, and those for which it does not."""
    if mask is None:
        return condition, ~condition
    return condition & mask, ~condition & mask


def _run_branch(body: Body, results: tuple[int, ...], state: State) -> None:
    body.run(state)
    _copy(state.values, body.yields, results)


def _copy(values: list[Value], sources: Sequence[int], targets: Sequence[int]) -> None:
    """Copies values between slots, all at once: a target may be a source, too."""
    for slot, value in zip(targets, [values[slot] for slot in sources], strict=True):
        values[slot] = value


def _for(operation: ops.ForOp, compiler: Compiler) -> Step:
    variable, *carried = compiler.slots(operation.body.block.args)
    inits, results = compiler.slots(operation.init), compiler.slots(operation.results_)
    from_, to = compiler.slots((operation.from_, operation.to))
    step_slot = None if operation.step is None else compiler.slot(operation.step)
    body = compiler.region(operation.body)
    integer = numpy_type(operation.from_.type).type
    is_matrix = _are_matrices(operation.results_)
    # A subgroup's work-items have a matrix together, and so as many iterations.
    must_agree = compiler.is_observed and any(is_matrix)

    def step(state: State) -> None:
        values = state.values
        first, last = values[from_], values[to]
        stride = integer(1) if step_slot is None else values[step_slot]
        if step_slot is not None:
            _check_stride(first, last, stride, state.mask)
        _copy(values, inits, carried)
        if any(is_array(bound) for bound in (first, last, stride)):
            _run_varying(state, first, last, stride)
        else:
            _run_uniform(state, int(first), int(last), int(stride))
        _copy(values, carried, results)

    def _run_uniform(state: State, first: int, last: int, stride: int) -> None:
        values = state.values
        yields = body.yields
        # Unlike Python's range, the loop never descends, and an empty one may have any step.
        for i in range(first, last, stride) if first < last else ():
            values[variable] = integer(i)
            body.run(state)
            _copy(values, yields, carried)

    def _run_varying(state: State, first: Value, last: Value, stride: Value) -> None:
        before = state.mask
        values = state.values
        active = where_active(first < last, before)
        i = np.broadcast_to(first, np.broadcast_shapes(np.shape(first), active.shape))
        count: Value = np.int64(0)
        try:
            while active.any():
                count = count + active if must_agree else count
                state.mask = before if before is None and active.all() else active
                values[variable] = i
                body.run(state)
                _carry(values, carried, body.yields, active, is_matrix)
                following = i + stride
                # A sum that wraps around is past the end.
                active = active & (following < last) & (following > i)
                i = following
        finally:
            state.mask = before
        if must_agree:
            require_uniform(state, operation, "the number of iterations", count)

    return step


def _carry(
    values: list[Value],
    carried: list[int],
    yields: tuple[int, ...],
    active: npt.NDArray[np.bool_],
    is_matrix: list[bool],
) -> None:
    """Carries the yielded values of the active work-items over to the next iteration."""
    new = [values[slot] for slot in yields]
    for slot, value, matrix in zip(carried, new, is_matrix, strict=True):
        values[slot] = value if active.all() else select(active, value, values[slot], matrix)


def _check_stride(first: Value, last: Value, stride: Value, mask: Mask) -> None:
    """Checks the step of the active work-items that run the loop at all.

    Raises:
        UnlocatedError: One is below 1.
    """
    wrong = where_active((stride < 1) & (first < last), mask)
    if wrong.any():
        given = first_where(stride, wrong)
        raise UnlocatedError(f"the step of a for loop must be at least 1, but is {given}")


HANDLERS: dict[type[Operation], Handler] = {ops.IfOp: _if, ops.ForOp: _for}
