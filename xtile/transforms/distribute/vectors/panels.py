"""Columns of op(B) side by side in local memory, in the accumulation type."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from xtile.rewrite.indices import Index
from xtile.rewrite.transposition import interleaved
from xtile.transforms.distribute.kernel import Kernel
from xtile.transforms.distribute.product import Product
from xtile.transforms.distribute.update import Update
from xtile.transforms.distribute.vectors.segments import Segment, for_each_vector
from xtile.transforms.distribute.vectors.values import is_contiguous, load_as, store

_TILE = 8
"""Rows and columns of what is transposed at once."""


@dataclass(frozen=True)
class Panel:
    """Local memory for so many columns of op(B), and where in op(B) they are.

    Attributes:
        product: The product.
        update: What becomes of it.
        memory: The local memory.
        columns: The widths of a row's vectors.
        row: The first row of op(B).
        column: The first column of op(B).
        depth: How many rows.
        width: How many of the columns there are; what the panel has for others is not used.
    """

    product: Product
    update: Update
    memory: SSAValue
    columns: Segment
    row: Index
    column: Index
    depth: Index
    width: Index

    @property
    def kernel(self) -> Kernel:
        """The kernel that is being built."""
        return self.update.kernel

    def load(self, k: Index, position: int, width: int) -> SSAValue:
        """Neighbours in a row of the panel."""
        return load_as(self.kernel, self.memory, [self._at(k, position)], width, self.update.wide)

    def fill(self) -> None:
        """Copies the columns of op(B)."""
        product, width, kernel = self.product, self.width, self.kernel
        if not is_contiguous(product.b):
            self._copy_each((0, width), (0, self.depth))
        elif not product.is_b_transposed:
            self._copy_rows()
        else:
            whole_width = kernel.subtract(width, kernel.remainder(width, _TILE))
            whole_depth = kernel.subtract(self.depth, kernel.remainder(self.depth, _TILE))
            self._transpose(whole_width, whole_depth)
            self._copy_each((0, whole_width), (whole_depth, self.depth))
            self._copy_each((whole_width, width), (0, self.depth))

    def _copy_rows(self) -> None:
        """Copies rows that are contiguous in B."""
        kernel = self.kernel
        if not isinstance(self.width, int):
            widest = max(self.columns.widths)
            for_each_vector(kernel, (self.depth, self.width), widest, self._copy)
            return
        with kernel.loop(0, self.depth, name="k") as loop:
            for position, width in self.columns.positions():
                self._copy([loop.index, position], width)

    def _copy(self, indices: list[Index], width: int) -> None:
        """Copies neighbours in a row."""
        k, position = indices
        self._store(self._of_b(k, position, width), k, position, width)

    def _transpose(self, width: Index, depth: Index) -> None:
        """Copies columns that are contiguous in B, by square tiles."""
        kernel = self.kernel
        if width == 0 or depth == 0:
            return
        with (
            kernel.loop(0, width, _TILE, name="column") as columns,
            kernel.loop(0, depth, _TILE, name="k") as rows,
        ):
            tile = [
                self._of_b(rows.index, kernel.add(columns.index, i), _TILE) for i in range(_TILE)
            ]
            for i, row in enumerate(interleaved(kernel, tile)):
                self._store(row, kernel.add(rows.index, i), columns.index, _TILE)

    def _copy_each(self, columns: tuple[Index, Index], rows: tuple[Index, Index]) -> None:
        """Copies single elements."""
        kernel = self.kernel
        if columns[0] == columns[1] or rows[0] == rows[1]:
            return
        with (
            kernel.loop(*columns, name="column") as across,
            kernel.loop(*rows, name="k") as down,
        ):
            self._copy([down.index, across.index], 1)

    def _of_b(self, k: Index, position: Index, width: int) -> SSAValue:
        """Neighbours in memory, from an element of op(B) on."""
        kernel, product = self.kernel, self.product
        at = product.at_b(kernel.add(self.row, k), kernel.add(self.column, position))
        return load_as(kernel, product.b, at, width, self.update.wide)

    def _store(self, value: SSAValue, k: Index, position: Index, width: int) -> None:
        store(self.kernel, value, self.memory, [self._at(k, position)], width)

    def _at(self, k: Index, position: Index) -> Index:
        kernel = self.kernel
        return kernel.add(kernel.multiply(k, self.columns.step), position)
