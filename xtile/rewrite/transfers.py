"""Which elements of memory the transfers of `vector` move.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xtile.dialects.shapes import dimensions_of
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.rewrite.indices import Index


@dataclass(frozen=True)
class Extent:
    """The elements that a transfer moves, without what it repeats.

    Attributes:
        starts: For each dimension of memory the first index.
        shape: How many elements it moves along each of its dimensions.
        axes: For each of these dimensions that of memory. Dimensions of memory that are none of
            them have one index.
        inside: For each of them whether it certainly does not reach beyond the end.
    """

    starts: tuple[Index, ...]
    shape: tuple[int, ...]
    axes: tuple[int, ...]
    inside: tuple[bool, ...]


def extent_of(
    operation: TransferReadOp | TransferWriteOp,
    shape: Sequence[int],
    starts: Sequence[Index],
    sizes: Sequence[Index],
) -> Extent:
    """The elements that a transfer moves to or from a vector, from `starts` on.

    Args:
        operation: The transfer.
        shape: The shape of the vector.
        starts: What its indices have become.
        sizes: The sizes of memory.
    """
    dimensions = dimensions_of(operation.permutation_map)
    axes = {i: each for i, each in enumerate(dimensions) if each is not None}
    promised = [bool(flag.value.data) for flag in operation.in_bounds]
    inside = tuple(
        promised[i] or _is_inside(sizes[axis], starts[axis], shape[i]) for i, axis in axes.items()
    )
    return Extent(tuple(starts), tuple(shape[i] for i in axes), tuple(axes.values()), inside)


def _is_inside(size: Index, start: Index, length: int) -> bool:
    return isinstance(size, int) and isinstance(start, int) and 0 <= start <= size - length


def order_of_mask(operation: TransferReadOp | TransferWriteOp) -> list[int]:
    """For each dimension that is moved that of the mask, which has memory's order."""
    dimensions = [each for each in dimensions_of(operation.permutation_map) if each is not None]
    return [sorted(dimensions).index(each) for each in dimensions]


def shape_before_repeating(operation: TransferReadOp) -> list[int]:
    """The shape of the result with 1 for each dimension along which what is read is repeated."""
    dimensions = dimensions_of(operation.permutation_map)
    shape = operation.result.type.get_shape()
    return [
        1 if dimension is None else size for size, dimension in zip(shape, dimensions, strict=True)
    ]
