"""Elements at positions that a tile holds.

Source: MLIR (LLVM 22), `vector.gather`, `vector.scatter`; CUDA Tile IR specification, "Memory".
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import VectorType, i64
from xdsl.ir import SSAValue

from xtile.dialects.core import GatherLoadOp, ScatterStoreOp
from xtile.dialects.cuda_tile.ops import core, integer, memory
from xtile.dialects.vector.gathers import GatherOp, ScatterOp
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.conversions import resize
from xtile.translate.core_to_cuda_tile.descriptors import Descriptor
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.memory import pointer_to
from xtile.translate.core_to_cuda_tile.types import shape_of, tile_of, tile_type
from xtile.translate.core_to_cuda_tile.unspecified import leaves_out


def pointers_at(
    lowering: Lowering, described: Descriptor, indices: Sequence[SSAValue], positions: SSAValue
) -> SSAValue:
    """Points to the elements at positions along the last dimension, counted from an index."""
    first = pointer_to(lowering, described, lowering.numbers(indices))
    shape = tile_type(positions).get_shape()
    offsets = _offsets(lowering, positions, described.strides[-1])
    return lowering.compute(core.OffsetOp, lowering.spread(first, shape), offsets)


def _offsets(lowering: Lowering, positions: SSAValue, stride: Index) -> SSAValue:
    """How many elements positions along a dimension are apart from the first one."""
    offsets = resize(lowering, positions, i64)
    if stride == 1:
        return offsets
    factor = lowering.spread(lowering.as_value(stride), tile_type(positions).get_shape())
    return lowering.compute(integer.MulIOp, offsets, factor)


def pointers_to(
    lowering: Lowering, described: Descriptor, indices: Sequence[SSAValue], shape: Sequence[int]
) -> SSAValue:
    """Points to elements that have some indices in common, and others of their own."""
    own = {axis: index for axis, index in enumerate(indices) if isinstance(index.type, VectorType)}
    common = [0 if axis in own else lowering.number(index) for axis, index in enumerate(indices)]
    first = pointer_to(lowering, described, common)
    pointers = lowering.spread(first, shape) if shape else first
    for axis, index in own.items():
        offsets = _offsets(lowering, lowering.value(index), described.strides[axis])
        offsets = lowering.broadcast(offsets, shape)
        pointers = lowering.compute(core.OffsetOp, pointers, offsets)
    return pointers


def _load(
    operation: GatherLoadOp | GatherOp,
    lowering: Lowering,
    described: Descriptor,
    pointers: SSAValue,
    mask: SSAValue | None,
    padding: SSAValue | None,
) -> None:
    """Reads what pointers point to, after the last write of that memory."""
    token = lowering.order.before_read(described.place)
    loaded = lowering.emit(memory.LoadPtrTkoOp(pointers, mask, padding, token))
    lowering.order.after_read(operation, described.place, loaded.results[1])
    lowering.define(operation.result, loaded.results[0])


def _store(
    lowering: Lowering,
    described: Descriptor,
    pointers: SSAValue,
    value: SSAValue,
    mask: SSAValue | None,
) -> None:
    """Writes what pointers point to, after all other accesses of that memory."""
    token = lowering.order.before_write(described.place)
    stored = lowering.emit(memory.StorePtrTkoOp(pointers, value, mask, token))
    lowering.order.after_write(described.place, stored.results[0])


def _padding(
    operation: GatherLoadOp | GatherOp, given: SSAValue | None, lowering: Lowering
) -> SSAValue | None:
    """What elements are that the mask leaves out; None: anything."""
    if leaves_out(given, operation.result):
        return None
    if given is None:
        return lowering.constant(0, tile_of(operation.result.type))
    return lowering.value(given)


def _gather_load(operation: GatherLoadOp, lowering: Lowering) -> None:
    described = lowering.descriptor(operation.memory)
    shape = shape_of(operation.result.type)
    pointers = pointers_to(lowering, described, operation.indices, shape)
    mask = None if operation.mask is None else lowering.value(operation.mask)
    padding = _padding(operation, operation.padding, lowering) if mask is not None else None
    _load(operation, lowering, described, pointers, mask, padding)


def _scatter_store(operation: ScatterStoreOp, lowering: Lowering) -> None:
    described = lowering.descriptor(operation.memory)
    value = lowering.value(operation.value)
    mask = None if operation.mask is None else lowering.value(operation.mask)
    shape = tile_type(value).get_shape()
    pointers = pointers_to(lowering, described, operation.indices, shape)
    _store(lowering, described, pointers, value, mask)


def _gather(operation: GatherOp, lowering: Lowering) -> None:
    described = lowering.descriptor(operation.base)
    positions, mask = lowering.values((operation.indices, operation.mask))
    rest = _padding(operation, operation.pass_thru, lowering)
    pointers = pointers_at(lowering, described, operation.offsets, positions)
    _load(operation, lowering, described, pointers, mask, rest)


def _scatter(operation: ScatterOp, lowering: Lowering) -> None:
    described = lowering.descriptor(operation.base)
    positions, mask, value = lowering.values(
        (operation.indices, operation.mask, operation.valueToStore)
    )
    pointers = pointers_at(lowering, described, operation.offsets, positions)
    _store(lowering, described, pointers, value, mask)


RULES: dict[str, Rule] = {
    "core.gather_load": _gather_load,
    "core.scatter_store": _scatter_store,
    "vector.gather": _gather,
    "vector.scatter": _scatter,
}
"""The rule of each operation, by name."""
