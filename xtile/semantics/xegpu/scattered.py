"""Loads, stores, atomic updates and prefetches of scattered points.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUOps.td`, `load`, `store`,
`atomic_rmw` and `prefetch`; docs/semantics.md, "XeGPU".
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Operation, SSAValue

from xtile.dialects.xegpu import operation as types
from xtile.dialects.xegpu.operation import element_type, shape_of, tensor_desc
from xtile.dialects.xegpu.ops.atomics import AtomicRMWOp
from xtile.dialects.xegpu.ops.scattered import LoadGatherOp, PrefetchOp, StoreScatterOp
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.memory import Index, Memref
from xtile.semantics.state import State
from xtile.semantics.upstream.access import read_elements, update_elements, write_elements
from xtile.semantics.upstream.memref import UPDATES
from xtile.semantics.upstream.numbers import number_of
from xtile.semantics.values import Array, Value, choose
from xtile.semantics.xegpu.descriptors import ScatteredDescriptor, base_of
from xtile.semantics.xegpu.levels import acting, level_of
from xtile.semantics.xegpu.point_coordinates import Points, point_coordinates


@dataclass(frozen=True)
class Access:
    """What a scattered access moves.

    Attributes:
        memory: The memory, with one dimension.
        index: The index of each element.
        where: Which elements the mask allows.
    """

    memory: Memref
    index: Index
    where: Value


def scattered_access(
    operation: Operation,
    compiler: Compiler,
    source: SSAValue,
    offsets: SSAValue | None,
    mask: SSAValue,
    points: Points | None,
) -> Callable[[State], Access]:
    """What finds the elements of an access at run time; without points it moves one number."""
    source_slot, mask_slot = compiler.slots((source, mask))
    offsets_slot = None if offsets is None else compiler.slot(offsets)
    value = operation.results[0] if operation.results else operation.operands[0]
    dtype = number_of(element_type(value.type)).dtype

    def access(state: State) -> Access:
        given, where = state.values[source_slot], state.values[mask_slot]
        if offsets_slot is None:
            descriptor: ScatteredDescriptor = given
            memory, offset = descriptor.base, descriptor.offsets
        else:
            memory, offset = base_of(state, given, dtype), state.values[offsets_slot]
        if points is None:
            return Access(memory, _number(offset), _number(where))
        index = points.of_each(_vector(offset)) + points.element
        return Access(memory, index, points.of_each(_vector(where)))

    return access


def _vector(value: Value) -> Array:
    """A number for each work-item as a vector of one."""
    array = np.asanyarray(value)
    return array.reshape(*(array.shape or (1, 1)), 1) if array.ndim <= 2 else array


def _number(value: Value) -> Array:
    """A number, or a vector of one, with one entry for each work-item or for all."""
    array = np.asanyarray(value)
    return array.reshape(array.shape[:2] or (1, 1))


def acting_on(
    state: State, operation: Operation, points: Points | None
) -> AbstractContextManager[None]:
    """Who acts: each work-item where a vector is a lane's, else a subgroup or the work-group."""
    if points is None or points.is_for_lane:
        return nullcontext()
    return acting(state, level_of(operation))


def points_of(
    operation: LoadGatherOp | StoreScatterOp, source: SSAValue, compiler: Compiler
) -> Points | None:
    """The points of an access to vectors; None if it moves one number."""
    value = operation.value
    if not isinstance(value.type, VectorType):
        return None
    shape = shape_of_points(source, operation.offsets)
    chunk_size, lanes = operation.effective_chunk_size, compiler.configuration.subgroup_size
    return point_coordinates(operation, source, value, shape, chunk_size, lanes)


def shape_of_points(source: SSAValue, offsets: SSAValue | None) -> tuple[int, ...]:
    """The shape of what has a number for each point."""
    if offsets is not None:
        return shape_of(offsets.type)
    return types.points(tensor_desc(source))


def _load(operation: LoadGatherOp, compiler: Compiler) -> Step:
    points = points_of(operation, operation.source, compiler)
    access = scattered_access(
        operation, compiler, operation.source, operation.offsets, operation.mask, points
    )
    zero = number_of(operation.value.type).number(0)
    result = compiler.slot(operation.value)

    def step(state: State) -> None:
        found = access(state)
        with acting_on(state, operation, points):
            value = read_elements(state, operation, found.memory, (found.index,), found.where)
        state.values[result] = choose(found.where, value, zero)

    return step


def _store(operation: StoreScatterOp, compiler: Compiler) -> Step:
    points = points_of(operation, operation.dest, compiler)
    access = scattered_access(
        operation, compiler, operation.dest, operation.offsets, operation.mask, points
    )
    value = compiler.slot(operation.value)

    def step(state: State) -> None:
        found, stored = access(state), state.values[value]
        with acting_on(state, operation, points):
            write_elements(state, operation, found.memory, (found.index,), stored, found.where)

    return step


def _prefetch(operation: PrefetchOp, compiler: Compiler) -> Step:
    """Fetches nothing: the points have no mask, so any of them may be outside of the memory."""
    return lambda state: None


def _atomic_rmw(operation: AtomicRMWOp, compiler: Compiler) -> Step:
    source = operation.tensorDesc
    lanes = compiler.configuration.subgroup_size
    shape, chunk_size = shape_of_points(source, None), tensor_desc(source).chunk_size
    points = point_coordinates(operation, source, operation.value, shape, chunk_size, lanes)
    access = scattered_access(operation, compiler, source, None, operation.mask, points)
    function = UPDATES[operation.update.name](number_of(operation.value.type))
    value, result = compiler.slots((operation.value, operation.result))

    def step(state: State) -> None:
        found, operand = access(state), state.values[value]
        with acting_on(state, operation, points):
            state.values[result] = update_elements(
                state, operation, found.memory, (found.index,), operand, function, found.where
            )

    return step


HANDLERS: dict[str, Handler] = {
    "xegpu.atomic_rmw": _atomic_rmw,
    "xegpu.load": _load,
    "xegpu.prefetch": _prefetch,
    "xegpu.store": _store,
}
"""The handler of each operation, by name."""
