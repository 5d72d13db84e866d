"""The whole `ttg` dialect, which loads every module of it."""

from __future__ import annotations

from xdsl.ir import Dialect, Operation

from xtile.dialects.triton.encodings import distributed, matrix_units, shared
from xtile.dialects.triton.ttg import types
from xtile.dialects.triton.ttg.ops import (
    async_copies,
    layouts,
    local_memory,
    miscellaneous,
    views,
    warps,
)

OPERATIONS: list[type[Operation]] = [
    *async_copies.OPERATIONS,
    *layouts.OPERATIONS,
    *local_memory.OPERATIONS,
    *miscellaneous.OPERATIONS,
    *views.OPERATIONS,
    *warps.OPERATIONS,
]
"""Every operation of every release."""

TTG = Dialect(
    "ttg",
    OPERATIONS,
    [*types.TYPES, *distributed.ATTRIBUTES, *matrix_units.ATTRIBUTES, *shared.ATTRIBUTES],
)
"""The `ttg` dialect: kernels on tensors whose layouts are chosen."""
