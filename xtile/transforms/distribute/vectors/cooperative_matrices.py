"""The product of matrices in cooperative matrices, which a CPU's matrix unit has in registers.

A block of op(B) and a strip of op(A) are packed in local memory, as the matrix unit reads them;
what reaches beyond their ends is 0 there. Two by two sums stay in registers for the whole depth of
the block, so that each loaded matrix is a factor of two products.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from xtile.dialects.core.blas import GemmOp
from xtile.dialects.core.cooperative_matrix import (
    CooperativeMatrixFillOp,
    CooperativeMatrixMultiplyAddOp,
    CooperativeMatrixStoreOp,
    CooperativeMatrixType,
    MatrixUse,
)
from xtile.dialects.gpu.functions import FuncOp
from xtile.rewrite.emitter import element_type
from xtile.rewrite.indices import Index
from xtile.targets.products import BUILTIN_TYPES, unit_for
from xtile.targets.target import MatrixUnit
from xtile.transforms.distribute import numbers
from xtile.transforms.distribute.kernel import Kernel
from xtile.transforms.distribute.local_memory import (
    free_local_memory,
    local_buffer,
    local_bytes,
    size_in_bytes,
)
from xtile.transforms.distribute.product import Product
from xtile.transforms.distribute.update import Update
from xtile.transforms.distribute.vectors.packed_memory import PackedMemory
from xtile.transforms.distribute.vectors.packing import Range, pack_columns, pack_rows
from xtile.transforms.distribute.vectors.segments import segments_of
from xtile.transforms.distribute.vectors.updates import Part, after_block, apply
from xtile.transforms.distribute.vectors.values import load, width_of

_MATRICES = 2
"""Matrices of sums along the rows and along the columns of a tile."""

_PANEL_COLUMNS = 256
"""The most columns of a packed block of op(B)."""

_LEFT_FREE = 4096
"""Bytes of local memory that are left for small buffers: a tile of 24 vectors has 1536."""

_BRANCH = (
    "other work-items of the subgroup have other work in this kernel, but all of a subgroup must "
    "compute it together"
)
"""Source: SPV_KHR_cooperative_matrix. Else Intel's compiler for CPUs hangs, or its code crashes."""


def multiply(operation: GemmOp, product: Product, update: Update) -> bool:
    """Emits C := alpha op(A) op(B) + beta C, if cooperative matrices are of use."""
    kernel = update.kernel
    matrix = _matrix_for(product, update) if kernel.is_alone else _BRANCH
    if isinstance(matrix, str):
        kernel.remark(f"the matrix unit does not compute this product: {matrix}")
        return False
    height = _count(product.rows, matrix.rows) * matrix.rows
    width = _count(product.columns, matrix.columns) * matrix.columns
    free = _free_bytes(operation, kernel) - height * width * size_in_bytes(update.wide)
    panel = _panel(product, update, matrix, (height, width), free)
    if panel is None:
        kernel.remark(
            "the matrix unit does not compute this product: "
            "there is not enough local memory for its whole depth"
        )
        return False
    memory = PackedMemory(kernel, matrix, height, *panel)
    _Multiplication(product, update, memory, width).run()
    return True


def _matrix_for(product: Product, update: Update) -> MatrixUnit | str:
    """The cooperative matrices that multiply, or why there are none."""
    target = update.kernel.target
    factors = element_type(product.a), element_type(product.b)
    matrix = unit_for(target, target.cooperative_matrices, factors, update.wide)
    if isinstance(matrix, str):
        return matrix
    sizes = (product.rows, product.columns, product.depth)
    least = (matrix.rows // 2, matrix.columns // 2, matrix.depth // 2)
    if any(isinstance(size, int) and size < low for size, low in zip(sizes, least, strict=True)):
        return f"the product is smaller than {least[0]} x {least[1]} x {least[2]}"
    return matrix


def _count(size: Index, length: int) -> int:
    """How many matrices a tile has along a dimension."""
    return 1 if isinstance(size, int) and size <= length else _MATRICES


def _free_bytes(operation: GemmOp, kernel: Kernel) -> int:
    """The local memory that a product may have: an equal part for each, if as much is left.

    Some of it is left for the vectors and tiles that are taken apart there, such as rows of C whose
    elements do not lie side by side.
    """
    function = operation.parent_op()
    while function is not None and not isinstance(function, FuncOp):
        function = function.parent_op()
    products = 1
    if function is not None:
        products = sum(isinstance(nested, GemmOp) for nested in function.walk())
    part = (kernel.target.chip.local_memory - local_bytes(operation)) // products
    return min(part, free_local_memory(operation, kernel)) - _LEFT_FREE


def _panel(
    product: Product,
    update: Update,
    matrix: MatrixUnit,
    tile: tuple[int, int],
    free: int,
) -> tuple[int, int] | None:
    """Columns and depth of a panel of op(B); None if there is no local memory for one."""
    (height, width), depth = tile, product.depth
    elements = free // size_in_bytes(BUILTIN_TYPES[matrix.a])
    columns = _even_part(product.columns, width, _PANEL_COLUMNS)
    most = elements // (columns + height)
    if element_type(update.output) == update.wide and not update.is_atomic:
        # C can be the sum of several products, each of which is rounded on its own.
        part = _even_part(depth, matrix.depth, most)
        return (columns, part) if part else None
    if not isinstance(depth, int):
        return None
    whole = max(-(-depth // matrix.depth), 1) * matrix.depth
    columns = _even_part(product.columns, width, min(columns, elements // whole - height))
    return (columns, whole) if columns else None


def _even_part(size: Index, step: int, most: int) -> int:
    """A multiple of a step that cuts a size into few parts, of about equal length if possible.

    Args:
        size: The size.
        step: The step.
        most: The largest part; if the step is longer, the result is 0.
    """
    limit = max(most, 0) // step
    if not isinstance(size, int) or limit == 0:
        return limit * step
    total = max(-(-size // step), 1)
    for count in range(min(limit, total), limit // 2, -1):
        if total % count == 0:
            return count * step
    parts = -(-total // limit)
    return -(-total // parts) * step


@dataclass(frozen=True)
class _Multiplication:
    """A product in tiles of two matrices of sums along the rows and the columns, or of one.

    Attributes:
        product: The product.
        update: What becomes of C.
        memory: Where parts of the factors are packed; a strip is as high as a tile.
        width: The columns of a tile.
    """

    product: Product
    update: Update
    memory: PackedMemory
    width: int

    @property
    def kernel(self) -> Kernel:
        """The kernel that is being built."""
        return self.update.kernel

    @property
    def matrix(self) -> MatrixUnit:
        """The cooperative matrices."""
        return self.memory.matrix

    @property
    def height(self) -> int:
        """The rows of a tile."""
        return self.memory.height

    def run(self) -> None:
        """Goes through panels of op(B), and for each through strips of op(A)."""
        kernel, product, memory = self.kernel, self.product, self.memory
        with (
            kernel.loop(0, product.columns, memory.columns, name="column") as columns,
            kernel.loop(0, self._end(product.depth), memory.depth, name="start") as starts,
        ):
            column = Range.of(kernel, columns.index, product.columns, memory.columns)
            depth = Range.of(kernel, starts.index, product.depth, memory.depth)
            pack_columns(memory, product, column, depth, self.width)
            update = after_block(self.update, starts.index)
            with kernel.loop(0, product.rows, self.height, name="row") as rows:
                row = Range.of(kernel, rows.index, product.rows, self.height)
                pack_rows(memory, product, row, depth)
                with kernel.loop(0, column.length, self.width, name="tile") as tiles:
                    self._sums(tiles.index, depth)
                    self._update_tile(update, row, column, tiles.index)

    def _end(self, depth: Index) -> Index:
        """The depth, or 1: without products, too, C is updated once."""
        if isinstance(depth, int):
            return max(depth, 1)
        return self.kernel.pure(arith.MaxSIOp, depth, self.kernel.index(1))

    def _sums(self, column: Index, depth: Range) -> None:
        """Stores the sums of a tile whose first column in the panel this is."""
        kernel, memory, matrix = self.kernel, self.memory, self.matrix
        rows = range(0, self.height, matrix.rows)
        columns = range(0, self.width, matrix.columns)
        type_ = CooperativeMatrixType.of(
            matrix.rows, matrix.columns, BUILTIN_TYPES[matrix.sums], MatrixUse.ACCUMULATOR
        )
        tile = kernel.divide(column, matrix.columns)
        zero = numbers.zero(kernel, BUILTIN_TYPES[matrix.sums])
        fills = [
            CooperativeMatrixFillOp(operands=[zero], result_types=[type_])
            for _ in rows
            for _ in columns
        ]
        nothing = [kernel.emit(fill).result for fill in fills]
        with kernel.loop(0, depth.covering(kernel, matrix.depth), 1, nothing, "step") as steps:
            factors = [memory.load_b(steps.index, kernel.add(tile, j)) for j in range(len(columns))]
            sums = iter(steps.carried)
            results: list[SSAValue] = []
            for i in rows:
                a = memory.load_a(i, steps.index)
                results += [_multiply_add(kernel, a, b, next(sums)) for b in factors]
            steps.results = results
        results = list(steps.results)
        for i in rows:
            for j in columns:
                at = [kernel.index(i), kernel.index(j)]
                store = CooperativeMatrixStoreOp(operands=[results.pop(0), self._tile, at])
                kernel.emit(store)

    @property
    def _tile(self) -> SSAValue:
        """Memory for the sums of a tile."""
        kernel, shape = self.kernel, (self.height, self.width)
        return kernel.shared(
            ("tile", self.matrix.sums, shape),
            (),
            lambda: local_buffer(kernel, BUILTIN_TYPES[self.matrix.sums], shape),
        )

    def _update_tile(self, update: Update, rows: Range, columns: Range, column: Index) -> None:
        """Updates C with the sums of a tile whose first column in the panel this is."""
        kernel = self.kernel
        inside = Range.of(kernel, column, columns.length, self.width)
        width = width_of(kernel, BUILTIN_TYPES[self.matrix.sums], element_type(update.output))
        with kernel.loop(0, rows.length, name="row") as loop:
            row = kernel.add(rows.start, loop.index)
            for segment in segments_of(kernel, inside.length, width, self.width // width):
                with segment.steps(kernel, "column") as first:
                    positions = [
                        (kernel.add(first, at), count) for at, count in segment.positions()
                    ]
                    parts = [
                        Part(
                            load(kernel, self._tile, (loop.index, position), count),
                            (row, kernel.add(kernel.add(columns.start, column), position)),
                            count,
                        )
                        for position, count in positions
                    ]
                    apply(update, parts)


def _multiply_add(kernel: Kernel, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
    """A B + C."""
    operation = CooperativeMatrixMultiplyAddOp(operands=[a, b, c], result_types=[c.type])
    return kernel.emit(operation).result
