"""The product of matrices: tiles of C in registers, and a panel of B in local memory.

A panel holds the columns of B that a tile of C needs, side by side. Tiles of all rows read it
again and again from a near cache, where rows of a large matrix would displace each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xtile.dialects.core.blas import GemmOp
from xtile.rewrite.emitter import AnyMemRef, element_type
from xtile.rewrite.indices import Index
from xtile.transforms.distribute.kernel import Kernel
from xtile.transforms.distribute.local_memory import free_local_memory, size_in_bytes
from xtile.transforms.distribute.product import Product, product_of
from xtile.transforms.distribute.update import Update, update_of
from xtile.transforms.distribute.vectors.segments import Segment, segments_of
from xtile.transforms.distribute.vectors.strips import Strip
from xtile.transforms.distribute.vectors.updates import shared_buffer, size_of_buffer
from xtile.transforms.distribute.vectors.values import is_contiguous, width_of

_VECTORS = 4
"""Vectors in a row of a tile."""

_UNKNOWN_VECTORS = 2
"""Vectors in a row of a tile where the number of columns is not known."""

_SCALARS = 2
"""Numbers in a row of a tile, where vectors do not hold them."""

_PANEL = 128 * 1024
"""Bytes of a panel, which stays in the second cache."""

_BUFFER = "panel"

_NEAR = 32 * 1024
"""Bytes that stay in the first cache without a panel."""

_FEW_ROWS = 8
"""Rows of C for which it does not pay to copy B."""


def gemm(operation: GemmOp, kernel: Kernel) -> None:
    """Computes C := alpha op(A) op(B) + beta C."""
    with kernel.once():
        product, update = product_of(operation, kernel), update_of(operation, kernel)
        if kernel.target.cooperative_matrices:
            from xtile.transforms.distribute.vectors import cooperative_matrices

            if cooperative_matrices.multiply(operation, product, update):
                return
        width = width_of(kernel, update.wide, element_type(product.b), element_type(update.output))
        if width > 1 and _wants_panel(product):
            segments = _segments_with_panels(product, kernel, width)
            limit = _rows_of_panels(operation, segments, update)
            if _can_be_cut(product, update, limit):
                _multiply_in_panels(product, update, segments, limit)
                return
        if not _is_side_by_side(product):
            width = 1
        count = _SCALARS if width == 1 else _VECTORS
        for columns in segments_of(kernel, product.columns, width, count):
            with columns.steps(kernel, "column") as column:
                strip = Strip(product, update, columns, column, columns.step, 0, product.depth)
                strip.multiply()


def _multiply_in_panels(
    product: Product, update: Update, segments: Sequence[Segment], limit: int
) -> None:
    """Updates C strip by strip, with panels of at most `limit` rows."""
    kernel, depth = update.kernel, product.depth
    if isinstance(depth, int):
        # None should be much shorter than the others.
        limit = -(-depth // max(1, -(-depth // limit)))
    memory = shared_buffer(kernel, _BUFFER, update.wide, limit * _longest(segments))
    for columns in segments:
        with columns.steps(kernel, "column") as column:
            width: Index = columns.step
            if not isinstance(product.columns, int):
                width = kernel.smaller(kernel.subtract(product.columns, column), width)
            strip = Strip(product, update, columns, column, width, 0, depth)
            strip.multiply_in_panels(memory, limit)


def _segments_with_panels(product: Product, kernel: Kernel, width: int) -> Sequence[Segment]:
    """The columns; where their number is not known, the last panel may have more than there are."""
    if isinstance(product.columns, int):
        return segments_of(kernel, product.columns, width, _VECTORS)
    return [Segment(0, product.columns, (width,) * _UNKNOWN_VECTORS)]


def _rows_of_panels(operation: GemmOp, segments: Sequence[Segment], update: Update) -> int:
    """The most rows of a panel: in the memory of an earlier one, or in half of what is left."""
    kernel, row = update.kernel, _longest(segments)
    known = size_of_buffer(kernel.buffers.get((_BUFFER, update.wide)))
    new = min(_PANEL, free_local_memory(operation, kernel) // 2) // size_in_bytes(update.wide)
    return max(known, new) // row


def _longest(segments: Sequence[Segment]) -> int:
    return max((segment.step for segment in segments), default=1)


def _is_side_by_side(product: Product) -> bool:
    """Whether rows of op(B) are contiguous."""
    return not product.is_b_transposed and is_contiguous(product.b)


def _wants_panel(product: Product) -> bool:
    """Whether it pays to copy B, if that is possible."""
    rows, depth = product.rows, product.depth
    if not _is_side_by_side(product):
        return True
    if isinstance(rows, int) and rows <= _FEW_ROWS:
        return False
    type_ = cast("AnyMemRef", product.b.type)
    pitch = (type_.get_strides() or (None,))[0]
    if not isinstance(depth, int) or pitch is None or pitch < 0:
        return True
    return depth * pitch * size_in_bytes(type_.element_type) > _NEAR


def _can_be_cut(product: Product, update: Update, limit: int) -> bool:
    """Whether C can be the sum of several products, each of which is rounded on its own."""
    if isinstance(product.depth, int) and product.depth <= limit:
        return True
    return limit > 0 and not update.is_atomic and element_type(update.output) == update.wide
