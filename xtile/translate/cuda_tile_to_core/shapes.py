"""Tiles that are made, and tiles in another shape.

Source: CUDA Tile IR specification, "Core".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
)
from xdsl.ir import Operation, SSAValue

from xtile.dialects.construction import made
from xtile.dialects.cuda_tile.ops.core import CatOp, ConstantOp, ExtractOp, PermuteOp
from xtile.dialects.cuda_tile.ops.parts import InsertOp
from xtile.dialects.shapes import as_vector
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import shape_of
from xtile.translate.cuda_tile_to_core.raising import Raising


def _constant(operation: ConstantOp, raising: Raising) -> None:
    type_, value = raising.type(operation.result.type), operation.value
    vector = as_vector(type_)
    if vector is not None:
        attribute: Any = cast(Any, DenseIntOrFPElementsAttr)(vector, value.data)
    elif isinstance(type_, AnyFloat):
        attribute = FloatAttr(cast("float", value.get_values()[0]), type_)
    else:
        attribute = IntegerAttr(cast("int", value.get_values()[0]), cast(Any, type_))
    raising.define(
        operation.result,
        raising.emit(made(arith.ConstantOp, (), (type_,), {"value": attribute})).result,
    )


def _iota(operation: Operation, raising: Raising) -> None:
    (result,) = operation.results
    type_ = raising.type(result.type)
    raising.define(result, raising.from_index(raising.step(shape_of(type_)[0]), type_))


def _broadcast(operation: Operation, raising: Raising) -> None:
    (source,), (result,) = operation.operands, operation.results
    shape = shape_of(raising.type(result.type))
    raising.define(result, raising.spread(raising.value(source), shape))


def _reshape(operation: Operation, raising: Raising) -> None:
    (source,), (result,) = operation.operands, operation.results
    shape = shape_of(raising.type(result.type))
    raising.define(result, raising.reshape(raising.value(source), shape))


def _permute(operation: PermuteOp, raising: Raising) -> None:
    order = list(operation.permutation.get_values())
    raising.define(operation.result, raising.transposed(raising.value(operation.source), order))


def _cat(operation: CatOp, raising: Raising) -> None:
    """Both tiles as the two parts of one more dimension, which joins that along which they lie."""
    lhs, rhs = raising.values((operation.lhs, operation.rhs))
    axis = operation.dim.value.data
    made = raising.joined((lhs, rhs), axis)
    raising.define(
        operation.result, raising.reshape(made, shape_of(raising.type(operation.result.type)))
    )


def _extract(operation: ExtractOp, raising: Raising) -> None:
    """A slice, or where that is not known one of the parts, counted in dimensions of their own."""
    value, type_ = raising.value(operation.source), raising.type(operation.result.type)
    part = shape_of(type_)
    numbers = [raising.number(index) for index in operation.indices]
    if not part:
        made = value
    elif all(isinstance(number, int) for number in numbers):
        made = _slice(raising, value, part, cast("list[int]", numbers))
    else:
        made = _part(raising, value, part, numbers)
    raising.define(operation.result, made)


def _slice(
    raising: Raising, value: SSAValue, part: Sequence[int], numbers: Sequence[int]
) -> SSAValue:
    offsets = [number * size for number, size in zip(numbers, part, strict=True)]
    whole = shape_of(value.type)
    for axis, (offset, size, extent) in enumerate(zip(offsets, part, whole, strict=True)):
        if offset + size > extent:
            raise raising.error(
                f"there is no part {numbers[axis]} along dimension {axis}: a size of {extent} has "
                f"{extent // size} parts of size {size}, which are counted from 0"
            )
    return raising.slice(value, offsets, part)


def _part(raising: Raising, value: SSAValue, part: Sequence[int], at: Sequence[Index]) -> SSAValue:
    """The part of a vector with a number for each dimension."""
    return raising.part(_parts(raising, value, part), at)


def _insert(operation: InsertOp, raising: Raising) -> None:
    """The part with a number for each dimension is replaced, and all parts are put together."""
    part, whole = raising.values((operation.source, operation.destination))
    shape, own = shape_of(whole.type), shape_of(part.type)
    numbers = [raising.number(index) for index in operation.indices]
    made = part
    if shape:
        made = raising.with_part(_parts(raising, whole, own), part, numbers)
        order = [axis for i in range(len(shape)) for axis in (i, len(shape) + i)]
        made = raising.reshape(raising.transposed(made, order), shape)
    raising.define(operation.result, made)


def _parts(raising: Raising, value: SSAValue, part: Sequence[int]) -> SSAValue:
    """A vector as parts of a shape, which are counted by dimensions of their own in front."""
    whole, rank = shape_of(value.type), len(part)
    pairs = [n for size, own in zip(whole, part, strict=True) for n in (size // own, own)]
    order = [*range(0, 2 * rank, 2), *range(1, 2 * rank, 2)]
    return raising.transposed(raising.reshape(value, pairs), order)


RULES: dict[str, Rule] = {
    "cuda_tile.broadcast": _broadcast,
    "cuda_tile.cat": _cat,
    "cuda_tile.constant": _constant,
    "cuda_tile.extract": _extract,
    "cuda_tile.insert": _insert,
    "cuda_tile.iota": _iota,
    "cuda_tile.permute": _permute,
    "cuda_tile.reshape": _reshape,
}
"""The rule of each operation, by name."""
