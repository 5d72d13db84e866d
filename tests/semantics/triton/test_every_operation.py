"""Every operation of Triton's dialects has a meaning, or belongs to one that has."""

from __future__ import annotations

from xtile.dialects.triton.amdg.dialect import AMDG
from xtile.dialects.triton.tt.dialect import TT
from xtile.dialects.triton.ttg.dialect import TTG
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


OF_LAYOUTS_TERMINATORS = {
    "ttg.mask.return",
    "ttg.warp_return",
    "ttg.warp_specialize.partitions",
    "ttg.warp_yield",
}
"""The same of `ttg`."""

REFUSED = {
    "amdg.async_copy_local_to_global",
    "amdg.scaled_downcast_fp4",
    "amdg.scaled_downcast_fp8",
    "amdg.arrive_barrier",
    "amdg.async_copy_mbarrier_arrive",
    "amdg.cluster_barrier_arrive",
    "amdg.cluster_barrier_wait",
    "amdg.init_barrier",
    "amdg.wait_barrier",
    "ttg.inline_asm",
}
"""Those of single warps and of several programs at once, and copies and numbers of gfx1250."""


def test_all_operations_of_ttg_and_amdg_are_known() -> None:
    operations = {each.name for dialect in (TTG, AMDG) for each in dialect.operations}
    known = {name for name in HANDLERS if name.startswith(("ttg.", "amdg."))}
    assert operations == known | OF_LAYOUTS_TERMINATORS | REFUSED
    assert not known & (OF_LAYOUTS_TERMINATORS | REFUSED)
