"""What the rules share: the level that a kernel is taken to, and what descriptors have become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import SSAValue

from xtile.dialects.core.attributes import Level
from xtile.dialects.xegpu.types import MemDescType
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import RuleTable
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source
from xtile.translate.xegpu_to_core.vectors import VectorEmitter


@dataclass(frozen=True)
class Block:
    """A descriptor of a block.

    Attributes:
        memory: The region, as a memref with its shape and strides.
        offsets: Where the block begins in each dimension of the region.
    """

    memory: SSAValue
    offsets: tuple[Index, ...]

    @property
    def rank(self) -> int:
        """The dimensions of the region."""
        return len(self.offsets)


@dataclass(frozen=True)
class Points:
    """A descriptor of scattered points.

    Attributes:
        memory: The memory that offsets are counted in, with one dimension.
        offsets: The offset of each point in elements, a vector.
    """

    memory: SSAValue
    offsets: SSAValue


@dataclass(frozen=True)
class Matrix:
    """A descriptor of a matrix in local memory.

    Attributes:
        memory: Its elements in the order of memory, with one dimension.
        type: The type, which has the layout.
    """

    memory: SSAValue
    type: MemDescType


@dataclass(frozen=True)
class Barrier:
    """A named barrier.

    Attributes:
        threads: How many subgroups wait for each other, if the text tells.
    """

    threads: int | None


Meaning: TypeAlias = SSAValue | Block | Points | Matrix | Barrier
"""What a value has become."""


class Raising(VectorEmitter):
    """Rebuilds kernels of XeGPU as those of the core form.

    Args:
        rules: What becomes of each operation.
        source: The text of the source, for messages.
        diagnostics: Where remarks go; None drops them.

    Attributes:
        level: What the kernel that is being rebuilt describes.
        subgroup_size: The work-items of its subgroups.
        subgroups: The subgroups of its work-group, if that is known.
        unpacked: Vectors that have been packed, as they were before.
    """

    def __init__(
        self, rules: RuleTable, source: Source | None, diagnostics: Diagnostics | None
    ) -> None:
        super().__init__(rules, "the core form", source, diagnostics)
        self.level = Level.SUBGROUP
        self.subgroup_size = 1
        self.subgroups: int | None = None
        self.unpacked: dict[SSAValue, SSAValue] = {}

    @property
    def is_of_tiles(self) -> bool:
        """Whether the whole work-group executes the kernel as one."""
        return self.level is Level.TILE

    def numbers(self, mixed: Sequence[SSAValue | int]) -> tuple[Index, ...]:
        """What a list such as `[%i, 4]` has become."""
        return tuple(each if isinstance(each, int) else self.value(each) for each in mixed)
