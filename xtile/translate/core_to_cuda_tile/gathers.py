"""Elements at positions that a tile holds.

Source: MLIR (LLVM 22), `vector.gather`, `vector.scatter`; CUDA Tile IR specification, "Memory".
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from xtile.dialects.cuda_tile.ops import core, integer, memory
from xtile.dialects.vector.gathers import GatherOp, ScatterOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.conversions import resize
from xtile.translate.core_to_cuda_tile.descriptors import Descriptor
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.memory import pointer_to
from xtile.translate.core_to_cuda_tile.types import tile_type


def pointers_at(
    lowering: Lowering, described: Descriptor, indices: Sequence[SSAValue], positions: SSAValue
) -> SSAValue:
    """Points to the elements at positions along the last dimension, counted from an index."""
    first = pointer_to(lowering, described, lowering.numbers(indices))
    shape = tile_type(positions).get_shape()
    offsets = resize(lowering, positions, i64)
    stride = described.strides[-1]
    if stride != 1:
        factor = lowering.spread(lowering.as_value(stride), shape)
        offsets = lowering.compute(integer.MulIOp, offsets, factor)
    return lowering.compute(core.OffsetOp, lowering.spread(first, shape), offsets)


def _gather(operation: GatherOp, lowering: Lowering) -> None:
    described = lowering.descriptor(operation.base)
    positions, mask, rest = lowering.values(
        (operation.indices, operation.mask, operation.pass_thru)
    )
    pointers = pointers_at(lowering, described, operation.offsets, positions)
    token = lowering.order.before_read(described.place)
    loaded = lowering.emit(memory.LoadPtrTkoOp(pointers, mask, rest, token))
    lowering.order.after_read(operation, described.place, loaded.results[1])
    lowering.define(operation.result, loaded.results[0])


def _scatter(operation: ScatterOp, lowering: Lowering) -> None:
    described = lowering.descriptor(operation.base)
    positions, mask, value = lowering.values(
        (operation.indices, operation.mask, operation.valueToStore)
    )
    pointers = pointers_at(lowering, described, operation.offsets, positions)
    token = lowering.order.before_write(described.place)
    stored = lowering.emit(memory.StorePtrTkoOp(pointers, value, mask, token))
    lowering.order.after_write(described.place, stored.results[0])


RULES: dict[str, Rule] = {
    "vector.gather": _gather,
    "vector.scatter": _scatter,
}
"""The rule of each operation, by name."""
