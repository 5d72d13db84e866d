"""The whole `scf` dialect; its operations are here by their names.

They are xDSL's own where these lack nothing; `OPERATIONS` has what LLVM says of them beside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects import scf
from xdsl.ir import Dialect

from xtile.dialects.registry import operations_by_name
from xtile.dialects.scf import branches, loops
from xtile.text.extensions import Replacement, Table, completed

if TYPE_CHECKING:
    from xtile.dialects.scf.branches import *
    from xtile.dialects.scf.loops import *

OPERATIONS: Table = {
    **branches.EXTENSIONS,
    **loops.EXTENSIONS,
    scf.ExecuteRegionOp: Replacement("xtile.dialects.scf.branches", "ExecuteRegionOp"),
    scf.ForOp: Replacement("xtile.dialects.scf.loops", "ForOp"),
}
"""xDSL's classes hold neither `no_inline` nor the unsigned comparison of a loop's bounds."""

Scf = Dialect("scf", completed(list(scf.Scf.operations), OPERATIONS), [])

__getattr__ = operations_by_name("scf")
