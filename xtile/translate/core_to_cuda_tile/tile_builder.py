"""Emits operations of CUDA Tile IR: constants, arithmetic, comparisons and shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from typing_extensions import override
from xdsl.dialects.builtin import AnyFloat, IntegerType, i1, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.dialects.cuda_tile.enumerations import (
    ComparisonOrdering,
    ComparisonPredicate,
    RoundingMode,
    Signedness,
)
from xtile.dialects.cuda_tile.ops import (
    bitwise,
    control_flow,
    conversions,
    core,
    floating_point,
    integer,
    loops,
    memory,
)
from xtile.dialects.cuda_tile.types import PointerType, TileType, is_integer
from xtile.rewrite.indices import Index
from xtile.translate.core_to_cuda_tile.types import (
    element_of,
    element_type,
    part_of,
    scalar_tile,
    tile_of,
    tile_type,
)
from xtile.translate.tiles.lowering import TileLowering

SIGNED, UNSIGNED = Signedness.SIGNED, Signedness.UNSIGNED
ORDERED, UNORDERED = ComparisonOrdering.ORDERED, ComparisonOrdering.UNORDERED


class TileBuilder(TileLowering):
    """Emits tiles. What is called `compute` emits where it stands, `pure` once and early."""

    HAS_UNSIGNED_LOOPS = True

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
    def number_of(self, value: SSAValue) -> float | None:
        owner = value.owner
        if not isinstance(owner, core.ConstantOp):
            return None
        numbers = cast("Sequence[float]", cast(Any, owner.value).get_values())
        return numbers[0] if len(set(map(repr, numbers))) == 1 else None

    @override
    def arith(self, name: str, *operands: SSAValue) -> SSAValue:
        if element_type(operands[0]) == i1:
            if name in _SHIFTS:
                return operands[0]  # One bit is shifted by 0.
            name = _OF_TRUTH.get(name, name)
        kind, properties = _ARITH[name]
        return self.compute(kind, *operands, **properties)

    @override
    def pure_arith(self, name: str, *operands: SSAValue) -> SSAValue:
        kind, properties = _ARITH[name]
        return self.pure(kind, *operands, **properties)

    @override
    def upper_half(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.compute(integer.MulhiIOp, a, b)

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
    def cmpf(self, predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
        kind, ordering = _FLOAT_PREDICATES[predicate]
        return self.compare_floats(kind, a, b, ordering)

    @override
    def converted(self, value: SSAValue, element: Attribute) -> SSAValue:
        target = tile_type(value).with_element_type(element)
        return value if value.type == target else self.compute(conversions.FToFOp, value, target)

    @override
    def bitcast(self, value: SSAValue, element: Attribute) -> SSAValue:
        target = tile_type(value).with_element_type(element)
        return value if value.type == target else self.compute(conversions.BitcastOp, value, target)

    @override
    def to_float(self, value: SSAValue, element: Attribute, is_signed: bool) -> SSAValue:
        target = tile_type(value).with_element_type(element)
        signedness = SIGNED if is_signed else UNSIGNED
        return self.compute(conversions.IToFOp, value, target, signedness=signedness)

    @override
    def cut_off(self, value: SSAValue, element: Attribute, is_signed: bool) -> SSAValue:
        target = tile_type(value).with_element_type(element)
        signedness = SIGNED if is_signed else UNSIGNED
        return self.compute(conversions.FToIOp, value, target, signedness=signedness)

    @override
    def counted(
        self,
        numbers: range,
        initial: Sequence[SSAValue],
        body: Callable[[SSAValue, Sequence[SSAValue]], Sequence[SSAValue]],
    ) -> Sequence[SSAValue]:
        first, last, step = (
            self.integer(number, i32) for number in (numbers.start, numbers.stop, 1)
        )
        block = Block(arg_types=[first.type, *(value.type for value in initial)])
        with self.at_end_of(block):
            self.emit(control_flow.ContinueOp(body(block.args[0], block.args[1:])))
        return self.emit(loops.ForOp(first, last, step, initial, Region(block))).results

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
        return self.pure(conversions.PtrToIntOp, pointer, tile_type(pointer).with_element_type(i64))

    @override
    def pointer_at(self, address: SSAValue, element: Attribute) -> SSAValue:
        target = tile_type(address).with_element_type(PointerType(element))
        return self.pure(conversions.IntToPtrOp, address, target)

    @override
    def pointer_cast(self, pointers: SSAValue, element: Attribute) -> SSAValue:
        target = tile_type(pointers).with_element_type(PointerType(element))
        if pointers.type == target:
            return pointers
        return self.compute(conversions.PtrToPtrOp, pointers, target)

    @override
    def load_number(self, pointer: SSAValue) -> SSAValue:
        return self.compute(memory.LoadPtrTkoOp, pointer)

    # --- floats ---

    def is_float(self, value: SSAValue) -> bool:
        """Whether a tile's elements are floats."""
        return isinstance(element_type(value), AnyFloat)


def _of_sign(kind: type[Operation], is_signed: bool, **more: Any) -> tuple[type[Operation], Any]:
    return kind, {"signedness": SIGNED if is_signed else UNSIGNED, **more}


_UP, _DOWN = RoundingMode.POSITIVE_INF, RoundingMode.NEGATIVE_INF

_ARITH: dict[str, tuple[type[Operation], dict[str, Any]]] = {
    "addf": (floating_point.AddFOp, {}),
    "addi": (integer.AddIOp, {}),
    "andi": (bitwise.AndIOp, {}),
    "ceildivsi": _of_sign(integer.DivIOp, True, rounding=_UP),
    "ceildivui": _of_sign(integer.DivIOp, False, rounding=_UP),
    "divf": (floating_point.DivFOp, {}),
    "divsi": _of_sign(integer.DivIOp, True),
    "divui": _of_sign(integer.DivIOp, False),
    "floordivsi": _of_sign(integer.DivIOp, True, rounding=_DOWN),
    "maximumf": (floating_point.MaxFOp, {"propagate_nan": True}),
    "maxnumf": (floating_point.MaxFOp, {}),
    "maxsi": _of_sign(integer.MaxIOp, True),
    "maxui": _of_sign(integer.MaxIOp, False),
    "minimumf": (floating_point.MinFOp, {"propagate_nan": True}),
    "minnumf": (floating_point.MinFOp, {}),
    "minsi": _of_sign(integer.MinIOp, True),
    "minui": _of_sign(integer.MinIOp, False),
    "mulf": (floating_point.MulFOp, {}),
    "muli": (integer.MulIOp, {}),
    "negf": (floating_point.NegFOp, {}),
    "ori": (bitwise.OrIOp, {}),
    "remf": (floating_point.RemFOp, {}),
    "remsi": _of_sign(integer.RemIOp, True),
    "remui": _of_sign(integer.RemIOp, False),
    "shli": (integer.ShLIOp, {}),
    "shrsi": _of_sign(integer.ShRIOp, True),
    "shrui": _of_sign(integer.ShRIOp, False),
    "subf": (floating_point.SubFOp, {}),
    "subi": (integer.SubIOp, {}),
    "xori": (bitwise.XOrIOp, {}),
}
"""The operation for each of `arith`, and its properties."""

_OF_TRUTH = {
    "addi": "xori",
    "subi": "xori",
    "muli": "andi",
    # True is -1 as a signed number.
    "maxsi": "andi",
    "maxui": "ori",
    "minsi": "ori",
    "minui": "andi",
}
"""The operation of `arith` that another one is on truth values."""

_SHIFTS = frozenset({"shli", "shrsi", "shrui"})

_IS = ComparisonPredicate

_PREDICATES: dict[str, tuple[ComparisonPredicate, bool]] = {
    "eq": (_IS.EQUAL, True),
    "ne": (_IS.NOT_EQUAL, True),
    "sge": (_IS.GREATER_THAN_OR_EQUAL, True),
    "sgt": (_IS.GREATER_THAN, True),
    "slt": (_IS.LESS_THAN, True),
    "uge": (_IS.GREATER_THAN_OR_EQUAL, False),
    "ult": (_IS.LESS_THAN, False),
}
"""The comparisons that what is shared with other languages asks for, and whether of signs."""

_FLOAT_PREDICATES: dict[str, tuple[ComparisonPredicate, ComparisonOrdering]] = {
    "oeq": (_IS.EQUAL, ORDERED),
    "oge": (_IS.GREATER_THAN_OR_EQUAL, ORDERED),
    "ogt": (_IS.GREATER_THAN, ORDERED),
    "ole": (_IS.LESS_THAN_OR_EQUAL, ORDERED),
    "olt": (_IS.LESS_THAN, ORDERED),
    "une": (_IS.NOT_EQUAL, UNORDERED),
}
"""The same of floats."""


def _width(element: Attribute) -> int:
    return cast(IntegerType, element).width.data


def _wrapped(number: int, type_: IntegerType) -> int:
    """A number as constants have it: signed, but 0 or 1 of one bit."""
    width = type_.width.data
    bits = number & ((1 << width) - 1)
    if type_ == i1:
        return bits
    return bits - (1 << width) if bits >> (width - 1) else bits
