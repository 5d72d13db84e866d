"""The `memref` dialect's operations, each by its name: xDSL's own where they lack nothing."""

from typing import TYPE_CHECKING

from xtile.dialects.registry import operations_by_name

if TYPE_CHECKING:
    from xtile.dialects.memref.access import *
    from xtile.dialects.memref.allocation import *
    from xtile.dialects.memref.reshapes import *
    from xtile.dialects.memref.views import *

__getattr__ = operations_by_name("memref")
