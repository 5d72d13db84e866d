"""The meaning of every operation."""

from __future__ import annotations

from xtile.semantics.compiler import Handler
from xtile.semantics.xegpu import (
    barriers,
    blocks,
    descriptors,
    matrix,
    product,
    scattered,
)

HANDLERS: dict[str, Handler] = {
    **barriers.HANDLERS,
    **blocks.HANDLERS,
    **descriptors.HANDLERS,
    **matrix.HANDLERS,
    **product.HANDLERS,
    **scattered.HANDLERS,
}
"""The handler of each operation, by name."""
