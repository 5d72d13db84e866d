"""The operations of the `gpu` dialect in which work-items exchange values.

Work-items that are not active take no part.

Source: MLIR (LLVM 22), `Dialect/GPU/IR/GPUOps.td`; docs/semantics.md, "Upstream dialects".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from xdsl.ir import Attribute, Operation

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.instructions.events import require_converged, require_uniform
from xtile.semantics.state import State, any_active, per_row
from xtile.semantics.upstream import floats, integers
from xtile.semantics.upstream.constants import integer_attribute, word_attribute
from xtile.semantics.upstream.numbers import FLOATS, Kind, Number, number_of
from xtile.semantics.values import Array, Value, choose, is_array, with_axes

Combine = Callable[[Value, Value], Value]

_COMBINERS: dict[str, str] = {
    "minui": "minui",
    "minsi": "minsi",
    "minnumf": "minnumf",
    "maxui": "maxui",
    "maxsi": "maxsi",
    "maxnumf": "maxnumf",
    "and": "andi",
    "or": "ori",
    "xor": "xori",
    "minimumf": "minimumf",
    "maximumf": "maximumf",
}
"""The operation of `arith` that a reduction combines values with; add and mul have two."""


def combiner(name: str, type: Number) -> Combine:
    """How a reduction combines two numbers of a type."""
    if type.kind is Kind.FLOAT:
        return floats.BINARY[_COMBINERS.get(name, f"{name}f")](type)
    return integers.BINARY[_COMBINERS.get(name, f"{name}i")](type)


def wide_type(type: Number) -> Number:
    """The type that reductions compute in: f32 for floating types with fewer bits."""
    is_short = type.kind is Kind.FLOAT and not type.is_exact_width
    return FLOATS["f32"] if is_short else type


def fold(
    values: Array, active: npt.NDArray[np.bool_] | None, axis: int, combine: Combine
) -> tuple[Array, npt.NDArray[np.bool_] | None]:
    """Combines the active values along an axis, in ascending order.

    Args:
        values: The values.
        active: Which take part, in the shape of the values or with axes of length 1; None: all.
        axis: The axis, which has length 1 afterwards.
        combine: Combines what there is so far and the next value.

    Returns:
        The results, and where there is one.
    """
    parts = np.split(values, values.shape[axis], axis)
    if active is None:
        result = parts[0]
        for part in parts[1:]:
            result = combine(result, part)
        return result, None
    masks = np.split(active, active.shape[axis], axis)
    result, known = parts[0], masks[0]
    for part, mask in zip(parts[1:], masks[1:], strict=True):
        both = combine(result, part)
        result = choose(known & mask, both, choose(mask, part, result))
        known = known | mask
    return result, known


def _expanded(state: State, value: Value) -> Array:
    """A number or vector with all rows and lanes."""
    tail = value.shape[2:] if is_array(value) else ()
    return np.broadcast_to(value, (*state.shape, *tail))


def _of_lanes(state: State, value: Value, lanes: Value) -> Array:
    """The value of another lane in the same subgroup, for each work-item."""
    full = _expanded(state, value)
    chosen = np.broadcast_to(lanes, state.shape)
    index = np.broadcast_to(with_axes(chosen, full.ndim - 2), full.shape)
    return np.take_along_axis(full, index, axis=1)


_SOURCES: dict[str, Callable[[Array, Value], Array]] = {
    "xor": lambda lane, offset: lane ^ offset,
    "up": lambda lane, offset: lane - offset,
    "down": lambda lane, offset: lane + offset,
    "idx": lambda lane, offset: np.zeros_like(lane) + offset,
}
"""The lane that a shuffle reads from."""


def _shuffle(operation: Operation, compiler: Compiler) -> Step:
    source_of = _SOURCES[word_attribute(operation, "mode")]
    value, offset, width = compiler.slots(operation.operands)
    result, valid = compiler.slots(operation.results)

    def step(state: State) -> None:
        values = state.values
        require_uniform(state, operation, "the width", values[width])
        count = values[width]
        if any_active((count < 1) | (count > state.lanes), state):
            raise UnlocatedError(f"the width must be from 1 to {state.lanes}, but is {count}")
        lane = np.arange(state.lanes)[np.newaxis, :]
        source = source_of(lane, values[offset])
        is_valid = (source >= 0) & (source < count) & (lane < count)
        values[valid] = is_valid
        # A work-item without a source keeps its value.
        values[result] = _of_lanes(state, values[value], np.where(is_valid, source, lane))

    return step


def _rotate(operation: Operation, compiler: Compiler) -> Step:
    offset, width = (integer_attribute(operation, name) for name in ("offset", "width"))
    assert offset is not None
    assert width is not None
    (value,) = compiler.slots(operation.operands)
    result, valid = compiler.slots(operation.results)
    if width > compiler.configuration.subgroup_size:
        raise UnlocatedError(
            f"the width {width} is more than the {compiler.configuration.subgroup_size} "
            "work-items of a subgroup"
        )

    def step(state: State) -> None:
        lane = np.arange(state.lanes)[np.newaxis, :]
        is_valid = lane < width
        source = np.where(is_valid, (lane + offset) % width, lane)
        state.values[result] = _of_lanes(state, state.values[value], source)
        state.values[valid] = is_valid

    return step


def _broadcast(operation: Operation, compiler: Compiler) -> Step:
    value, *lane = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)

    def step(state: State) -> None:
        values = state.values
        if lane:
            require_uniform(state, operation, "the lane", values[lane[0]])
            source = per_row(values[lane[0]], state)
        else:
            source = np.argmax(state.active(), axis=1)[:, np.newaxis]
        if any_active((source < 0) | (source >= state.lanes), state):
            raise UnlocatedError(f"the lane must be from 0 to {state.lanes - 1}, but is {source}")
        source = np.clip(source, 0, state.lanes - 1).astype(np.int64)
        full = _of_lanes(state, values[value], source)
        values[result] = full[:, :1]

    return step


def _subgroup_reduce(operation: Operation, compiler: Compiler) -> Step:
    type_: Attribute = operation.operands[0].type
    number = number_of(type_)
    wide = wide_type(number)
    combine = combiner(word_attribute(operation, "op"), wide)
    size = integer_attribute(operation, "cluster_size") or compiler.configuration.subgroup_size
    stride = integer_attribute(operation, "cluster_stride") or 1
    if compiler.configuration.subgroup_size % (size * stride):
        raise UnlocatedError(
            f"clusters of {size} work-items with stride {stride} do not divide a subgroup of "
            f"{compiler.configuration.subgroup_size} work-items"
        )
    (value,) = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)

    def step(state: State) -> None:
        if operation.get_attr_or_prop("uniform") is not None:
            require_converged(state, operation)
        full = _expanded(state, state.values[value])
        tail = full.shape[2:]
        # A cluster has every stride-th of size * stride lanes.
        shape = (state.rows, state.lanes // (size * stride), size, stride)
        active = None if state.mask is None else state.active().reshape(*shape, *(1,) * len(tail))
        combined, _ = fold(_widened(full, wide).reshape(*shape, *tail), active, 2, combine)
        spread = np.broadcast_to(combined, (*shape, *tail)).reshape(full.shape)
        narrow = number.rounded(spread) if number.kind is Kind.FLOAT else spread
        state.values[result] = narrow[:, :1] if size == state.lanes else narrow

    return step


def _widened(value: Array, wide: Number) -> Array:
    return value.astype(wide.dtype)


def _all_reduce(operation: Operation, compiler: Compiler) -> Step:
    number = number_of(operation.operands[0].type)
    (value,) = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)
    name = word_attribute(operation, "op")
    wide = wide_type(number) if name else number
    region = operation.regions[0]
    body = compiler.region(region) if region.blocks else None
    arguments = compiler.slots(region.blocks[0].args) if region.blocks else ()
    named = combiner(name, wide) if name else None

    def step(state: State) -> None:
        if operation.get_attr_or_prop("uniform") is not None:
            require_converged(state, operation)
        full = _widened(_expanded(state, state.values[value]), wide).reshape(1, -1)
        active = None if state.mask is None else state.active().reshape(1, -1)
        before, state.mask = state.mask, None
        try:
            combined, _ = fold(full, active, 1, named or by_region(state))
        finally:
            state.mask = before
        total = combined[0, 0]
        state.values[result] = number.rounded(total) if number.kind is Kind.FLOAT else total

    def by_region(state: State) -> Combine:
        def combine(a: Value, b: Value) -> Value:
            assert body is not None
            for slot, operand in zip(arguments, (a, b), strict=True):
                state.values[slot] = operand
            body.run(state)
            return np.broadcast_to(state.values[body.yields[0]], (1, 1))

        return combine

    return step


HANDLERS: dict[str, Handler] = {
    "gpu.all_reduce": _all_reduce,
    "gpu.rotate": _rotate,
    "gpu.shuffle": _shuffle,
    "gpu.subgroup_broadcast": _broadcast,
    "gpu.subgroup_reduce": _subgroup_reduce,
}
"""The handler of each operation, by name."""
