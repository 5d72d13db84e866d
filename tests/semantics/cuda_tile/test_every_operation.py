"""Every operation of CUDA Tile IR has a meaning, or belongs to one that has."""

from __future__ import annotations

from xtile.dialects.cuda_tile.dialect import CudaTile
from xtile.semantics.cuda_tile.table import HANDLERS

TERMINATORS = {
    "cuda_tile.break",
    "cuda_tile.continue",
    "cuda_tile.return",
    "cuda_tile.yield",
}
"""What is around them says where control goes."""

DECLARATIONS = {"cuda_tile.entry", "cuda_tile.global", "cuda_tile.module"}
"""They are launched, or named by others."""


def test_all_operations_are_known() -> None:
    operations = {operation.name for operation in CudaTile.operations}
    assert operations == HANDLERS.keys() | TERMINATORS | DECLARATIONS
    assert not HANDLERS.keys() & (TERMINATORS | DECLARATIONS)
