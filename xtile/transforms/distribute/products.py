"""The product of matrices without matrix units, in any type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from xtile.dialects.core import GemmOp
from xtile.transforms.distribute import numbers
from xtile.transforms.distribute.elementwise import load_wide
from xtile.transforms.distribute.kernel import Index, Kernel
from xtile.transforms.distribute.overlap import separate
from xtile.transforms.distribute.shares import columns_of, subgroup_grid, tiles_of
from xtile.transforms.distribute.update import Update, update_of

_ROWS = (4, 5, 6, 3)
"""How many rows of C a work-item may compute at once, from the best choice on."""


@dataclass(frozen=True)
class Product:
    """op(A) op(B) of M x K and K x N elements, whose shapes are known where C's or one of them is.

    Attributes:
        a: The memref A.
        b: The memref B.
        is_a_transposed: Whether op(A) is the transpose of A.
        is_b_transposed: Whether op(B) is the transpose of B.
        rows: M.
        columns: N.
        depth: K.
    """

    a: SSAValue
    b: SSAValue
    is_a_transposed: bool
    is_b_transposed: bool
    rows: Index
    columns: Index
    depth: Index

    def at_a(self, row: Index, k: Index) -> tuple[Index, Index]:
        """Where A holds an element of op(A)."""
        return (k, row) if self.is_a_transposed else (row, k)

    def at_b(self, k: Index, column: Index) -> tuple[Index, Index]:
        """Where B holds an element of op(B)."""
        return (column, k) if self.is_b_transposed else (k, column)


def product_of(operation: GemmOp, kernel: Kernel) -> Product:
    """The product that an operation computes."""
    c = kernel.value(operation.c)
    a, b = (separate(kernel, value, c) for value in kernel.values((operation.a, operation.b)))
    t_a, t_b = operation.transpose_a is not None, operation.transpose_b is not None
    return Product(
        a,
        b,
        t_a,
        t_b,
        kernel.size((c, 0), (a, int(t_a))),
        kernel.size((c, 1), (b, int(not t_b))),
        kernel.size((a, int(not t_a)), (b, int(t_b))),
    )


def gemm(operation: GemmOp, kernel: Kernel) -> None:
    """Computes C := alpha op(A) op(B) + beta C."""
    product, update = product_of(operation, kernel), update_of(operation, kernel)
    height = _height(product.rows)
    grid = subgroup_grid(
        kernel, tiles_of(product.rows, height), tiles_of(product.columns, kernel.subgroup_size)
    )
    first = kernel.multiply(grid.row, height)
    with (
        columns_of(kernel, grid, product.columns) as column,
        kernel.spread(first, product.rows, grid.rows * height, "row") as row,
    ):
        rows = [kernel.add(row, i) for i in range(height)]
        is_even = isinstance(product.rows, int) and product.rows % height == 0
        _column_of_tile(product, update, rows, column, is_even)


def _height(rows: Index) -> int:
    """How many rows a work-item computes at once, so that few are computed in vain."""
    if not isinstance(rows, int):
        return _ROWS[0]
    if rows <= max(_ROWS):
        return max(rows, 1)
    return min(_ROWS, key=lambda height: -(-rows // height) * height)


def _column_of_tile(
    product: Product, update: Update, rows: Sequence[Index], column: Index, is_even: bool
) -> None:
    """Updates the elements of C in some rows of a column; rows past the end are left alone."""
    kernel = update.kernel
    last = kernel.subtract(product.rows, 1)
    sources = [*rows[:1], *(row if is_even else kernel.minimum(row, last) for row in rows[1:])]
    nothing = numbers.zero(kernel, update.wide)
    with kernel.loop(0, product.depth, 1, [nothing] * len(rows), "k") as loop:
        b = load_wide(update, product.b, product.at_b(loop.index, column))
        sums: list[SSAValue] = []
        for carried, row in zip(loop.carried, sources, strict=True):
            a = load_wide(update, product.a, product.at_a(row, loop.index))
            sums.append(numbers.add(kernel, carried, numbers.multiply(kernel, a, b)))
        loop.results = sums
    for number, (row, result) in enumerate(zip(rows, loop.results, strict=True)):
        if is_even or number == 0:
            update.apply(result, (row, column))
        else:
            with kernel.when(kernel.compare("slt", row, product.rows)):
                update.apply(result, (row, column))
