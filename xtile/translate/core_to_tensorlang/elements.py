"""What work-items hold that the tensor language has not: vectors, and XeGPU's blocks of memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xtile.rewrite.indices import Index
from xtile.translate.core_to_tensorlang.memory import Memory, Root


@dataclass(frozen=True)
class Elements:
    """A vector of a work-item.

    Attributes:
        shape: Its shape.
        values: What its elements have become, in row-major order.
    """

    shape: tuple[int, ...]
    values: tuple[Any, ...]


@dataclass(frozen=True)
class BlockOfMemory:
    """What a descriptor of XeGPU describes.

    Attributes:
        memory: The memory.
        offsets: Where the block begins in each dimension.
    """

    memory: Memory
    offsets: tuple[Index, ...]

    @property
    def root(self) -> Root:
        """Where the memory comes from."""
        return self.memory.root
