"""What the rules share: types, constants, and vectors of other shapes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from typing_extensions import override
from xdsl.dialects import arith, ub
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    i64,
)
from xdsl.dialects.vector import BroadcastOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import IRDLOperation

from xtile.dialects.arith.casts import IndexCastOp, IndexCastUIOp
from xtile.dialects.cuda_tile.ops.core import ConstantOp
from xtile.dialects.cuda_tile.types import TileType
from xtile.dialects.shapes import as_vector, with_element
from xtile.dialects.vector.positions import ExtractOp
from xtile.dialects.vector.shapes import ShapeCastOp
from xtile.rewrite.emitter import Emitter
from xtile.rewrite.indices import Index
from xtile.translate.cuda_tile_to_core.types import core_type, is_token, shape_of, with_shape

Properties = Mapping[str, Attribute]


class Raising(Emitter):
    """Builds kernels at level "tile"."""

    # --- types and values ---

    def type(self, type_: Attribute) -> Attribute:
        """What a type becomes.

        Raises:
            DiagnosticError: Nothing, at the operation that is being translated.
        """
        try:
            return core_type(type_)
        except ValueError as error:
            raise self.error(str(error)) from None

    def types(self, old: Iterable[SSAValue]) -> list[Attribute]:
        """The types of what values become; tokens become nothing."""
        return [self.type(value.type) for value in old if not is_token(value)]

    def kept(self, old: Iterable[SSAValue]) -> list[SSAValue]:
        """What values have become; tokens have become nothing."""
        return [self.value(value) for value in old if not is_token(value)]

    def define_kept(self, old: Iterable[SSAValue], new: Iterable[SSAValue]) -> None:
        """Records what values have become, but for tokens."""
        kept = [value for value in old if not is_token(value)]
        for was, becomes in zip(kept, new, strict=True):
            self.define(was, becomes)

    def opened(self, old: Block, extra: Sequence[Attribute] = ()) -> Block:
        """A block whose arguments are what those of another have become, and some more."""
        types = self.types(old.args)
        block = Block(arg_types=[*types, *extra])
        self.define_kept(old.args, block.args[: len(types)])
        return block

    def optional(self, old: SSAValue | None) -> SSAValue | None:
        """What a value has become, if there is one."""
        return None if old is None else self.value(old)

    def name_of(self, old: SSAValue) -> str | None:
        """What the source calls a value, if it does."""
        return old.name_hint or (None if self._source is None else self._source.names.get(old))

    def old_module(self) -> Operation:
        """The module of the source that holds the operation that is being translated."""
        around = self.old_function().parent_op()
        assert around is not None
        return around

    # --- operations ---

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
        made = kind.build(
            operands=operands,
            result_types=[type_],
            properties=dict(properties or {}),
            attributes=dict(attributes or {}),
        )
        return self.emit(made).results[0]

    @override
    def constant(self, number: float, type: Attribute) -> SSAValue:
        """A number, or a vector of which all elements are that."""
        vector = as_vector(type)
        if vector is None:
            return super().constant(number, type)
        value = float(number) if isinstance(vector.element_type, AnyFloat) else int(number)
        dense = cast(Any, DenseIntOrFPElementsAttr).from_list(vector, [value])
        return self.shared(
            ("constant", repr(number), type), (), lambda: self.emit(arith.ConstantOp(dense)).result
        )

    def poison(self, type_: Attribute) -> SSAValue:
        """A value of which nothing is specified."""
        return self.shared(("poison", type_), (), lambda: self.emit(ub.PoisonOp(type_)).result)

    # --- indices ---

    def number(self, old: SSAValue, *, is_signed: bool = False) -> Index:
        """An integer of the source as an index; a number if it is a constant.

        Args:
            old: A tile without dimensions.
            is_signed: Whether its highest bit is a sign.
        """
        constant = constant_of(old)
        if constant is not None:
            assert isinstance(old.type, TileType)
            width = getattr(old.type.element_type, "bitwidth", 64)
            return constant if is_signed else constant % (1 << width)
        return self.as_index(self.value(old), is_signed=is_signed)

    def as_index(self, value: SSAValue, *, is_signed: bool = False) -> SSAValue:
        """Integers as indices."""
        type_ = with_element(value.type, IndexType())
        kind = IndexCastOp if is_signed else IndexCastUIOp
        return self.shared((kind, value), (value,), lambda: self.compute(kind, [value], type_))

    def from_index(self, index: Index, type_: Attribute) -> SSAValue:
        """An index, or a vector of some, as integers of a type."""
        if isinstance(index, int):
            return self.constant(index, type_)
        return self.compute(IndexCastOp, [index], type_)

    # --- shapes ---

    def spread(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """A scalar repeated, or a vector repeated along dimensions of size 1."""
        if tuple(shape) == tuple(shape_of(value.type)):
            return value
        return self.compute(BroadcastOp, [value], with_shape(value.type, shape))

    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The same elements in row-major order in another shape; one of them may be a scalar."""
        before = shape_of(value.type)
        if tuple(shape) == tuple(before):
            return value
        type_ = with_shape(value.type, shape)
        if not before:
            return self.compute(BroadcastOp, [value], type_)
        if shape:
            return self.compute(ShapeCastOp, [value], type_)
        position = DenseArrayBase.from_list(i64, [0] * len(before))
        return self.compute(ExtractOp, [value, []], type_, {"static_position": position})

    def along(self, line: SSAValue, axis: int, rank: int) -> SSAValue:
        """A vector of one dimension as one along an axis, with a size of 1 along all others."""
        (size,) = shape_of(line.type)
        return self.reshape(line, [size if i == axis else 1 for i in range(rank)])


def constant_of(old: SSAValue) -> int | None:
    """The integer that a tile of the source without dimensions is, if it is a constant."""
    operation = old.owner
    if not isinstance(operation, ConstantOp) or shape_of_tile(old):
        return None
    (number,) = cast("Any", operation.value).get_values()
    return int(number)


def shape_of_tile(old: SSAValue) -> tuple[int, ...]:
    """The shape of a tile of the source."""
    assert isinstance(old.type, TileType)
    return old.type.get_shape()
