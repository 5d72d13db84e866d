"""Parts of tiles that are replaced.

Source: the writer of the Python package cuda-tile 1.7.0; text and types as NVIDIA's disassembler
13.5 has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from typing_extensions import override
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure

from xtile.dialects.cuda_tile.assembly import CudaTileType
from xtile.dialects.cuda_tile.constraints import SCALAR_I32, TILE, SameType
from xtile.dialects.cuda_tile.operation import CudaTileOperation, Operand
from xtile.dialects.cuda_tile.ops.shape_rules import verify_extraction
from xtile.dialects.cuda_tile.types import tile_type
from xtile.dialects.cuda_tile.versions import V13_4, Version
from xtile.dialects.definitions import op_definition


@op_definition
class InsertOp(CudaTileOperation):
    """A tile with one of the sub-tiles that it is made of replaced, counted as `extract` counts.

    ```
    %c = insert %a, %b[%i, %j] : tile<4x4xf32>, tile<8x16xf32>
    ```
    """

    name = "cuda_tile.insert"
    OPCODE: ClassVar[int] = 0x76
    SINCE: ClassVar[Version] = V13_4

    T: ClassVar = SameType("T", TILE)

    source = operand_def(TILE)
    destination = operand_def(T)
    indices = var_operand_def(SCALAR_I32)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = (
        "$source `,` $destination `[` $indices `]` attr-dict `:` "
        "custom<CudaTileType>(type($source)) `,` custom<CudaTileType>(type($destination))"
    )
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(self, source: Operand, destination: Operand, indices: Sequence[Operand]) -> None:
        super().__init__(
            operands=(source, destination, indices), result_types=(SSAValue.get(destination).type,)
        )

    @override
    def verify_(self) -> None:
        verify_extraction(tile_type(self.destination), len(self.indices), tile_type(self.source))


OPERATIONS: list[type[Operation]] = [InsertOp]
"""Every operation of this module."""
