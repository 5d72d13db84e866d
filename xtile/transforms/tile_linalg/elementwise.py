"""Operations whose elements do not depend on each other: axpby, hadamard and ger."""

from __future__ import annotations

from collections.abc import Sequence

from xtile.dialects.core import AxpbyOp, GerOp, HadamardOp
from xtile.transforms.emitter import Index
from xtile.transforms.tile_linalg import tiles
from xtile.transforms.tile_linalg.aliases import separated
from xtile.transforms.tile_linalg.kernel import Kernel
from xtile.transforms.tile_linalg.operands import Operand, operand_of, size_of
from xtile.transforms.tile_linalg.spans import Span
from xtile.transforms.tile_linalg.update import update_of


def axpby(operation: AxpbyOp, kernel: Kernel) -> None:
    """Computes B := alpha op(A) + beta B."""
    a, update = operand_of(kernel, operation.a), update_of(operation, kernel)
    order = list(range(a.rank))
    if operation.transpose_a is not None:
        order.reverse()
    spans = spans_of(kernel, [(update.output, range(a.rank)), (a, order)])
    if order != sorted(order):
        a = separated(kernel, a, update.output, spans)
    with kernel.tiles(spans) as at:
        value = tiles.converted(kernel, a.read(at, spans, order), update.wide)
        update.apply(value, at, spans)


def hadamard(operation: HadamardOp, kernel: Kernel) -> None:
    """Computes C := alpha A ∘ B + beta C."""
    update = update_of(operation, kernel)
    a, b = operand_of(kernel, operation.a), operand_of(kernel, operation.b)
    order = range(a.rank)
    spans = spans_of(kernel, [(update.output, order), (a, order), (b, order)])
    with kernel.tiles(spans) as at:
        x = tiles.converted(kernel, a.read(at, spans), update.wide)
        y = tiles.converted(kernel, b.read(at, spans), update.wide)
        update.apply(tiles.multiply(kernel, x, y), at, spans)


def ger(operation: GerOp, kernel: Kernel) -> None:
    """Computes C := alpha a b^T + beta C."""
    update = update_of(operation, kernel)
    a, b = operand_of(kernel, operation.a), operand_of(kernel, operation.b)
    spans = spans_of(kernel, [(update.output, (0, 1)), (a, (0, None)), (b, (None, 0))])
    shape = [span.tile for span in spans]
    with kernel.tiles(spans) as at:
        x = tiles.converted(kernel, a.read(at[:1], spans[:1]), update.wide)
        y = tiles.converted(kernel, b.read(at[1:], spans[1:]), update.wide)
        x, y = (tiles.broadcast(kernel, tile, shape, [axis]) for axis, tile in enumerate((x, y)))
        update.apply(tiles.multiply(kernel, x, y), at, spans)


def spans_of(
    kernel: Kernel, operands: Sequence[tuple[Operand, Sequence[int | None]]]
) -> list[Span]:
    """The tiles of what is limited by memory.

    Args:
        kernel: The kernel.
        operands: Each operand with its dimension for each of the tiles', if it has one.
    """
    equal = [[(each, dims[axis]) for each, dims in operands] for axis in range(len(operands[0][1]))]
    pairs = [[(each, dim) for each, dim in pairs if dim is not None] for pairs in equal]
    sizes = [size_of(kernel, *of_axis) for of_axis in pairs]
    return cut(kernel, sizes, [any(each.is_tile for each, _ in of_axis) for of_axis in pairs])


def cut(kernel: Kernel, sizes: Sequence[Index], is_whole: Sequence[bool] = ()) -> list[Span]:
    """Cuts a space into tiles of as many elements as the device likes.

    The innermost dimension gets a line of the device, others what is left of a tile's elements.

    Args:
        kernel: The kernel.
        sizes: The size of each dimension.
        is_whole: The dimensions that are not cut.
    """
    left, spans = kernel.device.elements, list[Span]()
    for axis in reversed(range(len(sizes))):
        most = left if axis == 0 else min(left, kernel.device.line)
        whole = axis < len(is_whole) and is_whole[axis]
        span = kernel.span(sizes[axis], most, whole)
        spans.insert(0, span)
        left = max(1, left // span.tile)
    return spans
