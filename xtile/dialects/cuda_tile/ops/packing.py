"""Operations between tiles and their bytes.

Source: CUDA Tile IR specification, "Operations", "Core"; NVIDIA/cuda-tile 13.3.0, `Ops.td`.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import i8
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xtile.dialects.cuda_tile.assembly import CudaTileType
from xtile.dialects.cuda_tile.constraints import BYTE_TILE, UNPACKED_TILE
from xtile.dialects.cuda_tile.operation import CudaTileOperation
from xtile.dialects.cuda_tile.tiles import element_bits, tile_type
from xtile.dialects.cuda_tile.types import TileType
from xtile.dialects.cuda_tile.versions import V13_3, Version

_FORMAT = (
    "$source attr-dict `:` custom<CudaTileType>(type($source)) "
    "`->` custom<CudaTileType>(type($result))"
)


@irdl_op_definition
class PackOp(CudaTileOperation):
    """The bytes of a tile's elements; of those that are smaller than a byte the first lies lowest.

    ```
    %b = pack %a : tile<64xf4E2M1FN> -> tile<32xi8>
    ```
    """

    name = "cuda_tile.pack"
    OPCODE: ClassVar[int] = 0x6F
    SINCE: ClassVar[Version] = V13_3

    source = operand_def(UNPACKED_TILE)
    result = result_def(BYTE_TILE)

    traits = traits_def(Pure())
    assembly_format = _FORMAT
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(self, source: SSAValue) -> None:
        type = tile_type(source)
        size = type.number_of_elements * element_bits(type.element_type) // 8
        super().__init__(operands=(source,), result_types=(TileType((size,), i8),))


@irdl_op_definition
class UnpackOp(CudaTileOperation):
    """The elements that bytes hold; of those that are smaller than a byte the first lies lowest.

    ```
    %b = unpack %a : tile<32xi8> -> tile<64xf4E2M1FN>
    ```
    """

    name = "cuda_tile.unpack"
    OPCODE: ClassVar[int] = 0x70
    SINCE: ClassVar[Version] = V13_3

    source = operand_def(BYTE_TILE)
    result = result_def(UNPACKED_TILE)

    traits = traits_def(Pure())
    assembly_format = _FORMAT
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(self, source: SSAValue, element_type: Attribute) -> None:
        size = tile_type(source).number_of_elements * 8 // element_bits(element_type)
        super().__init__(operands=(source,), result_types=(TileType((size,), element_type),))


OPERATIONS: list[type[Operation]] = [PackOp, UnpackOp]
"""Every operation of this module."""
