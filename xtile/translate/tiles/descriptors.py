"""What a memref is while a kernel is translated: where its elements are, as far as it is known."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from typing_extensions import override
from xdsl.ir import SSAValue

from xtile.rewrite import descriptors
from xtile.rewrite.indices import Index

GLOBAL_MEMORY = "global"
"""The memory of all arguments that may overlap, or any memory where it is not known which."""


Group = descriptors.Group
"""A memref of memrefs."""


@dataclass(frozen=True)
class Window:
    """The part of a larger memref that a memref is, with the strides of that one.

    Attributes:
        memory: The larger memref.
        starts: For each dimension of it the first index.
        axes: For each dimension of the part that of the larger memref.
    """

    memory: Descriptor
    starts: tuple[Index, ...]
    axes: tuple[int, ...]


@dataclass(frozen=True)
class Descriptor(descriptors.Descriptor):
    """A memref whose offset and strides count numbers in memory: a complex number has two.

    Attributes:
        alias_set: What the memory is: accesses of one alias set are ordered.
        window: The larger memref that it is a part of, if there is one.
        unbounded: The dimensions of whose extents nothing is known, which have any size here.
    """

    alias_set: Hashable = GLOBAL_MEMORY
    window: Window | None = None
    unbounded: frozenset[int] = frozenset()

    @property
    def rank(self) -> int:
        """How many dimensions it has."""
        return len(self.sizes)

    @override
    def moved(self, offset: Index, sizes: Iterable[Index], strides: Iterable[Index]) -> Self:
        view = super().moved(offset, sizes, strides)
        return replace(view, window=None, unbounded=frozenset())

    @override
    def transposed(self, order: Sequence[int]) -> Self:
        unbounded = frozenset(i for i, axis in enumerate(order) if axis in self.unbounded)
        return replace(super().transposed(order), unbounded=unbounded)


@dataclass(frozen=True)
class Complex:
    """A complex number by its parts."""

    real: SSAValue
    imaginary: SSAValue
