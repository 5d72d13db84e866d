"""The whole `gpu` dialect; its operations are here by their names.

They are xDSL's own where these lack nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from xtile.dialects.registry import operations_by_name

if TYPE_CHECKING:
    from xtile.dialects.gpu.functions import *
    from xtile.dialects.gpu.indices import *
    from xtile.dialects.gpu.launch import *
    from xtile.dialects.gpu.launch_func import *
    from xtile.dialects.gpu.memory import *
    from xtile.dialects.gpu.modules import *
    from xtile.dialects.gpu.subgroups import *

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

__getattr__ = operations_by_name("gpu")
