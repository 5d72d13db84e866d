"""What a memref is while a kernel is translated: where its elements are, as far as it is known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
)
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.spirv import PointerType

Number = SSAValue | int
"""An index: an i64 value, or a number that is known."""


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
    offset: Number
    sizes: tuple[Number, ...]
    strides: tuple[Number, ...]
    alignment: int

    @property
    def storage_class(self) -> str:
        """The storage class of the memory, such as `CrossWorkgroup`."""
        return cast(PointerType, self.pointer.type).storage_class.data

    def with_place(
        self, offset: Number, sizes: Iterable[Number], strides: Iterable[Number]
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
    sizes: tuple[Number, ...]
    strides: tuple[Number, ...]
    count: Number
    alignment: int


@dataclass(frozen=True)
class Layout:
    """What a memref's type tells; None for what it does not.

    Attributes:
        offset: Elements from the start of the memory to the first one.
        sizes: The size of each dimension.
        strides: The stride of each dimension.
    """

    offset: int | None
    sizes: tuple[int | None, ...]
    strides: tuple[int | None, ...]

    @property
    def unknowns(self) -> int:
        """How many of the numbers are not known."""
        return (self.offset, *self.sizes, *self.strides).count(None)

    def filled(self, numbers: Iterable[Number]) -> tuple[Number, list[Number], list[Number]]:
        """The offset, the sizes and the strides, with `numbers` for what is not known."""
        given = iter(numbers)
        offset, *rest = (
            next(given) if number is None else number
            for number in (self.offset, *self.sizes, *self.strides)
        )
        rank = len(self.sizes)
        return offset, rest[:rank], rest[rank:]


def layout_of(type_: MemRefType[Attribute]) -> Layout:
    """What a memref's type tells.

    Raises:
        ValueError: Its layout is not one of strides.
    """
    sizes = tuple(None if size == DYNAMIC_INDEX else size for size in type_.get_shape())
    layout = type_.layout
    if isinstance(layout, NoneAttr):
        return Layout(0, sizes, row_major(sizes))
    if isinstance(layout, StridedLayoutAttr):
        offset = None if isinstance(layout.offset, NoneAttr) else layout.offset.data
        strides = (None if isinstance(s, NoneAttr) else s.data for s in layout.strides)
        return Layout(offset, sizes, tuple(strides))
    strides, offset = type_.get_strides(), type_.get_offset()
    if strides is None:
        raise ValueError(f"the layout of {type_} is not one of strides")
    return Layout(offset, sizes, tuple(strides))


def row_major(sizes: Sequence[int | None]) -> tuple[int | None, ...]:
    """The strides of memory without gaps, the last index varying fastest."""
    strides: list[int | None] = []
    stride: int | None = 1
    for size in reversed(sizes):
        strides.insert(0, stride)
        stride = None if size is None or stride is None else stride * size
    return tuple(strides)


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


def mixed(static: Attribute, dynamic: Iterable[Number]) -> list[Number]:
    """A list of numbers as upstream writes it: those that are known, and operands for others."""
    remaining = iter(dynamic)
    numbers = cast("DenseArrayBase[Any]", static).get_values()
    return [next(remaining) if n == DYNAMIC_INDEX else n for n in cast("Sequence[int]", numbers)]
