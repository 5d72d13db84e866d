"""What a memref is while a kernel is translated: where its elements are, as far as it is known."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue

from xtile.rewrite.indices import Index

GLOBAL_MEMORY = "global"
"""The memory of all arguments that may overlap, or any memory where it is not known which."""


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
class Descriptor:
    """A memref: element (i, j, ..) is `offset + i * strides[0] + j * strides[1] + ..`.

    Offset and strides count numbers in memory, of which a complex number has two.

    Attributes:
        pointer: Points to number 0 of the memory.
        element: The type of the elements, as the memref's type names it.
        offset: Numbers from there to the memref's first one.
        sizes: The size of each dimension.
        strides: Numbers between neighbours in each dimension.
        alignment: Bytes that the pointer is a multiple of.
        alias_set: What the memory is: accesses of one alias set are ordered.
        window: The larger memref that it is a part of, if there is one.
        unbounded: The dimensions of whose extents nothing is known, which have any size here.
    """

    pointer: SSAValue
    element: Attribute
    offset: Index
    sizes: tuple[Index, ...]
    strides: tuple[Index, ...]
    alignment: int
    alias_set: Hashable = GLOBAL_MEMORY
    window: Window | None = None
    unbounded: frozenset[int] = frozenset()

    @property
    def rank(self) -> int:
        """How many dimensions it has."""
        return len(self.sizes)

    def moved(self, offset: Index, sizes: Iterable[Index], strides: Iterable[Index]) -> Descriptor:
        """Other elements of the same memory."""
        return replace(
            self,
            offset=offset,
            sizes=tuple(sizes),
            strides=tuple(strides),
            window=None,
            unbounded=frozenset(),
        )


@dataclass(frozen=True)
class Group:
    """A memref of memrefs, which kernels get as arrays of addresses, sizes and strides.

    Attributes:
        type: The type of the memrefs.
        addresses: Points to the addresses.
        sizes: For each dimension its size, or a pointer to the sizes of all memrefs.
        strides: For each dimension its stride, or a pointer to the strides of all memrefs.
        count: The number of memrefs.
        alignment: Bytes that the addresses are multiples of.
    """

    type: MemRefType[Attribute]
    addresses: SSAValue
    sizes: tuple[Index, ...]
    strides: tuple[Index, ...]
    count: Index
    alignment: int


@dataclass(frozen=True)
class Complex:
    """A complex number by its parts."""

    real: SSAValue
    imaginary: SSAValue
