"""Tiles that are made, and tiles in another shape.

Source: CUDA Tile IR specification, "Core".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    VectorType,
    i64,
)
from xdsl.dialects.vector import InsertOp as VectorInsertOp
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.cuda_tile.ops.core import CatOp, ConstantOp, ExtractOp, PermuteOp
from xtile.dialects.cuda_tile.ops.parts import InsertOp
from xtile.dialects.shapes import as_vector
from xtile.dialects.vector.elements import StepOp
from xtile.dialects.vector.positions import ExtractOp as VectorExtractOp
from xtile.dialects.vector.shapes import TransposeOp
from xtile.dialects.vector.slices import ExtractStridedSliceOp
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.translate.cuda_tile_to_core.raising import Raising
from xtile.translate.cuda_tile_to_core.types import shape_of, with_shape


def _constant(operation: ConstantOp, raising: Raising) -> None:
    type_, value = raising.type(operation.result.type), operation.value
    vector = as_vector(type_)
    if vector is not None:
        attribute: Any = cast(Any, DenseIntOrFPElementsAttr)(vector, value.data)
    elif isinstance(type_, AnyFloat):
        attribute = FloatAttr(cast("float", value.get_values()[0]), type_)
    else:
        attribute = IntegerAttr(cast("int", value.get_values()[0]), cast(Any, type_))
    raising.define(operation.result, raising.emit(arith.ConstantOp(attribute)).result)


def _iota(operation: Operation, raising: Raising) -> None:
    (result,) = operation.results
    type_ = raising.type(result.type)
    raising.define(result, raising.from_index(step(raising, shape_of(type_)[0]), type_))


def step(raising: Raising, size: int) -> SSAValue:
    """The indices from 0 on."""
    return raising.shared(
        (StepOp, size), (), lambda: raising.compute(StepOp, [], VectorType(IndexType(), [size]))
    )


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
    raising.define(operation.result, _transposed(raising, raising.value(operation.source), order))


def _transposed(raising: Raising, value: SSAValue, order: Sequence[int]) -> SSAValue:
    """A vector with its dimensions in another order."""
    if list(order) == list(range(len(order))):
        return value
    type_ = with_shape(value.type, [shape_of(value.type)[i] for i in order])
    permutation = DenseArrayBase.from_list(i64, order)
    return raising.compute(TransposeOp, [value], type_, {"permutation": permutation})


def _cat(operation: CatOp, raising: Raising) -> None:
    """Both tiles as the two parts of one more dimension, which joins that along which they lie."""
    lhs, rhs = raising.values((operation.lhs, operation.rhs))
    axis, shape = operation.dim.value.data, shape_of(lhs.type)
    whole = raising.poison(with_shape(lhs.type, [2, *shape]))
    for number, part in enumerate((lhs, rhs)):
        dynamic, properties = _position([number])
        whole = raising.compute(VectorInsertOp, [part, whole, dynamic], whole.type, properties)
    order = [*range(1, axis + 1), 0, *range(axis + 1, len(shape) + 1)]
    made = _transposed(raising, whole, order)
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
    lists = {"offsets": offsets, "sizes": part, "strides": [1] * len(part)}
    properties = {
        name: ArrayAttr(IntegerAttr(each, i64) for each in each_list)
        for name, each_list in lists.items()
    }
    type_ = with_shape(value.type, part)
    return raising.compute(ExtractStridedSliceOp, [value], type_, properties)


def _part(raising: Raising, value: SSAValue, part: Sequence[int], at: Sequence[Index]) -> SSAValue:
    """The part of a vector with a number for each dimension."""
    dynamic, properties = _position(at)
    operands = [_parts(raising, value, part), dynamic]
    return raising.compute(VectorExtractOp, operands, with_shape(value.type, part), properties)


def _insert(operation: InsertOp, raising: Raising) -> None:
    """The part with a number for each dimension is replaced, and all parts are put together."""
    part, whole = raising.values((operation.source, operation.destination))
    shape, own = shape_of(whole.type), shape_of(part.type)
    dynamic, properties = _position([raising.number(index) for index in operation.indices])
    made = part
    if shape:
        parts = _parts(raising, whole, own)
        made = raising.compute(VectorInsertOp, [part, parts, dynamic], parts.type, properties)
        order = [axis for i in range(len(shape)) for axis in (i, len(shape) + i)]
        made = raising.reshape(_transposed(raising, made, order), shape)
    raising.define(operation.result, made)


def _parts(raising: Raising, value: SSAValue, part: Sequence[int]) -> SSAValue:
    """A vector as parts of a shape, which are counted by dimensions of their own in front."""
    whole, rank = shape_of(value.type), len(part)
    pairs = [n for size, own in zip(whole, part, strict=True) for n in (size // own, own)]
    order = [*range(0, 2 * rank, 2), *range(1, 2 * rank, 2)]
    return _transposed(raising, raising.reshape(value, pairs), order)


def _position(at: Sequence[Index]) -> tuple[list[SSAValue], dict[str, Attribute]]:
    """The operands and the property that say where in a vector something is."""
    static = [DYNAMIC_INDEX if isinstance(n, SSAValue) else n for n in at]
    dynamic = [n for n in at if isinstance(n, SSAValue)]
    return dynamic, {"static_position": DenseArrayBase.from_list(i64, static)}


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
