"""The `scf` dialect's operations, each by its name: xDSL's own where they lack nothing."""

from typing import TYPE_CHECKING

from xtile.dialects.registry import operations_by_name

if TYPE_CHECKING:
    from xtile.dialects.scf.branches import *
    from xtile.dialects.scf.loops import *

__getattr__ = operations_by_name("scf")
