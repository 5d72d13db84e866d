"""The product of matrices: on the matrix units, or in any type without them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xtile.dialects.core.blas import GemmOp
from xtile.rewrite.indices import Index
from xtile.transforms.distribute import numbers
from xtile.transforms.distribute.elementwise import load_wide
from xtile.transforms.distribute.kernel import Kernel
from xtile.transforms.distribute.product import Product, product_of, unit_of
from xtile.transforms.distribute.shares import columns_of, subgroup_grid, tiles_of
from xtile.transforms.distribute.update import Update, update_of

_ROWS = (4, 5, 6, 3)
"""How many rows of C a work-item may compute at once, from the best choice on."""


def gemm(operation: GemmOp, kernel: Kernel) -> None:
    """Computes C := alpha op(A) op(B) + beta C."""
    product, update = product_of(operation, kernel), update_of(operation, kernel)
    unit = unit_of(product, update)
    if not isinstance(unit, str):
        from xtile.transforms.distribute.matrix_units import multiply_on_matrix_units

        multiply_on_matrix_units(product, update, unit)
        return
    kernel.remark(f"the matrix unit does not compute this product: {unit}")
    multiply_in_registers(product, update)


def multiply_in_registers(product: Product, update: Update) -> None:
    """Emits C := alpha op(A) op(B) + beta C, where each work-item adds up its elements."""
    kernel, height = update.kernel, _height(product.rows)
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
    sources = [*rows[:1], *(row if is_even else kernel.smaller(row, last) for row in rows[1:])]
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
