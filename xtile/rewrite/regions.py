"""Memory as a region of another shape: that of a memref, or what lies at an address."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    i64,
)
from xdsl.dialects.memref import ExtractStridedMetaDataOp
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.core.pointers import (
    IntegerToPointerOp,
    PointerCastOp,
    PointerToIntegerOp,
    PointerType,
)
from xtile.dialects.core.views import ViewOp
from xtile.dialects.memref.views import ReinterpretCastOp
from xtile.rewrite.indices import Index
from xtile.rewrite.memref_layouts import Layout, row_major
from xtile.rewrite.rebuilder import Rebuilder


def offset_of(rebuilder: Rebuilder, memory: SSAValue, layout: Layout) -> Index:
    """How far a memref begins behind the start of its memory, in elements."""
    if layout.offset is not None:
        return layout.offset
    return rebuilder.shared(
        (ExtractStridedMetaDataOp, memory),
        (memory,),
        lambda: rebuilder.emit(ExtractStridedMetaDataOp(memory)).offset,
    )


def view_at(
    rebuilder: Rebuilder,
    address: SSAValue,
    element: Attribute,
    sizes: tuple[Index, ...],
    strides: tuple[Index, ...],
) -> SSAValue:
    """What lies at an address, as memory of a shape and strides."""
    type_ = PointerType.to(element)

    def emit() -> SSAValue:
        pointer = rebuilder.emit(_pointer(address, type_)).results[0]
        operation = ViewOp.build(
            operands=[pointer, [], _unknown(sizes), _unknown(strides)],
            result_types=[_memref_type(element, 0, sizes, strides, None)],
            properties={
                "static_offsets": _static((0,)),
                "static_sizes": _static(sizes),
                "static_strides": _static(strides),
            },
        )
        return rebuilder.emit(operation).result

    operands = (address, *_unknown(sizes), *_unknown(strides))
    return rebuilder.shared((ViewOp, element, address, *sizes, *strides), operands, emit)


def _pointer(address: SSAValue, type_: PointerType) -> Operation:
    """The pointer of an address, which is that of a parameter if the address is."""
    owner = address.owner
    if isinstance(owner, PointerToIntegerOp):
        return PointerCastOp.build(operands=[owner.operands[0]], result_types=[type_])
    return IntegerToPointerOp.build(operands=[address], result_types=[type_])


def reinterpreted(
    rebuilder: Rebuilder,
    memory: SSAValue,
    offset: Index,
    sizes: tuple[Index, ...],
    strides: tuple[Index, ...],
) -> SSAValue:
    """The memory of a memref with another offset, shape and strides."""
    source = cast("MemRefType[Attribute]", memory.type)
    type_ = _memref_type(source.element_type, offset, sizes, strides, source.memory_space)
    if type_ == source:
        return memory

    def emit() -> SSAValue:
        operation = ReinterpretCastOp.build(
            operands=[memory, _unknown((offset,)), _unknown(sizes), _unknown(strides)],
            result_types=[type_],
            properties={
                "static_offsets": _static((offset,)),
                "static_sizes": _static(sizes),
                "static_strides": _static(strides),
            },
        )
        return rebuilder.emit(operation).result

    operands = (memory, *_unknown((offset, *sizes, *strides)))
    return rebuilder.shared((ReinterpretCastOp, memory, offset, *sizes, *strides), operands, emit)


def _memref_type(
    element: Attribute,
    offset: Index,
    sizes: tuple[Index, ...],
    strides: tuple[Index, ...],
    space: Attribute | None,
) -> MemRefType[Attribute]:
    shape = [size if isinstance(size, int) and size >= 0 else DYNAMIC_INDEX for size in sizes]
    known = [stride if isinstance(stride, int) else None for stride in strides]
    start = offset if isinstance(offset, int) else None
    extents = [None if size == DYNAMIC_INDEX else size for size in shape]
    is_packed = start == 0 and list(row_major(extents)) == known
    layout = NoneAttr() if is_packed else StridedLayoutAttr(known, start)
    return MemRefType(element, shape, layout, space or NoneAttr())


def _unknown(numbers: tuple[Index, ...]) -> list[SSAValue]:
    return [number for number in numbers if not isinstance(number, int)]


def _static(numbers: tuple[Index, ...]) -> DenseArrayBase:
    given = [number if isinstance(number, int) else DYNAMIC_INDEX for number in numbers]
    return DenseArrayBase.from_list(i64, given)
