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
from xtile.dialects.cuda_tile.ops import bitwise, conversions, core, floating_point, integer, memory
from xtile.dialects.cuda_tile.types import PointerType, TileType, is_integer
from xtile.rewrite.indices import Index, IndexOperation
from xtile.translate.core_to_cuda_tile.types import (
    element_of,
    element_type,
    part_of,
    pointer_tile,
    scalar_tile,
    tile_of,
    tile_type,
)
from xtile.translate.tiles.lowering import TileLowering

SIGNED, UNSIGNED = Signedness.SIGNED, Signedness.UNSIGNED
ORDERED, UNORDERED = ComparisonOrdering.ORDERED, ComparisonOrdering.UNORDERED


class TileBuilder(TileLowering):
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

    # --- types ---

    @override
    def element_of(self, type_: Attribute) -> Attribute:
        return element_of(type_)

    @override
    def tile_of(self, type_: Attribute) -> TileType:
        return tile_of(type_)

    @override
    def tile(self, element: Attribute, shape: Sequence[int] = ()) -> TileType:
        return TileType(shape, element) if shape else scalar_tile(element)

    @override
    def pointer(self, element: Attribute) -> Attribute:
        return PointerType(part_of(element))

    @override
    def shape(self, tile: SSAValue) -> tuple[int, ...]:
        return tile_type(tile).get_shape()

    @override
    def element(self, tile: SSAValue) -> Attribute:
        return element_type(tile)

    # --- constants ---

    @override
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

    # --- integers ---

    @override
    def index_operation(self, operation: IndexOperation, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.pure_arith(_INDEX_OPERATIONS[operation], a, b)

    @override
    def arith(self, name: str, *operands: SSAValue) -> SSAValue:
        kind, properties = _ARITH[name]
        return self.compute(kind, *operands, **properties)

    @override
    def pure_arith(self, name: str, *operands: SSAValue) -> SSAValue:
        kind, properties = _ARITH[name]
        return self.pure(kind, *operands, **properties)

    @override
    def cmpi(self, predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
        kind, is_signed = _PREDICATES[predicate]
        return self.compare(kind, a, b, is_signed)

    @override
    def pure_cmpi(self, predicate: str, a: Index, b: Index) -> SSAValue:
        kind, is_signed = _PREDICATES[predicate]
        signedness = SIGNED if is_signed else UNSIGNED
        return self.pure(
            integer.CmpIOp, kind, self.as_value(a), self.as_value(b), signedness=signedness
        )

    @override
    def resize(self, value: SSAValue, element: Attribute, is_signed: bool = True) -> SSAValue:
        source, target = element_type(value), tile_type(value).with_element_type(element)
        if source == element:
            return value
        if _width(source) < _width(element):
            kind, named = conversions.ExtIOp, {"signedness": SIGNED if is_signed else UNSIGNED}
        else:
            kind, named = conversions.TruncIOp, dict[str, Any]()
        return (self.compute if tile_type(value).rank else self.pure)(kind, value, target, **named)

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

    @override
    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        """`a` where the condition holds, `b` elsewhere; one condition may choose whole tiles."""
        shape = tile_type(a).get_shape()
        if tile_type(condition).get_shape() != shape:
            condition = self.spread(condition, shape)
        return self.compute(core.SelectOp, condition, a, b)

    # --- shapes ---

    @override
    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The same elements in row-major order."""
        if tile_type(value).get_shape() == tuple(shape):
            return value
        return self.pure(core.ReshapeOp, value, tuple(shape))

    @override
    def broadcast(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """A tile repeated along its dimensions of size 1."""
        if tile_type(value).get_shape() == tuple(shape):
            return value
        return self.pure(core.BroadcastOp, value, tuple(shape))

    @override
    def spread(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """A scalar repeated to fill a tile."""
        owner = value.owner
        if isinstance(owner, core.ConstantOp) and shape:
            (number,) = cast("Sequence[float]", cast(Any, owner.value).get_values())
            return self.constant(number, TileType(shape, element_type(value)))
        return self.broadcast(self.reshape(value, (1,) * len(shape)), shape)

    @override
    def iota(self, size: int, element: Attribute = i64) -> SSAValue:
        """The numbers from 0."""
        return self.pure(core.IotaOp, TileType([size], element))

    @override
    def permute(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """The tile whose dimension i is dimension `order[i]` of a tile."""
        if list(order) == sorted(order):
            return value
        return self.compute(core.PermuteOp, value, tuple(order))

    # --- pointers ---

    @override
    def offset(self, pointers: SSAValue, offsets: SSAValue) -> SSAValue:
        return self.compute(core.OffsetOp, pointers, offsets)

    @override
    def pure_offset(self, pointers: SSAValue, offsets: SSAValue) -> SSAValue:
        return self.pure(core.OffsetOp, pointers, offsets)

    @override
    def address(self, pointer: SSAValue) -> SSAValue:
        return self.pure(conversions.PtrToIntOp, pointer, scalar_tile(i64))

    @override
    def pointer_at(self, address: SSAValue, element: Attribute) -> SSAValue:
        return self.pure(conversions.IntToPtrOp, address, pointer_tile(element))

    @override
    def load_number(self, pointer: SSAValue) -> SSAValue:
        return self.compute(memory.LoadPtrTkoOp, pointer)

    # --- floats ---

    def is_float(self, value: SSAValue) -> bool:
        """Whether a tile's elements are floats."""
        return isinstance(element_type(value), AnyFloat)


_UP = RoundingMode.POSITIVE_INF

_ARITH: dict[str, tuple[type[Operation], dict[str, Any]]] = {
    "addi": (integer.AddIOp, {}),
    "andi": (bitwise.AndIOp, {}),
    "ceildivsi": (integer.DivIOp, {"signedness": SIGNED, "rounding": _UP}),
    "ceildivui": (integer.DivIOp, {"signedness": UNSIGNED, "rounding": _UP}),
    "divsi": (integer.DivIOp, {"signedness": SIGNED}),
    "maxsi": (integer.MaxIOp, {"signedness": SIGNED}),
    "minsi": (integer.MinIOp, {"signedness": SIGNED}),
    "muli": (integer.MulIOp, {}),
    "remsi": (integer.RemIOp, {"signedness": SIGNED}),
    "shrsi": (integer.ShRIOp, {"signedness": SIGNED}),
    "subi": (integer.SubIOp, {}),
    "xori": (bitwise.XOrIOp, {}),
}
"""The operations of `arith` that what is shared with other languages asks for."""

_INDEX_OPERATIONS: dict[IndexOperation, str] = {
    IndexOperation.ADD: "addi",
    IndexOperation.SUBTRACT: "subi",
    IndexOperation.MULTIPLY: "muli",
    IndexOperation.DIVIDE: "divsi",
    IndexOperation.DIVIDE_UP: "ceildivsi",
    IndexOperation.REMAINDER: "remsi",
    IndexOperation.SHIFT_RIGHT: "shrsi",
    IndexOperation.SMALLER: "minsi",
    IndexOperation.LARGER: "maxsi",
}
"""The operation of `arith` for each of indices."""

_PREDICATES: dict[str, tuple[ComparisonPredicate, bool]] = {
    "eq": (ComparisonPredicate.EQUAL, True),
    "sge": (ComparisonPredicate.GREATER_THAN_OR_EQUAL, True),
    "slt": (ComparisonPredicate.LESS_THAN, True),
    "ult": (ComparisonPredicate.LESS_THAN, False),
}
"""The comparisons that what is shared with other languages asks for."""


def _width(element: Attribute) -> int:
    return cast(IntegerType, element).width.data


def _wrapped(number: int, type_: IntegerType) -> int:
    """A number as constants have it: signed, but 0 or 1 of one bit."""
    width = type_.width.data
    bits = number & ((1 << width) - 1)
    if type_ == i1:
        return bits
    return bits - (1 << width) if bits >> (width - 1) else bits
