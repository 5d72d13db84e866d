"""Runs kernels of the tensor language with the errors that another device may make.

Each inexact instruction gives its result on the reference device, moved by as much as
`tolerances.py` allows, up or down at random. What a few such runs differ by at the end is what the
allowed errors grow to through the kernel. Where a sum overflows in some order of its terms, it may
be inf, -inf or NaN (docs/semantics.md, 2.2). Where a work-item sees what others made in an order
that nothing specifies, each run takes another order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.ir import Attribute, Operation

from tests.precision.distances import (
    is_inexact,
    largest_sum,
    sum_may_overflow,
    sum_tolerance,
    unit_in_last_place,
)
from tests.precision.wide_sums import WideSum, array_of, changed_type, is_atomic, summed_type
from xtile.checking.tolerances import SUMS, TOLERANCES, Tolerance
from xtile.dialects.tensorlang.ops.cooperative_matrix import CooperativeMatrixAtomicUpdate
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.ops.memory import AtomicUpdateOperation
from xtile.dialects.tensorlang.types import COMPLEX_TYPES, INTEGER_TYPES, component_type
from xtile.semantics.addresses import AddressSpace
from xtile.semantics.arguments import Argument
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.configuration import Size3, configuration_of
from xtile.semantics.program import Program, bind
from xtile.semantics.state import State
from xtile.semantics.values import Value

Array: TypeAlias = npt.NDArray[Any]
Random: TypeAlias = np.random.Generator


class Overflow(Enum):
    """What a sum becomes if it may overflow. `ANY` is one of the others, for each number alone."""

    INFINITY = np.inf
    NEGATIVE_INFINITY = -np.inf
    NAN = np.nan
    SUM = "the sum as it was computed"
    ANY = "any of these"

    def replace(
        self, sums: Array, may_overflow: npt.NDArray[np.bool_], random: Random
    ) -> npt.NDArray[Any]:
        """Sums after what may have overflowed has become what the member says."""
        if self is Overflow.SUM:
            return sums
        if self is not Overflow.ANY:
            return np.where(may_overflow, np.asarray(self.value).astype(sums.dtype), sums)
        others = random.choice((np.inf, -np.inf, np.nan), sums.shape).astype(sums.dtype)
        return np.where(may_overflow & (random.random(sums.shape) < _OVERFLOWING), others, sums)


_OVERFLOWING = 0.75


def launch_perturbed(
    function: FuncOp,
    arguments: Sequence[Argument],
    grid: Size3,
    random: Random,
    overflow: Overflow = Overflow.ANY,
    part: float = 1.0,
) -> None:
    """Runs a kernel like `semantics.engine.launch`, with random allowed errors and orders.

    Args:
        function: The kernel, which must be verified.
        arguments: Its arguments; the memory is updated in place.
        grid: Work-groups in each of three dimensions.
        random: Chooses the errors and the orders.
        overflow: What sums become that may overflow.
        part: How much of the allowed errors is made.

    Raises:
        ExecutionError: An operation cannot be executed; an error of an index can be the cause.
    """
    configuration = configuration_of(function, grid)
    addresses = AddressSpace()
    values = bind(function, arguments, addresses)
    compiler = _Perturbing(configuration, is_observed=False)
    compiler.random, compiler.overflow, compiler.part = random, overflow, part
    Program(function, values, configuration, addresses, compiler=compiler).run()


def is_determined(function: FuncOp) -> bool:
    """Whether a kernel has nothing to perturb: devices must then agree in every bit."""
    return not any(_perturbation(operation) for operation in function.walk())


def has_orders(function: FuncOp) -> bool:
    """Whether work-items of a kernel can see in which order they acted."""
    return any(_perturbation(operation) is _in_any_order for operation in function.walk())


class _Perturbing(Compiler):
    """Compiles instructions to steps that give other results where the table allows them."""

    random: Random
    overflow: Overflow
    part: float

    def handler(self, operation: Operation) -> Handler | None:
        """What compiles an operation, with the errors that it may make."""
        handler, perturb = super().handler(operation), _perturbation(operation)
        if handler is None or perturb is None:
            return handler

        def perturbed(operation: Operation, compiler: Compiler) -> Step:
            return perturb(operation, handler(operation, compiler), self)

        return perturbed


_Perturb: TypeAlias = Callable[[Any, Step, _Perturbing], Step]


def _perturbation(operation: Operation) -> _Perturb | None:
    """What replaces the step of an instruction; None if it is exact and nothing has an order."""
    if isinstance(operation, AtomicUpdateOperation | CooperativeMatrixAtomicUpdate):
        return _in_any_order
    name = operation.name.removeprefix("tensorlang.")
    if name in SUMS:
        return _sum if is_inexact(summed_type(operation)) else None
    tolerance = TOLERANCES.get(name)
    if tolerance is None or component_type(operation.operands[0].type) not in tolerance.ulps:
        return None
    return _function


def _function(operation: Operation, step: Step, compiler: _Perturbing) -> Step:
    """An instruction whose result is off by units in the last place."""
    tolerance: Tolerance = TOLERANCES[operation.name.removeprefix("tensorlang.")]
    ulps = tolerance.ulps[component_type(operation.operands[0].type)]
    result_type = component_type(operation.results[0].type)
    (result,) = compiler.slots(operation.results)
    operands = compiler.slots(operation.operands)

    def perturbed(state: State) -> None:
        numbers = [np.asarray(state.values[slot]) for slot in operands]
        step(state)
        value = np.asarray(state.values[result])
        # The scalar that scales a matrix is the work-items', not the components'.
        numbers = [number for number in numbers if number.ndim in (0, value.ndim)]
        error = compiler.part * ulps * unit_in_last_place(value, result_type)
        moved = _moved(value, error, result_type, value.dtype, compiler.random, numbers)
        state.values[result] = moved[()]

    return perturbed


def _sum(operation: Operation, step: Step, compiler: _Perturbing) -> Step:
    """An instruction that adds up: in a register, or in the memory of its last operand."""
    type_, result_type = summed_type(operation), changed_type(operation)
    wide = WideSum(operation, compiler)
    (outcome,) = compiler.slots(operation.results or operation.operands[-1:])

    def perturbed(state: State) -> None:
        exact, terms, magnitudes = wide.exact(state), wide.terms(state), wide.magnitudes(state)
        step(state)
        result = array_of(state.values[outcome])
        tolerance = sum_tolerance(terms, magnitudes, _finite(exact), type_, is_atomic(operation))
        # Where the order made the result overflow, another order may give the number.
        is_reachable = np.isfinite(exact) & (tolerance <= largest_sum(type_))
        numbers = np.where(np.isfinite(result) | ~is_reachable, result, exact)
        if type_ != result_type and result_type not in INTEGER_TYPES:
            tolerance = tolerance + unit_in_last_place(_finite(exact), result_type)
        error = compiler.part * tolerance
        moved = _moved(numbers, error, result_type, result.dtype, compiler.random)
        may_overflow = sum_may_overflow(exact, magnitudes, tolerance, type_)
        moved = compiler.overflow.replace(moved, may_overflow, compiler.random)
        if operation.results:
            state.values[outcome] = moved[()]
        else:
            result[...] = moved

    return perturbed


def _finite(numbers: Array) -> Array:
    return np.where(np.isfinite(numbers), numbers, 0)


def _in_any_order(operation: Operation, step: Step, compiler: _Perturbing) -> Step:
    """Atomic updates: the work-items, or the subgroups with their matrices, act one by one."""
    is_matrix = isinstance(operation, CooperativeMatrixAtomicUpdate)
    (result,) = compiler.slots(operation.results)

    def perturbed(state: State) -> None:
        before, active = state.mask, state.active()
        actors = active.any(axis=1) if is_matrix else active
        found: Value = None
        for actor in compiler.random.permutation(np.argwhere(actors)):
            position = tuple(actor)
            state.mask = np.zeros(state.shape, np.bool_)
            state.mask[position] = active[position]
            step(state)
            value = state.values[result]
            if not state.is_collective:
                found = np.zeros_like(value) if found is None else found
                found[position] = value[position]
            elif not actor.any():
                # All work-items get what work-item 0 has found.
                found = value
        state.mask, state.values[result] = before, found

    return perturbed


def _moved(
    value: Array,
    error: Array,
    type: Attribute,
    dtype: np.dtype[Any],
    random: Random,
    operands: Sequence[Array] = (),
) -> Array:
    """Numbers that are off by as much as `error`, all in one direction or each in its own.

    A complex number that is not finite, or that comes from such an operand, is not specified: it
    becomes another one, NaN or 0.
    """
    shape = () if random.random() < 0.5 else np.shape(value)
    error = np.where(np.isfinite(error), error, 0.0)
    if type not in COMPLEX_TYPES:
        direction = random.choice((-1.0, 1.0), shape)
        return (value.astype(np.float64) + error * direction).astype(dtype)
    direction = np.exp(1j * random.uniform(0.0, 2 * np.pi, shape))
    moved = value.astype(np.complex128) + error * direction
    other = np.where(np.isnan(value), 0.0, complex(np.nan, np.nan))
    for number in (value, *operands):
        moved = np.where(np.isfinite(number), moved, other)
    return moved.astype(dtype)
