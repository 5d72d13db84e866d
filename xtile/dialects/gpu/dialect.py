"""The whole `gpu` dialect, which loads every module of it."""

from xdsl.dialects.gpu import AsyncTokenType
from xdsl.ir import Dialect

from xtile.dialects.gpu import (
    attributes,
    functions,
    indices,
    launch,
    launch_func,
    memory,
    modules,
    objects,
    subgroups,
)

GPU = Dialect(
    "gpu",
    [
        *functions.OPERATIONS,
        *indices.OPERATIONS,
        *launch.OPERATIONS,
        *launch_func.OPERATIONS,
        *memory.OPERATIONS,
        *modules.OPERATIONS,
        *subgroups.OPERATIONS,
    ],
    [*attributes.ATTRIBUTES, *objects.ATTRIBUTES, AsyncTokenType],
)
