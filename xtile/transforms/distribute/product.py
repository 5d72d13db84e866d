"""The operands and sizes of a product of matrices."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from xtile.dialects.core import GemmOp
from xtile.rewrite.indices import Index
from xtile.transforms.distribute.kernel import Kernel
from xtile.transforms.distribute.overlap import separate


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
