"""What the dialect's operations share."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import ClassVar, TypeAlias

from xdsl.ir import Operation, SSAValue

from xtile.dialects.construction import DirectOperation
from xtile.dialects.cuda_tile.versions import V13_1, Version

Operand: TypeAlias = SSAValue | Operation
"""What constructors take as an operand: a value, or the operation whose only result it is."""


class CudaTileOperation(DirectOperation, ABC):
    """An operation of CUDA Tile IR.

    Its operands, properties and results stand in the order in which the bytecode has them.

    Source: NVIDIA/cuda-tile 13.3.0, `Ops.td` and `BytecodeOpcodes.td`.
    """

    OPCODE: ClassVar[int]
    """What the bytecode calls it."""

    SINCE: ClassVar[Version] = V13_1
    """The version that it came in with."""

    SINCE_OF: ClassVar[Mapping[str, Version]] = MappingProxyType({})
    """The versions of operands, properties and results that came later than the operation."""

    def newer_uses(self) -> Iterator[tuple[str, Version]]:
        """Yields what is said in fields and may have come later than they, and since when it is.

        A rounding mode that was not always allowed is such a use.
        """
        yield from ()
