"""Strips of C, as wide as a tile: they are gone through from top to bottom, tile by tile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from xtile.rewrite.indices import Index
from xtile.transforms.distribute.kernel import Kernel
from xtile.transforms.distribute.product import Product
from xtile.transforms.distribute.update import Update
from xtile.transforms.distribute.vectors.panels import Panel
from xtile.transforms.distribute.vectors.segments import Segment, for_each_vector
from xtile.transforms.distribute.vectors.updates import Part, after_block, apply, shared_buffer
from xtile.transforms.distribute.vectors.values import (
    load,
    load_as,
    multiply_add,
    spread,
    store,
    zeros,
)

_MOST_ROWS = 10
"""Rows of a tile."""

_UNKNOWN_ROWS = 6
"""Rows of a tile where their number is not known."""

_LEAST_SUMS = 8
"""Sums in a tile, so that none waits for the last product: two units need 4 cycles for one."""


@dataclass(frozen=True)
class Strip:
    """Columns of C that a tile covers, and what is added to them.

    Attributes:
        product: The product.
        update: What becomes of C.
        columns: The widths of a row's vectors.
        column: The first column.
        width: How many of the columns there are; the others are computed in vain.
        start: The first row of op(B).
        depth: How many rows of op(B).
        panel: Where they are side by side; None if they are read from B.
    """

    product: Product
    update: Update
    columns: Segment
    column: Index
    width: Index
    start: Index
    depth: Index
    panel: Panel | None = None

    @property
    def kernel(self) -> Kernel:
        """The kernel that is being built."""
        return self.update.kernel

    def multiply_in_panels(self, memory: SSAValue, length: int) -> None:
        """Updates the strip with one panel after the other, of at most `length` rows of op(B)."""
        kernel, depth = self.kernel, self.depth
        # C is updated once even if there is nothing to add.
        end = max(depth, 1) if isinstance(depth, int) else self._at_least_one(depth)
        with kernel.loop(0, end, length, name="start") as loop:
            start, is_even = loop.index, isinstance(depth, int) and depth % length == 0
            rows = length if is_even else kernel.smaller(kernel.subtract(depth, start), length)
            panel = Panel(
                self.product,
                self.update,
                memory,
                self.columns,
                start,
                self.column,
                rows,
                self.width,
            )
            panel.fill()
            update = after_block(self.update, start)
            replace(self, update=update, start=start, depth=rows, panel=panel).multiply()

    def _at_least_one(self, number: SSAValue) -> SSAValue:
        return self.kernel.pure(arith.MaxSIOp, number, self.kernel.index(1))

    def multiply(self) -> None:
        """Updates all rows of the strip."""
        rows, height = self.product.rows, self._height()
        if not isinstance(rows, int):
            self._multiply_tiles(0, rows, height)
            return
        end = rows - rows % height
        if end:
            self._multiply_tiles(0, end, height)
        if end < rows:
            self._multiply_tiles(end, rows, rows - end)

    def _height(self) -> int:
        """The rows of a tile: as many as the registers hold, and no others if possible."""
        unit, vectors = self.kernel.target.vector_unit, len(self.columns.widths)
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

    def _multiply_tiles(self, start: Index, stop: Index, height: int) -> None:
        """Updates rows in tiles, of which the last one may reach beyond the end."""
        kernel = self.kernel
        with kernel.loop(start, stop, height, name="row") as loop:
            left = height if isinstance(stop, int) else kernel.subtract(stop, loop.index)
            self._multiply_tile(loop.index, height, left)

    def _multiply_tile(self, first: Index, height: int, left: Index) -> None:
        """Updates a tile, of whose rows only some may be left."""
        kernel, product, wide = self.kernel, self.product, self.update.wide
        positions = self.columns.positions()
        rows = [kernel.add(first, i) for i in range(height)]
        sources = rows
        if not isinstance(left, int):
            last = kernel.subtract(product.rows, 1)
            sources = [first, *(kernel.smaller(row, last) for row in rows[1:])]
        nothing = [zeros(kernel, wide, width) for _ in rows for _, width in positions]
        with kernel.loop(0, self.depth, 1, nothing, "k") as loop:
            sums = iter(loop.carried)
            b = [self._load_b(loop.index, position, width) for position, width in positions]
            results: list[SSAValue] = []
            for row in sources:
                at = product.at_a(row, kernel.add(self.start, loop.index))
                a = load_as(kernel, product.a, at, 1, wide)
                results += [
                    multiply_add(kernel, spread(kernel, a, width), right, next(sums))
                    for right, (_, width) in zip(b, positions, strict=True)
                ]
            loop.results = results
        self._update(rows, left, loop.results)

    def _load_b(self, k: Index, position: int, width: int) -> SSAValue:
        if self.panel is not None:
            return self.panel.load(k, position, width)
        kernel, product = self.kernel, self.product
        at = product.at_b(kernel.add(self.start, k), kernel.add(self.column, position))
        return load_as(kernel, product.b, at, width, self.update.wide)

    def _update(self, rows: Sequence[Index], left: Index, results: Sequence[SSAValue]) -> None:
        """Updates the elements of a tile that C has."""
        kernel = self.kernel
        parts = [
            Part(result, (row, kernel.add(self.column, position)), width)
            for result, (row, (position, width)) in zip(
                results,
                ((row, position) for row in rows for position in self.columns.positions()),
                strict=True,
            )
        ]
        is_whole = self._is_whole(len(rows), left)
        if is_whole is None:
            apply(self.update, parts)
            return

        def whole() -> Sequence[SSAValue]:
            apply(self.update, parts)
            return ()

        def partial() -> Sequence[SSAValue]:
            self._update_part(rows, left, parts)
            return ()

        kernel.choose_all(is_whole, whole, partial)

    def _is_whole(self, height: int, left: Index) -> SSAValue | None:
        """Whether C has all elements of a tile; None if that is certain."""
        kernel, step = self.kernel, self.columns.step
        checks = [
            kernel.compare("sge", size, needed)
            for size, needed in ((left, height), (self.width, step))
            if not isinstance(size, int)
        ]
        if not checks:
            return None
        return checks[0] if len(checks) == 1 else kernel.pure(arith.AndIOp, *checks)

    def _update_part(self, rows: Sequence[Index], left: Index, parts: Sequence[Part]) -> None:
        """Updates the first rows and columns of a tile."""
        kernel, step = self.kernel, self.columns.step
        buffer = shared_buffer(kernel, "tile", self.update.wide, len(rows) * step)
        positions = (
            (i, position) for i in range(len(rows)) for position, _ in self.columns.positions()
        )
        for part, (i, position) in zip(parts, positions, strict=True):
            store(kernel, part.value, buffer, [i * step + position], part.width)

        def body(indices: list[Index], width: int) -> None:
            row, position = indices
            at = kernel.add(kernel.multiply(row, step), position)
            value = load(kernel, buffer, [at], width)
            apply(
                self.update,
                [Part(value, (kernel.add(rows[0], row), kernel.add(self.column, position)), width)],
            )

        shape = (kernel.smaller(left, len(rows)), self.width)
        for_each_vector(kernel, shape, max(self.columns.widths), body)
