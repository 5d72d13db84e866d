"""Views on memory: subview, expand, fuse, size, and the memrefs of groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    MemRefType,
    i64,
)
from xdsl.dialects.builtin import I64 as I64Type
from xdsl.ir import SSAValue

from xtile.dialects.tensorlang.operation import integer_value
from xtile.dialects.tensorlang.ops import memory as ops
from xtile.dialects.tensorlang.types import DYNAMIC, INDEX, GroupType
from xtile.translate.rule import Rebuilder, Rules
from xtile.translate.tensorlang_to_core.arithmetic import compare
from xtile.translate.tensorlang_to_core.emit import emit, make
from xtile.translate.tensorlang_to_core.functions import Group
from xtile.translate.tensorlang_to_core.types import (
    shape_of,
    strided_type,
    strides_of,
    type_of,
)

Number: TypeAlias = SSAValue | int
"""An `index` value, or a number that is known."""


@dataclass(frozen=True)
class Layout:
    """Where the elements of a memref are; sizes and strides outermost first, in elements."""

    offset: Number
    sizes: Sequence[Number]
    strides: Sequence[Number]


def layout_of(r: Rebuilder, memref: SSAValue) -> Layout:
    """The layout of a memref; what its type leaves open is emitted."""
    type = type_of(memref)
    offset, sizes, strides = type.get_offset(), shape_of(type), strides_of(type)
    if None not in (offset, *sizes, *strides):
        return Layout(_known(offset), [*map(_known, sizes)], [*map(_known, strides)])
    rank = len(sizes)
    base = MemRefType(type.element_type, [], memory_space=type.memory_space)
    operation = make(
        "memref.extract_strided_metadata", [memref], [base, INDEX, [INDEX] * rank, [INDEX] * rank]
    )
    _, first, *rest = r.emit(operation).results
    return Layout(
        first if offset is None else offset,
        [value if size is None else size for size, value in zip(sizes, rest[:rank], strict=True)],
        [value if n is None else n for n, value in zip(strides, rest[rank:], strict=True)],
    )


def _known(number: int | None) -> int:
    assert number is not None
    return number


def with_layout(r: Rebuilder, memref: SSAValue, layout: Layout) -> SSAValue:
    """Another view on the memory of a memref."""
    type = type_of(memref)
    result = strided_type(
        type.element_type,
        [*map(_static, layout.sizes)],
        [*map(_static, layout.strides)],
        _static(layout.offset),
        type.memory_space,
    )
    offsets, static_offsets = _split([layout.offset])
    sizes, static_sizes = _split(layout.sizes)
    strides, static_strides = _split(layout.strides)
    properties = {
        "static_offsets": static_offsets,
        "static_sizes": static_sizes,
        "static_strides": static_strides,
    }
    operands = [memref, offsets, sizes, strides]
    return emit(r, "memref.reinterpret_cast", operands, result, properties)


def _static(number: Number) -> int | None:
    return number if isinstance(number, int) else None


def _split(numbers: Iterable[Number]) -> tuple[list[SSAValue], DenseArrayBase[I64Type]]:
    """The values, and the numbers with `?` in place of each value."""
    numbers = list(numbers)
    values = [number for number in numbers if not isinstance(number, int)]
    static = [number if isinstance(number, int) else DYNAMIC_INDEX for number in numbers]
    return values, DenseArrayBase.from_list(i64, static)


def product(r: Rebuilder, a: Number, b: Number) -> Number:
    """The product of two numbers."""
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if 1 in (a, b):
        return b if a == 1 else a
    return emit(r, "arith.muli", [as_value(r, a), as_value(r, b)], INDEX)


def as_value(r: Rebuilder, number: Number) -> SSAValue:
    """A number as an `index` value."""
    return r.index(number) if isinstance(number, int) else number


def _numbers(
    static: DenseArrayBase[I64Type], dynamic: Sequence[SSAValue], r: Rebuilder
) -> list[Number]:
    values = iter(r.values(dynamic))
    return [next(values) if entry == DYNAMIC else entry for entry in static.get_values()]


def _subview(operation: ops.SubviewOp, r: Rebuilder) -> None:
    memref = r.value(operation.memref)
    offsets = _numbers(operation.static_offsets, operation.offsets, r)[::-1]
    sizes = _numbers(operation.static_sizes, operation.sizes, r)[::-1]
    is_kept = [size != 0 for size in sizes]
    # A mode without a size has one element upstream, and is left out of the result's type.
    extents = [size if kept else 1 for size, kept in zip(sizes, is_kept, strict=True)]
    offset_values, static_offsets = _split(offsets)
    size_values, static_sizes = _split(extents)
    properties = {
        "static_offsets": static_offsets,
        "static_sizes": static_sizes,
        "static_strides": DenseArrayBase.from_list(i64, [1] * len(extents)),
    }
    result = _subview_type(type_of(memref), offsets, sizes, is_kept)
    operands = [memref, offset_values, size_values, []]
    r.replace(operation, make("memref.subview", operands, [result], properties))


def _subview_type(
    type: MemRefType, offsets: Sequence[Number], sizes: Sequence[Number], is_kept: Sequence[bool]
) -> MemRefType:
    offset = type.get_offset()
    strides = strides_of(type)
    for first, stride in zip(offsets, strides, strict=True):
        if first != 0:
            is_known = isinstance(first, int) and None not in (offset, stride)
            offset = _known(offset) + first * _known(stride) if is_known else None
    shape = [_static(size) for size, kept in zip(sizes, is_kept, strict=True) if kept]
    strides = [stride for stride, kept in zip(strides, is_kept, strict=True) if kept]
    return strided_type(type.element_type, shape, strides, offset, type.memory_space)


def _expand(operation: ops.ExpandOp, r: Rebuilder) -> None:
    memref = r.value(operation.memref)
    old = layout_of(r, memref)
    dimension = len(old.sizes) - 1 - integer_value(operation.mode)
    sizes = _numbers(operation.static_expand_shape, operation.expand_shape, r)[::-1]
    strides: list[Number] = [old.strides[dimension]]
    for size in reversed(sizes[1:]):
        strides.insert(0, product(r, strides[0], size))
    new = replace(
        old,
        sizes=[*old.sizes[:dimension], *sizes, *old.sizes[dimension + 1 :]],
        strides=[*old.strides[:dimension], *strides, *old.strides[dimension + 1 :]],
    )
    r.define(operation.result, with_layout(r, memref, new))


def _fuse(operation: ops.FuseOp, r: Rebuilder) -> None:
    memref = r.value(operation.memref)
    old = layout_of(r, memref)
    last = len(old.sizes) - 1 - integer_value(operation.from_mode)
    first = len(old.sizes) - 1 - integer_value(operation.to_mode)
    size: Number = 1
    for each in old.sizes[first : last + 1]:
        size = product(r, size, each)
    new = replace(
        old,
        sizes=[*old.sizes[:first], size, *old.sizes[last + 1 :]],
        strides=[*old.strides[:first], *old.strides[last:]],
    )
    r.define(operation.result, with_layout(r, memref, new))


def load_entry(operation: ops.LoadOp, r: Rebuilder) -> None:
    """Translates the load of a group's memref."""
    group: Group = r.meaning(operation.memref)
    (index,) = r.values(operation.indices)
    type = type_of(group.memref).element_type
    entry = emit(r, "memref.load", [group.memref, [index]], type)
    if group.offset != 0:
        entry = with_layout(r, entry, replace(layout_of(r, entry), offset=group.offset))
    r.define(operation.result, entry)


def _base(tensor: SSAValue, r: Rebuilder) -> SSAValue:
    """The memref that a memref or a group has become."""
    return r.meaning(tensor).memref if isinstance(tensor.type, GroupType) else r.value(tensor)


def _size(operation: ops.SizeOp, r: Rebuilder) -> None:
    memref = _base(operation.tensor, r)
    shape = shape_of(type_of(memref))
    dimension = len(shape) - 1 - integer_value(operation.mode)
    size = shape[dimension]
    if size is not None:
        r.define(operation.result, r.index(size))
    else:
        r.replace(operation, make("memref.dim", [memref, r.index(dimension)], [INDEX]))


def _associated(operation: ops.AssociatedOp, r: Rebuilder) -> None:
    memref = _base(operation.tensor, r)
    address = emit(r, "memref.extract_aligned_pointer_as_index", [memref], INDEX)
    r.define(operation.result, compare(r, "ne", address, r.index(0)))


RULES: Rules = {
    ops.AssociatedOp: _associated,
    ops.ExpandOp: _expand,
    ops.FuseOp: _fuse,
    ops.SizeOp: _size,
    ops.SubviewOp: _subview,
}
