"""The dialect's operations, each by its name; its family is loaded when it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xtile.dialects.registry import operations_of_families

if TYPE_CHECKING:
    from xtile.dialects.triton.ttg.ops.async_copies import *
    from xtile.dialects.triton.ttg.ops.layouts import *
    from xtile.dialects.triton.ttg.ops.local_memory import *
    from xtile.dialects.triton.ttg.ops.miscellaneous import *
    from xtile.dialects.triton.ttg.ops.views import *
    from xtile.dialects.triton.ttg.ops.warps import *

__getattr__ = operations_of_families(
    __name__,
    (
        "async_copies",
        "layouts",
        "local_memory",
        "miscellaneous",
        "views",
        "warps",
    ),
)
