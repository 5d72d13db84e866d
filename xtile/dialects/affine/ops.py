"""The `affine` dialect's operations, each by its name: xDSL's own where they lack nothing."""

from typing import TYPE_CHECKING

from xtile.dialects.registry import operations_by_name

if TYPE_CHECKING:
    from xtile.dialects.affine.control import *
    from xtile.dialects.affine.memory import *
    from xtile.dialects.affine.numbers import *

__getattr__ = operations_by_name("affine")
