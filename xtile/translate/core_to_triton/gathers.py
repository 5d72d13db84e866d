"""Elements of memory anywhere: at positions that a tensor holds, or through pointers.

Source: MLIR (LLVM 22), `VectorOps.td`; docs/core-form.md, "Gathers and scatters".
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
from xtile.dialects.vector.gathers import GatherOp, ScatterOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_triton.atomics import load_atomically, store_atomically
from xtile.translate.core_to_triton.lowering import Lowering
from xtile.translate.core_to_triton.memory import load, store
from xtile.translate.core_to_triton.orderings import ordering_of
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
    how = ordering_of(operation)
    if how is not None:
        lowering.define(operation.result, load_atomically(operation, lowering, pointers, how))
        return
    mask = lowering.optional_value(operation.mask)
    other = None if mask is None else _other(operation, operation.padding, lowering)
    type_ = operation.result.type
    lowering.define(operation.result, load(lowering, pointers, type_, mask, other))


def _scatter_store(operation: ScatterStoreOp, lowering: Lowering) -> None:
    pointers = pointers_of(lowering, operation, shape_of(operation.value.type))
    how = ordering_of(operation)
    if how is not None:
        store_atomically(operation, lowering, pointers, how)
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


RULES: dict[str, Rule] = {
    "core.gather_load": _gather_load,
    "core.scatter_store": _scatter_store,
    "vector.gather": _gather,
    "vector.scatter": _scatter,
}
"""The rule of each operation, by name."""
