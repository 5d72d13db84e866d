"""Where the elements of a memref are: its base, offset, sizes and strides, as far as known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    FixedBitwidthType,
    IndexType,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.core.pointers import PointerToIntegerOp
from xtile.dialects.core.views import ViewOp
from xtile.dialects.memref import views
from xtile.dialects.shared_attributes import numbers_attribute
from xtile.rewrite.folding import INDEX_WIDTH
from xtile.rewrite.indices import Index
from xtile.rewrite.memref_layouts import kept_dimensions
from xtile.translate.core_to_xegpu.lowering import INDEX, Lowering


@dataclass(frozen=True)
class Metadata:
    """The offset, the sizes and the strides of a memref, in elements."""

    offset: Index
    sizes: tuple[Index, ...]
    strides: tuple[Index, ...]


@dataclass(frozen=True)
class View:
    """A memref as a part of another one.

    Attributes:
        root: The memref whose memory it is.
        outer: Elements from the root's first one to where `offsets` count from.
        offsets: Where the view begins along each of its dimensions.
        sizes: Its sizes.
        strides: Its strides in elements.
    """

    root: SSAValue
    outer: Index
    offsets: tuple[Index, ...]
    sizes: tuple[Index, ...]
    strides: tuple[Index, ...]


def type_of(memory: SSAValue) -> MemRefType[Attribute]:
    """The type of a memref."""
    return cast("MemRefType[Attribute]", memory.type)


def size_of(element: Attribute) -> int:
    """Bytes of an element; an index has 64 bits."""
    if isinstance(element, IndexType):
        return INDEX_WIDTH // 8
    return cast(FixedBitwidthType, element).size


def static_strides(type_: MemRefType[Attribute]) -> tuple[int | None, ...]:
    """The strides that a type tells; None for what it does not."""
    if isinstance(type_.layout, StridedLayoutAttr):
        return tuple(None if isinstance(s, NoneAttr) else s.data for s in type_.layout.strides)
    strides: list[int | None] = []
    stride: int | None = 1
    for size in reversed(type_.get_shape()):
        strides.insert(0, stride)
        stride = None if size == DYNAMIC_INDEX or stride is None else stride * size
    return tuple(strides)


def static_offset(type_: MemRefType[Attribute]) -> int | None:
    """The offset that a type tells; None if it does not."""
    if isinstance(type_.layout, StridedLayoutAttr):
        offset = type_.layout.offset
        return None if isinstance(offset, NoneAttr) else offset.data
    return 0


def metadata_of(lowering: Lowering, memory: SSAValue) -> Metadata:
    """The offset, sizes and strides of a memref; what its type does not tell is read from it."""
    view = view_of(lowering, memory)
    offset = view.outer
    for start, stride in zip(view.offsets, view.strides, strict=True):
        offset = lowering.add(offset, lowering.multiply(start, stride))
    return Metadata(offset, view.sizes, view.strides)


def view_of(lowering: Lowering, memory: SSAValue) -> View:
    """Follows the operations that made a memref to the memory it is a part of."""
    owner = memory.owner
    if isinstance(owner, Operation):
        if owner.name == "memref.subview":
            return _subview(lowering, owner)
        if owner.name == "memref.reinterpret_cast":
            return _reinterpret_cast(lowering, owner)
        if owner.name == "memref.cast":
            return view_of(lowering, owner.operands[0])
        if isinstance(owner, ViewOp) and not owner.unknown_extents:
            return _behind_pointer(memory, owner)
    return _root(lowering, memory)


def _root(lowering: Lowering, memory: SSAValue) -> View:
    type_ = type_of(memory)
    shape, strides = type_.get_shape(), static_strides(type_)
    offset = static_offset(type_)
    sizes = [None if size == DYNAMIC_INDEX else size for size in shape]
    rank = len(shape)
    read: list[SSAValue] = []
    if None in (offset, *sizes, *strides):
        read = list(_strided_metadata(lowering, memory).results)
    return View(
        memory,
        read[1] if offset is None else offset,
        (0,) * rank,
        tuple(read[2 + i] if size is None else size for i, size in enumerate(sizes)),
        tuple(read[2 + rank + i] if s is None else s for i, s in enumerate(strides)),
    )


def _behind_pointer(memory: SSAValue, view: ViewOp) -> View:
    """What a pointer leads to: its numbers are those that it was made of."""
    (offset,) = mixed(view.static_offsets, view.offsets)
    sizes = mixed(view.static_sizes, view.sizes)
    strides = mixed(view.static_strides, view.strides)
    return View(memory, offset, (0,) * len(sizes), tuple(sizes), tuple(strides))


def _strided_metadata(lowering: Lowering, memory: SSAValue) -> Operation:
    def emit() -> Operation:
        operation = lowering.emit(memref.ExtractStridedMetaDataOp(memory))
        lowering.learn_metadata(memory, operation)
        return operation

    return lowering.shared(("metadata", memory), (memory,), emit)


def _subview(lowering: Lowering, operation: Operation) -> View:
    subview = cast("memref.SubviewOp", operation)
    source = view_of(lowering, subview.source)
    offsets = mixed(subview.static_offsets, subview.offsets)
    sizes = mixed(subview.static_sizes, subview.sizes)
    steps = mixed(subview.static_strides, subview.strides)
    kept = kept_dimensions(operation)
    outer = source.outer
    result: list[tuple[Index, Index, Index]] = []
    for i, (offset, size, step) in enumerate(zip(offsets, sizes, steps, strict=True)):
        start = lowering.add(source.offsets[i], offset)
        if i in kept and step == 1:
            result.append((start, size, source.strides[i]))
            continue
        outer = lowering.add(outer, lowering.multiply(start, source.strides[i]))
        if i in kept:
            result.append((0, size, lowering.multiply(source.strides[i], step)))
    starts, kept_sizes, strides = zip(*result, strict=True) if result else ((), (), ())
    return View(source.root, outer, starts, kept_sizes, strides)


def _reinterpret_cast(lowering: Lowering, operation: Operation) -> View:
    cast_ = cast("views.ReinterpretCastOp", operation)
    (offset,) = mixed(cast_.static_offsets, cast_.offsets)
    sizes = mixed(cast_.static_sizes, cast_.sizes)
    strides = mixed(cast_.static_strides, cast_.strides)
    source = cast_.source
    return View(source, offset, (0,) * len(sizes), tuple(sizes), tuple(strides))


def mixed(static: DenseArrayBase, dynamic: Sequence[SSAValue]) -> list[Index]:
    """A list of numbers and values, as upstream writes it."""
    remaining = iter(dynamic)
    numbers: Sequence[int] = cast("Any", static).get_values()
    return [next(remaining) if n == DYNAMIC_INDEX else n for n in numbers]


def static_and_dynamic(numbers: Sequence[Index]) -> tuple[DenseArrayBase, list[SSAValue]]:
    """A list of numbers and values as MLIR has it: the static numbers, and the values."""
    static = tuple(n if isinstance(n, int) else DYNAMIC_INDEX for n in numbers)
    return numbers_attribute(static), [n for n in numbers if not isinstance(n, int)]


def strided_view(
    lowering: Lowering,
    memory: SSAValue,
    offset: Index,
    sizes: Sequence[Index],
    strides: Sequence[Index],
) -> SSAValue:
    """A memref on the same memory with the given offset, sizes and strides."""
    type_ = type_of(memory)
    layout = StridedLayoutAttr(
        [s if isinstance(s, int) else None for s in strides],
        offset if isinstance(offset, int) else None,
    )
    shape = [n if isinstance(n, int) else DYNAMIC_INDEX for n in sizes]
    result = MemRefType(type_.element_type, shape, layout, type_.memory_space)
    static_offsets, offsets = static_and_dynamic([offset])
    static_sizes, dynamic_sizes = static_and_dynamic(sizes)
    static_strides_, dynamic_strides = static_and_dynamic(strides)
    operation = views.ReinterpretCastOp.build(
        operands=[memory, offsets, dynamic_sizes, dynamic_strides],
        result_types=[result],
        properties={
            "static_offsets": static_offsets,
            "static_sizes": static_sizes,
            "static_strides": static_strides_,
        },
    )
    return lowering.emit(operation).results[0]


def address_of(lowering: Lowering, root: SSAValue, offset: Index, size: int) -> SSAValue:
    """The address of an element as an i64.

    Args:
        lowering: Where to emit.
        root: The memref whose memory it is.
        offset: Elements from the first element of the memory.
        size: Bytes of an element.
    """
    base = lowering.shared(("address", root), (root,), lambda: _base(lowering, root))
    bytes_ = lowering.multiply(offset, size)
    if bytes_ == 0:
        return base
    distance = lowering.as_i64(lowering.as_value(bytes_))
    return lowering.shared(
        ("address", root, distance),
        (base, distance),
        lambda: lowering.emit(arith.AddiOp(base, distance)).result,
    )


def _base(lowering: Lowering, root: SSAValue) -> SSAValue:
    owner = root.owner
    if isinstance(owner, ViewOp):
        # The memory of a view may begin long before the pointer.
        address = PointerToIntegerOp.build(operands=[owner.pointer], result_types=[i64])
        return lowering.emit(address).result
    pointer = views.ExtractAlignedPointerAsIndexOp.build(operands=[root], result_types=[INDEX])
    return lowering.as_i64(lowering.emit(pointer).results[0])
