"""Memory as a region of another shape: that of a memref, or what lies at an address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IndexType,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    i8,
    i64,
)
from xdsl.dialects.memref import ExtractStridedMetaDataOp
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.arith.casts import IndexCastOp
from xtile.dialects.core.pointers import (
    IntegerToPointerOp,
    PointerAddOp,
    PointerCastOp,
    PointerToIntegerOp,
    PointerType,
)
from xtile.dialects.core.views import ViewOp
from xtile.dialects.memref.views import ReinterpretCastOp
from xtile.dialects.shapes import bits_of
from xtile.rewrite.facts import constant_of
from xtile.rewrite.indices import ArithBuilder, Index
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
    rebuilder: ArithBuilder,
    address: SSAValue,
    element: Attribute,
    sizes: tuple[Index, ...],
    strides: tuple[Index, ...],
) -> SSAValue:
    """What lies at an address, as memory of a shape and strides."""
    type_ = PointerType.to(element)

    def emit() -> SSAValue:
        pointer = _pointer(rebuilder, address, type_)
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


def _pointer(builder: ArithBuilder, address: SSAValue, type_: PointerType) -> SSAValue:
    """The pointer of an address: behind that of a parameter if the address is."""
    base, offsets = _behind(address)
    if base is None:
        made = IntegerToPointerOp.build(operands=[address], result_types=[type_])
        return builder.emit(made).results[0]
    size = max(1, bits_of(type_.pointee_type) // 8)
    elements = [_elements(builder, offset, size) for offset in offsets]
    known = [each for each in elements if each is not None]
    if len(known) == len(elements):
        return _moved(builder, _cast(builder, base, type_), known)
    return _cast(builder, _moved(builder, _cast(builder, base, _BYTE), offsets), type_)


_BYTE = PointerType.to(i8)


def _cast(builder: ArithBuilder, pointer: SSAValue, type_: PointerType) -> SSAValue:
    made = PointerCastOp.build(operands=[pointer], result_types=[type_])
    return builder.emit(made).results[0]


def _moved(builder: ArithBuilder, pointer: SSAValue, offsets: Sequence[Index]) -> SSAValue:
    for offset in offsets:
        operands = [pointer, builder.as_value(offset)]
        pointer = builder.emit(
            PointerAddOp.build(operands=operands, result_types=[pointer.type])
        ).result
    return pointer


def _behind(address: SSAValue) -> tuple[SSAValue | None, tuple[SSAValue, ...]]:
    """The one pointer that an address is computed of, and numbers of bytes that are added to it."""
    owner = address.owner
    if isinstance(owner, PointerToIntegerOp):
        return owner.operands[0], ()
    if not isinstance(owner, arith.AddiOp):
        return None, ()
    (left, behind_left), (right, behind_right) = map(_behind, owner.operands)
    if left is not None and right is None:
        return left, (*behind_left, owner.rhs)
    if right is not None and left is None:
        return right, (*behind_right, owner.lhs)
    return None, ()


def _elements(builder: ArithBuilder, offset: SSAValue, size: int) -> Index | None:
    """How many elements of a size some bytes are, if the text tells that they are whole ones."""
    number, owner = constant_of(offset), offset.owner
    if number is not None:
        return None if number % size else number // size
    if isinstance(owner, IndexCastOp) and _has_all_bits(owner.operands[0]):
        return _elements(builder, owner.operands[0], size)
    if isinstance(owner, arith.AddiOp | arith.SubiOp):
        left, right = (_elements(builder, operand, size) for operand in owner.operands)
        if left is None or right is None:
            return None
        is_sum = isinstance(owner, arith.AddiOp)
        return builder.add(left, right) if is_sum else builder.subtract(left, right)
    if isinstance(owner, arith.MuliOp):
        for factor, other in (owner.operands, reversed(owner.operands)):
            elements = _elements(builder, factor, size)
            if elements is not None:
                return builder.multiply(elements, _index(builder, other))
    return None


def _has_all_bits(value: SSAValue) -> bool:
    return value.type in (IndexType(), i64)


def _index(builder: ArithBuilder, value: SSAValue) -> SSAValue:
    if value.type == IndexType():
        return value
    return builder.pure(_as_index, value)


def _as_index(value: SSAValue) -> IndexCastOp:
    return IndexCastOp(value, IndexType())


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
