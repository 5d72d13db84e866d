"""The meanings of all operations of `ttg` and `amdg`, which say how tensors are spread.

Source: Triton 3.9, `TritonGPUOps.td`, `TritonAMDGPUOps.td`.
"""

from __future__ import annotations

from xtile.semantics.compiler import Handler
from xtile.semantics.triton import (
    buffers,
    copies,
    lane_accesses,
    products,
    shapes,
    shared_memory,
    tensor_data_mover,
    warps,
)
from xtile.semantics.triton.pointers import same

HANDLERS: dict[str, Handler] = {
    **buffers.HANDLERS,
    **copies.HANDLERS,
    **lane_accesses.HANDLERS,
    **products.HANDLERS,
    **shapes.HANDLERS,
    **shared_memory.HANDLERS,
    **tensor_data_mover.HANDLERS,
    **warps.HANDLERS,
    "amdg.in_thread_transpose": same,
    "ttg.convert_layout": same,
}
"""The handler of each operation, by name."""
