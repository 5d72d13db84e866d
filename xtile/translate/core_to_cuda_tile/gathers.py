"""Elements of memory anywhere: at positions that a tile holds, or through pointers.

Source: MLIR (LLVM 22), `vector.gather`, `vector.scatter`; CUDA Tile IR specification, "Memory".
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from xdsl.ir import SSAValue

from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
from xtile.dialects.cuda_tile.ops import memory
from xtile.dialects.effects import synchronizes
from xtile.dialects.memory_orders import Ordering, ordering_of
from xtile.dialects.vector.gathers import GatherOp, ScatterOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.memory import from_memory, tile_in_memory, to_memory
from xtile.translate.core_to_cuda_tile.memory_order import said
from xtile.translate.tiles.accesses import Anywhere, pointers_at, pointers_of
from xtile.translate.tiles.types import shape_of
from xtile.translate.tiles.unspecified import leaves_out


def located(
    lowering: Lowering, operation: Anywhere, shape: Sequence[int]
) -> tuple[SSAValue, Hashable]:
    """Points to the elements that an operation accesses, and the alias set that they are in."""
    return pointers_of(lowering, operation, shape), lowering.alias_set_of(operation.memory)


def _load(
    operation: GatherLoadOp | GatherOp,
    lowering: Lowering,
    alias_set: Hashable,
    pointers: SSAValue,
    mask: SSAValue | None,
    padding: SSAValue | None,
    how: Ordering | None = None,
) -> None:
    """Reads what pointers point to, after the last write of that memory."""
    order = lowering.order
    # An acquire is before all accesses that follow.
    is_acquire = synchronizes(operation)
    token = order.before_write(alias_set) if is_acquire else order.before_read(alias_set)
    if padding is not None:
        padding = to_memory(lowering, padding)
    load = memory.LoadPtrTkoOp(pointers, mask, padding, token, **said(how))
    value, done = lowering.emit(load).results
    if is_acquire:
        order.after_write(alias_set, done)
    else:
        order.after_read(operation, alias_set, done)
    lowering.define(operation.result, from_memory(lowering, value, operation.result.type))


def _store(
    lowering: Lowering,
    alias_set: Hashable,
    pointers: SSAValue,
    value: SSAValue,
    mask: SSAValue | None,
    how: Ordering | None = None,
) -> None:
    """Writes what pointers point to, after all other accesses of that memory."""
    token = lowering.order.before_write(alias_set)
    given = to_memory(lowering, value)
    stored = lowering.emit(memory.StorePtrTkoOp(pointers, given, mask, token, **said(how)))
    lowering.order.after_write(alias_set, stored.results[0])


def _padding(
    operation: GatherLoadOp | GatherOp, given: SSAValue | None, lowering: Lowering
) -> SSAValue | None:
    """What elements are that the mask leaves out; None: anything."""
    if leaves_out(given, operation.result):
        return None
    if given is None:
        return lowering.constant(0, tile_in_memory(operation.result.type))
    return lowering.value(given)


def _gather_load(operation: GatherLoadOp, lowering: Lowering) -> None:
    pointers, alias_set = located(lowering, operation, shape_of(operation.result.type))
    mask = lowering.optional_value(operation.mask)
    padding = None if mask is None else _padding(operation, operation.padding, lowering)
    how = None if operation.order is None else ordering_of(operation)
    _load(operation, lowering, alias_set, pointers, mask, padding, how)


def _scatter_store(operation: ScatterStoreOp, lowering: Lowering) -> None:
    pointers, alias_set = located(lowering, operation, shape_of(operation.value.type))
    value, mask = lowering.value(operation.value), lowering.optional_value(operation.mask)
    how = None if operation.order is None else ordering_of(operation)
    _store(lowering, alias_set, pointers, value, mask, how)


def _gather(operation: GatherOp, lowering: Lowering) -> None:
    described = lowering.descriptor(operation.base)
    positions, mask = lowering.values((operation.indices, operation.mask))
    rest = _padding(operation, operation.pass_thru, lowering)
    pointers = pointers_at(lowering, described, operation.offsets, positions)
    _load(operation, lowering, described.alias_set, pointers, mask, rest)


def _scatter(operation: ScatterOp, lowering: Lowering) -> None:
    described = lowering.descriptor(operation.base)
    positions, mask, value = lowering.values(
        (operation.indices, operation.mask, operation.valueToStore)
    )
    pointers = pointers_at(lowering, described, operation.offsets, positions)
    _store(lowering, described.alias_set, pointers, value, mask)


RULES: dict[str, Rule] = {
    "core.gather_load": _gather_load,
    "core.scatter_store": _scatter_store,
    "vector.gather": _gather,
    "vector.scatter": _scatter,
}
"""The rule of each operation, by name."""
