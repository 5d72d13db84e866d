"""Tiles of a part of a memref as tiles of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.ir import Operation

from xtile.rewrite.indices import Index
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.tiles.accesses import Access
from xtile.translate.tiles.descriptors import Window

FOLDS_WINDOWS = True
"""Whether a tile of a part of a memref is accessed as a tile of the whole memref.

All work-groups then share one view of an argument. Otherwise each has a view of its part, from a
pointer of its own. Both forms use the tensor memory accelerator (tileiras 13.5, sm_90, sm_100).
"""


def widest(lowering: Lowering, access: Access) -> Access:
    """The same tile in the largest memref for which it is known to be the same."""
    while FOLDS_WINDOWS and access.memory.window is not None:
        wider = _wider(lowering, access, access.memory.window)
        if wider is None:
            break
        access = wider
    return access


def _wider(lowering: Lowering, access: Access, window: Window) -> Access | None:
    """The same tile in the memref of which this is a part; None if it is not known to be."""
    if window.memory.unbounded:
        return None
    starts = list(window.starts)
    for dimension, start in enumerate(access.starts):
        outer = window.axes[dimension]
        starts[outer] = lowering.add(starts[outer], start)
    for axis, (dimension, inside) in enumerate(zip(access.axes, access.inside, strict=True)):
        if inside:
            continue
        own, outer = access.memory.sizes[dimension], window.axes[dimension]
        whole, first = window.memory.sizes[outer], window.starts[outer]
        last = _end_of_tile(lowering, access.starts[dimension], access.shape[axis])
        if not _ends_with(lowering, own, whole, first, last):
            return None
    axes = tuple(window.axes[dimension] for dimension in access.axes)
    return replace(access, memory=window.memory, starts=tuple(starts), axes=axes)


def _end_of_tile(lowering: Lowering, start: Index, size: int) -> int | None:
    """Where a tile ends at the latest, if it is known."""
    if isinstance(start, int):
        return start + size
    bound = lowering.facts.bound(start)
    known = [] if bound is None else [n for n in _least_of(lowering, bound) if isinstance(n, int)]
    if not known or lowering.facts.divisor(start) % size:
        return None
    return -(-min(known) // size) * size


def _ends_with(
    lowering: Lowering, own: Index, whole: Index, first: Index, last: int | None
) -> bool:
    """Whether a part of a dimension ends where the whole does, as far as a tile can tell.

    Args:
        lowering: The kernel.
        own: The size of the part.
        whole: The size of the whole.
        first: The first index of the part.
        last: The index in the part at which the tile ends; None if it is not known.
    """
    rest = lowering.subtract(whole, first)
    return all(
        each == rest or (isinstance(each, int) and last is not None and last <= each)
        for each in _least_of(lowering, own)
    )


def _least_of(lowering: Lowering, number: Index) -> Sequence[Index]:
    """The numbers of which one is the least."""
    owner = None if isinstance(number, int) else number.owner
    if isinstance(owner, Operation) and owner.name == "cuda_tile.mini":
        numbers = [lowering.facts.number(operand) for operand in owner.operands]
        return [each for one in numbers for each in _least_of(lowering, one)]
    return [number]
