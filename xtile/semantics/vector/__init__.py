"""The meaning of the `vector` dialect.

A vector is an array with the axes (rows, lanes, *shape); see `xtile.semantics.state`.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td`; docs/semantics.md, "Upstream dialects".
"""

from __future__ import annotations

from xtile.semantics.compiler import Handler
from xtile.semantics.vector import (
    elements,
    masks,
    memory,
    printing,
    products,
    reductions,
    shapes,
    transfers,
)

HANDLERS: dict[str, Handler] = {
    **elements.HANDLERS,
    **masks.HANDLERS,
    **memory.HANDLERS,
    **printing.HANDLERS,
    **products.HANDLERS,
    **reductions.HANDLERS,
    **shapes.HANDLERS,
    **transfers.HANDLERS,
}
"""The handler of each operation, by name."""
