"""Operations between tiles and their bytes.

Source: CUDA Tile IR specification, "Operations", "Core"; NVIDIA/cuda-tile 13.3.0, `Ops.td`.
"""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import i8
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.cuda_tile.assembly import CudaTileType
from xtile.dialects.cuda_tile.constraints import BYTE_TILE, UNPACKED_TILE
from xtile.dialects.cuda_tile.operation import CudaTileOperation, Operand
from xtile.dialects.cuda_tile.types import TileType, element_bits, tile_type
from xtile.dialects.cuda_tile.versions import V13_3, Version
from xtile.dialects.definitions import op_definition


def _bits(tile: TileType) -> int:
    """How many bits a tile takes in packed bytes."""
    return tile.number_of_elements * element_bits(tile.element_type)


class _PackingOperation(CudaTileOperation, ABC):
    """A conversion between a row of numbers and its bytes."""

    SINCE: ClassVar[Version] = V13_3

    traits = traits_def(Pure())
    assembly_format = (
        "$source attr-dict `:` custom<CudaTileType>(type($source)) "
        "`->` custom<CudaTileType>(type($result))"
    )
    custom_directives: ClassVar = (CudaTileType,)

    @override
    def verify_(self) -> None:
        source, result = tile_type(self.operands[0]), tile_type(self.results[0])
        if source.rank != 1 or result.rank != 1:
            raise VerifyException(
                f"expected tiles with one dimension, but got {source} and {result}"
            )
        if element_bits(source.element_type) == element_bits(result.element_type):
            raise VerifyException(
                "expected elements of different widths; for equal widths there is bitcast"
            )
        before, after = _bits(source), _bits(result)
        if before % 8:
            raise VerifyException(f"expected whole bytes, but the operand has {before} bits")
        if before != after:
            raise VerifyException(
                f"expected a result of {before // 8} bytes, as the operand has, but {result} has "
                f"{after // 8}"
            )


@op_definition
class PackOp(_PackingOperation):
    """The bytes of a tile's elements; of those that are smaller than a byte the first lies lowest.

    ```
    %b = pack %a : tile<64xf4E2M1FN> -> tile<32xi8>
    ```
    """

    name = "cuda_tile.pack"
    OPCODE: ClassVar[int] = 0x6F

    source = operand_def(UNPACKED_TILE)
    result = result_def(BYTE_TILE)

    def __init__(self, source: Operand) -> None:
        type = tile_type(source)
        size = type.number_of_elements * element_bits(type.element_type) // 8
        super().__init__(operands=(source,), result_types=(TileType((size,), i8),))


@op_definition
class UnpackOp(_PackingOperation):
    """The elements that bytes hold; of those that are smaller than a byte the first lies lowest.

    ```
    %b = unpack %a : tile<32xi8> -> tile<64xf4E2M1FN>
    ```
    """

    name = "cuda_tile.unpack"
    OPCODE: ClassVar[int] = 0x70

    source = operand_def(BYTE_TILE)
    result = result_def(UNPACKED_TILE)

    def __init__(self, source: Operand, element_type: Attribute) -> None:
        size = tile_type(source).number_of_elements * 8 // element_bits(element_type)
        super().__init__(operands=(source,), result_types=(TileType((size,), element_type),))


OPERATIONS: list[type[Operation]] = [PackOp, UnpackOp]
"""Every operation of this module."""
