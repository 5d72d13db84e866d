"""The whole `linalg` dialect; its operations are here by their names.

They are xDSL's own where these lack nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects import linalg
from xdsl.ir import Dialect

from xtile.dialects.linalg import elementwise, generic, products
from xtile.dialects.linalg.structure import TypeFnAttr
from xtile.dialects.registry import operations_by_name
from xtile.dialects.upstream import replaced

if TYPE_CHECKING:
    from xtile.dialects.linalg.elementwise import *
    from xtile.dialects.linalg.generic import *
    from xtile.dialects.linalg.products import *

Linalg = Dialect(
    "linalg",
    replaced(
        linalg.Linalg.operations,
        [*elementwise.OPERATIONS, *generic.OPERATIONS, *products.OPERATIONS],
    ),
    [*linalg.Linalg.attributes, TypeFnAttr],
)

__getattr__ = operations_by_name("linalg")
