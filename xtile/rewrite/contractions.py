"""Which iterations of a contraction run along which dimension of its operands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import cast

from xdsl.dialects.arith import TruncFOp
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr
from xdsl.dialects.scf import YieldOp
from xdsl.ir import Operation, SSAValue, Use
from xdsl.ir.affine import AffineDimExpr

from xtile.dialects.upstream import value_type
from xtile.dialects.vector.contractions import ContractionOp
from xtile.rewrite.tile_emitter import shape_of

Maps = tuple[tuple[int, ...], ...]
"""For each operand the number of the iteration along each of its dimensions."""

MATMUL: Maps = ((0, 2), (2, 1), (0, 1))
"""C := A B + C."""

_TURNED = {0: ((0, 2), (2, 0)), 1: ((2, 1), (1, 2))}
"""For A and B of a product their maps as they are, and if they are transposed."""


def iteration_maps(operation: Operation) -> Maps:
    """The maps of a contraction with its iterations numbered anew.

    Those of the result come first, in its order, and then those that are summed up in the order in
    which the factors have them. So it does not matter what the source calls them.
    """
    attributes = cast("ArrayAttr[AffineMapAttr]", operation.properties["indexing_maps"])
    lhs, rhs, sums = (
        [cast("AffineDimExpr", each).position for each in attribute.data.results]
        for attribute in attributes
    )
    numbers: dict[int, int] = {}
    for iteration in (*sums, *lhs, *rhs):
        numbers.setdefault(iteration, len(numbers))
    return tuple(tuple(numbers[each] for each in map_) for map_ in (lhs, rhs, sums))


def uses_as_factor(value: SSAValue) -> Iterator[Use]:
    """The uses of a matrix; where it is cast to tf32, those of the result."""
    for use in value.uses:
        operation = use.operation
        if isinstance(operation, TruncFOp) and str(value_type(operation.result.type)) == "tf32":
            yield from operation.result.uses
        else:
            yield use


def factors_of(operation: Operation) -> tuple[tuple[int, bool], tuple[int, bool]] | None:
    """The operands that are A and B of a product C := A B + C; None if it is none.

    Returns:
        For A and B the number of the operand, and whether that is the transpose.
    """
    maps = iteration_maps(operation)
    if maps[2] != MATMUL[2]:
        return None
    for order in ((0, 1), (1, 0)):
        a, b = (maps[number] for number in order)
        if a in _TURNED[0] and b in _TURNED[1]:
            return (order[0], a != MATMUL[0]), (order[1], b != MATMUL[1])
    return None


@dataclass(frozen=True)
class Matrices:
    """How an operand of a contraction is a list of matrices.

    Attributes:
        order: Its dimensions: those that count matrices, then those of rows, then of columns.
        sizes: The size of each of them, in this order.
        shape: How many matrices, rows and columns there are.
    """

    order: tuple[int, ...]
    sizes: tuple[int, ...]
    shape: tuple[int, int, int]

    @property
    def squeezed(self) -> tuple[int, ...]:
        """The shape, without the number of matrices if there is one."""
        return self.shape if self.shape[0] > 1 else self.shape[1:]

    @property
    def is_in_order(self) -> bool:
        """Whether the operand has its dimensions in this order."""
        return list(self.order) == sorted(self.order)

    @property
    def inverse(self) -> list[int]:
        """For each dimension of the operand its number in the order."""
        return [self.order.index(i) for i in range(len(self.order))]


def as_matrices(operation: ContractionOp) -> tuple[Matrices, Matrices, Matrices] | None:
    """The factors and the sums of a contraction as lists of matrices that are multiplied.

    None if an iteration is of one factor alone, and its elements are added up before they are
    multiplied.
    """
    maps = iteration_maps(operation)
    left, right, sums = maps
    if (set(left) ^ set(right)) - set(sums):
        return None
    sizes = iteration_sizes(operation, maps)
    batch = [d for d in sums if d in left and d in right]
    rows = [d for d in sums if d not in right]
    columns = [d for d in sums if d not in left]
    depth = [d for d in left if d not in sums]

    def arranged(own: Sequence[int], *groups: Sequence[int]) -> Matrices:
        flat = [d for group in groups for d in group]
        count, height, width = (prod(sizes[d] for d in group) for group in groups)
        order = tuple(own.index(d) for d in flat)
        return Matrices(order, tuple(sizes[d] for d in flat), (count, height, width))

    return (
        arranged(left, batch, rows, depth),
        arranged(right, batch, depth, columns),
        arranged(sums, batch, rows, columns),
    )


def iteration_sizes(operation: ContractionOp, maps: Maps) -> dict[int, int]:
    """How often each iteration of a contraction runs."""
    sizes = dict(zip(maps[0], shape_of(operation.lhs.type), strict=True))
    return sizes | dict(zip(maps[1], shape_of(operation.rhs.type), strict=True))


def is_of_matrices(product: ContractionOp) -> bool:
    """Whether a product adds several numbers up: one that adds none is done element by element."""
    matrices = as_matrices(product)
    return matrices is not None and matrices[0].shape[-1] > 1


def feeds_another(product: ContractionOp, products: Iterable[ContractionOp]) -> bool:
    """Whether a factor of another product is computed from one in the same iteration."""
    others = set[Operation](products)
    reached, left = set[Operation](), [product.results[0]]
    while left:
        for use in left.pop().uses:
            user = use.operation
            if user in others and use.index < _ACCUMULATOR:
                return True
            # What a block hands on is a result of the operation around it.
            following = user.parent_op() if isinstance(user, YieldOp) else user
            if following is not None and following not in others and following not in reached:
                reached.add(following)
                left += following.results
    return False


_ACCUMULATOR = 2
"""The number of the operand to which a product is added."""
