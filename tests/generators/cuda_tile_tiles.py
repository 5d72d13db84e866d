"""Tiles of any type in a kernel, made of constants."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatTF32Type,
    IntegerType,
    i8,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.cuda_tile.enumerations import RoundingMode
from xtile.dialects.cuda_tile.ops.conversions import FToFOp, IntToPtrOp, TruncIOp
from xtile.dialects.cuda_tile.ops.core import ConstantOp, ReshapeOp
from xtile.dialects.cuda_tile.ops.packing import UnpackOp
from xtile.dialects.cuda_tile.types import PointerType, TileType

INTEGERS: list[Attribute] = [IntegerType(width) for width in (1, 4, 8, 16, 32, 64)]
FLOATS: list[Attribute] = [
    Float16Type(), BFloat16Type(), Float32Type(), FloatTF32Type(), Float64Type(),
    Float8E4M3FNType(), Float8E5M2Type(), Float8E8M0FNUType(), Float4E2M1FNType(),
]  # fmt: skip
POINTERS: list[Attribute] = [PointerType(Float32Type()), PointerType(i8)]
ELEMENTS = INTEGERS + FLOATS + POINTERS
SHAPES = [
    (), (1,), (2,), (4,), (64,), (1, 8), (4, 8), (8, 4), (32,), (16, 64), (64, 16), (16, 16),
    (2, 16, 64), (2, 64, 16), (2, 16, 16), (2, 4, 8),
]  # fmt: skip


def random_tile(
    random: Random, elements: Sequence[Attribute] = ELEMENTS, shape: Sequence[int] | None = None
) -> TileType:
    """A type of tiles; of the shape if there are such tiles."""
    while True:
        try:
            size = random.choice(SHAPES) if shape is None else shape
            return TileType(size, random.choice(elements))
        except VerifyException:
            shape = None


def tile_value(block: Block, type: TileType) -> SSAValue:
    """A tile of a type, made by operations at the end of a block."""
    shape, element = type.get_shape(), type.element_type

    def add(operation: Operation) -> SSAValue:
        block.add_op(operation)
        return operation.results[0]

    if isinstance(element, PointerType):
        return add(IntToPtrOp(add(ConstantOp.of(TileType(shape, i64), [0])), type))
    if isinstance(element, Float4E2M1FNType):
        source = add(ConstantOp.of(TileType((type.number_of_elements // 2,), i8), [1]))
        return add(ReshapeOp(add(UnpackOp(source, element)), shape))
    if isinstance(element, IntegerType):
        if element.width.data != 4:
            return add(ConstantOp.of(type, [1]))
        return add(TruncIOp(add(ConstantOp.of(TileType(shape, i8), [1])), type))
    if isinstance(element, Float16Type | BFloat16Type | Float32Type | Float64Type):
        return add(ConstantOp.of(type, [1.0]))
    is_scale = isinstance(element, Float8E8M0FNUType)
    mode = RoundingMode.ZERO if is_scale else RoundingMode.NEAREST_EVEN
    source = add(ConstantOp.of(TileType(shape, Float32Type()), [1.0]))
    return add(FToFOp(source, type, rounding_mode=mode))
