"""What the types of memrefs and the lists of upstream's operations tell of sizes and strides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
from xdsl.ir import Attribute, Operation

from xtile.dialects.gpu.attributes import AddressSpaceAttr
from xtile.dialects.gpu.enumerations import AddressSpace
from xtile.rewrite.indices import Index


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

    def filled(self, numbers: Iterable[Index]) -> tuple[Index, list[Index], list[Index]]:
        """The offset, the sizes and the strides, with `numbers` for what is not known."""
        given = iter(numbers)
        offset, *rest = (
            next(given) if number is None else number
            for number in (self.offset, *self.sizes, *self.strides)
        )
        rank = len(self.sizes)
        return offset, rest[:rank], rest[rank:]

    def allocated_elements(self) -> int:
        """The elements of memory that is allocated for it, whose numbers must all be known.

        That is one stride for each entry of the outermost dimension, so that also the last has
        the padding which the strides leave behind the others.
        """
        offset, sizes, strides = self.filled(())
        pairs = [*zip(cast("list[int]", sizes), cast("list[int]", strides), strict=True)]
        if 0 in sizes:
            return cast("int", offset)
        span = 1 + sum((size - 1) * stride for size, stride in pairs)
        padded = max((size * stride for size, stride in pairs), default=1)
        return cast("int", offset) + max(span, padded)


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


_LOCAL = 3
"""The number by which MLIR's types call the memory of a work-group."""


def is_local(type_: MemRefType[Attribute]) -> bool:
    """Whether memory belongs to a work-group."""
    space = type_.memory_space
    if isinstance(space, IntegerAttr):
        return cast("IntegerAttr[IntegerType]", space).value.data == _LOCAL
    return isinstance(space, AddressSpaceAttr) and space.data is AddressSpace.WORKGROUP


def row_major(sizes: Sequence[int | None]) -> tuple[int | None, ...]:
    """The strides of memory without gaps, the last index varying fastest."""
    strides: list[int | None] = []
    stride: int | None = 1
    for size in reversed(sizes):
        strides.insert(0, stride)
        stride = None if size is None or stride is None else stride * size
    return tuple(strides)


def mixed(static: Attribute, dynamic: Iterable[Index]) -> list[Index]:
    """A list of numbers as upstream writes it: those that are known, and operands for others."""
    remaining = iter(dynamic)
    numbers = cast("DenseArrayBase[Any]", static).get_values()
    return [next(remaining) if n == DYNAMIC_INDEX else n for n in cast("Sequence[int]", numbers)]


def number_lists(operation: Operation, operands: Sequence[Index], *names: str) -> list[list[Index]]:
    """The lists of numbers that an operation has, with its operands for what is not known.

    Args:
        operation: The operation, whose properties `static_...` tell what is known.
        operands: Its operands in these lists, one list after the other.
        names: What the lists are called.
    """
    result: list[list[Index]] = []
    for name in names:
        static = operation.properties[f"static_{name}"]
        count = cast("Sequence[int]", cast(Any, static).get_values()).count(DYNAMIC_INDEX)
        result.append(mixed(static, operands[:count]))
        operands = operands[count:]
    return result


def kept_dimensions(operation: Operation) -> list[int]:
    """The dimensions of a subview's source that the result has; others have size 1.

    Among those of size 1, the ones with the strides of the result's type are kept. A size that is
    an operand is dynamic in the result's type, also where it is a constant.
    """
    static = cast(Any, operation.properties["static_sizes"])
    sizes = cast("Sequence[int]", static.get_values())
    result = cast("MemRefType[Attribute]", operation.results[0].type)
    shape = result.get_shape()
    if len(sizes) == len(shape):
        return list(range(len(sizes)))
    strides = layout_of(cast("MemRefType[Attribute]", operation.operands[0].type)).strides
    result_strides = layout_of(result).strides
    kept: list[int] = []
    for i, size in enumerate(sizes):
        position = len(kept)
        if position == len(shape):
            break
        is_needed = len(sizes) - i == len(shape) - position
        fits = size == shape[position]
        told = strides[i], result_strides[position]
        if is_needed or (fits and (size != 1 or None in told or told[0] == told[1])):
            kept.append(i)
    return kept
