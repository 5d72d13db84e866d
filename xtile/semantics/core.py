"""The meaning of the `core` dialect's operations on a subgroup and its lanes.

Source: docs/core-form.md; docs/semantics.md, "Execution" and "Cooperative matrices".
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import MemRefType, VectorType
from xdsl.ir import Attribute, Operation

from xtile.dialects.core.attributes import AtomicKind, ScanKind
from xtile.dialects.core.printing import PrintOp
from xtile.dialects.core.subgroup import AtomicUpdateOp, SubgroupScanOp
from xtile.semantics import (
    core_assumptions,
    core_atomics,
    core_block,
    core_cooperative_matrix,
    core_elements,
    core_matrix,
    core_packing,
    core_pointers,
    core_reductions,
    core_scattered,
)
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.instructions.events import require_converged
from xtile.semantics.memory import Index, as_index, parts
from xtile.semantics.state import State
from xtile.semantics.unspecified import STORED, reach
from xtile.semantics.upstream.access import update_elements
from xtile.semantics.upstream.gpu_subgroup import combiner, wide_type
from xtile.semantics.upstream.memref import UPDATES
from xtile.semantics.upstream.numbers import Kind, Number, number_of
from xtile.semantics.upstream.printf import Converter, formatter
from xtile.semantics.values import Array, Value, choose, with_axes
from xtile.semantics.vector.arrays import as_array

_ADD: Any = operator.add


def _update_function(kind: AtomicKind, type: Attribute) -> Callable[[Value, Value], Value]:
    """What is stored of the element and the value."""
    number = number_of(type)
    if kind is AtomicKind.ADD_FLOAT and number.kind is Kind.COMPLEX:
        return _ADD
    return UPDATES[kind.value](number)


def _atomic_update(operation: AtomicUpdateOp, compiler: Compiler) -> Step:
    function = _update_function(operation.kind.data, operation.value.type)
    value, memory, *indices = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)
    shape = _shape_of(operation.value.type)
    dimensions = len(cast("MemRefType[Attribute]", operation.memory.type).get_shape())
    checked = operation.checked.get_values()
    is_transposed = operation.transpose is not None

    def step(state: State) -> None:
        values = state.values
        first = [as_index(values[index]) for index in indices]
        chosen = _block(first, shape, dimensions, is_transposed)
        old: Value = None
        for view, mask in parts(values[memory], state.mask):
            active = with_axes(mask, len(shape))
            where = _both(_inside(chosen, view.shape, checked), active)
            if state.unspecified:
                reach(state, operation, value, STORED, where=where)
            updated = update_elements(
                state, operation, view, chosen, values[value], function, where
            )
            old = updated if old is None else choose(active, updated, old)
        values[result] = old

    return step


def _shape_of(type: Attribute) -> tuple[int, ...]:
    return type.get_shape() if isinstance(type, VectorType) else ()


def _block(
    first: Sequence[Index], shape: Sequence[int], dimensions: int, is_transposed: bool
) -> list[Index]:
    """The indices of a block's elements; the last dimensions of the memory are the vector's."""
    chosen: list[Index] = []
    for dimension, index in enumerate(first):
        axis = dimension - (dimensions - len(shape))
        if axis < 0:
            chosen.append(index)
            continue
        axis = len(shape) - 1 - axis if is_transposed else axis
        position = np.arange(shape[axis]).reshape(
            1, 1, *(-1 if other == axis else 1 for other in range(len(shape)))
        )
        chosen.append(
            position + (index if isinstance(index, int) else with_axes(index, len(shape)))
        )
    return chosen


def _inside(chosen: Sequence[Index], shape: Sequence[Value], checked: Sequence[int]) -> Value:
    """Which elements are inside of the memory along the checked dimensions; None: all."""
    inside: Value = None
    for dimension in checked:
        index, size = np.asanyarray(chosen[dimension]), shape[dimension]
        if isinstance(size, np.ndarray):
            size = with_axes(size, index.ndim - size.ndim)
        fits = (index >= 0) & (index < size)
        inside = fits if inside is None else inside & fits
    return inside


def _both(a: Value, b: Value) -> Value:
    """Where both hold; None holds everywhere."""
    if a is None or b is None:
        return b if a is None else a
    return a & b


_FLOAT_COMBINERS = {ScanKind.ADD: "add", ScanKind.MAX: "maxnumf", ScanKind.MIN: "minnumf"}
_INTEGER_COMBINERS = {ScanKind.ADD: "add", ScanKind.MAX: "maxsi", ScanKind.MIN: "minsi"}


def _subgroup_scan(operation: SubgroupScanOp, compiler: Compiler) -> Step:
    number = number_of(operation.value.type)
    wide = wide_type(number)
    kind = operation.kind.data
    is_float = number.kind is Kind.FLOAT
    combine = combiner((_FLOAT_COMBINERS if is_float else _INTEGER_COMBINERS)[kind], wide)
    identity = _identity(kind, wide)
    is_exclusive = operation.exclusive is not None
    (value,) = compiler.slots((operation.value,))
    (result,) = compiler.slots((operation.result,))

    def step(state: State) -> None:
        require_converged(state, operation)
        full: Array = np.broadcast_to(state.values[value], state.shape).astype(wide.dtype)
        full = np.where(state.active(), full, identity)
        columns = [full[:, :1]]
        for lane in range(1, state.lanes):
            columns.append(combine(columns[-1], full[:, lane : lane + 1]))
        if is_exclusive:
            columns = [np.full((state.rows, 1), identity), *columns[:-1]]
        scanned = np.concatenate(columns, axis=1)
        state.values[result] = number.rounded(scanned) if is_float else scanned

    return step


def _identity(kind: ScanKind, number: Number) -> np.generic:
    """0 for add, and the largest or smallest number of the type for min or max."""
    if kind is ScanKind.ADD:
        return number.dtype.type(0)
    if number.kind is Kind.FLOAT:
        return number.dtype.type(-np.inf if kind is ScanKind.MAX else np.inf)
    largest = 2 ** (number.bits - 1) - 1
    return number.dtype.type(-largest - 1 if kind is ScanKind.MAX else largest)


def _print(operation: PrintOp, compiler: Compiler) -> Step:
    numbers = [number_of(argument.type) for argument in operation.args]
    fill = formatter(operation.format.data, numbers, _text_of)
    slots = compiler.slots(operation.args)

    def step(state: State) -> None:
        values = (as_array(state.values[slot]) for slot in slots)
        sys.stdout.write(fill([value[0, 0] for value in values]))

    return step


def _text_of(value: Value, convert: Converter) -> str:
    """A vector as `[a, b, ...]`, a number as itself."""
    if np.ndim(value) == 0:
        return convert(value)
    return f"[{', '.join(_text_of(part, convert) for part in value)}]"


def _nothing(operation: Operation, compiler: Compiler) -> Step:
    return lambda state: None


HANDLERS: dict[str, Handler] = {
    **core_assumptions.HANDLERS,
    **core_atomics.HANDLERS,
    **core_block.HANDLERS,
    **core_cooperative_matrix.HANDLERS,
    **core_elements.HANDLERS,
    **core_matrix.HANDLERS,
    **core_pointers.HANDLERS,
    **core_packing.HANDLERS,
    **core_reductions.HANDLERS,
    **core_scattered.HANDLERS,
    "core.atomic_update": _atomic_update,
    "core.prefetch": _nothing,
    "core.print": _print,
    "core.subgroup_scan": _subgroup_scan,
}
"""The handler of each operation, by name."""
