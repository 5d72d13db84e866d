"""The meanings of all operations of `tt`, and of `ttg` and `amdg`, which spread tensors.

Source: Triton 3.9, `TritonOps.td`, `TritonGPUOps.td`, `TritonAMDGPUOps.td`.
"""

from __future__ import annotations

from xtile.semantics.compiler import Handler
from xtile.semantics.triton import (
    aggregates,
    atomics,
    buffers,
    copies,
    descriptors,
    external,
    lane_accesses,
    memory,
    numbers,
    products,
    programs,
    shapes,
    shared_memory,
    tensor_data_mover,
    warps,
)
from xtile.semantics.triton.tensors import same
from xtile.semantics.upstream.func import call

HANDLERS: dict[str, Handler] = {
    **aggregates.HANDLERS,
    **atomics.HANDLERS,
    **buffers.HANDLERS,
    **copies.HANDLERS,
    **descriptors.HANDLERS,
    **external.HANDLERS,
    **lane_accesses.HANDLERS,
    **memory.HANDLERS,
    **numbers.HANDLERS,
    **products.HANDLERS,
    **programs.HANDLERS,
    **shapes.HANDLERS,
    **shared_memory.HANDLERS,
    **tensor_data_mover.HANDLERS,
    **warps.HANDLERS,
    "amdg.in_thread_transpose": same,
    "tt.call": call,
    "ttg.convert_layout": same,
}
"""The handler of each operation, by name."""
