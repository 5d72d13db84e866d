"""Products in loops, which multiply the factors of many iterations at once.

The sums of a product are read and written once for each product, and its factors are copied to
where they are near. So a loop that adds up products collects the factors of some iterations first:

    for i = first to last step s                  for j = first to last step 8 s
      a, b = .. i ..                                for i = j to min(j + 8 s, last) step s
      sums = sums + a b                               a, b = .. i ..
                                                      copy a and b
                                                    sums = sums + all a, all b

Everything else is done in the order of the source, and the terms of a sum are added in it, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from xdsl.dialects import scf
from xdsl.ir import BlockArgument, Operation

from xtile.dialects.scf.loops import UNSIGNED
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.contractions import ContractionOp
from xtile.dialects.vector.shapes import ShapeCastOp
from xtile.rewrite.contractions import Matrices, as_matrices
from xtile.rewrite.facts import constant_of
from xtile.rewrite.indices import Index
from xtile.targets.lanes import LaneTarget
from xtile.transforms.distribute.local_memory import size_in_bytes
from xtile.translate.core_to_vectors.contractions import list_of_matrices
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_vectors.matrix_unit import unit_of
from xtile.translate.core_to_vectors.products import (
    Arithmetic,
    Factors,
    Panels,
    Target,
    blocks_of,
    matrix_of,
    multiply_blocks,
)
from xtile.translate.core_to_vectors.tile import Tile
from xtile.translate.core_to_xegpu.widening import wide_type

_CACHED_FACTORS = 256 * 1024
"""Bytes of the factors that are multiplied at once: they stay in the second cache."""

_DEEPEST = 256
"""The depth of a product that leaves nothing to gain."""

_SMALLEST = 256
"""The elements of a result that a deeper product is worth, .."""

_FEWEST_ROWS = 8
""".. and its rows: copying the right factor costs as much as multiplying a few of them."""


@dataclass(frozen=True)
class DeepLoop:
    """A loop with products of many iterations.

    Attributes:
        step: What is added to its variable in an iteration.
        most: The most iterations whose factors are collected.
        products: The products, by the operation, and the number of what the loop carries.
    """

    step: int
    most: int
    products: Mapping[Operation, tuple[DeepProduct, int]]


def deep_loop(loop: scf.ForOp, lowering: Vectors) -> DeepLoop | None:
    """The products of a loop that should be done for many iterations at once; None if none are."""
    step = constant_of(loop.step)
    if step is None or step <= 0 or UNSIGNED in loop.properties:
        return None
    candidates = [
        (operation, number, matrices)
        for operation in loop.body.block.ops
        if isinstance(operation, ContractionOp)
        if (number := _carried_by(operation, loop)) is not None
        if (matrices := _worthwhile(operation, lowering.target)) is not None
    ]
    if not candidates:
        return None
    row = sum(_bytes_of_row(operation, matrices) for operation, _, matrices in candidates)
    depth = max(matrices[0].shape[2] for _, _, matrices in candidates)
    most = min(_DEEPEST, _CACHED_FACTORS // row) // depth
    first, last = constant_of(loop.lb), constant_of(loop.ub)
    if first is not None and last is not None:
        most = min(most, -(-(last - first) // step))
    if most <= 1:
        return None
    products: dict[Operation, tuple[DeepProduct, int]] = {
        operation: (DeepProduct(lowering, operation, matrices, most), number)
        for operation, number, matrices in candidates
    }
    return DeepLoop(step, most, products)


def _carried_by(operation: ContractionOp, loop: scf.ForOp) -> int | None:
    """The number of what a loop carries only to add such products up; None if there is none."""
    sums, result = operation.acc, operation.result
    while isinstance(sums.owner, ShapeCastOp) and sums.has_one_use():
        sums = sums.owner.source
    while (use := result.get_user_of_unique_use()) is not None and isinstance(use, ShapeCastOp):
        result = use.result
    block, end = loop.body.block, loop.body.block.last_op
    if not isinstance(sums, BlockArgument) or sums.block is not block or not sums.has_one_use():
        return None
    number = sums.index - 1
    is_handed_on = end is not None and result.has_one_use() and end.operands[number] is result
    return number if is_handed_on and sums.index > 0 else None


def _worthwhile(
    operation: ContractionOp, target: LaneTarget
) -> tuple[Matrices, Matrices, Matrices] | None:
    """The operands of a product that should be deeper; None if it should stay as it is."""
    matrices, element = as_matrices(operation), value_type(operation.result.type)
    is_rounded_each_time = wide_type(element) != element
    if matrices is None or is_rounded_each_time or unit_of(target, operation) is not None:
        return None
    sums = matrices[2]
    is_small = prod(sums.shape) < _SMALLEST or sums.shape[1] < _FEWEST_ROWS
    return None if is_small or not sums.is_in_order else matrices


def _bytes_of_row(operation: ContractionOp, matrices: tuple[Matrices, Matrices, Matrices]) -> int:
    """Bytes of a column of the left factor and a row of the right one."""
    left, right, _ = (each.shape for each in matrices)
    return size_in_bytes(value_type(operation.result.type)) * left[0] * (left[1] + right[2])


class DeepProduct:
    """A product whose factors are collected in private memory.

    Args:
        lowering: Where to emit.
        operation: The contraction.
        matrices: Its operands.
        most: The most iterations whose factors are collected.
    """

    def __init__(
        self,
        lowering: Vectors,
        operation: ContractionOp,
        matrices: tuple[Matrices, Matrices, Matrices],
        most: int,
    ) -> None:
        count, rows, self._depth = matrices[0].shape
        self._columns = matrices[1].shape[2]
        self._most = most * self._depth
        self._lowering = lowering
        self._operation = operation
        self._matrices = matrices
        self._arithmetic = Arithmetic.of(lowering, operation)
        element = self._arithmetic.element
        self._left = lowering.allocate(element, count * rows * self._most)
        self._right = lowering.allocate(element, count * self._columns * self._most)
        self._shape = (count, rows, self._most)
        width = lowering.width_of(element)
        self._blocks = blocks_of(lowering, (rows, self._columns), width, self._most)

    def put(self, iteration: Index) -> None:
        """Copies the factors of an iteration behind those of the ones before."""
        lowering, operation = self._lowering, self._operation
        left, right = (
            self._arithmetic.converted(list_of_matrices(lowering, old, matrices), old)
            for old, matrices in zip((operation.lhs, operation.rhs), self._matrices, strict=False)
        )
        first = lowering.multiply(iteration, self._depth)
        lowering.guarded(left, lambda: self._put_left(left, first))
        with lowering.rows((right.shape[0], 1)) as (number,):
            self._panels(number).fill(matrix_of(lowering, right, number), first)

    def _put_left(self, left: Tile, first: Index) -> None:
        lowering = self._lowering
        with lowering.rows(left.shape) as row:
            start = lowering.position(self._shape, (*row, first)).flat
            lowering.each_piece_of_row(
                left,
                row,
                lambda position, width: lowering.store(
                    left.piece(position, width), self._left, [lowering.add(start, position.column)]
                ),
            )

    def _panels(self, number: Index) -> Panels:
        start = self._lowering.multiply(number, self._most * self._columns)
        return Panels(self._lowering, self._blocks, self._right, self._most, start)

    def multiply(self, variable: Tile, iterations: Index) -> None:
        """Adds the product of the factors of so many iterations to what the loop carries."""
        lowering, buffer = self._lowering, variable.buffer
        assert buffer is not None
        sums = lowering.reshaped(variable, self._matrices[2].shape)
        lefts = lowering.stored(self._left, self._shape, self._arithmetic.element)
        depth = lowering.multiply(iterations, self._depth)
        with lowering.rows((sums.shape[0], 1)) as (number,):
            left = matrix_of(lowering, lefts, number)
            factors = Factors(left, self._panels(number).part, depth)
            start = lowering.multiply(number, prod(sums.shape[1:]))
            target = Target(buffer, start, self._arithmetic)
            multiply_blocks(
                lowering, self._blocks, factors, matrix_of(lowering, sums, number), target
            )

    def free(self) -> None:
        """Gives the private memory back."""
        self._lowering.free(self._left)
        self._lowering.free(self._right)
