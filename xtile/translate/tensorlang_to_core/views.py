"""Views on memory: subview, expand, fuse, size, and the memrefs of groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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
from xtile.dialects.tensorlang.types import DYNAMIC, INDEX, GroupType, MemrefType
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rebuilder, Rules
from xtile.translate.tensorlang_to_core.arithmetic import compare
from xtile.translate.tensorlang_to_core.emit import emit, make
from xtile.translate.tensorlang_to_core.functions import Group
from xtile.translate.tensorlang_to_core.indices import Indices
from xtile.translate.tensorlang_to_core.types import (
    offset_of,
    shape_of,
    strided_type,
    strides_of,
    type_of,
)


@dataclass(frozen=True)
class Layout:
    """Where the elements of a memref are; sizes and strides outermost first, in elements."""

    offset: Index
    sizes: Sequence[Index]
    strides: Sequence[Index]


class Metadata:
    """The layout of a memref; what its type leaves open is emitted when it is asked for."""

    def __init__(self, r: Rebuilder, memref: SSAValue) -> None:
        self._r = r
        self._memref = memref
        self._type = type_of(memref)
        self._sizes = shape_of(self._type)
        self._strides = strides_of(self._type)
        self._emitted: Sequence[SSAValue] = ()

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self._sizes)

    @property
    def offset(self) -> Index:
        """Where the first element is."""
        offset = offset_of(self._type)
        return self._results[1] if offset is None else offset

    def sizes(self, dimensions: range) -> list[Index]:
        """The sizes of some dimensions."""
        return [self._number(self._sizes[each], 2 + each) for each in dimensions]

    def strides(self, dimensions: range) -> list[Index]:
        """The strides of some dimensions."""
        first = 2 + self.rank
        return [self._number(self._strides[each], first + each) for each in dimensions]

    def _number(self, known: int | None, result: int) -> Index:
        return self._results[result] if known is None else known

    @property
    def _results(self) -> Sequence[SSAValue]:
        """The base, the offset, the sizes and the strides."""
        if not self._emitted:
            type, indices = self._type, [INDEX] * self.rank
            base = MemRefType(type.element_type, [], memory_space=type.memory_space)
            name = "memref.extract_strided_metadata"
            operation = make(name, [self._memref], [base, INDEX, indices, indices])
            self._emitted = self._r.emit(operation).results
        return self._emitted


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


def _static(number: Index) -> int | None:
    return number if isinstance(number, int) else None


def _split(numbers: Iterable[Index]) -> tuple[list[SSAValue], DenseArrayBase[I64Type]]:
    """The values, and the numbers with `?` in place of each value."""
    numbers = list(numbers)
    values = [number for number in numbers if not isinstance(number, int)]
    static = [number if isinstance(number, int) else DYNAMIC_INDEX for number in numbers]
    return values, DenseArrayBase.from_list(i64, static)


def _numbers(
    static: DenseArrayBase[I64Type], dynamic: Sequence[SSAValue], r: Rebuilder
) -> list[Index]:
    values = iter(r.values(dynamic))
    return [next(values) if entry == DYNAMIC else entry for entry in static.get_values()]


def _subview(operation: ops.SubviewOp, r: Rebuilder) -> None:
    memref = r.value(operation.memref)
    offsets = _numbers(operation.static_offsets, operation.offsets, r)[::-1]
    sizes = _numbers(operation.static_sizes, operation.sizes, r)[::-1]
    is_kept = [size != 0 for size in sizes]
    if _leaves_modes(type_of(memref), offsets, sizes):
        r.define(operation.result, _part_of_memory(r, memref, offsets, sizes))
        return
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


def _leaves_modes(type: MemRefType, offsets: Sequence[Index], sizes: Sequence[Index]) -> bool:
    """Whether a slice is known to take memory behind its mode, which upstream's subview cannot."""
    for offset, size, whole in zip(offsets, sizes, shape_of(type), strict=True):
        least = (_static(offset) or 0) + max(_static(size) or 1, 1)
        if whole is not None and least > whole:
            return True
    return False


def _part_of_memory(
    r: Rebuilder, memref: SSAValue, offsets: Sequence[Index], sizes: Sequence[Index]
) -> SSAValue:
    """What slices take of the memory of a memref, padding behind its modes included."""
    old = Metadata(r, memref)
    strides = old.strides(range(old.rank))
    indices = Indices(r)
    first = old.offset
    for offset, stride in zip(offsets, strides, strict=True):
        first = indices.add(first, indices.multiply(offset, stride))
    kept = [each for each, size in enumerate(sizes) if size != 0]
    new = Layout(first, [sizes[each] for each in kept], [strides[each] for each in kept])
    return with_layout(r, memref, new)


def _subview_type(
    type: MemRefType, offsets: Sequence[Index], sizes: Sequence[Index], is_kept: Sequence[bool]
) -> MemRefType:
    strides = strides_of(type)
    offset = offset_of(type)
    for first, stride in zip(offsets, strides, strict=True):
        offset = _moved(offset, _static(first), stride)
    shape = [_static(size) for size, kept in zip(sizes, is_kept, strict=True) if kept]
    strides = [stride for stride, kept in zip(strides, is_kept, strict=True) if kept]
    return strided_type(type.element_type, shape, strides, offset, type.memory_space)


def _moved(offset: int | None, first: int | None, stride: int | None) -> int | None:
    """An offset after `first` steps of a stride; None where that is only known at run time."""
    if first == 0:
        return offset
    if offset is None or first is None or stride is None:
        return None
    return offset + first * stride


def _expand(operation: ops.ExpandOp, r: Rebuilder) -> None:
    memref = r.value(operation.memref)
    old = Metadata(r, memref)
    dimension = old.rank - 1 - integer_value(operation.mode)
    outer, inner = range(dimension), range(dimension + 1, old.rank)
    sizes = _numbers(operation.static_expand_shape, operation.expand_shape, r)[::-1]
    strides = old.strides(range(dimension, dimension + 1))
    for size in reversed(sizes[1:]):
        strides.insert(0, Indices(r).multiply(strides[0], size))
    new = Layout(
        old.offset,
        [*old.sizes(outer), *sizes, *old.sizes(inner)],
        [*old.strides(outer), *strides, *old.strides(inner)],
    )
    r.define(operation.result, with_layout(r, memref, new))


def _fuse(operation: ops.FuseOp, r: Rebuilder) -> None:
    memref = r.value(operation.memref)
    old = Metadata(r, memref)
    first = old.rank - 1 - integer_value(operation.to_mode)
    last = old.rank - 1 - integer_value(operation.from_mode)
    outer, inner = range(first), range(last + 1, old.rank)
    size: Index = 1
    for each in old.sizes(range(first, last + 1)):
        size = Indices(r).multiply(size, each)
    new = Layout(
        old.offset,
        [*old.sizes(outer), size, *old.sizes(inner)],
        [*old.strides(outer), _fused_stride(operation, r, old), *old.strides(inner)],
    )
    r.define(operation.result, with_layout(r, memref, new))


def _fused_stride(operation: ops.FuseOp, r: Rebuilder, old: Metadata) -> Index:
    """The stride of the innermost mode with several elements; that of others has no effect."""
    first, last = integer_value(operation.from_mode), integer_value(operation.to_mode)
    assert isinstance(operation.result.type, MemrefType)
    told = operation.result.type.strides[first]
    if told != DYNAMIC:
        return told
    outermost, innermost = old.rank - 1 - last, old.rank - 1 - first
    (stride,) = old.strides(range(outermost, outermost + 1))
    for dimension in range(outermost + 1, innermost + 1):
        (size,), (own,) = (get(range(dimension, dimension + 1)) for get in (old.sizes, old.strides))
        stride = _if_one(r, size, stride, own)
    return stride


def _if_one(r: Rebuilder, size: Index, chosen: Index, other: Index) -> Index:
    """`chosen` where a size is 1, `other` elsewhere."""
    if isinstance(size, int):
        return chosen if size == 1 else other
    is_one = compare(r, "eq", size, r.index(1))
    either = [Indices(r).as_value(number) for number in (chosen, other)]
    return emit(r, "arith.select", [is_one, *either], INDEX)


def load_entry(operation: ops.LoadOp, r: Rebuilder) -> None:
    """Translates the load of a group's memref."""
    group: Group = r.meaning(operation.memref)
    (index,) = r.values(operation.indices)
    type = type_of(group.memref).element_type
    entry = emit(r, "memref.load", [group.memref, [index]], type)
    if group.offset != 0:
        old = Metadata(r, entry)
        every = range(old.rank)
        new = Layout(group.offset, old.sizes(every), old.strides(every))
        entry = with_layout(r, entry, new)
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
