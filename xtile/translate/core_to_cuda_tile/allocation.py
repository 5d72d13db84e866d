"""Memory that belongs to one tile block."""

from __future__ import annotations

from xdsl.ir import Operation

from xtile.dialects.cuda_tile.ops import memory
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.descriptors import GLOBAL_MEMORY, Descriptor
from xtile.translate.core_to_cuda_tile.lowering import TARGET, Lowering
from xtile.translate.core_to_cuda_tile.types import (
    memref_type,
    part_of,
    parts_per_element,
    pointer_tile,
    size_in_bytes,
)
from xtile.translate.layouts import layout_of

_ALIGNMENT = 128
"""Bytes that memory is aligned to: a line of the cache."""

_WORD = 4
"""Bytes that atomic updates of narrow numbers swap, the last number's too."""


def _alloca(operation: Operation, lowering: Lowering) -> None:
    """New memory, whose content is undefined."""
    (result,) = operation.results
    type_ = memref_type(result.type)
    layout = layout_of(type_)
    if layout.unknowns:
        raise lowering.error(
            f"memory of type {type_} cannot be allocated in {TARGET}: its size must be known"
        )
    element, scale = type_.element_type, parts_per_element(type_.element_type)
    offset, sizes, strides = layout.filled(())
    count = scale * max(layout.allocated_elements(), 1)
    in_a_word = max(1, _WORD // size_in_bytes(part_of(element)))
    count = -(-count // in_a_word) * in_a_word
    pointer_type = pointer_tile(part_of(element))
    pointer = lowering.compute(memory.AllocaOp, count, _ALIGNMENT, pointer_type)
    place = lowering.plan.place_of(result)
    if place != GLOBAL_MEMORY:
        lowering.order.allocate(place)
    lowering.define(
        result,
        Descriptor(
            pointer,
            element,
            lowering.multiply(offset, scale),
            tuple(sizes),
            tuple(lowering.multiply(stride, scale) for stride in strides),
            _ALIGNMENT,
            place,
        ),
    )


RULES: dict[str, Rule] = {"memref.alloca": _alloca}
"""The rule of each operation, by name."""
