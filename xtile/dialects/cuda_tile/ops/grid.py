"""The grid of tile blocks, and where in it this one is.

Source: CUDA Tile IR specification, "Operations", "Core"; NVIDIA/cuda-tile 13.3.0, `Ops.td`.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import i32
from xdsl.ir import Operation
from xdsl.irdl import result_def, traits_def
from xdsl.traits import Pure

from xtile.dialects.cuda_tile.assembly import CudaTileType
from xtile.dialects.cuda_tile.constraints import SCALAR_I32, SameType
from xtile.dialects.cuda_tile.operation import CudaTileOperation
from xtile.dialects.cuda_tile.types import TileType
from xtile.dialects.definitions import op_definition

_INDEX = TileType((), i32)


@op_definition
class GetTileBlockIdOp(CudaTileOperation):
    """The position of this tile block in the grid.

    ```
    %x, %y, %z = get_tile_block_id : tile<i32>
    ```
    """

    name = "cuda_tile.get_tile_block_id"
    OPCODE: ClassVar[int] = 0x30

    T: ClassVar = SameType("T", SCALAR_I32)

    block_id_x = result_def(T)
    block_id_y = result_def(T)
    block_id_z = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` custom<CudaTileType>(type($block_id_x))"
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(self) -> None:
        super().__init__(result_types=(_INDEX, _INDEX, _INDEX))


@op_definition
class GetNumTileBlocksOp(CudaTileOperation):
    """The number of tile blocks in the grid along each dimension.

    ```
    %x, %y, %z = get_num_tile_blocks : tile<i32>
    ```
    """

    name = "cuda_tile.get_num_tile_blocks"
    OPCODE: ClassVar[int] = 0x2E

    T: ClassVar = SameType("T", SCALAR_I32)

    grid_size_x = result_def(T)
    grid_size_y = result_def(T)
    grid_size_z = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` custom<CudaTileType>(type($grid_size_x))"
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(self) -> None:
        super().__init__(result_types=(_INDEX, _INDEX, _INDEX))


OPERATIONS: list[type[Operation]] = [GetNumTileBlocksOp, GetTileBlockIdOp]
"""Every operation of this module."""
