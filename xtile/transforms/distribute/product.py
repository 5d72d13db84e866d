"""The operands and sizes of a product of matrices, and whether the matrix unit computes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from xdsl.ir import SSAValue

from xtile.dialects.core.blas import GemmOp
from xtile.rewrite.emitter import AnyMemRef, element_type
from xtile.rewrite.indices import Index
from xtile.targets.products import unit_for
from xtile.targets.target import MatrixUnit
from xtile.transforms.distribute.effects import Space, space_of
from xtile.transforms.distribute.kernel import Kernel
from xtile.transforms.distribute.overlap import separate
from xtile.transforms.distribute.update import Update


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


HEIGHTS = (32, 16, 8)
"""Rows of C that a subgroup computes at once: multiples of the most that dpas repeats."""


def unit_of(product: Product, update: Update) -> MatrixUnit | str:
    """What the matrix unit computes a product with, or why it does not."""
    kernel = update.kernel
    unit = unit_for(
        kernel.target,
        kernel.target.matrix_units,
        (element_type(product.a), element_type(product.b)),
        update.wide,
        lanes=kernel.subgroup_size,
    )
    if isinstance(unit, str):
        return unit
    if any(space_of(memory) is not Space.GLOBAL for memory in (product.a, product.b)):
        return "an input is not in global memory"
    if not all(_is_contiguous(memory) for memory in (product.a, product.b)):
        return "an input is not known to be contiguous along a dimension"
    least = (HEIGHTS[-1], unit.columns, unit.depth)
    sizes = (product.rows, product.columns, product.depth)
    if any(isinstance(size, int) and size < low for size, low in zip(sizes, least, strict=True)):
        return f"the product is smaller than {least[0]} x {least[1]} x {least[2]}"
    return unit


def _is_contiguous(memory: SSAValue) -> bool:
    return 1 in (cast("AnyMemRef", memory.type).get_strides() or ())
