"""The `arith` dialect's operations, each by its name: xDSL's own where they lack nothing."""

from typing import TYPE_CHECKING

from xtile.dialects.registry import operations_by_name

if TYPE_CHECKING:
    from xtile.dialects.arith.casts import *
    from xtile.dialects.arith.comparisons import *
    from xtile.dialects.arith.floats import *
    from xtile.dialects.arith.integers import *

__getattr__ = operations_by_name("arith")
