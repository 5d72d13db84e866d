"""Stores that go past the caches, to memory that is larger than caches are.

A store to a line of memory that is in no cache reads it first, unless the store is nontemporal:
a kernel that does little else than moving memory is a third faster so. Such stores may be seen
after later ones, so a kernel that tells others of what it has stored has none.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.core.arguments import ALIGNMENT_ATTRIBUTE
from xtile.dialects.effects import BARRIERS, UPDATES, synchronizes
from xtile.dialects.shapes import as_vector
from xtile.dialects.upstream import value_type
from xtile.dialects.walk import walk
from xtile.rewrite.indices import Index
from xtile.transforms.distribute.effects import Space, root_of, space_of
from xtile.transforms.distribute.local_memory import size_in_bytes
from xtile.translate.core_to_vectors.emitting import Emitter
from xtile.translate.core_to_xegpu.views import address_of, type_of, view_of

_LARGE = 32 << 20
"""Bytes of memory that caches are taken to be smaller than."""

ALIGNMENT = 16
"""Bytes that the address of such a store is a multiple of: x86-64 has no others for vectors."""

STREAMED: dict[str, dict[str, Attribute]] = {
    "attributes": {ALIGNMENT_ATTRIBUTE: IntegerAttr(ALIGNMENT, i64)},
    "properties": {"nontemporal": BoolAttr.from_bool(True)},
}
"""What a store past the caches says; xDSL's operation has no property for the alignment."""


def tells_others(kernel: Operation) -> bool:
    """Whether others may learn from a kernel that it has stored something, before it ends."""
    return any(
        inner.name in UPDATES or inner.name in BARRIERS or synchronizes(inner)
        for inner in walk(kernel)
    )


def size_of_piece(value: SSAValue) -> int:
    """Bytes of a vector or a number."""
    vector = as_vector(value.type)
    return size_in_bytes(value_type(value.type)) * (1 if vector is None else vector.get_shape()[0])


def is_streamed(lowering: Emitter, memory: SSAValue, indices: Sequence[Index]) -> SSAValue | None:
    """Whether rows of a tile should be stored past the caches; None if they should not.

    Args:
        lowering: Where to emit.
        memory: The memref that the tile is stored in.
        indices: Those of the tile's first element.
    """
    if space_of(memory) is not Space.GLOBAL or root_of(memory) is Space.PRIVATE:
        return None
    view, size = view_of(lowering, memory), size_in_bytes(type_of(memory).element_type)
    count: Index = 1
    for each in view.sizes:
        count = lowering.multiply(count, each)
    if isinstance(count, int) and count * size < _LARGE:
        return None
    starts = [lowering.add(*pair) for pair in zip(view.offsets, indices, strict=True)]
    first = lowering.add(view.outer, lowering.sum_of_products(starts, view.strides))
    bits = address_of(lowering, view.root, first, size)
    for stride in view.strides[:-1]:
        distance = lowering.as_i64(lowering.as_value(lowering.multiply(stride, size)))
        bits = lowering.emit(arith.OrIOp(bits, distance)).result
    rest = lowering.emit(arith.AndIOp(bits, lowering.constant(ALIGNMENT - 1, i64))).result
    is_aligned = lowering.emit(arith.CmpiOp(rest, lowering.constant(0, i64), "eq")).result
    return lowering.both(lowering.is_at_least(count, _LARGE // size), is_aligned)
