"""Operations that make and rearrange tiles.

Source: CUDA Tile IR specification, "Operations", "Core"; NVIDIA/cuda-tile 13.3.0, `Ops.td`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.cuda_tile.assembly import CudaTileType
from xtile.dialects.cuda_tile.constants import Constant, constant_attribute, tile_of
from xtile.dialects.cuda_tile.constraints import (
    BOOLEAN_TILE,
    CONSTANT,
    INTEGER_TILE,
    NUMBER_TILE,
    POINTER_TILE,
    SCALAR_I32,
    TILE,
    SameType,
)
from xtile.dialects.cuda_tile.operation import CudaTileOperation, Operand
from xtile.dialects.cuda_tile.ops.shape_rules import (
    verify_broadcast,
    verify_concatenation,
    verify_extraction,
    verify_iota,
    verify_permutation,
    verify_reshape,
    verify_same_shape,
    verify_selection,
)
from xtile.dialects.cuda_tile.types import TileType, tile_type
from xtile.dialects.definitions import op_definition


class _ShapingOperation(CudaTileOperation, ABC):
    """The elements of a tile in another shape."""

    source = operand_def(TILE)
    result = result_def(TILE)

    traits = traits_def(Pure())
    assembly_format = (
        "$source attr-dict `:` custom<CudaTileType>(type($source)) "
        "`->` custom<CudaTileType>(type($result))"
    )
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(self, source: Operand, shape: Sequence[int]) -> None:
        result = TileType(shape, tile_type(source).element_type)
        super().__init__(operands=(source,), result_types=(result,))


@op_definition
class BroadcastOp(_ShapingOperation):
    """A tile repeated along its dimensions of size 1.

    ```
    %b = broadcast %a : tile<1x8xf32> -> tile<4x8xf32>
    ```
    """

    name = "cuda_tile.broadcast"
    OPCODE: ClassVar[int] = 0x0B

    @override
    def verify_(self) -> None:
        verify_broadcast(tile_type(self.source), tile_type(self.result))


@op_definition
class CatOp(CudaTileOperation):
    """Two tiles one after the other along a dimension.

    ```
    %c = cat %a, %b dim = 1 : tile<4x8xf32>, tile<4x8xf32> -> tile<4x16xf32>
    ```
    """

    name = "cuda_tile.cat"
    OPCODE: ClassVar[int] = 0x0C

    lhs = operand_def(TILE)
    rhs = operand_def(TILE)
    dim = prop_def(IntegerAttr.constr(i64))
    result = result_def(TILE)

    traits = traits_def(Pure())
    assembly_format = (
        "$lhs `,` $rhs `dim` `=` $dim attr-dict `:` custom<CudaTileType>(type($lhs)) `,` "
        "custom<CudaTileType>(type($rhs)) `->` custom<CudaTileType>(type($result))"
    )
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(self, lhs: Operand, rhs: Operand, dim: int) -> None:
        shape = list(tile_type(lhs).get_shape())
        shape[dim] += tile_type(rhs).get_shape()[dim]
        super().__init__(
            operands=(lhs, rhs),
            properties={"dim": IntegerAttr(dim, i64)},
            result_types=(TileType(shape, tile_type(lhs).element_type),),
        )

    @override
    def verify_(self) -> None:
        lhs, rhs, result = map(tile_type, (self.lhs, self.rhs, self.result))
        verify_concatenation(lhs, rhs, self.dim.value.data, result)


@op_definition
class ConstantOp(CudaTileOperation):
    """A tile of known numbers: all equal, or each its own.

    ```
    %zero = constant <f32: 0.000000e+00> : tile<4x8xf32>
    %primes = constant <i32: [2, 3, 5, 7]> : tile<4xi32>
    ```
    """

    name = "cuda_tile.constant"
    OPCODE: ClassVar[int] = 0x10

    value = prop_def(CONSTANT)
    result = result_def(NUMBER_TILE)

    traits = traits_def(Pure(), ConstantLike())
    assembly_format = "custom<Constant>($value, type($result)) attr-dict"
    custom_directives: ClassVar = (Constant,)

    def __init__(
        self,
        value: DenseIntOrFPElementsAttr | float | Sequence[float],
        result_type: TileType | None = None,
    ) -> None:
        if not isinstance(value, DenseIntOrFPElementsAttr):
            if result_type is None:
                raise ValueError("a constant of numbers needs a result_type")
            values = value if isinstance(value, Sequence) else [value]
            value = constant_attribute(result_type, values)
        super().__init__(properties={"value": value}, result_types=(tile_of(value),))

    @classmethod
    def of(cls, type: Attribute, values: Sequence[float] | Sequence[int]) -> ConstantOp:
        """A constant of numbers in row-major order; one number is that of all elements."""
        assert isinstance(type, TileType)
        return cls(constant_attribute(type, values))

    @override
    def verify_(self) -> None:
        if tile_of(self.value) != self.result.type:
            raise VerifyException(
                f"the value is a {tile_of(self.value)}; it must be the result's {self.result.type}"
            )


@op_definition
class ExtractOp(CudaTileOperation):
    """One of the sub-tiles that a tile is made of, counted by sub-tiles along each dimension.

    ```
    %b = extract %a[%i, %j] : tile<8x16xf32> -> tile<4x4xf32>
    ```
    """

    name = "cuda_tile.extract"
    OPCODE: ClassVar[int] = 0x26

    source = operand_def(TILE)
    indices = var_operand_def(SCALAR_I32)
    result = result_def(TILE)

    traits = traits_def(Pure())
    assembly_format = (
        "$source `[` $indices `]` attr-dict `:` custom<CudaTileType>(type($source)) "
        "`->` custom<CudaTileType>(type($result))"
    )
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(self, source: Operand, indices: Sequence[Operand], shape: Sequence[int]) -> None:
        result = TileType(shape, tile_type(source).element_type)
        super().__init__(operands=(source, indices), result_types=(result,))

    @override
    def verify_(self) -> None:
        source, result = tile_type(self.source), tile_type(self.result)
        verify_extraction(source, len(self.indices), result)


@op_definition
class IotaOp(CudaTileOperation):
    """The numbers from 0 on, in a tile of one dimension.

    ```
    %i = iota : tile<128xi32>
    ```
    """

    name = "cuda_tile.iota"
    OPCODE: ClassVar[int] = 0x3A

    result = result_def(INTEGER_TILE)

    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` custom<CudaTileType>(type($result))"
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(self, result_type: Attribute) -> None:
        super().__init__(result_types=(result_type,))

    @override
    def verify_(self) -> None:
        verify_iota(tile_type(self.result))


@op_definition
class OffsetOp(CudaTileOperation):
    """Pointers moved by as many elements as the offsets, which are signed, say.

    ```
    %q = offset %p, %i : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    ```
    """

    name = "cuda_tile.offset"
    OPCODE: ClassVar[int] = 0x51

    T: ClassVar = SameType("T", POINTER_TILE)

    ptr = operand_def(T)
    offset = operand_def(INTEGER_TILE)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = (
        "$ptr `,` $offset attr-dict `:` custom<CudaTileType>(type($ptr)) `,` "
        "custom<CudaTileType>(type($offset)) `->` custom<CudaTileType>(type($result))"
    )
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(self, ptr: Operand, offset: Operand) -> None:
        super().__init__(operands=(ptr, offset), result_types=(SSAValue.get(ptr).type,))

    @override
    def verify_(self) -> None:
        verify_same_shape("the offsets", tile_type(self.offset), tile_type(self.result))


@op_definition
class PermuteOp(CudaTileOperation):
    """A tile with its dimensions in another order; result dimension i is the i-th that is named.

    ```
    %b = permute %a [1, 0] : tile<4x8xf32> -> tile<8x4xf32>
    ```
    """

    name = "cuda_tile.permute"
    OPCODE: ClassVar[int] = 0x53

    source = operand_def(TILE)
    permutation = prop_def(DenseArrayBase.constr(i32))
    result = result_def(TILE)

    traits = traits_def(Pure())
    assembly_format = (
        "$source $permutation attr-dict `:` custom<CudaTileType>(type($source)) "
        "`->` custom<CudaTileType>(type($result))"
    )
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(self, source: Operand, permutation: Sequence[int]) -> None:
        type = tile_type(source)
        shape = [type.get_shape()[dimension] for dimension in permutation]
        super().__init__(
            operands=(source,),
            properties={"permutation": DenseArrayBase.from_list(i32, permutation)},
            result_types=(TileType(shape, type.element_type),),
        )

    @override
    def verify_(self) -> None:
        permutation = self.permutation.get_values()
        verify_permutation(tile_type(self.source), permutation, tile_type(self.result))


@op_definition
class ReshapeOp(_ShapingOperation):
    """The same elements in row-major order in another shape.

    ```
    %b = reshape %a : tile<4x8xf32> -> tile<2x16xf32>
    ```
    """

    name = "cuda_tile.reshape"
    OPCODE: ClassVar[int] = 0x5B

    @override
    def verify_(self) -> None:
        verify_reshape(tile_type(self.source), tile_type(self.result))


@op_definition
class SelectOp(CudaTileOperation):
    """Of each two elements the first where a condition holds, else the second.

    ```
    %c = select %p, %a, %b : tile<8xi1>, tile<8xf32>
    ```
    """

    name = "cuda_tile.select"
    OPCODE: ClassVar[int] = 0x5F

    T: ClassVar = SameType("T", TILE)

    cond = operand_def(BOOLEAN_TILE)
    val_if_true = operand_def(T)
    val_if_false = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = (
        "$cond `,` $val_if_true `,` $val_if_false attr-dict `:` "
        "custom<CudaTileType>(type($cond)) `,` custom<CudaTileType>(type($result))"
    )
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(self, cond: Operand, val_if_true: Operand, val_if_false: Operand) -> None:
        super().__init__(
            operands=(cond, val_if_true, val_if_false),
            result_types=(SSAValue.get(val_if_true).type,),
        )

    @override
    def verify_(self) -> None:
        verify_selection(tile_type(self.cond), tile_type(self.result))


OPERATIONS: list[type[Operation]] = [
    BroadcastOp,
    CatOp,
    ConstantOp,
    ExtractOp,
    IotaOp,
    OffsetOp,
    PermuteOp,
    ReshapeOp,
    SelectOp,
]
"""Every operation of this module."""
