"""Bitwise operations on integers.

Source: CUDA Tile IR specification, "Operations", "Bitwise"; NVIDIA/cuda-tile 13.3.0, `Ops.td`.
"""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.ir import Operation, SSAValue
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure

from xtile.dialects.cuda_tile.assembly import CudaTileType
from xtile.dialects.cuda_tile.constraints import INTEGER_TILE, SameType
from xtile.dialects.cuda_tile.operation import CudaTileOperation, Operand
from xtile.dialects.definitions import op_definition


class _BitwiseOperation(CudaTileOperation, ABC):
    """A bitwise operation on two integers of one type."""

    T: ClassVar = SameType("T", INTEGER_TILE)

    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "$lhs `,` $rhs attr-dict `:` custom<CudaTileType>(type($result))"
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(self, lhs: Operand, rhs: Operand) -> None:
        super().__init__(operands=(lhs, rhs), result_types=(SSAValue.get(lhs).type,))


@op_definition
class AndIOp(_BitwiseOperation):
    """Bits that are set in both.

    ```
    %c = andi %a, %b : tile<4x8xi32>
    ```
    """

    name = "cuda_tile.andi"
    OPCODE: ClassVar[int] = 0x04


@op_definition
class OrIOp(_BitwiseOperation):
    """Bits that are set in one or both.

    ```
    %c = ori %a, %b : tile<4x8xi32>
    ```
    """

    name = "cuda_tile.ori"
    OPCODE: ClassVar[int] = 0x52


@op_definition
class XOrIOp(_BitwiseOperation):
    """Bits that are set in one of them only.

    ```
    %c = xori %a, %b : tile<4x8xi32>
    ```
    """

    name = "cuda_tile.xori"
    OPCODE: ClassVar[int] = 0x6C


OPERATIONS: list[type[Operation]] = [AndIOp, OrIOp, XOrIOp]
"""Every operation of this module."""
