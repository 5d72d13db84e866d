"""The meanings of all operations of `ttg` and `amdg`, which say how tensors are spread.

Source: Triton 3.9, `TritonGPUOps.td`, `TritonAMDGPUOps.td`.
"""

from __future__ import annotations

from xtile.semantics.compiler import Handler
from xtile.semantics.triton import buffers, copies, products, shapes, shared_memory, warps
from xtile.semantics.triton.pointers import same

HANDLERS: dict[str, Handler] = {
    **buffers.HANDLERS,
    **copies.HANDLERS,
    **products.HANDLERS,
    **shapes.HANDLERS,
    **shared_memory.HANDLERS,
    **warps.HANDLERS,
    "amdg.in_thread_transpose": same,
    "ttg.convert_layout": same,
}
"""The handler of each operation, by name."""
