"""Which elements of memory an update of a tile accesses, and what it gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.ir import SSAValue

from xtile.dialects.core.attributes import BEGINS_INSIDE_ATTRIBUTE
from xtile.dialects.core.subgroup import AtomicUpdateOp
from xtile.rewrite.indices import Index
from xtile.translate.tiles import pointer_tiles
from xtile.translate.tiles.accesses import Access, pointer_to
from xtile.translate.tiles.descriptors import Descriptor
from xtile.translate.tiles.lowering import TileLowering
from xtile.translate.tiles.types import shape_of


def update_of(
    operation: AtomicUpdateOp, lowering: TileLowering
) -> tuple[SSAValue, SSAValue | None]:
    """Points to the elements that are updated, and says which of them memory has; None: all."""
    access, checked = access_of_update(operation, lowering), _checked(operation)
    memory, starts = access.memory, access.starts
    if not access.axes:
        mask = _is_element_inside(lowering, memory, starts, checked)
        return pointer_to(lowering, memory, starts), mask
    mask = pointer_tiles.is_inside(lowering, access)
    single = [dimension for dimension in checked if dimension not in access.axes]
    if single:
        fits = _is_element_inside(lowering, memory, starts, single)
        mask = lowering.both(mask, None if fits is None else lowering.spread(fits, access.shape))
    return pointer_tiles.pointers(lowering, access), mask


def access_of_update(operation: AtomicUpdateOp, lowering: TileLowering) -> Access:
    """The tile in memory that is updated."""
    shape, checked = shape_of(operation.value.type), _checked(operation)
    memory = lowering.descriptor(operation.memory)
    axes = tuple(range(memory.rank - len(shape), memory.rank))
    if operation.transpose is not None:
        axes = axes[::-1]
    starts = tuple(lowering.numbers(operation.indices))
    inside = tuple(axis not in checked for axis in axes)
    begins = BEGINS_INSIDE_ATTRIBUTE in operation.attributes
    return Access(starts, shape, axes, inside, memory, begins)


def _checked(operation: AtomicUpdateOp) -> Sequence[int]:
    """The dimensions of memory along which elements may be outside."""
    return cast("Sequence[int]", operation.checked.get_values())


def _is_element_inside(
    lowering: TileLowering, memory: Descriptor, starts: Sequence[Index], checked: Sequence[int]
) -> SSAValue | None:
    """Whether indices are inside of some dimensions; None if they are known to be."""
    mask: SSAValue | None = None
    for dimension in checked:
        start, size = starts[dimension], memory.sizes[dimension]
        if isinstance(start, int) and isinstance(size, int) and 0 <= start < size:
            continue
        mask = lowering.both(mask, lowering.pure_cmpi("slt", start, size))
        if not lowering.facts.is_not_negative(start):
            mask = lowering.both(lowering.pure_cmpi("sge", start, 0), mask)
    return mask


def kept(lowering: TileLowering, old: SSAValue | None, mask: SSAValue | None) -> SSAValue | None:
    """What elements were before an update, and 0 where they were left alone."""
    if old is None or mask is None:
        return old
    return lowering.select(mask, old, lowering.like(0, old))
