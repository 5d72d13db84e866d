"""The whole `linalg` dialect, which loads every module of it."""

from xdsl.dialects import linalg
from xdsl.ir import Dialect

from xtile.dialects.linalg import elementwise, generic, products
from xtile.dialects.linalg.attributes import TypeFnAttr
from xtile.dialects.upstream import replaced

Linalg = Dialect(
    "linalg",
    replaced(
        linalg.Linalg.operations,
        [*elementwise.OPERATIONS, *generic.OPERATIONS, *products.OPERATIONS],
    ),
    [*linalg.Linalg.attributes, TypeFnAttr],
)
