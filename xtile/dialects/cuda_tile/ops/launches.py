"""Kernels that start before the one before them has ended.

Source: the writer of the Python package cuda-tile 1.7.0; text and types as NVIDIA's disassembler
13.5 has them; CUDA C++ Programming Guide, "Programmatic Dependent Launch and Synchronization".
"""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.ir import Operation
from xdsl.irdl import opt_operand_def, result_def

from xtile.dialects.cuda_tile.assembly import CudaTileType
from xtile.dialects.cuda_tile.constraints import TOKEN
from xtile.dialects.cuda_tile.operation import CudaTileOperation, Operand
from xtile.dialects.cuda_tile.types import TokenType
from xtile.dialects.cuda_tile.versions import V13_4, Version
from xtile.dialects.definitions import op_definition


class _DependencyOperation(CudaTileOperation, ABC):
    """An operation of the grid's dependency control, in the order that its token gives."""

    SINCE: ClassVar[Version] = V13_4

    token = opt_operand_def(TOKEN)
    result_token = result_def(TOKEN)

    assembly_format = (
        "(`token` `=` $token^)? attr-dict `->` custom<CudaTileType>(type($result_token))"
    )
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(self, token: Operand | None = None) -> None:
        super().__init__(operands=(token,), result_types=(TokenType(),))


@op_definition
class GdcLaunchDependentsTkoOp(_DependencyOperation):
    """Lets the kernel that comes next in the stream start, if it was launched to start early.

    ```
    %t1 = gdc_launch_dependents_tko token = %t -> token
    ```
    """

    name = "cuda_tile.gdc_launch_dependents_tko"
    OPCODE: ClassVar[int] = 0x77


@op_definition
class GdcWaitTkoOp(_DependencyOperation):
    """Waits for the end of the kernel that came before in the stream, and sees what it wrote.

    ```
    %t1 = gdc_wait_tko -> token
    ```
    """

    name = "cuda_tile.gdc_wait_tko"
    OPCODE: ClassVar[int] = 0x78


OPERATIONS: list[type[Operation]] = [GdcLaunchDependentsTkoOp, GdcWaitTkoOp]
"""Every operation of this module."""
