"""Every operation of Triton's dialects has a meaning, or belongs to one that has."""

from __future__ import annotations

from xtile.dialects.triton.tt.dialect import TT
from xtile.semantics.triton.table import HANDLERS

TERMINATORS = {
    "tt.map_elementwise.return",
    "tt.reduce.return",
    "tt.return",
    "tt.scan.return",
}
"""What is around them says where control goes."""

DECLARATIONS = {"tt.func"}
"""They are launched, or named by others."""


def test_all_operations_of_tt_are_known() -> None:
    operations = {operation.name for operation in TT.operations}
    known = {name for name in HANDLERS if name.startswith("tt.")}
    assert operations == known | TERMINATORS | DECLARATIONS
    assert not known & (TERMINATORS | DECLARATIONS)
