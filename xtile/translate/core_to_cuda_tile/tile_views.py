"""Tiles of memory through views, which the hardware can move as a whole.

Source: CUDA Tile IR specification, "Tensor View", "Subview Types".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from xdsl.dialects.builtin import DYNAMIC_INDEX, i1
from xdsl.ir import SSAValue

from xtile.dialects.cuda_tile.enumerations import PaddingValue
from xtile.dialects.cuda_tile.ops import views
from xtile.dialects.cuda_tile.types import PartitionViewType, StridedViewType, TensorViewType
from xtile.rewrite.indices import Index
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.types import part_of, size_in_bytes
from xtile.translate.core_to_cuda_tile.windows import widest
from xtile.translate.tiles.accesses import Access
from xtile.translate.tiles.descriptors import Descriptor


@dataclass(frozen=True)
class TileInView:
    """A tile of a view.

    Attributes:
        view: The view.
        indices: Which tile of it.
        shape: The shape of the view's tiles, which may have dimensions of size 1 in front.
    """

    view: SSAValue
    indices: tuple[SSAValue, ...]
    shape: tuple[int, ...]


def tile_in_view(
    lowering: Lowering, access: Access, padding: PaddingValue | None
) -> TileInView | None:
    """A tile of memory as a tile of a view; None if it is not known to be one.

    Args:
        lowering: Where to emit.
        access: The tile.
        padding: What elements beyond the end are; None if there are none, or nobody looks.
    """
    if not access.axes or not _has_view(access.memory) or not _is_right(lowering, access):
        return None
    access = widest(lowering, access)
    order = (*access.single, *access.axes)
    shape = (*[1] * len(access.single), *access.shape)
    steps: list[int] = []
    indices: list[SSAValue] = []
    for dimension, size in zip(order, shape, strict=True):
        start = access.starts[dimension]
        step = gcd(lowering.facts.divisor(start), size)
        steps.append(step)
        indices.append(lowering.as_value(lowering.divide_exactly(start, step)))
    tensor = _tensor_view(lowering, access.memory)
    view = _view(lowering, tensor, shape, steps, order, padding)
    return TileInView(view, tuple(indices), shape)


def _has_view(memory: Descriptor) -> bool:
    """Whether memory can be a tensor: it has an end, and strides and sizes are positive."""
    if memory.unbounded:
        return False
    is_known_wrong = any(isinstance(n, int) and n <= 0 for n in (*memory.strides, *memory.sizes))
    return not is_known_wrong and part_of(memory.element) != i1


def _is_right(lowering: Lowering, access: Access) -> bool:
    """Whether a tile begins in the view, so that it reaches beyond the far end only."""
    sizes, starts = access.memory.sizes, access.starts
    return access.begins_inside or all(
        inside or _begins_inside(lowering, starts[dimension], sizes[dimension])
        for dimension, inside in zip(access.axes, access.inside, strict=True)
    )


def _begins_inside(lowering: Lowering, start: Index, size: Index) -> bool:
    """Whether an index is one of a dimension.

    The first one is: a dimension that turns out to be empty has no tiles, and nothing of it is
    accessed. A loop over all indices of another dimension whose size is not known either runs over
    equal ones: products and sums of sizes that do not fit are mistakes of the program.
    """
    bound = lowering.facts.bound(start)
    if bound is None or not lowering.facts.is_not_negative(start):
        return False
    if isinstance(bound, int) and isinstance(size, int):
        return bound <= size
    return start == 0 or (not isinstance(bound, int) and not isinstance(size, int))


def _view(
    lowering: Lowering,
    tensor: SSAValue,
    shape: Sequence[int],
    steps: Sequence[int],
    order: Sequence[int],
    padding: PaddingValue | None,
) -> SSAValue:
    """The view whose tiles begin at multiples of `steps`."""
    type_ = tensor.type
    assert isinstance(type_, TensorViewType)
    if list(steps) == list(shape):
        grid = PartitionViewType(shape, type_, order, padding)
        return lowering.pure(views.MakePartitionViewOp, tensor, grid)
    strided = StridedViewType(shape, steps, type_, order, padding)
    return lowering.pure(views.MakeStridedViewOp, tensor, strided)


def _tensor_view(lowering: Lowering, memory: Descriptor) -> SSAValue:
    """The elements of memory as a tensor, made as far out as its sizes are known."""
    sizes = [lowering.clamped_size(size) for size in memory.sizes]
    type_ = TensorViewType(
        part_of(memory.element), [_known(size) for size in sizes], list(map(_known, memory.strides))
    )
    dynamic_sizes = tuple(size for size in sizes if not isinstance(size, int))
    dynamic_strides = tuple(s for s in memory.strides if not isinstance(s, int))
    pointer = first_element(lowering, memory)
    return lowering.shared(
        (pointer, type_, dynamic_sizes, dynamic_strides),
        (pointer, *dynamic_sizes, *dynamic_strides),
        lambda: lowering.compute(
            views.MakeTensorViewOp, pointer, type_, dynamic_sizes, dynamic_strides
        ),
    )


def _known(number: Index) -> int:
    return number if isinstance(number, int) else DYNAMIC_INDEX


_TMA_ALIGNMENT = 16
"""Bytes to which the tensor memory accelerator needs memory aligned.

Source: tileiras 13.5, remark "base pointer not 16-byte aligned".
"""


def first_element(lowering: Lowering, memory: Descriptor) -> SSAValue:
    """The address of a memref's first element."""
    from xtile.dialects.cuda_tile.ops import core

    if memory.offset == 0:
        return memory.pointer
    pointer = lowering.pure(core.OffsetOp, memory.pointer, lowering.as_value(memory.offset))
    bytes_ = lowering.facts.divisor(memory.offset) * size_in_bytes(memory.element)
    known = gcd(memory.alignment, bytes_)
    return lowering.promise_divisor(pointer, known) if known >= _TMA_ALIGNMENT else pointer
