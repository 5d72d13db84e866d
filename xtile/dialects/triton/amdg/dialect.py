"""The whole `amdg` dialect, which loads every module of it."""

from __future__ import annotations

from xdsl.ir import Dialect, Operation

from xtile.dialects.triton.amdg import attributes
from xtile.dialects.triton.amdg.ops import (
    accesses,
    buffers,
    numbers,
    registers,
    scheduling,
    tensor_data_mover,
)

OPERATIONS: list[type[Operation]] = [
    *accesses.OPERATIONS,
    *buffers.OPERATIONS,
    *numbers.OPERATIONS,
    *registers.OPERATIONS,
    *scheduling.OPERATIONS,
    *tensor_data_mover.OPERATIONS,
]
"""Every operation of every release."""

AMDG = Dialect("amdg", OPERATIONS, attributes.ATTRIBUTES)
"""The `amdg` dialect: what kernels have for AMD's GPUs only."""
