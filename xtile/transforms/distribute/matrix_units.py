"""The product of matrices on the matrix units: each subgroup computes tiles of C as vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import (
    AffineMapAttr,
    DenseArrayBase,
    IntegerAttr,
    VectorType,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineMap

from xtile.dialects.core.subgroup import PrefetchOp
from xtile.dialects.shared_attributes import truth_attribute, vector_of
from xtile.dialects.vector.contractions import product_of_matrices
from xtile.rewrite.emitter import element_type
from xtile.rewrite.indices import Index
from xtile.targets.target import MatrixUnit
from xtile.text.mlir_attributes import splat_constant
from xtile.transforms.distribute.kernel import Kernel
from xtile.transforms.distribute.product import HEIGHTS, Product
from xtile.transforms.distribute.shares import subgroup_grid, tiles_of
from xtile.transforms.distribute.update import Update, emit_atomic_block

_BLOCKS = (2, 1)
"""Columns of C that a subgroup computes at once, in multiples of the matrix unit's."""

_IDENTITY = AffineMap.identity(2)
_TRANSPOSED = AffineMap.from_callable(lambda i, j: (j, i))


def multiply_on_matrix_units(product: Product, update: Update, unit: MatrixUnit) -> None:
    """Emits C := alpha op(A) op(B) + beta C, as products of a matrix unit."""
    kernel = update.kernel
    height, width = _tile(product, kernel, unit.columns)
    grid = subgroup_grid(kernel, tiles_of(product.rows, height), tiles_of(product.columns, width))
    first_row = kernel.multiply(grid.row, height)
    first_column = kernel.multiply(grid.column, width)
    with (
        kernel.spread(first_row, product.rows, grid.rows * height, "row") as row,
        kernel.spread(first_column, product.columns, grid.columns * width, "column") as column,
    ):
        tile = _Tile(product, update, unit.depth, row, column, height, width)
        tile.update_with(tile.multiply())


def _tile(product: Product, kernel: Kernel, width: int) -> tuple[int, int]:
    """The largest tile that leaves none of the subgroups without work, or the smallest."""
    tiles = [(height, blocks * width) for height in HEIGHTS for blocks in _BLOCKS]
    rows, columns = product.rows, product.columns
    fitting = [tile for tile in tiles if _fits(rows, tile[0]) and _fits(columns, tile[1])]
    if not isinstance(rows, int) or not isinstance(columns, int):
        return fitting[0]
    for tile in fitting:
        if -(-rows // tile[0]) * -(-columns // tile[1]) >= kernel.subgroups:
            return tile
    return fitting[-1]


def _fits(size: Index, tile: int) -> bool:
    return not isinstance(size, int) or size >= tile


@dataclass(frozen=True)
class _Tile:
    """A tile of C, from its first row and column on; it may reach beyond the end of C.

    A step adds up `depth` products of each row and column.
    """

    product: Product
    update: Update
    depth: int
    row: Index
    column: Index
    height: int
    width: int

    def multiply(self) -> SSAValue:
        """The tile of op(A) op(B), in the accumulation type."""
        kernel, product, depth = self.update.kernel, self.product, self.depth
        nothing = self.zero()
        with kernel.loop(0, product.depth, depth, [nothing], "k") as loop:
            k = loop.index
            if not isinstance(product.depth, int) or product.depth > depth:
                self._prefetch(kernel.add(k, depth), depth)
            a = self._read(
                product.a,
                product.at_a(self.row, k),
                (self.height, depth),
                product.is_a_transposed,
                (product.rows, product.depth),
            )
            b = self._read(
                product.b,
                product.at_b(k, self.column),
                (depth, self.width),
                product.is_b_transposed,
                (product.depth, product.columns),
            )
            loop.results = [_contract(kernel, a, b, loop.carried[0])]
        return loop.results[0]

    def zero(self) -> SSAValue:
        """A tile of zeros."""
        kernel = self.update.kernel
        nothing = splat_constant(cast("Any", self._type), 0)
        return kernel.shared(nothing, (), lambda: kernel.emit(arith.ConstantOp(nothing)).result)

    def update_with(self, result: SSAValue) -> None:
        """Updates the tile of C with a result in the accumulation type."""
        kernel, output = self.update.kernel, self.update.output
        update = replace(
            self.update,
            alpha=self._broadcast(self.update.alpha),
            beta=self._broadcast(self.update.beta),
        )
        scaled = update.scale(result)
        sizes = (self.product.rows, self.product.columns)
        inside = _in_bounds((self.height, self.width), sizes)
        at = [kernel.as_value(index) for index in (self.row, self.column)]
        if update.is_atomic:
            checked = [i for i, is_inside in enumerate(inside) if not is_inside]
            emit_atomic_block(
                kernel, update.atomic_kind, update.narrow(scaled), output, at, checked
            )
            return
        total = update.combine(
            scaled,
            lambda: self._read(
                output, (self.row, self.column), (self.height, self.width), False, sizes
            ),
        )
        kernel.emit(
            vector.TransferWriteOp(
                update.narrow(total),
                output,
                at,
                truth_attribute(inside),
                permutation_map=AffineMapAttr(_IDENTITY),
            )
        )

    def _read(
        self,
        memory: SSAValue,
        indices: Sequence[Index],
        shape: tuple[int, int],
        is_transposed: bool,
        sizes: tuple[Index, Index],
    ) -> SSAValue:
        """A block of op(memory), which has these sizes; what is beyond them is 0."""
        kernel, element = self.update.kernel, element_type(memory)
        map = _TRANSPOSED if is_transposed else _IDENTITY
        read = vector.TransferReadOp(
            memory,
            [kernel.as_value(index) for index in indices],
            kernel.constant(0.0, element),
            vector_of(shape, element),
            truth_attribute(_in_bounds(shape, sizes)),
            AffineMapAttr(map),
        )
        return kernel.emit(read).result

    def _prefetch(self, k: Index, depth: int) -> None:
        """Brings what the next iteration reads into the nearest cache."""
        product, kernel = self.product, self.update.kernel
        blocks = (
            (product.a, product.at_a(self.row, k), product.at_a(self.height, depth)),
            (product.b, product.at_b(k, self.column), product.at_b(depth, self.width)),
        )
        for memory, indices, shape in blocks:
            kernel.emit(
                PrefetchOp(
                    operands=[memory, [kernel.as_value(index) for index in indices]],
                    properties={
                        "block": DenseArrayBase.from_list(i64, cast("tuple[int, int]", shape)),
                        "level": IntegerAttr(0, i64),
                    },
                )
            )

    def _broadcast(self, factor: SSAValue | None) -> SSAValue | None:
        """A factor for each element of the tile."""
        if factor is None:
            return None
        kernel = self.update.kernel
        return kernel.shared(
            ("broadcast", factor, self._type),
            (factor,),
            lambda: kernel.emit(vector.BroadcastOp(factor, self._type)).vector,
        )

    @property
    def _type(self) -> VectorType[Attribute]:
        return vector_of((self.height, self.width), self.update.wide)


def _in_bounds(shape: Sequence[int], sizes: Sequence[Index]) -> tuple[bool, ...]:
    """Whether blocks of a shape never reach beyond the sizes."""
    return tuple(
        isinstance(size, int) and size % length == 0
        for length, size in zip(shape, sizes, strict=True)
    )


def _contract(kernel: Kernel, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
    """A B + C."""
    return kernel.emit(product_of_matrices(a, b, c)).result
