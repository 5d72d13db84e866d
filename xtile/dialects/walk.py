"""All operations of a function, for what only looks at them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.ir import Operation


def walk(function: Operation) -> Iterator[Operation]:
    """An operation and all operations in it, in the order of the text.

    Each step of a route looks at whole kernels several times, and `Operation.walk` hands each
    operation through as many generators as there are regions around it. Here operations must not
    be added or erased on the way.
    """
    rest = [function]
    while rest:
        operation = rest.pop()
        yield operation
        for region in reversed(operation.regions):
            for block in reversed(region.blocks):
                rest += reversed(block.ops)
