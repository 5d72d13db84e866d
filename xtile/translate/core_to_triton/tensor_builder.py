"""Emits operations of `tt`, and of `arith` on tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from typing_extensions import override
from xdsl.dialects import arith, math, scf
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
    bf16,
    f32,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.utils.hints import isa

from xtile.dialects.arith.arithmetic import DivSIOp, DivUIOp, ShRSIOp, ShRUIOp
from xtile.dialects.arith.casts import (
    ExtFOp,
    ExtSIOp,
    ExtUIOp,
    FPToSIOp,
    FPToUIOp,
    SIToFPOp,
    TruncFOp,
    TruncIOp,
    UIToFPOp,
)
from xtile.dialects.arith.comparisons import CmpFOp, CmpIOp, SelectOp
from xtile.dialects.scf.loops import ForOp
from xtile.dialects.triton.operation import as_tensor, shape_of, with_element
from xtile.dialects.triton.operation import element_of as element_of_tensor
from xtile.dialects.triton.tt import ops as tt
from xtile.dialects.triton.tt.enumerations import RoundingMode
from xtile.dialects.triton.tt.types import PointerType
from xtile.rewrite.facts import IndexFacts
from xtile.rewrite.indices import Index
from xtile.text.mlir_attributes import splat_constant
from xtile.translate.core_to_triton.types import element_of, pointer_to, tensor, tensor_of
from xtile.translate.tiles.casts import bits_of
from xtile.translate.tiles.lowering import Combine, TileLowering
from xtile.translate.tiles.types import INDEX


class TensorBuilder(TileLowering):
    """Emits tensors. What is called `pure` is emitted once and early."""

    HAS_UNSIGNED_LOOPS = False

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.facts = IndexFacts()

    # --- types ---

    @override
    def element_of(self, type_: Attribute) -> Attribute:
        return element_of(type_)

    @override
    def tile_of(self, type_: Attribute) -> Attribute:
        return tensor_of(type_)

    @override
    def tile(self, element: Attribute, shape: Sequence[int] = ()) -> Attribute:
        return tensor(element, tuple(shape))

    @override
    def pointer(self, element: Attribute) -> Attribute:
        return pointer_to(element)

    @override
    def shape(self, tile: SSAValue) -> tuple[int, ...]:
        return shape_of(tile.type)

    @override
    def element(self, tile: SSAValue) -> Attribute:
        return element_of_tensor(tile.type)

    # --- emitting ---

    def make(
        self,
        kind: type[IRDLOperation],
        type_: Attribute,
        *operands: SSAValue,
        properties: Mapping[str, Attribute] | None = None,
    ) -> SSAValue:
        """The result, of a type, of an operation."""
        made = kind.build(
            operands=operands, result_types=[type_], properties=dict(properties or {})
        )
        return self.emit(made).results[0]

    def pure(self, kind: Callable[..., Operation], *operands: Any) -> Any:
        """The first result of an operation without effects, computed once and early."""
        values: list[SSAValue] = [each for each in operands if isinstance(each, SSAValue)]
        return self.shared((kind, *operands), values, lambda: self.emit(kind(*operands)).results[0])

    # --- constants ---

    @override
    def constant(self, number: float, type_: Attribute) -> SSAValue:
        element = element_of_tensor(type_)
        if isinstance(element, PointerType):
            return self.pure(tt.IntToPtrOp, self.constant(number, with_element(type_, i64)), type_)
        if isa(element, IntegerType):
            number = wrapped(int(number), element.width.data)
        value = self.shared(
            ("constant", repr(number), type_), (), lambda: self._constant(number, type_)
        )
        if isinstance(type_, IntegerType):
            self.facts.learn_number(value, int(number))
        return value

    def _constant(self, number: float, type_: Attribute) -> SSAValue:
        tensor_type = as_tensor(type_)
        if tensor_type is not None:
            attribute: Attribute = splat_constant(tensor_type, number)
        elif isinstance(type_, AnyFloat):
            attribute = FloatAttr(float(number), type_)
        else:
            attribute = IntegerAttr(int(number), cast("IntegerType", type_))
        return self.make(arith.ConstantOp, type_, properties={"value": attribute})

    def constants(self, numbers: Sequence[float], type_: TensorType[Attribute]) -> SSAValue:
        """A tensor of given numbers, in row-major order."""
        attribute = cast("Any", DenseIntOrFPElementsAttr).from_list(type_, list(numbers))
        return self.make(arith.ConstantOp, type_, properties={"value": attribute})

    @override
    def number_of(self, value: SSAValue) -> float | None:
        owner = value.owner
        if not isinstance(owner, arith.ConstantOp):
            return None
        attribute: Any = owner.value
        if isinstance(attribute, IntegerAttr | FloatAttr):
            return cast("Any", attribute).value.data
        return cast("float", attribute.get_values()[0]) if attribute.is_splat() else None

    # --- numbers ---

    @override
    def arith(self, name: str, *operands: SSAValue) -> SSAValue:
        if name in _COMPOSED:
            return _COMPOSED[name](self, *operands)
        return self.make(_ARITH[name], operands[0].type, *operands)

    @override
    def pure_arith(self, name: str, *operands: SSAValue) -> SSAValue:
        return self.shared((name, *operands), operands, lambda: self.arith(name, *operands))

    @override
    def upper_half(self, a: SSAValue, b: SSAValue) -> SSAValue:
        element = self.element(a)
        width = _width(element)
        if width >= i32.width.data:
            return self.emit(tt.MulhiUIOp(a, b)).results[0]
        wide = [self.resize(each, i32, is_signed=False) for each in (a, b)]
        product = self.arith("muli", *wide)
        return self.resize(self.arith("shrui", product, self.like(width, product)), element)

    @override
    def cmpi(self, predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
        number = IntegerAttr(_INTEGER_PREDICATES.index(predicate), i64)
        type_ = with_element(a.type, i1)
        return self.make(CmpIOp, type_, a, b, properties={"predicate": number})

    @override
    def pure_cmpi(self, predicate: str, a: Index, b: Index) -> SSAValue:
        left, right = self.as_value(a), self.as_value(b)
        return self.shared(
            (predicate, left, right), (left, right), lambda: self.cmpi(predicate, left, right)
        )

    @override
    def cmpf(self, predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
        number = IntegerAttr(_FLOAT_PREDICATES.index(predicate), i64)
        type_ = with_element(a.type, i1)
        return self.make(CmpFOp, type_, a, b, properties={"predicate": number})

    @override
    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        if self.shape(condition) != self.shape(a):
            condition = self.spread(condition, self.shape(a))
        return self.make(SelectOp, a.type, condition, a, b)

    @override
    def resize(self, value: SSAValue, element: Attribute, is_signed: bool = True) -> SSAValue:
        source = self.element(value)
        if source == element:
            return value
        number = self.number_of(value)
        if number is not None:
            known = int(number) if is_signed else int(number) % (1 << _width(source))
            return self.constant(known, with_element(value.type, element))
        owner = value.owner
        if isinstance(owner, ExtSIOp | ExtUIOp) and _width(element) <= _width(
            self.element(owner.operands[0])
        ):
            # Bits that were only put there are cut off again.
            return self.resize(owner.operands[0], element)
        kind = TruncIOp
        if _width(source) < _width(element):
            kind = ExtSIOp if is_signed else ExtUIOp
        type_ = with_element(value.type, element)
        return self.shared((kind, value, element), (value,), lambda: self.make(kind, type_, value))

    @override
    def converted(self, value: SSAValue, element: Attribute) -> SSAValue:
        source = self.element(value)
        if source == element:
            return value
        type_ = with_element(value.type, element)
        widths = cast("Any", source).bitwidth, cast("Any", element).bitwidth
        if min(widths) < _HALF:
            is_narrower = widths[0] > widths[1]
            rounding = RoundingMode.RTNE if is_narrower else None
            return self.emit(tt.FpToFpOp(value, type_, rounding=rounding)).results[0]
        # For AMD's chips Triton dies of bf16 that becomes f64 at once.
        if widths[0] == widths[1] or (source, element) == (bf16, f64):
            return self.converted(self.converted(value, f32), element)
        return self.make(ExtFOp if widths[0] < widths[1] else TruncFOp, type_, value)

    @override
    def bitcast(self, value: SSAValue, element: Attribute) -> SSAValue:
        if self.element(value) == element:
            return value
        return self.emit(tt.BitcastOp(value, with_element(value.type, element))).results[0]

    @override
    def to_float(self, value: SSAValue, element: Attribute, is_signed: bool) -> SSAValue:
        kind = SIToFPOp if is_signed else UIToFPOp
        return self.make(kind, with_element(value.type, element), value)

    @override
    def cut_off(self, value: SSAValue, element: Attribute, is_signed: bool) -> SSAValue:
        kind = FPToSIOp if is_signed else FPToUIOp
        return self.make(kind, with_element(value.type, element), value)

    # --- control flow ---

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
        block = Block(arg_types=[i32, *(value.type for value in initial)])
        with self.at_end_of(block):
            self.emit(scf.YieldOp(*body(block.args[0], block.args[1:])))
        return self.emit(ForOp(first, last, step, initial, Region(block))).results

    # --- several elements ---

    @override
    def reduced(
        self,
        values: Sequence[SSAValue],
        axis: int,
        identities: Sequence[Attribute] | None,
        combine: Combine,
    ) -> Sequence[SSAValue]:
        body = self._combination(values, combine, tt.ReduceReturnOp)
        return self.emit(tt.ReduceOp(values, axis, body)).results

    @override
    def scanned(
        self,
        values: Sequence[SSAValue],
        axis: int,
        identities: Sequence[Attribute] | None,
        combine: Combine,
        *,
        reverse: bool = False,
    ) -> Sequence[SSAValue]:
        body = self._combination(values, combine, tt.ScanReturnOp)
        return self.emit(tt.ScanOp(values, axis, body, reverse=reverse)).results

    def _combination(
        self,
        values: Sequence[SSAValue],
        combine: Combine,
        end: type[tt.ReduceReturnOp | tt.ScanReturnOp],
    ) -> Region:
        types = [self.element(value) for value in values]
        block = Block(arg_types=[*types, *types])
        with self.in_function(block):
            self.emit(end(*combine(block.args[: len(types)], block.args[len(types) :])))
        return Region(block)

    @override
    def extract(self, value: SSAValue, indices: Sequence[Index], shape: Sequence[int]) -> SSAValue:
        for axis, (index, size) in enumerate(zip(indices, shape, strict=True)):
            own = self.shape(value)
            if own[axis] == size:
                continue
            cut = (*own[:axis], own[axis] // size, size, *own[axis + 1 :])
            value = self._part(self.reshape(value, cut), axis, index)
        return value

    def _part(self, value: SSAValue, axis: int, index: Index) -> SSAValue:
        """What a tensor has at an index of a dimension.

        Triton chooses nothing but halves: of other parts the bits are added up with zeros.
        """
        shape = self.shape(value)
        if shape[axis] == 2 and isinstance(index, int):
            others = [i for i in range(len(shape)) if i != axis]
            halves = self.pure(tt.SplitOp, self.permute(value, [*others, axis]))
            return halves.op.results[index]
        element = self.element(value)
        if isinstance(element, PointerType):
            part = self._part(self.address(value), axis, index)
            return self.emit(tt.IntToPtrOp(part, with_element(part.type, element))).results[0]
        bits = bits_of(self, value)
        wanted = self.resize(self.as_value(index), i32)
        line = self.cmpi("eq", self.iota(shape[axis], i32), self.spread(wanted, (shape[axis],)))
        kept = self.select(self.along(line, axis, shape), bits, self.like(0, bits))
        (part,) = self.reduced([kept], axis, None, lambda a, b: [self.arith("ori", a[0], b[0])])
        return self.bitcast(part, element)

    @override
    def joined(self, first: SSAValue, second: SSAValue) -> SSAValue:
        if not self.shape(first):
            first, second = (self.spread(each, (1,)) for each in (first, second))
            return self.reshape(self.emit(tt.JoinOp(first, second)).results[0], (2,))
        made = self.emit(tt.JoinOp(first, second)).results[0]
        rank = len(self.shape(first))
        return self.permute(made, [rank, *range(rank)])

    @override
    def fma(self, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
        return self.make(math.FmaOp, a.type, a, b, c)

    # --- shapes ---

    @override
    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        own, wanted = self.shape(value), tuple(shape)
        if own == wanted:
            return value
        if not own:
            return self.spread(value, wanted)
        if not wanted:
            return self._only_element(value)
        axis = _new_dimension(own, wanted)
        if axis is not None:
            return self.pure(tt.ExpandDimsOp, value, axis)
        return self.pure(tt.ReshapeOp, value, tensor(self.element(value), wanted))

    def _only_element(self, value: SSAValue) -> SSAValue:
        """The element of a tensor that has one; `tt.unsplat` is younger than Triton 3.4."""
        owner = value.owner
        if isinstance(owner, tt.SplatOp):
            return owner.src
        element = self.element(value)
        if isinstance(element, PointerType):
            address = self._only_element(
                self.pure(tt.PtrToIntOp, value, with_element(value.type, i64))
            )
            return self.pure(tt.IntToPtrOp, address, element)
        line = self.reshape(value, (1,))
        return self.reduced([line], 0, None, lambda first, _: first)[0]

    @override
    def broadcast(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        own, wanted = self.shape(value), tuple(shape)
        if own == wanted:
            return value
        if not own:
            return self.spread(value, wanted)
        return self.pure(tt.BroadcastOp, value, tensor(self.element(value), wanted))

    @override
    def spread(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        if not shape:
            return value
        type_, number = tensor(self.element(value), tuple(shape)), self.number_of(value)
        if number is not None:
            return self.constant(number, type_)
        return self.pure(tt.SplatOp, value, type_)

    @override
    def iota(self, size: int, element: Attribute = INDEX) -> SSAValue:
        return self.resize(self.pure(tt.MakeRangeOp, 0, size), element)

    @override
    def permute(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        owner = value.owner
        if isinstance(owner, tt.TransOp):
            before = owner.permutation
            return self.permute(owner.src, [before[i] for i in order])
        if list(order) == sorted(order):
            return value
        return self.emit(tt.TransOp(value, list(order))).results[0]

    # --- pointers ---

    @override
    def offset(self, pointers: SSAValue, offsets: SSAValue) -> SSAValue:
        return self.emit(tt.AddPtrOp(pointers, offsets)).results[0]

    @override
    def pure_offset(self, pointers: SSAValue, offsets: SSAValue) -> SSAValue:
        return self.pure(tt.AddPtrOp, pointers, offsets)

    @override
    def address(self, pointer: SSAValue) -> SSAValue:
        return self.pure(tt.PtrToIntOp, pointer, with_element(pointer.type, i64))

    @override
    def pointer_at(self, address: SSAValue, element: Attribute) -> SSAValue:
        return self.pure(tt.IntToPtrOp, address, with_element(address.type, pointer_to(element)))

    @override
    def pointer_cast(self, pointers: SSAValue, element: Attribute) -> SSAValue:
        type_ = with_element(pointers.type, PointerType(element))
        return pointers if pointers.type == type_ else self.pure(tt.BitcastOp, pointers, type_)

    @override
    def load_number(self, pointer: SSAValue) -> SSAValue:
        return self.emit(tt.LoadOp(pointer)).results[0]


_HALF = 16
"""The bits of the narrowest floats that are computed with."""


def wrapped(number: int, width: int) -> int:
    """A number as constants of a width have it: with a sign; of one bit true is 1."""
    bits = number & ((1 << width) - 1)
    if width == 1:
        return bits
    return bits - (1 << width) if bits >> (width - 1) else bits


def _width(element: Attribute) -> int:
    return cast(IntegerType, element).width.data


def _new_dimension(before: tuple[int, ...], after: tuple[int, ...]) -> int | None:
    """The only dimension that another shape has more, if its size is 1."""
    if len(after) != len(before) + 1:
        return None
    for axis, size in enumerate(after):
        if size == 1 and (*after[:axis], *after[axis + 1 :]) == before:
            return axis
    return None


_ARITH: dict[str, type[IRDLOperation]] = {
    "addf": arith.AddfOp,
    "addi": arith.AddiOp,
    "andi": arith.AndIOp,
    "divsi": DivSIOp,
    "divui": DivUIOp,
    "maximumf": arith.MaximumfOp,
    "maxnumf": arith.MaxnumfOp,
    "maxsi": arith.MaxSIOp,
    "maxui": arith.MaxUIOp,
    "minimumf": arith.MinimumfOp,
    "minnumf": arith.MinnumfOp,
    "minsi": arith.MinSIOp,
    "minui": arith.MinUIOp,
    "mulf": arith.MulfOp,
    "muli": arith.MuliOp,
    "ori": arith.OrIOp,
    "remsi": arith.RemSIOp,
    "remui": arith.RemUIOp,
    "shli": arith.ShLIOp,
    "shrsi": ShRSIOp,
    "shrui": ShRUIOp,
    "subf": arith.SubfOp,
    "subi": arith.SubiOp,
    "xori": arith.XOrIOp,
}
"""The operations of `arith` that rules ask for by name."""


def _rounded_up(is_signed: bool) -> Callable[[TensorBuilder, SSAValue, SSAValue], SSAValue]:
    """Emits a quotient rounded up, of numbers of any sign; tensors have none."""
    division, remainder = ("divsi", "remsi") if is_signed else ("divui", "remui")

    def emit(lowering: TensorBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
        quotient, rest = lowering.arith(division, a, b), lowering.arith(remainder, a, b)
        zero = lowering.like(0, a)
        is_more = lowering.cmpi("ne", rest, zero)
        if is_signed:
            # The quotient was rounded down if the signs are equal.
            signs = lowering.arith("xori", rest, b)
            is_more = lowering.arith("andi", is_more, lowering.cmpi("sge", signs, zero))
        next_ = lowering.arith("addi", quotient, lowering.like(1, quotient))
        return lowering.select(is_more, next_, quotient)

    return emit


def _rounded_down(lowering: TensorBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """Emits a quotient rounded down, of numbers of any sign; tensors have none."""
    quotient, rest = lowering.arith("divsi", a, b), lowering.arith("remsi", a, b)
    zero = lowering.like(0, a)
    # The quotient was rounded up if the signs differ.
    is_less = lowering.cmpi("slt", lowering.arith("xori", rest, b), zero)
    is_less = lowering.arith("andi", is_less, lowering.cmpi("ne", rest, zero))
    before = lowering.arith("subi", quotient, lowering.like(1, quotient))
    return lowering.select(is_less, before, quotient)


_COMPOSED: dict[str, Callable[[TensorBuilder, SSAValue, SSAValue], SSAValue]] = {
    "ceildivsi": _rounded_up(is_signed=True),
    "ceildivui": _rounded_up(is_signed=False),
    "floordivsi": _rounded_down,
}
"""Operations of `arith` that Triton compiles for scalars only."""

_INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
"""By the numbers of `arith.cmpi`."""

_FLOAT_PREDICATES = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)
"""By the numbers of `arith.cmpf`."""
