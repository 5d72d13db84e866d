"""Products of matrices with an accumulator: `lhs * rhs + acc`.

Tiles have two dimensions, or three of which the first counts matrices.

Source: CUDA Tile IR specification, "Operations", "Floating Point" and "Integer"; NVIDIA/cuda-tile
13.3.0, `Ops.td` and `CudaTile.cpp`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, cast

from typing_extensions import override
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
    UnitAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.cuda_tile.assembly import CudaTileType
from xtile.dialects.cuda_tile.assembly_numbers import SignednessOf
from xtile.dialects.cuda_tile.attributes import SignednessAttr
from xtile.dialects.cuda_tile.constraints import BYTE_TILE, I32_TILE, SameType, TileOf
from xtile.dialects.cuda_tile.enumerations import Signedness
from xtile.dialects.cuda_tile.operation import CudaTileOperation, Operand
from xtile.dialects.cuda_tile.ops.elementwise import flag
from xtile.dialects.cuda_tile.types import TileType
from xtile.dialects.cuda_tile.versions import V13_3, Version
from xtile.dialects.definitions import op_definition

ACCUMULATORS: Mapping[type[Attribute], tuple[type[Attribute], ...]] = MappingProxyType(
    {
        Float8E4M3FNType: (Float16Type, Float32Type),
        Float8E5M2Type: (Float16Type, Float32Type),
        Float16Type: (Float16Type, Float32Type),
        BFloat16Type: (Float32Type,),
        FloatTF32Type: (Float32Type,),
        Float32Type: (Float32Type,),
        Float64Type: (Float64Type,),
    }
)
"""What products of floats are accumulated in, by the type of the factors."""

BLOCK_SIZES: Mapping[tuple[type[Attribute], type[Attribute]], tuple[int, ...]] = MappingProxyType(
    {
        (Float8E4M3FNType, Float8E8M0FNUType): (32,),
        (Float8E5M2Type, Float8E8M0FNUType): (32,),
        (Float4E2M1FNType, Float8E4M3FNType): (16,),
        (Float4E2M1FNType, Float8E8M0FNUType): (16, 32),
    }
)
"""How many factors may share a scale, by the types of both."""


def _is_factor(type: Attribute) -> bool:
    return type.__class__ in ACCUMULATORS


def _is_accumulator(type: Attribute) -> bool:
    return isinstance(type, (Float16Type, Float32Type, Float64Type))


def _is_scaled(type: Attribute) -> bool:
    return isinstance(type, (Float8E4M3FNType, Float8E5M2Type, Float4E2M1FNType))


def _is_scale(type: Attribute) -> bool:
    return isinstance(type, (Float8E4M3FNType, Float8E8M0FNUType))


def _is_f32(type: Attribute) -> bool:
    return isinstance(type, Float32Type)


FACTOR = TileOf("a tile of f16, bf16, f32, f64, tf32, f8E4M3FN or f8E5M2", _is_factor)
ACCUMULATOR = TileOf("a tile of f16, f32 or f64", _is_accumulator)
SCALED = TileOf("a tile of f8E4M3FN, f8E5M2 or f4E2M1FN", _is_scaled)
SCALE = TileOf("a tile of f8E4M3FN or f8E8M0FNU", _is_scale)
F32_TILE = TileOf("a tile of f32", _is_f32)


def _names(types: tuple[type[Attribute], ...]) -> str:
    return " or ".join(type.name for type in types)


def _verify_sizes(names: tuple[str, str], tiles: tuple[TileType, TileType], *dims: int) -> None:
    """Checks that a dimension of one tile is as large as one of another.

    Args:
        names: What the tiles are called.
        tiles: Their types.
        dims: The dimension of each.

    Raises:
        VerifyException: It is not.
    """
    one, other = (tile.get_shape()[dim] for tile, dim in zip(tiles, dims, strict=True))
    if one != other:
        raise VerifyException(
            f"expected dimension {dims[1]} of {names[1]} to be {one}, as dimension {dims[0]} of "
            f"{names[0]} is, but it is {other}; {names[0]} is {tiles[0]}, {names[1]} is {tiles[1]}"
        )


class _MatrixMultiplyOperation(CudaTileOperation, ABC):
    """A product of matrices with an accumulator."""

    traits = traits_def(Pure())

    def _tile(self, operand: SSAValue) -> TileType:
        return cast("TileType", operand.type)

    def _verify_shapes(self) -> None:
        tiles = [self._tile(operand) for operand in self.operands]
        ranks = {tile.rank for tile in tiles}
        if ranks not in ({2}, {3}):
            shapes = ", ".join(map(str, tiles))
            raise VerifyException(
                f"expected operands of 2 dimensions, or all of 3, but got {shapes}"
            )
        lhs, rhs, acc = tiles[:3]
        row, column = lhs.rank - 2, lhs.rank - 1
        if lhs.element_type != rhs.element_type:
            raise VerifyException(
                f"expected elements of rhs of {lhs.element_type}, as those of lhs, but got "
                f"{rhs.element_type}"
            )
        if row:
            _verify_sizes(("lhs", "rhs"), (lhs, rhs), 0, 0)
            _verify_sizes(("lhs", "acc"), (lhs, acc), 0, 0)
        _verify_sizes(("lhs", "rhs"), (lhs, rhs), column, row)
        _verify_sizes(("lhs", "acc"), (lhs, acc), row, row)
        _verify_sizes(("rhs", "acc"), (rhs, acc), column, column)


@op_definition
class MmaFOp(_MatrixMultiplyOperation):
    """A product of floats.

    ```
    %d = mmaf %a, %b, %c : tile<16x32xf16>, tile<32x8xf16>, tile<16x8xf32>
    ```

    `fast_acc` lets Hopper accumulate products of f8 with less precision than f32.
    """

    name = "cuda_tile.mmaf"
    OPCODE: ClassVar[int] = 0x49
    SINCE_OF: ClassVar[Mapping[str, Version]] = MappingProxyType({"fast_acc": V13_3})

    T: ClassVar = SameType("T", ACCUMULATOR)

    lhs = operand_def(FACTOR)
    rhs = operand_def(FACTOR)
    acc = operand_def(T)
    fast_acc = opt_prop_def(UnitAttr)
    result = result_def(T)

    assembly_format = (
        "$lhs `,` $rhs `,` $acc (`fast_acc` $fast_acc^)? attr-dict `:` "
        "custom<CudaTileType>(type($lhs)) `,` custom<CudaTileType>(type($rhs)) `,` "
        "custom<CudaTileType>(type($acc))"
    )
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(self, lhs: Operand, rhs: Operand, acc: Operand, *, fast_acc: bool = False) -> None:
        super().__init__(
            operands=(lhs, rhs, acc),
            result_types=(SSAValue.get(acc).type,),
            properties={"fast_acc": flag(fast_acc)},
        )

    @override
    def verify_(self) -> None:
        self._verify_shapes()
        factor = self._tile(self.lhs).element_type
        accumulator = self._tile(self.acc).element_type
        allowed = ACCUMULATORS[factor.__class__]
        if accumulator.__class__ not in allowed:
            raise VerifyException(
                f"expected products of {factor} to be accumulated in {_names(allowed)}, "
                f"not in {accumulator}"
            )


@op_definition
class MmaFScaledOp(_MatrixMultiplyOperation):
    """A product of small floats, blocks of which have a common scale.

    ```
    %d = mmaf_scaled %a, %b, %c, %sa, %sb : tile<16x64xf8E4M3FN>, tile<64x8xf8E4M3FN>, tile<16x8xf32>, tile<16x2xf8E8M0FNU>, tile<2x8xf8E8M0FNU>
    ```
    """  # noqa: E501

    name = "cuda_tile.mmaf_scaled"
    OPCODE: ClassVar[int] = 0x72
    SINCE: ClassVar[Version] = V13_3

    T: ClassVar = SameType("T", F32_TILE)

    lhs = operand_def(SCALED)
    rhs = operand_def(SCALED)
    acc = operand_def(T)
    lhs_scale = operand_def(SCALE)
    rhs_scale = operand_def(SCALE)
    result = result_def(T)

    assembly_format = (
        "$lhs `,` $rhs `,` $acc `,` $lhs_scale `,` $rhs_scale attr-dict `:` "
        "custom<CudaTileType>(type($lhs)) `,` custom<CudaTileType>(type($rhs)) `,` "
        "custom<CudaTileType>(type($acc)) `,` custom<CudaTileType>(type($lhs_scale)) `,` "
        "custom<CudaTileType>(type($rhs_scale))"
    )
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(
        self,
        lhs: Operand,
        rhs: Operand,
        acc: Operand,
        lhs_scale: Operand,
        rhs_scale: Operand,
    ) -> None:
        super().__init__(
            operands=(lhs, rhs, acc, lhs_scale, rhs_scale), result_types=(SSAValue.get(acc).type,)
        )

    @override
    def verify_(self) -> None:
        self._verify_shapes()
        self._verify_scale_shapes()
        self._verify_blocks()

    def _verify_scale_shapes(self) -> None:
        lhs, rhs = self._tile(self.lhs), self._tile(self.rhs)
        lhs_scale, rhs_scale = self._tile(self.lhs_scale), self._tile(self.rhs_scale)
        row, column = lhs.rank - 2, lhs.rank - 1
        if lhs_scale.element_type != rhs_scale.element_type:
            raise VerifyException(
                f"expected rhs_scale to be of {lhs_scale.element_type}, as lhs_scale is, but got "
                f"{rhs_scale.element_type}"
            )
        if row:
            _verify_sizes(("lhs", "lhs_scale"), (lhs, lhs_scale), 0, 0)
            _verify_sizes(("rhs", "rhs_scale"), (rhs, rhs_scale), 0, 0)
        _verify_sizes(("lhs", "lhs_scale"), (lhs, lhs_scale), row, row)
        _verify_sizes(("rhs", "rhs_scale"), (rhs, rhs_scale), column, column)
        _verify_sizes(("lhs_scale", "rhs_scale"), (lhs_scale, rhs_scale), column, row)

    def _verify_blocks(self) -> None:
        lhs, scale = self._tile(self.lhs), self._tile(self.lhs_scale)
        factor, kind = lhs.element_type, scale.element_type
        allowed = BLOCK_SIZES.get((factor.__class__, kind.__class__))
        if allowed is None:
            kinds = tuple(k for f, k in BLOCK_SIZES if f is factor.__class__)
            raise VerifyException(f"expected scales of {factor} to be {_names(kinds)}, not {kind}")
        size, count = lhs.get_shape()[-1], scale.get_shape()[-1]
        if size % count or size // count not in allowed:
            known = " or ".join(map(str, allowed))
            raise VerifyException(
                f"expected {known} elements of {factor} to share a scale of {kind}, but lhs has "
                f"{size} in a row and lhs_scale {count}"
            )


@op_definition
class MmaIOp(_MatrixMultiplyOperation):
    """A product of i8, accumulated in i32.

    ```
    %d = mmai %a, %b, %c signed unsigned : tile<16x32xi8>, tile<32x8xi8>, tile<16x8xi32>
    ```
    """

    name = "cuda_tile.mmai"
    OPCODE: ClassVar[int] = 0x4A

    T: ClassVar = SameType("T", I32_TILE)

    lhs = operand_def(BYTE_TILE)
    rhs = operand_def(BYTE_TILE)
    acc = operand_def(T)
    signedness_lhs = prop_def(SignednessAttr)
    signedness_rhs = prop_def(SignednessAttr)
    result = result_def(T)

    assembly_format = (
        "$lhs `,` $rhs `,` $acc custom<SignednessOf>($signedness_lhs) "
        "custom<SignednessOf>($signedness_rhs) attr-dict `:` "
        "custom<CudaTileType>(type($lhs)) `,` custom<CudaTileType>(type($rhs)) `,` "
        "custom<CudaTileType>(type($acc))"
    )
    custom_directives: ClassVar = (CudaTileType, SignednessOf)

    def __init__(
        self,
        lhs: Operand,
        rhs: Operand,
        acc: Operand,
        *,
        signedness_lhs: Signedness,
        signedness_rhs: Signedness,
    ) -> None:
        super().__init__(
            operands=(lhs, rhs, acc),
            result_types=(SSAValue.get(acc).type,),
            properties={
                "signedness_lhs": SignednessAttr(signedness_lhs),
                "signedness_rhs": SignednessAttr(signedness_rhs),
            },
        )

    @override
    def verify_(self) -> None:
        self._verify_shapes()


OPERATIONS: list[type[Operation]] = [MmaFOp, MmaFScaledOp, MmaIOp]
"""Every operation of this module."""
