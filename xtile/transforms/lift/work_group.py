"""The work-items of a work-group, and the axes that values get which differ between them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.core.attributes import Level, level_of
from xtile.dialects.core.blas import BlasOperation
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.indices import dimension_number
from xtile.dialects.gpu.subgroup_sizes import DEFAULT_SUBGROUP_SIZE, given_subgroup_size
from xtile.dialects.walk import walk
from xtile.rewrite.facts import constant_of

OUTER, ROW, INNER, COLUMN, LANE = 0, 1, 8, 9, 10
"""Axes in the order in which vectors have them.

Subgroups stand in a grid with two axes. Matrices of subgroups along the outer one lie above each
other, those along the inner one side by side, so that together they are one large matrix, row by
row. The first dimensions of a matrix have the axes from `ROW` on, the last one has `COLUMN`.
"""

Axes: TypeAlias = frozenset[int]
"""The axes along which a value differs."""

NONE: Axes = frozenset()
OF_LANE: Axes = frozenset({LANE})
OF_SUBGROUPS: Axes = frozenset({OUTER, INNER})

_SUBGROUPS_OF_PRODUCTS = (2, 2)
"""Subgroups along x and y where nothing says how many there are and there is linear algebra."""

_ON_SIZES = frozenset({"gpu.rotate", "gpu.shuffle", "gpu.subgroup_reduce", "gpu.subgroup_size"})
"""Operations that depend on how many lanes a subgroup has."""

_SIZES = (DEFAULT_SUBGROUP_SIZE, 32, 8)
"""Tried in this order; the first that divides the rows of the work-group is taken."""


@dataclass(frozen=True)
class WorkGroup:
    """How the work-items of a work-group are arranged: docs/semantics.md 3.4.

    Attributes:
        block: Work-items along x, y and z; x varies fastest.
        lanes: Work-items of a subgroup.
        columns: How many subgroups with numbers that follow each other are a line of the grid.
        is_turned: Whether such a line lies along the outer axis.
        has_vectors_of_lanes: Whether each lane has vectors of its own, as at level lane.
    """

    block: tuple[int, int, int]
    lanes: int
    columns: int
    is_turned: bool = False
    has_vectors_of_lanes: bool = False

    @property
    def subgroups(self) -> int:
        """How many subgroups there are."""
        return math.prod(self.block) // self.lanes

    @property
    def sizes(self) -> Mapping[int, int]:
        """The sizes of the axes of subgroups and lanes; one of size 1 is none."""
        low, high = self.digits
        sizes = {low: self.columns, high: self.subgroups // self.columns, LANE: self.lanes}
        return {axis: size for axis, size in sorted(sizes.items()) if size > 1}

    @property
    def digits(self) -> tuple[int, int]:
        """The axes of the lower and the higher digit of a subgroup's number."""
        return (OUTER, INNER) if self.is_turned else (INNER, OUTER)

    def thread_axes(self, dimension: int) -> Axes:
        """The axes along which the id of a work-item along x, y or z differs."""
        size, inner = self.block[dimension], math.prod(self.block[:dimension])
        low, high = self.digits
        # The digits of a work-item's number, with the products of the sizes below each.
        digits = ((LANE, 1), (low, self.lanes), (high, self.lanes * self.columns))
        ends = (self.lanes, self.lanes * self.columns, math.prod(self.block))
        return frozenset(
            axis
            for (axis, first), end in zip(digits, ends, strict=True)
            if size > 1 and first < inner * size and inner < end and axis in self.sizes
        )

    def digit_of_subgroup(self, operation: Operation) -> int | None:
        """The axis of which an operation computes the digit of a subgroup's number, if it does."""
        if operation.name not in _DIVISIONS or self.known(operation.operands[1]) != self.columns:
            return None
        if not _is_subgroup_id(operation.operands[0]):
            return None
        low, high = self.digits
        return low if operation.name in _REMAINDERS else high

    def known(self, value: SSAValue) -> int | None:
        """A number that follows from the sizes of the work-group."""
        constant, owner = constant_of(value), value.owner
        if constant is not None or not isinstance(owner, Operation):
            return constant
        sizes = {"gpu.num_subgroups": self.subgroups, "gpu.subgroup_size": self.lanes}
        if owner.name in sizes:
            return sizes[owner.name]
        if owner.name == "gpu.block_dim":
            return self.block[dimension_number(owner)]
        if owner.name == "arith.divui":
            a, b = (self.known(operand) for operand in owner.operands)
            return None if a is None or not b else a // b
        return None


def grid_of_tiles(outer: int, inner: int) -> WorkGroup:
    """Independent tiles in a grid, as subgroups of which nothing tells lanes apart."""
    return WorkGroup((inner, outer, 1), 1, inner)


_REMAINDERS = frozenset({"arith.remsi", "arith.remui"})
_DIVISIONS = _REMAINDERS | {"arith.divsi", "arith.divui", "arith.floordivsi"}
_CASTS = frozenset({"arith.extsi", "arith.extui", "arith.index_cast", "arith.index_castui"})


def _is_subgroup_id(value: SSAValue) -> bool:
    owner = value.owner
    while isinstance(owner, Operation) and owner.name in (*_CASTS, "arith.trunci"):
        owner = owner.operands[0].owner
    return isinstance(owner, Operation) and owner.name == "gpu.subgroup_id"


def own_axes(type: Attribute) -> tuple[int, ...]:
    """The axes of the dimensions of a matrix; a scalar has none."""
    if not isinstance(type, VectorType):
        return ()
    return (*range(ROW, type.get_num_dims()), COLUMN)


def work_group_of(function: FuncOp) -> WorkGroup:
    """The sizes that a kernel names, or those by default.

    Raises:
        ValueError: The last subgroup is not full.
    """
    lanes, known = given_subgroup_size(function), function.known_block_size
    is_of_lanes = level_of(function) in (None, Level.LANE)
    if known is None:
        lanes = lanes or DEFAULT_SUBGROUP_SIZE
        columns, rows = _SUBGROUPS_OF_PRODUCTS if _has_linear_algebra(function) else (1, 1)
        return WorkGroup((lanes * columns, rows, 1), lanes, columns, False, is_of_lanes)
    x, y, z = (int(size) for size in known.get_values())
    lanes = lanes or next((size for size in _SIZES if x % size == 0), DEFAULT_SUBGROUP_SIZE)
    if x * y * z < lanes and not any(op.name in _ON_SIZES for op in walk(function)):
        # Nothing tells how many lanes the only subgroup could have.
        lanes = x * y * z
    if x * y * z % lanes:
        raise ValueError(
            f"a work-group of {x * y * z} work-items has a subgroup with fewer than {lanes}"
        )
    columns = x // lanes if x % lanes == 0 else x * y * z // lanes
    columns = _divisor(function, x * y * z // lanes) or columns
    return WorkGroup((x, y, z), lanes, columns, False, is_of_lanes)


def _divisor(function: Operation, subgroups: int) -> int | None:
    """The number by which a kernel divides those of subgroups, if it makes a grid of them."""
    for operation in walk(function):
        if operation.name in _DIVISIONS and _is_subgroup_id(operation.operands[0]):
            divisor = constant_of(operation.operands[1])
            if divisor is not None and divisor > 0 and subgroups % divisor == 0:
                return divisor
    return None


def _has_linear_algebra(function: Operation) -> bool:
    return any(isinstance(nested, BlasOperation) for nested in walk(function))
