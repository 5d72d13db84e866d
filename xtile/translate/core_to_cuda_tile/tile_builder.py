"""Emits operations of CUDA Tile IR: constants, arithmetic, comparisons and shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from typing_extensions import override
from xdsl.dialects.builtin import AnyFloat, IntegerType, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.cuda_tile.enumerations import (
    ComparisonOrdering,
    ComparisonPredicate,
    RoundingMode,
    Signedness,
)
from xtile.dialects.cuda_tile.ops import bitwise, core, floating_point, integer
from xtile.dialects.cuda_tile.types import TileType, is_integer
from xtile.rewrite.indices import Index, IndexArithmetic, IndexOperation
from xtile.rewrite.rebuilder import Rebuilder
from xtile.translate.core_to_cuda_tile.types import (
    INDEX,
    element_type,
    scalar_tile,
    tile_type,
)

SIGNED, UNSIGNED = Signedness.SIGNED, Signedness.UNSIGNED
ORDERED, UNORDERED = ComparisonOrdering.ORDERED, ComparisonOrdering.UNORDERED


class TileBuilder(Rebuilder, IndexArithmetic):
    """Emits tiles. What is called `compute` emits where it stands, `pure` once and early."""

    def compute(self, kind: Callable[..., Operation], *operands: Any, **properties: Any) -> Any:
        """The first result of an operation."""
        return self.emit(kind(*operands, **properties)).results[0]

    def pure(self, kind: Callable[..., Operation], *operands: Any, **properties: Any) -> Any:
        """The first result of an operation without effects, computed once.

        What is no value among the operands must be hashable.
        """
        values: list[SSAValue] = [each for each in operands if isinstance(each, SSAValue)]
        return self.shared(
            (kind, *operands, *properties.items()),
            values,
            lambda: self.compute(kind, *operands, **properties),
        )

    # --- constants ---

    def constant(self, number: float, type_: Attribute) -> SSAValue:
        """A tile of equal numbers.

        Integers are given as signed ones; those of one bit may be given as 1.
        """
        tile = cast(TileType, type_)
        if is_integer(tile.element_type):
            number = _wrapped(int(number), cast(IntegerType, tile.element_type))
        return self.shared(
            ("constant", repr(number), tile),
            (),
            lambda: self.compute(core.ConstantOp.of, tile, [number]),
        )

    def constants(self, numbers: Sequence[float], type_: TileType) -> SSAValue:
        """A tile of given numbers, in row-major order."""
        if is_integer(type_.element_type):
            element = cast(IntegerType, type_.element_type)
            numbers = [_wrapped(int(number), element) for number in numbers]
        return self.shared(
            ("constants", tuple(map(repr, numbers)), type_),
            (),
            lambda: self.compute(core.ConstantOp.of, type_, numbers),
        )

    def integer(self, number: int, type_: Attribute = INDEX) -> SSAValue:
        """An integer, by default an index."""
        return self.constant(number, scalar_tile(type_))

    def like(self, number: float, value: SSAValue) -> SSAValue:
        """A constant of the type of a value."""
        return self.constant(number, value.type)

    # --- integers ---

    @override
    def as_value(self, number: Index) -> SSAValue:
        return self.integer(number) if isinstance(number, int) else number

    @override
    def index_operation(self, operation: IndexOperation, a: SSAValue, b: SSAValue) -> SSAValue:
        kind, properties = _INDEX_OPERATIONS[operation]
        return self.pure(kind, a, b, **properties)

    def compare(
        self, predicate: ComparisonPredicate, a: SSAValue, b: SSAValue, is_signed: bool = True
    ) -> SSAValue:
        """A comparison of integers."""
        signedness = SIGNED if is_signed else UNSIGNED
        return self.compute(integer.CmpIOp, predicate, a, b, signedness=signedness)

    def compare_floats(
        self,
        predicate: ComparisonPredicate,
        a: SSAValue,
        b: SSAValue,
        ordering: ComparisonOrdering = ORDERED,
    ) -> SSAValue:
        """A comparison of floats."""
        return self.compute(floating_point.CmpFOp, predicate, ordering, a, b)

    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        """`a` where the condition holds, `b` elsewhere; one condition may choose whole tiles."""
        shape = tile_type(a).get_shape()
        if tile_type(condition).get_shape() != shape:
            condition = self.spread(condition, shape)
        return self.compute(core.SelectOp, condition, a, b)

    def both(self, a: SSAValue | None, b: SSAValue | None) -> SSAValue | None:
        """Where two conditions hold; None holds everywhere."""
        if a is None or b is None:
            return a if b is None else b
        return self.compute(bitwise.AndIOp, a, b)

    def opposite(self, condition: SSAValue) -> SSAValue:
        """Where a condition does not hold."""
        return self.compute(bitwise.XOrIOp, condition, self.like(1, condition))

    # --- shapes ---

    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The same elements in row-major order."""
        if tile_type(value).get_shape() == tuple(shape):
            return value
        return self.pure(core.ReshapeOp, value, tuple(shape))

    def broadcast(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """A tile repeated along its dimensions of size 1."""
        if tile_type(value).get_shape() == tuple(shape):
            return value
        return self.pure(core.BroadcastOp, value, tuple(shape))

    def spread(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """A scalar repeated to fill a tile."""
        owner = value.owner
        if isinstance(owner, core.ConstantOp) and shape:
            (number,) = cast("Sequence[float]", cast(Any, owner.value).get_values())
            return self.constant(number, TileType(shape, element_type(value)))
        return self.broadcast(self.reshape(value, (1,) * len(shape)), shape)

    def along(self, value: SSAValue, axis: int, shape: Sequence[int]) -> SSAValue:
        """A tile of one dimension, which becomes dimension `axis`, repeated along the others."""
        line = tuple(size if i == axis else 1 for i, size in enumerate(shape))
        return self.broadcast(self.reshape(value, line), shape)

    def iota(self, size: int, element: Attribute = i64) -> SSAValue:
        """The numbers from 0."""
        return self.pure(core.IotaOp, TileType([size], element))

    def permute(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """The tile whose dimension i is dimension `order[i]` of a tile."""
        if list(order) == sorted(order):
            return value
        return self.compute(core.PermuteOp, value, tuple(order))

    # --- floats ---

    def is_float(self, value: SSAValue) -> bool:
        """Whether a tile's elements are floats."""
        return isinstance(element_type(value), AnyFloat)


_INDEX_OPERATIONS: dict[IndexOperation, tuple[type[Operation], dict[str, Any]]] = {
    IndexOperation.ADD: (integer.AddIOp, {}),
    IndexOperation.SUBTRACT: (integer.SubIOp, {}),
    IndexOperation.MULTIPLY: (integer.MulIOp, {}),
    IndexOperation.DIVIDE: (integer.DivIOp, {"signedness": SIGNED}),
    IndexOperation.DIVIDE_UP: (
        integer.DivIOp,
        {"signedness": SIGNED, "rounding": RoundingMode.POSITIVE_INF},
    ),
    IndexOperation.REMAINDER: (integer.RemIOp, {"signedness": SIGNED}),
    IndexOperation.SHIFT_RIGHT: (integer.ShRIOp, {"signedness": SIGNED}),
    IndexOperation.SMALLER: (integer.MinIOp, {"signedness": SIGNED}),
    IndexOperation.LARGER: (integer.MaxIOp, {"signedness": SIGNED}),
}
"""The operation for each of indices, and its properties."""


def _wrapped(number: int, type_: IntegerType) -> int:
    """A number as constants have it: signed, but 0 or 1 of one bit."""
    width = type_.width.data
    bits = number & ((1 << width) - 1)
    if type_ == i1:
        return bits
    return bits - (1 << width) if bits >> (width - 1) else bits
