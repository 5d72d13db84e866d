"""What is too large for the reference device, found out before it takes all memory."""

from __future__ import annotations

import math
import os
from functools import cache
from typing import Any

from xdsl.ir import Operation

from xtile.semantics.errors import UnlocatedError

_MOST_ELEMENTS = 1 << 28
"""Elements of a vector, a matrix or a tile that is computed with."""

_VIEWS = ("memref", "tensor_view")
"""How the names of types end that only show memory, of any size, which may not be known."""


def check_values(operation: Operation) -> None:
    """Checks the sizes of the values that an operation gives.

    Constants need not be checked: equal elements take no memory.

    Raises:
        UnlocatedError: One is too large.
    """
    if operation.name.endswith(".constant"):
        return
    for result in operation.results:
        kind: Any = result.type
        if not hasattr(kind, "get_shape") or kind.name.endswith(_VIEWS):
            continue
        elements = math.prod(kind.get_shape())
        if elements > _MOST_ELEMENTS:
            raise UnlocatedError(
                f"a value of {elements} elements is too large to be computed with; the reference "
                f"device takes up to {_MOST_ELEMENTS}"
            )


def check_memory(size: int) -> None:
    """Checks that so many bytes can be there.

    Raises:
        MemoryError: They cannot.
    """
    if size > _physical_memory():
        raise MemoryError(f"{size} bytes are asked for")


@cache
def _physical_memory() -> int:
    """Bytes of the machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


TOO_LITTLE = "this needs more memory than there is"
"""What is said of an operation that raises a MemoryError."""
