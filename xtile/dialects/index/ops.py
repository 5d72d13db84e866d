"""The `index` dialect's operations, each by its name."""

from typing import TYPE_CHECKING

from xtile.dialects.registry import operations_by_name

if TYPE_CHECKING:
    from xtile.dialects.index import *

__getattr__ = operations_by_name("index")
