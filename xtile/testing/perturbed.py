"""Runs kernels of the tensor language with the errors that another device may make.

Each inexact instruction gives its result on the reference device, moved by as much as
`tolerances.py` allows, up or down at random. What a few such runs differ by at the end is what the
allowed errors grow to through the kernel. Where a work-item sees what others made in an order that
nothing specifies, each run takes another order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.ir import Attribute, Operation

from xtile.dialects.tensorlang.ops.collective import BlasOperation
from xtile.dialects.tensorlang.ops.cooperative_matrix import CooperativeMatrixAtomicUpdate
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.ops.memory import AtomicUpdateOperation
from xtile.dialects.tensorlang.types import (
    COMPLEX_TYPES,
    MemrefType,
    component_type,
)
from xtile.semantics.addresses import AddressSpace
from xtile.semantics.arguments import Argument
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.configuration import Size3, configuration_of
from xtile.semantics.engine import Program, bind
from xtile.semantics.memory import Buffer, parts
from xtile.semantics.state import State
from xtile.semantics.values import Value
from xtile.testing.tolerances import (
    SUMS,
    TOLERANCES,
    Tolerance,
    is_inexact,
    sum_tolerance,
    unit_in_last_place,
)

Array: TypeAlias = npt.NDArray[Any]
Random: TypeAlias = np.random.Generator


def launch_perturbed(
    function: FuncOp, arguments: Sequence[Argument], grid: Size3, random: Random
) -> None:
    """Runs a kernel like `semantics.engine.launch`, with random allowed errors and orders.

    Args:
        function: The kernel, which must be verified.
        arguments: Its arguments; the memory is updated in place.
        grid: Work-groups in each of three dimensions.
        random: Chooses the errors and the orders.

    Raises:
        ExecutionError: An operation cannot be executed; an error of an index can be the cause.
    """
    configuration = configuration_of(function, grid)
    addresses = AddressSpace()
    values = bind(function, arguments, addresses)
    compiler = _Perturbing(configuration, is_observed=False)
    compiler.random = random
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
        return _sum if is_inexact(_changed_type(operation)) else None
    tolerance = TOLERANCES.get(name)
    if tolerance is None or component_type(operation.operands[0].type) not in tolerance.ulps:
        return None
    return _function


def _changed_type(operation: Operation) -> Attribute:
    """The type of the numbers that an instruction adds up to."""
    if isinstance(operation, BlasOperation):
        memref = operation.operands[-1].type
        assert isinstance(memref, MemrefType)
        return memref.element_type
    return component_type(operation.results[0].type)


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
        value = state.values[result]
        error = ulps * unit_in_last_place(np.asarray(value), result_type)
        state.values[result] = _moved(value, error, result_type, compiler.random, numbers)

    return perturbed


def _sum(operation: Operation, step: Step, compiler: _Perturbing) -> Step:
    """An instruction that adds up: in a register, or in the memory of its last operand.

    How many products it adds up, and their magnitudes, is what it computes of ones and of the
    magnitudes of its operands.
    """
    type_ = _changed_type(operation)
    numbers = _Numbers(operation, compiler)

    def rerun(state: State, function: Callable[[Array], Array]) -> list[Array]:
        saved = numbers.read(state)
        numbers.write(state, [function(array).astype(array.dtype) for array in saved])
        step(state)
        outcome = numbers.read_outcome(state)
        numbers.write(state, saved)
        return outcome

    def perturbed(state: State) -> None:
        terms, magnitudes = rerun(state, np.ones_like), rerun(state, np.abs)
        before = numbers.read_outcome(state)
        step(state)
        results = numbers.read_outcome(state)
        for index, result in enumerate(results):
            tolerance = sum_tolerance(
                np.real(terms[index]), np.real(magnitudes[index]), result, type_
            )
            if numbers.is_memory:
                # What has not changed is not what was added up.
                tolerance = np.where(_are_same(before[index], result), 0.0, tolerance)
            results[index] = _moved(result, tolerance, type_, compiler.random)
        numbers.write_outcome(state, results)

    return perturbed


class _Numbers:
    """The numbers that an instruction adds up, in registers and in memory.

    Attributes:
        is_memory: Whether what they add up to is memory, and not a register.
    """

    def __init__(self, operation: Operation, compiler: Compiler) -> None:
        self.is_memory = not operation.results
        self._operands = compiler.slots(operation.operands)
        (self._outcome,) = compiler.slots(operation.results or operation.operands[-1:])

    def read(self, state: State) -> list[Array]:
        """Copies of all numbers."""
        return [np.array(data) for slot in self._operands for data in _arrays(state, slot)]

    def write(self, state: State, numbers: Sequence[Array]) -> None:
        """Replaces all numbers."""
        _replace(state, self._operands, iter(numbers))

    def read_outcome(self, state: State) -> list[Array]:
        """Copies of what they were added up to."""
        return [np.array(data) for data in _arrays(state, self._outcome)]

    def write_outcome(self, state: State, numbers: Sequence[Array]) -> None:
        """Replaces what they were added up to."""
        _replace(state, [self._outcome], iter(numbers))


def _is_number(value: Value) -> bool:
    return isinstance(value, np.ndarray | np.generic)


def _buffers(memref: Value, state: State) -> list[Buffer]:
    """The memory of a memref."""
    return [view.buffer for view, _ in parts(memref, state.mask)]


def _arrays(state: State, slot: int) -> list[Array]:
    """The numbers of a value: itself, or the memory of a memref."""
    value = state.values[slot]
    if _is_number(value):
        return [np.asarray(value)]
    return [buffer.data for buffer in _buffers(value, state)]


def _replace(state: State, slots: Sequence[int], numbers: Iterator[Array]) -> None:
    """Gives values the numbers that `_arrays` finds in them."""
    for slot in slots:
        value = state.values[slot]
        if _is_number(value):
            state.values[slot] = next(numbers)[()]
        else:
            for buffer in _buffers(value, state):
                buffer.data[...] = next(numbers)


def _are_same(first: Array, second: Array) -> npt.NDArray[np.bool_]:
    return (first == second) | ((first != first) & (second != second))


def _in_any_order(operation: Operation, step: Step, compiler: _Perturbing) -> Step:
    """Atomic updates: the work-items, or the subgroups with their matrices, act one by one."""
    is_matrix = isinstance(operation, CooperativeMatrixAtomicUpdate)
    (result,) = compiler.slots(operation.results)

    def perturbed(state: State) -> None:
        before, active = state.mask, state.active()
        actors = active.any(axis=1) if is_matrix else active
        found: Value = None
        for actor in compiler.random.permutation(np.argwhere(actors)):
            place = tuple(actor)
            state.mask = np.zeros(state.shape, np.bool_)
            state.mask[place] = active[place]
            step(state)
            value = state.values[result]
            if not state.is_collective:
                found = np.zeros_like(value) if found is None else found
                found[place] = value[place]
            elif not actor.any():
                # All work-items get what work-item 0 has found.
                found = value
        state.mask, state.values[result] = before, found

    return perturbed


def _moved(
    value: Value, error: Array, type: Attribute, random: Random, operands: Sequence[Array] = ()
) -> Value:
    """Numbers that are off by as much as `error`, all in one direction or each in its own.

    A complex number that is not finite, or that comes from such an operand, is not specified: it
    becomes another one, NaN or 0.
    """
    shape = () if random.random() < 0.5 else np.shape(value)
    error = np.where(np.isfinite(error), error, 0.0)
    if type not in COMPLEX_TYPES:
        direction = random.choice((-1.0, 1.0), shape)
        return (np.asarray(value).astype(np.float64) + error * direction).astype(value.dtype)[()]
    direction = np.exp(1j * random.uniform(0.0, 2 * np.pi, shape))
    moved = np.asarray(value).astype(np.complex128) + error * direction
    other = np.where(np.isnan(value), 0.0, complex(np.nan, np.nan))
    for number in (np.asarray(value), *operands):
        moved = np.where(np.isfinite(number), moved, other)
    return moved.astype(value.dtype)[()]
