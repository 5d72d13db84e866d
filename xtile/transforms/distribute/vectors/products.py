"""The product of matrices: tiles of C in registers, and a panel of B in local memory.

A panel holds the columns of B that a tile of C needs, side by side. Tiles of all rows read it
again and again from a near cache, where rows of a large matrix would displace each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from xtile.dialects.core import GemmOp
from xtile.transforms.distribute.kernel import AnyMemRef, Index, Kernel, element_type
from xtile.transforms.distribute.overlap import local_bytes, size_in_bytes
from xtile.transforms.distribute.product import Product, product_of
from xtile.transforms.distribute.update import Update, update_of
from xtile.transforms.distribute.vectors.panels import Panel
from xtile.transforms.distribute.vectors.segments import Segment, segments_of
from xtile.transforms.distribute.vectors.updates import Part, after_block, apply, shared_buffer
from xtile.transforms.distribute.vectors.values import (
    is_contiguous,
    load_as,
    multiply_add,
    spread,
    width_of,
    zeros,
)

_VECTORS = 4
"""Vectors in a row of a tile."""

_SCALARS = 2
"""Numbers in a row of a tile, where vectors do not hold them."""

_MOST_ROWS = 10
"""Rows of a tile."""

_UNKNOWN_ROWS = 4
"""Rows of a tile where their number is not known, because those left over are done one by one."""

_LEAST_SUMS = 8
"""Sums in a tile, so that none waits for the last product: two units need 4 cycles for one."""

_PANEL = 128 * 1024
"""Bytes of a panel, which stays in the second cache."""

_NEAR = 32 * 1024
"""Bytes that stay in the first cache without a panel."""

_FEW_ROWS = 8
"""Rows of C for which it does not pay to copy B."""


def gemm(operation: GemmOp, kernel: Kernel) -> None:
    """Computes C := alpha op(A) op(B) + beta C."""
    with kernel.once():
        product, update = product_of(operation, kernel), update_of(operation, kernel)
        if kernel.device.cooperative_matrices:
            from xtile.transforms.distribute.vectors import cooperative_matrices

            if cooperative_matrices.multiply(operation, product, update):
                return
        width = width_of(kernel, update.wide, element_type(product.b), element_type(update.output))
        segments = segments_of(kernel, product.columns, width, _VECTORS)
        longest = max((segment.step for segment in segments), default=1)
        free = kernel.device.local_memory - local_bytes(operation)
        limit = min(_PANEL, free) // (longest * size_in_bytes(update.wide))
        depth = _depth_of_panels(product.depth, limit)
        has_panel = width > 1 and _wants_panel(product) and _can_be_cut(product, update, limit)
        if not has_panel and (width == 1 or not _is_side_by_side(product)):
            segments = segments_of(kernel, product.columns, 1, _SCALARS)
        panel = shared_buffer(kernel, update.wide, depth * longest) if has_panel else None
        for columns in segments:
            with columns.steps(kernel, "column") as column:
                strip = _Strip(product, update, columns, column, 0, product.depth, None)
                if panel is not None:
                    strip.multiply_in_panels(panel, depth)
                else:
                    strip.multiply()


def _depth_of_panels(depth: Index, limit: int) -> int:
    """The rows of B in each panel, of which none should be much shorter than the others."""
    if not isinstance(depth, int) or limit < 1:
        return limit
    return -(-depth // max(1, -(-depth // limit)))


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


@dataclass(frozen=True)
class _Strip:
    """Columns of C that a tile covers, and what is added to them.

    Attributes:
        product: The product.
        update: What becomes of C.
        columns: The widths of a row's vectors.
        column: The first column.
        start: The first row of op(B).
        depth: How many rows of op(B).
        panel: Where they are side by side; None if they are read from B.
    """

    product: Product
    update: Update
    columns: Segment
    column: Index
    start: Index
    depth: Index
    panel: Panel | None

    @property
    def kernel(self) -> Kernel:
        """The kernel that is being built."""
        return self.update.kernel

    def multiply_in_panels(self, memory: SSAValue, length: int) -> None:
        """Updates the columns with one panel after the other, of at most `length` rows."""
        kernel, depth = self.kernel, self.depth
        # C is updated once even if there is nothing to add.
        end = max(depth, 1) if isinstance(depth, int) else self._at_least_one(depth)
        with kernel.loop(0, end, length, name="start") as loop:
            start, is_even = loop.index, isinstance(depth, int) and depth % length == 0
            rows = length if is_even else kernel.minimum(kernel.subtract(depth, start), length)
            update = after_block(self.update, start)
            panel = Panel(self.product, update, memory, self.columns, start, self.column, rows)
            panel.fill()
            replace(self, update=update, start=start, depth=rows, panel=panel).multiply()

    def _at_least_one(self, number: SSAValue) -> SSAValue:
        return self.kernel.pure(arith.MaxSIOp, number, self.kernel.index(1))

    def multiply(self) -> None:
        """Updates all rows of the columns."""
        kernel = self.kernel
        for start, stop, height in self._tiles():
            with kernel.loop(start, stop, height, name="row") as loop:
                self._multiply_tile([kernel.add(loop.index, i) for i in range(height)])

    def _tiles(self) -> Sequence[tuple[Index, Index, int]]:
        """The first row, the row after the last one and the height of tiles of equal height."""
        kernel, rows = self.kernel, self.product.rows
        height = self._height()
        end = kernel.subtract(rows, kernel.remainder(rows, height))
        if not isinstance(rows, int):
            return [(0, end, height), (end, rows, 1)]
        rest = rows % height
        tiles = [(0, rows - rest, height), (rows - rest, rows, rest)]
        return [tile for tile in tiles if tile[0] < tile[1]]

    def _height(self) -> int:
        """The rows of a tile: as many as the registers hold, and no others if possible."""
        unit, vectors = self.kernel.device.vector_unit, len(self.columns.widths)
        assert unit is not None
        most = min(_MOST_ROWS, (unit.registers - 1 - vectors) // vectors)
        least = -(-_LEAST_SUMS // vectors)
        rows = self.product.rows
        if not isinstance(rows, int):
            return max(least, min(most, _UNKNOWN_ROWS))
        for height in range(most, least - 1, -1):
            if rows % height == 0:
                return height
        return -(-rows // -(-rows // most)) if rows else 1

    def _multiply_tile(self, rows: Sequence[Index]) -> None:
        """Updates the columns in some rows."""
        kernel, product, wide = self.kernel, self.product, self.update.wide
        places = self.columns.places()
        nothing = [zeros(kernel, wide, width) for _ in rows for _, width in places]
        with kernel.loop(0, self.depth, 1, nothing, "k") as loop:
            sums = iter(loop.carried)
            b = [self._load_b(loop.index, place, width) for place, width in places]
            results: list[SSAValue] = []
            for row in rows:
                at = product.at_a(row, kernel.add(self.start, loop.index))
                a = load_as(kernel, product.a, at, 1, wide)
                results += [
                    multiply_add(kernel, spread(kernel, a, width), right, next(sums))
                    for right, (_, width) in zip(b, places, strict=True)
                ]
            loop.results = results
        values = iter(loop.results)
        apply(
            self.update,
            [
                Part(next(values), (row, kernel.add(self.column, place)), width)
                for row in rows
                for place, width in places
            ],
        )

    def _load_b(self, k: Index, place: int, width: int) -> SSAValue:
        if self.panel is not None:
            return self.panel.load(k, place, width)
        kernel, product = self.kernel, self.product
        at = product.at_b(kernel.add(self.start, k), kernel.add(self.column, place))
        return load_as(kernel, product.b, at, width, self.update.wide)
