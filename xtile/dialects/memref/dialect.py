"""The whole `memref` dialect, which loads every module of it."""

from xdsl.ir import Dialect

from xtile.dialects.memref import access, allocation, reshapes, views

MemRef = Dialect(
    "memref",
    [
        *access.OPERATIONS,
        *allocation.OPERATIONS,
        *reshapes.OPERATIONS,
        *views.OPERATIONS,
    ],
    [],
)
