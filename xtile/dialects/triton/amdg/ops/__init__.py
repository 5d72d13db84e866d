"""The dialect's operations, each by its name; its family is loaded when it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xtile.dialects.registry import operations_of_families

if TYPE_CHECKING:
    from xtile.dialects.triton.amdg.ops.accesses import *
    from xtile.dialects.triton.amdg.ops.buffers import *
    from xtile.dialects.triton.amdg.ops.numbers import *
    from xtile.dialects.triton.amdg.ops.registers import *
    from xtile.dialects.triton.amdg.ops.scheduling import *
    from xtile.dialects.triton.amdg.ops.tensor_data_mover import *

__getattr__ = operations_of_families(
    __name__,
    (
        "accesses",
        "buffers",
        "numbers",
        "registers",
        "scheduling",
        "tensor_data_mover",
    ),
)
