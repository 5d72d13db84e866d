"""What LLVM says of the `scf` operations whose classes are xDSL's, and which are ours."""

from __future__ import annotations

from xdsl.dialects import scf

from xtile.dialects.scf import branches, loops
from xtile.text.extensions import Replacement, Table

OPERATIONS: Table = {
    **branches.EXTENSIONS,
    **loops.EXTENSIONS,
    scf.ExecuteRegionOp: Replacement("xtile.dialects.scf.branches", "ExecuteRegionOp"),
    scf.ForOp: Replacement("xtile.dialects.scf.loops", "ForOp"),
}
"""xDSL's classes hold neither `no_inline` nor the unsigned comparison of a loop's bounds."""
