"""Elements anywhere, of memory or of a tensor: at positions that a tensor holds, or by pointers.

Source: MLIR (LLVM 22), `VectorOps.td`; docs/core-form.md, "Gathers and scatters"; Triton 3.9,
`TritonOps.td`, `tt.gather` and `tt.histogram`.
"""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from xtile.dialects.core import elements
from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
from xtile.dialects.triton.tt import ops as tt
from xtile.dialects.vector.gathers import GatherOp, ScatterOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_triton.atomics import load_atomically, store_atomically
from xtile.translate.core_to_triton.lowering import Lowering
from xtile.translate.core_to_triton.memory import load, store
from xtile.translate.tiles.accesses import pointers_at, pointers_of
from xtile.translate.tiles.types import shape_of
from xtile.translate.tiles.unspecified import leaves_out


def _other(
    operation: GatherLoadOp | GatherOp, given: SSAValue | None, lowering: Lowering
) -> SSAValue | None:
    """What elements are that the mask leaves out; None: anything."""
    if leaves_out(given, operation.result):
        return None
    if given is None:
        return lowering.constant(0, lowering.tile_of(operation.result.type))
    return lowering.value(given)


def _gather_load(operation: GatherLoadOp, lowering: Lowering) -> None:
    pointers = pointers_of(lowering, operation, shape_of(operation.result.type))
    if operation.order is not None:
        lowering.define(operation.result, load_atomically(operation, lowering, pointers))
        return
    mask = lowering.optional_value(operation.mask)
    other = None if mask is None else _other(operation, operation.padding, lowering)
    type_ = operation.result.type
    lowering.define(operation.result, load(lowering, pointers, type_, mask, other))


def _scatter_store(operation: ScatterStoreOp, lowering: Lowering) -> None:
    pointers = pointers_of(lowering, operation, shape_of(operation.value.type))
    if operation.order is not None:
        store_atomically(operation, lowering, pointers)
        return
    value, mask = lowering.value(operation.value), lowering.optional_value(operation.mask)
    store(lowering, pointers, value, mask)


def _gather(operation: GatherOp, lowering: Lowering) -> None:
    memory = lowering.descriptor(operation.base)
    positions, mask = lowering.values((operation.indices, operation.mask))
    other = _other(operation, operation.pass_thru, lowering)
    pointers = pointers_at(lowering, memory, operation.offsets, positions)
    type_ = operation.result.type
    lowering.define(operation.result, load(lowering, pointers, type_, mask, other))


def _scatter(operation: ScatterOp, lowering: Lowering) -> None:
    memory = lowering.descriptor(operation.base)
    given = (operation.indices, operation.mask, operation.valueToStore)
    positions, mask, value = lowering.values(given)
    pointers = pointers_at(lowering, memory, operation.offsets, positions)
    store(lowering, pointers, value, mask)


# --- elements of tensors ---


def _gather_elements(operation: elements.GatherOp, lowering: Lowering) -> None:
    source, positions = lowering.values((operation.source, operation.positions))
    axis, shape = operation.axis.value.data, list(shape_of(operation.result.type))
    # Where there are fewer positions than elements along another dimension, they are of the first.
    shape[axis] = lowering.shape(source)[axis]
    source = lowering.extract(source, [0] * len(shape), shape)
    made = tt.GatherOp(source, lowering.resize(positions, i32), axis)
    lowering.define(operation.result, lowering.emit(made).results[0])


def _histogram(operation: elements.HistogramOp, lowering: Lowering) -> None:
    count = (prod(shape_of(operation.source.type)),)
    # A number that counts is below the number of bins, whatever the width.
    source = lowering.resize(lowering.value(operation.source), i32, is_signed=False)
    mask = lowering.optional_value(operation.mask)
    type_ = lowering.tile(i32, shape_of(operation.result.type))
    if mask is not None:
        mask = lowering.reshape(mask, count)
    made = tt.HistogramOp(lowering.reshape(source, count), type_, mask)
    element = lowering.element_of(operation.result.type)
    result = lowering.resize(lowering.emit(made).results[0], element, is_signed=False)
    lowering.define(operation.result, result)


RULES: dict[str, Rule] = {
    "core.gather": _gather_elements,
    "core.gather_load": _gather_load,
    "core.histogram": _histogram,
    "core.scatter_store": _scatter_store,
    "vector.gather": _gather,
    "vector.scatter": _scatter,
}
"""The rule of each operation, by name."""
