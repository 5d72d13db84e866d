"""What a memref is while a kernel is translated: where its elements are, as far as it is known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, IntegerType, MemRefType, NoneAttr
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.spirv import PointerType
from xtile.rewrite.indices import Index
from xtile.rewrite.memref_layouts import Layout, layout_of, row_major

__all__ = [
    "Descriptor",
    "Group",
    "Index",
    "Layout",
    "layout_of",
    "row_major",
    "storage_class_of",
]


@dataclass(frozen=True)
class Descriptor:
    """A memref: element (i, j, ..) is `offset + i * strides[0] + j * strides[1] + ..`.

    Attributes:
        pointer: Points to element 0 of the memory.
        element: The type of the elements, as the memref's type names it.
        offset: Elements from there to the memref's first one.
        sizes: The size of each dimension.
        strides: Elements between neighbours in each dimension.
        alignment: Bytes that the pointer is a multiple of.
    """

    pointer: SSAValue
    element: Attribute
    offset: Index
    sizes: tuple[Index, ...]
    strides: tuple[Index, ...]
    alignment: int

    @property
    def storage_class(self) -> str:
        """The storage class of the memory, such as `CrossWorkgroup`."""
        return cast(PointerType, self.pointer.type).storage_class.data

    def with_location(
        self, offset: Index, sizes: Iterable[Index], strides: Iterable[Index]
    ) -> Descriptor:
        """Other elements of the same memory."""
        return replace(self, offset=offset, sizes=tuple(sizes), strides=tuple(strides))


@dataclass(frozen=True)
class Group:
    """A memref of memrefs, which kernels get as arrays of pointers, sizes and strides.

    Attributes:
        type: The type of the memrefs.
        pointers: Points to the pointers.
        sizes: For each dimension its size, or a pointer to the sizes of all memrefs.
        strides: For each dimension its stride, or a pointer to the strides of all memrefs.
        count: The number of memrefs.
        alignment: Bytes that the pointers are multiples of.
    """

    type: MemRefType[Attribute]
    pointers: SSAValue
    sizes: tuple[Index, ...]
    strides: tuple[Index, ...]
    count: Index
    alignment: int


_STORAGE_CLASSES = {1: "CrossWorkgroup", 3: "Workgroup", 5: "Function"}
"""The storage class of each memory space that LLVM numbers."""

_STORAGE_CLASS_WORDS = {
    "crossworkgroup": "CrossWorkgroup",
    "global": "CrossWorkgroup",
    "workgroup": "Workgroup",
    "slm": "Workgroup",
    "private": "Function",
    "function": "Function",
}
"""Words in the names of memory spaces: `#gpu.address_space<workgroup>`, `#xegpu.memory_space<slm>`,
`#spirv.storage_class<Function>`; the first that is found counts."""


def storage_class_of(space: Attribute | None, default: str = "CrossWorkgroup") -> str:
    """The storage class of a memory space.

    Args:
        space: What a memref's type names.
        default: The storage class if it names nothing.
    """
    if space is None or isinstance(space, NoneAttr):
        return default
    if isinstance(space, IntegerAttr):
        number = cast("IntegerAttr[IntegerType]", space).value.data
        return _STORAGE_CLASSES.get(number, default)
    text = str(space).lower()
    found = [name for word, name in _STORAGE_CLASS_WORDS.items() if word in text]
    return found[0] if found else default
