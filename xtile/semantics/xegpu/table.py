"""The meaning of every operation."""

from __future__ import annotations

from xtile.semantics.compiler import Handler
from xtile.semantics.xegpu import blocks, descriptors, product

HANDLERS: dict[str, Handler] = {
    **blocks.HANDLERS,
    **descriptors.HANDLERS,
    **product.HANDLERS,
}
"""The handler of each operation, by name."""
