"""The meanings of all operations of `tt`."""

from __future__ import annotations

from xtile.semantics.compiler import Handler
from xtile.semantics.triton import (
    aggregates,
    atomics,
    descriptors,
    external,
    memory,
    numbers,
    pointers,
    products,
    programs,
    shapes,
)
from xtile.semantics.upstream.func import call

HANDLERS: dict[str, Handler] = {
    **aggregates.HANDLERS,
    **atomics.HANDLERS,
    **descriptors.HANDLERS,
    **external.HANDLERS,
    **memory.HANDLERS,
    **numbers.HANDLERS,
    **pointers.HANDLERS,
    **products.HANDLERS,
    **programs.HANDLERS,
    **shapes.HANDLERS,
    "tt.call": call,
}
"""The handler of each operation, by name."""
