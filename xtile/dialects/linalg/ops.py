"""The `linalg` dialect's operations, each by its name: xDSL's own where they lack nothing."""

from typing import TYPE_CHECKING

from xtile.dialects.registry import operations_by_name

if TYPE_CHECKING:
    from xtile.dialects.linalg.elementwise import *
    from xtile.dialects.linalg.generic import *
    from xtile.dialects.linalg.products import *

__getattr__ = operations_by_name("linalg")
