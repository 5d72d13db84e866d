"""The whole `affine` dialect; its operations are here by their names.

They are xDSL's own where these lack nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Dialect

from xtile.dialects.affine import control, memory, numbers
from xtile.dialects.registry import operations_by_name

if TYPE_CHECKING:
    from xtile.dialects.affine.control import *
    from xtile.dialects.affine.memory import *
    from xtile.dialects.affine.numbers import *

Affine = Dialect("affine", [*control.OPERATIONS, *memory.OPERATIONS, *numbers.OPERATIONS], [])

__getattr__ = operations_by_name("affine")
