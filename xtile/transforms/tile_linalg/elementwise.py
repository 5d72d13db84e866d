"""Operations whose elements do not depend on each other: axpby, hadamard and ger."""

from __future__ import annotations

import math

from xtile.dialects.core.blas import AxpbyOp, GerOp, HadamardOp
from xtile.transforms.tile_linalg import tiles
from xtile.transforms.tile_linalg.kernel import Kernel
from xtile.transforms.tile_linalg.operands import operand_of, separated, spans_of
from xtile.transforms.tile_linalg.update import update_of


def axpby(operation: AxpbyOp, kernel: Kernel) -> None:
    """Computes B := alpha op(A) + beta B."""
    a, update = operand_of(kernel, operation.a), update_of(operation, kernel)
    order = list(range(a.rank))
    if operation.transpose_a is not None:
        order.reverse()
    is_transposed = order != sorted(order)
    # Elements that follow each other in one of the two memories do not in the other.
    line = math.isqrt(kernel.target.tiles.elements) if is_transposed else None
    spans = spans_of(kernel, [(update.output, range(a.rank)), (a, order)], line=line)
    if is_transposed:
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
