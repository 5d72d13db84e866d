"""Emits vectors of the core form at level "tile", for languages whose kernels compute on tiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from typing_extensions import override
from xdsl.dialects import arith, ub
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    VectorType,
    i1,
    i8,
    i64,
)
from xdsl.dialects.vector import BroadcastOp
from xdsl.dialects.vector import InsertOp as VectorInsertOp
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation

from xtile.dialects.arith.casts import IndexCastOp, IndexCastUIOp
from xtile.dialects.arith.comparisons import CMPF_PREDICATES, CmpFOp, SelectOp
from xtile.dialects.arith.types import truth_type
from xtile.dialects.construction import VALUE_CLASSES, made
from xtile.dialects.shapes import as_vector, with_element
from xtile.dialects.shared_attributes import INDEX, i64_attribute, vector_of
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.elements import StepOp
from xtile.dialects.vector.positions import ExtractOp
from xtile.dialects.vector.shapes import ShapeCastOp, TransposeOp
from xtile.dialects.vector.slices import ExtractStridedSliceOp, InsertStridedSliceOp
from xtile.rewrite.emitter import Emitter
from xtile.rewrite.indices import Index

Properties = Mapping[str, Attribute]


def shape_of(type_: Attribute) -> tuple[int, ...]:
    """The shape of a vector; a scalar has none."""
    vector = as_vector(type_)
    return () if vector is None else vector.get_shape()


def with_shape(type_: Attribute, shape: Sequence[int]) -> Attribute:
    """The type of a vector of a shape with the elements of another, or of one scalar."""
    element = value_type(type_)
    return vector_of(tuple(shape), element) if shape else element


def passed_type(type_: Attribute) -> Attribute:
    """The type of a kernel's argument: a truth value is passed as a byte."""
    return i8 if type_ == i1 else type_


class TileEmitter(Emitter):
    """Builds kernels at level "tile": a tile is a vector, and one without dimensions a scalar."""

    def name_of(self, old: SSAValue) -> str | None:
        """What the source calls a value, if it does."""
        return old.name_hint or (None if self._source is None else self._source.names.get(old))

    def received(self, argument: SSAValue, type_: Attribute) -> SSAValue:
        """A kernel's argument as a value of the type that is passed so (`passed_type`)."""
        if argument.type == type_:
            return argument
        return self.compare("ne", argument, self.constant(0, argument.type))

    def compute(
        self,
        kind: type[IRDLOperation],
        operands: Sequence[Any],
        type_: Attribute,
        properties: Properties | None = None,
        attributes: Properties | None = None,
    ) -> SSAValue:
        """The result of an operation.

        Args:
            kind: The operation.
            operands: Its operands; a list where there may be several or none.
            type_: The type of its result.
            properties: Those that are not as by default.
            attributes: Its discardable attributes.
        """
        # One value for each operand need not be sorted out, which takes longer than the rest.
        is_plain = all(operand.__class__ in VALUE_CLASSES for operand in operands)
        if is_plain and not kind.get_irdl_definition().options:
            return self.emit(made(kind, operands, (type_,), properties, attributes)).results[0]
        operation = kind.build(
            operands=operands,
            result_types=[type_],
            properties=dict(properties or {}),
            attributes=dict(attributes or {}),
        )
        return self.emit(operation).results[0]

    @override
    def constant(self, number: float, type: Attribute) -> SSAValue:
        """A number, or a vector of which all elements are that."""
        vector = as_vector(type)
        if vector is None:
            return super().constant(number, type)

        def emit() -> SSAValue:
            value = float(number) if isinstance(vector.element_type, AnyFloat) else int(number)
            dense = cast(Any, DenseIntOrFPElementsAttr).from_list(vector, [value])
            return self.emit(made(arith.ConstantOp, (), (type,), {"value": dense})).result

        return self.shared(("constant", repr(number), type), (), emit)

    def poison(self, type_: Attribute) -> SSAValue:
        """A value of which nothing is specified."""
        return self.shared(("poison", type_), (), lambda: self.emit(ub.PoisonOp(type_)).result)

    def compare_floats(self, predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
        """Where a comparison such as `olt` holds."""
        number = i64_attribute(CMPF_PREDICATES.index(predicate))
        return self.compute(CmpFOp, [a, b], truth_type(a.type), {"predicate": number})

    # --- indices ---

    def as_index(self, value: SSAValue, *, is_signed: bool = False) -> SSAValue:
        """Integers as indices, which indices are already."""
        type_ = with_element(value.type, INDEX)
        if value.type == type_:
            return value
        kind = IndexCastOp if is_signed else IndexCastUIOp
        return self.shared((kind, value), (value,), lambda: self.compute(kind, [value], type_))

    def from_index(self, index: Index, type_: Attribute) -> SSAValue:
        """An index, or a vector of some, as integers of a type."""
        if isinstance(index, int):
            return self.constant(index, type_)
        return self.compute(IndexCastOp, [index], type_)

    def step(self, size: int) -> SSAValue:
        """The indices from 0 on."""
        type_ = VectorType(IndexType(), [size])
        return self.shared((StepOp, size), (), lambda: self.compute(StepOp, [], type_))

    # --- shapes ---

    def spread(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """A scalar repeated, or a vector repeated along dimensions of size 1."""
        if tuple(shape) == tuple(shape_of(value.type)):
            return value
        return self.compute(BroadcastOp, [value], with_shape(value.type, shape))

    def spread_both(self, a: SSAValue, b: SSAValue) -> tuple[SSAValue, SSAValue]:
        """Two vectors of one rank, repeated along the dimensions of size 1 of each other."""
        shape = [max(sizes) for sizes in zip(shape_of(a.type), shape_of(b.type), strict=True)]
        return self.spread(a, shape), self.spread(b, shape)

    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The same elements in row-major order in another shape; one of them may be a scalar."""
        if isinstance(value.owner, ShapeCastOp):
            value = value.owner.source
        before = shape_of(value.type)
        if tuple(shape) == tuple(before):
            return value
        type_ = with_shape(value.type, shape)
        if not before:
            return self.compute(BroadcastOp, [value], type_)
        if shape:
            return self.compute(ShapeCastOp, [value], type_)
        return self.part(value, [0] * len(before))

    def along(self, line: SSAValue, axis: int, rank: int) -> SSAValue:
        """A vector of one dimension as one along an axis, with a size of 1 along all others."""
        (size,) = shape_of(line.type)
        return self.reshape(line, [size if i == axis else 1 for i in range(rank)])

    def transposed(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """A vector with its dimensions in another order."""
        if list(order) == list(range(len(order))):
            return value
        type_ = with_shape(value.type, [shape_of(value.type)[i] for i in order])
        permutation = DenseArrayBase.from_list(i64, order)
        return self.compute(TransposeOp, [value], type_, {"permutation": permutation})

    # --- parts ---

    def part(self, value: SSAValue, at: Sequence[Index]) -> SSAValue:
        """What a vector has at indices of its first dimensions."""
        dynamic, properties = _position(at)
        type_ = with_shape(value.type, shape_of(value.type)[len(at) :])
        return self.compute(ExtractOp, [value, dynamic], type_, properties)

    def with_part(self, whole: SSAValue, part: SSAValue, at: Sequence[Index]) -> SSAValue:
        """A vector with another part at indices of its first dimensions."""
        dynamic, properties = _position(at)
        return self.compute(VectorInsertOp, [part, whole, dynamic], whole.type, properties)

    def slice(self, value: SSAValue, offsets: Sequence[int], sizes: Sequence[int]) -> SSAValue:
        """So many elements of a vector along each dimension, from an offset on."""
        if tuple(sizes) == shape_of(value.type):
            return value
        properties = {
            "offsets": _numbers(offsets),
            "sizes": _numbers(sizes),
            "strides": _numbers([1] * len(sizes)),
        }
        type_ = with_shape(value.type, sizes)
        return self.compute(ExtractStridedSliceOp, [value], type_, properties)

    def with_slice(self, whole: SSAValue, part: SSAValue, offsets: Sequence[int]) -> SSAValue:
        """A vector with other elements from an offset on along each dimension."""
        if part.type == whole.type:
            return part
        rank = len(shape_of(part.type))
        properties = {"offsets": _numbers(offsets), "strides": _numbers([1] * rank)}
        return self.compute(InsertStridedSliceOp, [part, whole], whole.type, properties)

    def with_block(self, whole: SSAValue, part: SSAValue, offsets: Sequence[int]) -> SSAValue:
        """A vector one block of which is another one, which is repeated and then selected.

        Args:
            whole: The vector.
            part: The block, whose sizes divide those of the vector.
            offsets: Where it begins, in multiples of its sizes.
        """
        shape, sizes = shape_of(whole.type), shape_of(part.type)
        if sizes == shape:
            return part
        thin = [n for size in sizes for n in (1, size)]
        full = [n for size, own in zip(shape, sizes, strict=True) for n in (size // own, own)]
        repeated = self.reshape(self.spread(self.reshape(part, thin), full), shape)
        condition: SSAValue | None = None
        for axis, (size, own, offset) in enumerate(zip(shape, sizes, offsets, strict=True)):
            if size == own:
                continue
            numbers = self.step(size)
            block = self.compute(
                arith.DivUIOp, [numbers, self.constant(own, numbers.type)], numbers.type
            )
            line = self.compare("eq", block, self.constant(offset // own, numbers.type))
            is_it = self.along(line, axis, len(shape))
            if condition is None:
                condition = is_it
            else:
                condition = self.both(*self.spread_both(condition, is_it))
        assert condition is not None
        return self.emit(SelectOp(self.spread(condition, shape), repeated, whole)).result

    def joined(self, parts: Sequence[SSAValue], axis: int) -> SSAValue:
        """Vectors of one shape as the parts of a new dimension, which becomes dimension `axis`."""
        shape = shape_of(parts[0].type)
        whole = self.poison(with_shape(parts[0].type, [len(parts), *shape]))
        for number, part in enumerate(parts):
            whole = self.with_part(whole, part, [number])
        return self.transposed(whole, [*range(1, axis + 1), 0, *range(axis + 1, len(shape) + 1)])


def _numbers(numbers: Sequence[int]) -> ArrayAttr[IntegerAttr[Any]]:
    return ArrayAttr([IntegerAttr(number, i64) for number in numbers])


def _position(at: Sequence[Index]) -> tuple[list[SSAValue], dict[str, Attribute]]:
    """The operands and the property that say where in a vector something is."""
    static = [DYNAMIC_INDEX if isinstance(n, SSAValue) else n for n in at]
    dynamic = [n for n in at if isinstance(n, SSAValue)]
    return dynamic, {"static_position": DenseArrayBase.from_list(i64, static)}
