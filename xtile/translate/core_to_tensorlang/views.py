"""Memrefs: allocations, accesses, views, and what is asked of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from xdsl.dialects.builtin import IntegerAttr, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.atomic_kinds import AtomicRMWKind
from xtile.dialects.tensorlang.attributes import AddressSpace, MemoryScope
from xtile.dialects.tensorlang.ops import collective
from xtile.dialects.tensorlang.ops import memory as ops
from xtile.dialects.tensorlang.types import MemrefType
from xtile.rewrite.facts import constant_of
from xtile.rewrite.indices import Index
from xtile.rewrite.memref_layouts import kept_dimensions, layout_of, number_lists
from xtile.rewrite.rebuilder import Rule
from xtile.text.value_names import give_name
from xtile.translate.core_to_tensorlang import memory as accesses
from xtile.translate.core_to_tensorlang.lowering import Lowering
from xtile.translate.core_to_tensorlang.memory import (
    Deferred,
    Group,
    Memory,
    Modifiers,
    Stride,
    StrideOf,
    said_modifiers,
    whole,
    with_view,
)
from xtile.translate.core_to_tensorlang.numbers import numbers_of
from xtile.translate.core_to_tensorlang.types import is_group, is_local, memref_of, memref_type


def memory_of(r: Lowering, old: SSAValue) -> Memory:
    """What a memref of the source has become."""
    memory = r.meaning(old)
    assert isinstance(memory, Memory)
    return memory


def view_of(r: Lowering, old: SSAValue) -> SSAValue:
    """The memref of the tensor language that one of the source is."""
    return with_view(r, memory_of(r, old))


# --- allocations ---


def _alloca(operation: Operation, r: Lowering) -> None:
    type_ = memref_of(operation.results[0].type)
    alignment = operation.properties.get("alignment")
    r.define(operation.results[0], allocate(r, type_, alignment, operation.results[0].name_hint))


def allocate(
    r: Lowering,
    type_: MemRefType[Attribute],
    alignment: Attribute | None = None,
    name: str | None = None,
) -> Memory:
    """Local memory, for the work-group or for each of its work-items."""
    if None in layout_of(type_).sizes:
        raise r.error("the tensor language has no local memory of dynamic size")
    local = memref_type(type_, local=True)
    is_private = not r.is_collective and not is_local(type_)
    if is_private:
        local = _for_each_work_item(r, local)
    bytes_ = cast("IntegerAttr[Any]", alignment).value.data if alignment is not None else None
    with r.at_end_of(r.block if r.is_collective else r.outside):
        memref = r.number(collective.AllocaOp(local, bytes_))
    give_name(memref, name)
    layout = layout_of(type_)
    if not is_private:
        return whole(memref, type_.element_type, layout.sizes)
    from xtile.translate.core_to_tensorlang.gpu import linear_work_item

    slices = [(0, cast(int, size)) for size in reversed(layout.sizes)]
    own = r.number(ops.SubviewOp(memref, [*slices, (linear_work_item(r), 0)]))
    return whole(own, type_.element_type, layout.sizes)


def _for_each_work_item(r: Lowering, local: MemrefType) -> MemrefType:
    """Memory with one more mode, which has an entry for each work-item of the work-group."""
    if r.block_size is None:
        raise r.error(
            "memory of each work-item needs a work-group of known size; give the kernel a "
            "known_block_size"
        )
    elements = local.allocated_elements or 1
    shape, strides = [*local.shape, math.prod(r.block_size)], [*local.strides, elements]
    return MemrefType.get(local.element_type, shape, strides, AddressSpace.LOCAL)


def _get_global(operation: Operation, r: Lowering) -> None:
    """A variable in local memory is memory that the function allocates."""
    type_ = memref_of(operation.results[0].type)
    if not is_local(type_):
        raise r.error("the tensor language has no variables of modules")
    name = str(operation.properties["name"])
    key = ("variable", name, r.outside)
    with r.at_end_of(r.outside):
        memory = r.shared(key, (), lambda: allocate(r, type_, None, "local"))
    r.define(operation.results[0], memory)


# --- accesses ---


def _load(operation: Operation, r: Lowering) -> None:
    memref, *indices = operation.operands
    if is_group(memref.type):
        _load_entry(operation, r)
        return
    r.define(operation.results[0], accesses.load(r, memory_of(r, memref), r.values(indices)))


def _load_entry(operation: Operation, r: Lowering) -> None:
    group: Group = r.meaning(operation.operands[0])
    (index,) = r.values(operation.operands[1:])
    entry = r.number(ops.LoadOp(group.group, [index]))
    r.define(operation.results[0], whole(entry, group.element, group.sizes))


def _store(operation: Operation, r: Lowering) -> None:
    value, memref, *indices = operation.operands
    if is_group(memref.type):
        raise r.error("the tensor language cannot store the memrefs of a group")
    accesses.store(r, r.value(value), memory_of(r, memref), r.values(indices))


# --- numbers ---


def _dim(operation: Operation, r: Lowering) -> None:
    memref, number = operation.operands
    dimension = constant_of(number)
    if is_group(memref.type):
        group: Group = r.meaning(memref)
        r.define(operation.results[0], r.number(ops.SizeOp(group.group, 0)))
        return
    memory = memory_of(r, memref)
    if dimension is not None:
        size = memory.sizes(r)[dimension]
        r.define(operation.results[0], r.as_value(size))
        return
    sizes = [r.as_value(size) for size in memory.sizes(r)]
    chosen = sizes[-1]
    from xtile.translate.core_to_tensorlang.arithmetic import compare

    for index, size in reversed([*enumerate(sizes[:-1])]):
        is_it = compare(r, "eq", r.value(number), r.index(index))
        chosen = r.select(is_it, size, chosen)
    r.define(operation.results[0], chosen)


def _metadata(operation: Operation, r: Lowering) -> None:
    memory = memory_of(r, operation.operands[0])
    base, offset, *rest = operation.results
    r.define(base, replace(memory, offset=_zero, sizes=_no_sizes, strides=(), view=None))
    r.define(offset, Deferred(memory.offset))
    rank = memory.rank
    for number, result in enumerate(rest[:rank]):
        r.define(result, Deferred(_size_of(memory, number)))
    for stride, result in zip(memory.strides, rest[rank:], strict=True):
        r.define(result, Deferred(_stride_of(stride)))


def _known(sizes: Sequence[Index]) -> Callable[[Lowering], tuple[Index, ...]]:
    return lambda r: tuple(sizes)


def _size_of(memory: Memory, dimension: int) -> Callable[[Lowering], Index]:
    return lambda r: memory.sizes(r)[dimension]


def _stride_of(stride: Stride) -> Callable[[Lowering], Index]:
    return lambda r: accesses.stride_number(r, stride)


def _is_used(value: SSAValue) -> bool:
    return value.first_use is not None


def _zero(r: Lowering) -> Index:
    return 0


def _no_sizes(r: Lowering) -> tuple[Index, ...]:
    return ()


def _address(operation: Operation, r: Lowering) -> None:
    """Whether there is an address is all that the tensor language tells of one."""
    from xtile.translate.core_to_tensorlang.arithmetic import as_number

    memref = operation.operands[0]
    if not all(_compares_with_zero(use.operation) for use in operation.results[0].uses):
        raise r.error("the tensor language has no addresses of memory")
    tensor = r.meaning(memref).group if is_group(memref.type) else view_of(r, memref)
    known = r.number(ops.AssociatedOp(tensor))
    r.define(operation.results[0], as_number(r, known, operation.results[0].type))


def _compares_with_zero(operation: Operation) -> bool:
    return operation.name == "arith.cmpi" and 0 in map(constant_of, operation.operands)


# --- views ---


def _subview(operation: Operation, r: Lowering) -> None:
    memref, *rest = operation.operands
    numbers = [r.value(value) for value in rest]
    offsets, sizes, steps = number_lists(operation, numbers, "offsets", "sizes", "strides")
    kept = kept_dimensions(operation)
    r.define(operation.results[0], part_of(r, memory_of(r, memref), offsets, sizes, steps, kept))


def part_of(
    r: Lowering,
    memory: Memory,
    offsets: Sequence[Index],
    sizes: Sequence[Index],
    steps: Sequence[Index],
    kept: Sequence[int],
) -> Memory:
    """A part of a memref.

    Args:
        r: Where to emit.
        memory: The memref.
        offsets: Where the part begins in each dimension.
        sizes: How many elements it has in each dimension.
        steps: How far they are apart, in elements of the memref.
        kept: The dimensions that it has; it has one element in the others.
    """

    def offset(r: Lowering) -> Index:
        return accesses.position(r, replace(memory, view=None), offsets)

    chosen = tuple(sizes[each] for each in kept)
    view = None
    if memory.view is not None and all(step == 1 for step in steps):
        slices = [
            (start, size if dimension in kept else 0)
            for dimension, (start, size) in enumerate(zip(offsets, sizes, strict=True))
        ]
        view = r.number(ops.SubviewOp(memory.view, slices[::-1]))
        strides: tuple[Stride, ...] = tuple(memory.strides[each] for each in kept)
    else:
        known = memory.known_strides(r)
        strides = tuple(r.multiply(known[each], steps[each]) for each in kept)
    return replace(memory, offset=offset, sizes=_known(chosen), strides=strides, view=view)


def _reinterpret_cast(operation: Operation, r: Lowering) -> None:
    memref, *rest = operation.operands
    source = memory_of(r, memref)
    old = number_lists(operation, rest, "offsets", "sizes", "strides")
    view = _known_view(r, source, memref, old)
    if view is not None:
        result = memref_of(operation.results[0].type)
        new = whole(view, source.element, layout_of(result).sizes)
        r.define(operation.results[0], replace(new, root=source.root, offset=_untold))
        return
    (offset,), sizes, strides = ([_new(r, each) for each in several] for several in old)
    r.define(
        operation.results[0],
        Memory(source.root, lambda r: offset, lambda r: tuple(sizes), tuple(strides)),
    )


def _untold(r: Lowering) -> Index:
    raise r.error("the tensor language has no instruction that tells the offset of this view")


def _new(r: Lowering, number: Index) -> Index:
    return number if isinstance(number, int) else r.value(number)


def _known_view(
    r: Lowering, source: Memory, memref: SSAValue, new: Sequence[Sequence[Index]]
) -> SSAValue | None:
    """The view that an instruction makes of a memref, if its numbers are such a view's."""
    if source.view is None or not source.rank:
        return None
    ((offset,), sizes, strides), known = new, _Numbers(memref)
    if len(sizes) > source.rank and known.has_offset(offset):
        return _expanded(r, source, known, sizes, strides)
    if len(sizes) == source.rank and known.has_shape(sizes, strides):
        return _moved(r, source, known, offset, sizes)
    if len(sizes) < source.rank and known.has_offset(offset):
        fused = _fused(r, source, known, sizes, strides)
        if fused is not None:
            return fused
    if known.has_offset(offset):
        return _cut(r, source, known, sizes, strides)
    return None


class _Numbers:
    """The numbers of a memref of the source, by which others are recognised."""

    def __init__(self, memref: SSAValue) -> None:
        layout = layout_of(memref_of(memref.type))
        self.rank = len(layout.sizes)
        told = [
            use.operation.results
            for use in memref.uses
            if use.operation.name == "memref.extract_strided_metadata"
        ]
        first = 2 + self.rank
        self._offset = [layout.offset, *(each[1] for each in told)]
        self._sizes = [
            [size, *(each[2 + i] for each in told)] for i, size in enumerate(layout.sizes)
        ]
        self._strides = [
            [stride, *(each[first + i] for each in told)] for i, stride in enumerate(layout.strides)
        ]

    def has_offset(self, offset: Index) -> bool:
        return _is_one_of(offset, self._offset)

    def product(self, dimensions: range) -> int:
        """The product of the sizes that are known."""
        return math.prod(
            each for i in dimensions for each in self._sizes[i] if isinstance(each, int)
        )

    def is_size(self, dimension: int, size: Index) -> bool:
        return _is_one_of(size, self._sizes[dimension])

    def is_stride(self, dimension: int, stride: Index) -> bool:
        return _is_one_of(stride, self._strides[dimension])

    def is_dimension(self, dimension: int, size: Index, stride: Index) -> bool:
        return self.is_size(dimension, size) and self.is_stride(dimension, stride)

    def has_shape(self, sizes: Sequence[Index], strides: Sequence[Index]) -> bool:
        return all(
            self.is_dimension(i, *pair) for i, pair in enumerate(zip(sizes, strides, strict=True))
        )


def _is_one_of(number: Index, known: Sequence[Index | None]) -> bool:
    if isinstance(number, int):
        return number in [each for each in known if isinstance(each, int)]
    return any(number is each for each in known)


def _expanded(
    r: Lowering,
    source: Memory,
    known: _Numbers,
    sizes: Sequence[Index],
    strides: Sequence[Index],
) -> SSAValue | None:
    """One dimension becomes several, which lie behind each other where it was."""
    more = len(sizes) - known.rank
    for dimension in range(known.rank):
        last = dimension + more
        outer = [*range(dimension)]
        inner = [*range(dimension + 1, known.rank)]
        if (
            all(known.is_dimension(i, sizes[i], strides[i]) for i in outer)
            and all(known.is_dimension(i, sizes[i + more], strides[i + more]) for i in inner)
            and known.is_stride(dimension, strides[last])
            and all(
                _is_product(strides[i], strides[i + 1], sizes[i + 1])
                for i in range(dimension, last)
            )
        ):
            shape = [_new(r, size) for size in reversed(sizes[dimension : last + 1])]
            assert source.view is not None
            return r.number(ops.ExpandOp(source.view, known.rank - 1 - dimension, shape))
    return None


def _is_product(number: Index, a: Index, b: Index) -> bool:
    if isinstance(a, int) and isinstance(b, int):
        return number == a * b
    if 1 in (a, b):
        return number is (b if a == 1 else a)
    if isinstance(number, int):
        return False
    owner = number.owner
    if not isinstance(owner, Operation) or owner.name != "arith.muli":
        return False
    wanted = [a, b]
    for operand in owner.operands:
        match = next((each for each in wanted if _is_same(operand, each)), None)
        if match is None:
            return False
        wanted.remove(match)
    return True


def _is_same(value: SSAValue, number: Index) -> bool:
    return constant_of(value) == number if isinstance(number, int) else value is number


def _moved(
    r: Lowering, source: Memory, known: _Numbers, offset: Index, sizes: Sequence[Index]
) -> SSAValue | None:
    """The same shape somewhere else: it begins so many elements behind along the first mode."""
    assert source.view is not None
    if source.strides[-1] != 1:
        return None
    distance = r.subtract(_new(r, offset), source.offset(r))
    slices: list[Any] = [(0, _new(r, size)) for size in reversed(sizes)]
    # It may begin behind the first mode, as long as it is in memory.
    slices[0] = (r.as_value(distance), slices[0][1])
    return r.number(ops.SubviewOp(source.view, slices))


def _fused(
    r: Lowering,
    source: Memory,
    known: _Numbers,
    sizes: Sequence[Index],
    strides: Sequence[Index],
) -> SSAValue | None:
    """Several dimensions become one, whose neighbours are as far apart as the innermost one's."""
    fewer = known.rank - len(sizes)
    for dimension in range(len(sizes)):
        last = dimension + fewer
        outer = [*range(dimension)]
        inner = [*range(dimension + 1, len(sizes))]
        if (
            all(known.is_dimension(i, sizes[i], strides[i]) for i in outer)
            and all(known.is_dimension(i + fewer, sizes[i], strides[i]) for i in inner)
            and (known.is_stride(last, strides[dimension]) or _is_choice(strides[dimension]))
            and _is_size_of_all(known, range(dimension, last + 1), sizes[dimension])
        ):
            from_, to = known.rank - 1 - last, known.rank - 1 - dimension
            assert source.view is not None
            return r.number(ops.FuseOp(source.view, from_, to))
    return None


def _is_choice(stride: Index) -> bool:
    """Whether a stride is chosen among those of dimensions of size 1 and of others."""
    owner = None if isinstance(stride, int) else stride.owner
    return isinstance(owner, Operation) and owner.name == "arith.select"


def _is_size_of_all(known: _Numbers, dimensions: range, size: Index) -> bool:
    """Whether a size is the product of those of some dimensions, as far as it is seen."""
    if isinstance(size, int):
        return known.product(dimensions) == size
    factors = [size]
    for _ in dimensions[1:]:
        owner = factors[0].owner
        if not isinstance(owner, Operation) or owner.name != "arith.muli":
            break
        factors = [*owner.operands, *factors[1:]]
    numbers = [f if constant_of(f) is None else cast(int, constant_of(f)) for f in factors]
    return all(
        any(known.is_size(i, number) for i in dimensions) or isinstance(number, int)
        for number in numbers
    )


def _cut(
    r: Lowering,
    source: Memory,
    known: _Numbers,
    sizes: Sequence[Index],
    strides: Sequence[Index],
) -> SSAValue | None:
    """The beginning of some dimensions, which may be longer than they are."""
    kept: list[int] = []
    for stride in strides:
        first = kept[-1] + 1 if kept else 0
        match = next((i for i in range(first, known.rank) if known.is_stride(i, stride)), None)
        if match is None:
            return None
        kept.append(match)
    slices: list[Any] = [(0, 0)] * known.rank
    for dimension, size in zip(kept, sizes, strict=True):
        slices[known.rank - 1 - dimension] = (0, _new(r, size))
    assert source.view is not None
    return r.number(ops.SubviewOp(source.view, slices))


def _same(operation: Operation, r: Lowering) -> None:
    r.define(operation.results[0], r.meaning(operation.operands[0]))


def _transpose(operation: Operation, r: Lowering) -> None:
    from xdsl.dialects.builtin import AffineMapAttr

    memory = memory_of(r, operation.operands[0])
    permutation = operation.properties["permutation"]
    assert isinstance(permutation, AffineMapAttr)
    order = [cast(Any, each).position for each in permutation.data.results]
    _with_numbers(operation, r, memory, order)


def _with_numbers(operation: Operation, r: Lowering, memory: Memory, order: Sequence[int]) -> None:
    strides = tuple(memory.strides[each] for each in order)

    def sizes(r: Lowering) -> tuple[Index, ...]:
        own = memory.sizes(r)
        return tuple(own[each] for each in order)

    r.define(operation.results[0], replace(memory, sizes=sizes, strides=strides, view=None))


def _collapse_shape(operation: Operation, r: Lowering) -> None:
    """Each group of dimensions becomes one, with the stride of the innermost one."""
    memory = memory_of(r, operation.operands[0])
    groups = _groups(operation)
    sizes = tuple(_product(r, [memory.sizes(r)[i] for i in group]) for group in groups)
    strides = tuple(memory.strides[group[-1]] for group in groups)
    view = memory.view
    if view is not None:
        for group in reversed(groups):
            if len(group) > 1:
                from_, to = memory.rank - 1 - group[-1], memory.rank - 1 - group[0]
                # Modes behind the fused ones are counted from those that are left.
                shift = sum(len(each) - 1 for each in groups if each[0] > group[-1])
                view = r.number(ops.FuseOp(view, from_ - shift, to - shift))
    r.define(
        operation.results[0],
        replace(memory, sizes=_known(sizes), strides=strides, view=view),
    )


def _expand_shape(operation: Operation, r: Lowering) -> None:
    memory = memory_of(r, operation.operands[0])
    dynamic = [r.value(value) for value in operation.operands[1:]]
    from xtile.rewrite.memref_layouts import mixed

    shape = mixed(operation.properties["static_output_shape"], dynamic)
    view, strides = memory.view, list[Stride]()
    groups = _groups(operation)
    for number, group in reversed([*enumerate(groups)]):
        own: list[Stride] = [memory.strides[number]]
        for i in reversed(group[1:]):
            own.insert(0, _scaled(r, own[0], shape[i]))
        strides = [*own, *strides]
        if view is not None and len(group) > 1:
            mode = sum(len(each) for each in groups[number + 1 :])
            view = r.number(ops.ExpandOp(view, mode, [shape[i] for i in reversed(group)]))
    r.define(
        operation.results[0],
        replace(memory, sizes=_known(shape), strides=tuple(strides), view=view),
    )


def _scaled(r: Lowering, stride: Stride, factor: Index) -> Stride:
    if isinstance(stride, StrideOf):
        return stride if factor == 1 else r.multiply(accesses.stride_number(r, stride), factor)
    return r.multiply(stride, factor)


def _groups(operation: Operation) -> list[list[int]]:
    reassociation = cast(Any, operation.properties["reassociation"])
    return [[each.value.data for each in group.data] for group in reassociation.data]


def _product(r: Lowering, factors: Sequence[Index]) -> Index:
    result: Index = 1
    for factor in factors:
        result = r.multiply(result, factor)
    return result


def _copy(operation: Operation, r: Lowering) -> None:
    """Element by element, all of it by whoever executes it."""
    source, target = (memory_of(r, operand) for operand in operation.operands)
    copy_elements(r, source, target)


def copy_elements(r: Lowering, source: Memory, target: Memory) -> None:
    """Copies all elements of a memref, one after the other."""

    def along(dimension: int, indices: list[Index]) -> None:
        if dimension == source.rank:
            accesses.store(r, accesses.load(r, source, indices), target, indices)
            return

        def body(index: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
            along(dimension + 1, [*indices, index])
            return ()

        r.for_(0, source.sizes(r)[dimension], 1, (), body)

    along(0, [])


# --- atomic updates ---

_UPDATES: Mapping[AtomicRMWKind, type[ops.AtomicUpdateOperation]] = {
    AtomicRMWKind.addf: ops.AtomicAddOp,
    AtomicRMWKind.addi: ops.AtomicAddOp,
    AtomicRMWKind.maximumf: ops.AtomicMaxOp,
    AtomicRMWKind.maxnumf: ops.AtomicMaxOp,
    AtomicRMWKind.maxs: ops.AtomicMaxOp,
    AtomicRMWKind.minimumf: ops.AtomicMinOp,
    AtomicRMWKind.minnumf: ops.AtomicMinOp,
    AtomicRMWKind.mins: ops.AtomicMinOp,
}
"""The instruction of each update that has one."""


def update(
    r: Lowering,
    kind: AtomicRMWKind,
    value: SSAValue,
    at: tuple[SSAValue, Sequence[SSAValue]],
    *,
    is_used: bool,
    said: Modifiers,
    neutral: bool = False,
) -> SSAValue | None:
    """An atomic update of one element.

    Args:
        r: Where to emit.
        kind: What is done.
        value: The number that it is done with.
        at: The memref and the indices of the element.
        is_used: Whether anybody wants to know what was there before.
        said: Who observes it, and what it orders.
        neutral: Whether it leaves the element what it was.

    Returns:
        What was there; None where nobody wants to know and no instruction tells.

    Raises:
        DiagnosticError: There is no such instruction.
    """
    from xtile.translate.core_to_tensorlang.gpu import once

    if kind is AtomicRMWKind.assign and is_used:
        raise r.error(
            "the tensor language stores atomically, but does not tell what was there before"
        )
    if kind is not AtomicRMWKind.assign and kind not in _UPDATES and not neutral:
        raise r.error(
            f"the tensor language has no atomic {kind.name}; it adds, and has the maximum and "
            "the minimum of signed numbers"
        )
    memref, indices = at
    scope, semantics = said
    # A load releases nothing.
    neutral = neutral and not (said.releases and kind in _UPDATES)

    def emit() -> SSAValue | None:
        if neutral:
            return r.number(ops.AtomicLoadOp(memref, indices, scope=scope, semantics=semantics))
        if kind is AtomicRMWKind.assign:
            store = ops.AtomicStoreOp(value, memref, indices, scope=scope, semantics=semantics)
            r.emit(store)
            return None
        update = _UPDATES[kind](value, memref, indices, scope=scope, semantics=semantics)
        old = r.number(update)
        return old if is_used else None

    return once(r, emit)


def _atomic_rmw(operation: Operation, r: Lowering) -> None:
    value, memref, *indices = operation.operands
    kind = AtomicRMWKind(cast("IntegerAttr[Any]", operation.properties["kind"]).value.data)
    memory = memory_of(r, memref)
    at = accesses.address(r, memory, r.values(indices))
    result = operation.results[0]
    scope = None if is_local(memref_of(memref.type)) else MemoryScope.DEVICE
    old = update(
        r,
        kind,
        r.value(value),
        at,
        is_used=_is_used(result),
        neutral=is_neutral(kind.name, value),
        said=said_modifiers(operation, scope),
    )
    if old is not None:
        r.define(result, old)


def is_neutral(kind: str, value: SSAValue) -> bool:
    """Whether an update of this kind by a value changes nothing, as an atomic load does."""
    number = _constant(value)
    if number is None:
        return False
    if kind in ("addf",):
        parts = (number.real, number.imag) if isinstance(number, complex) else (number,)
        return all(part == 0 and math.copysign(1.0, part) < 0 for part in parts)
    return kind in ("ori", "xori", "addi") and number == 0


def _constant(value: SSAValue) -> Any:
    owner = value.owner
    if isinstance(owner, Operation) and owner.name == "arith.constant":
        numbers = numbers_of(owner.properties["value"])
        return numbers[0] if len(numbers) == 1 else None
    if isinstance(owner, Operation) and owner.name == "complex.constant":
        parts = cast(Any, owner.properties["value"]).data
        return complex(*(part.value.data for part in parts))
    return None


def _nothing(operation: Operation, r: Lowering) -> None:
    """Nothing but the time depends on it."""


RULES: dict[str, Rule] = {
    "memref.alloca": _alloca,
    "memref.alloc": _alloca,
    "memref.assume_alignment": _same,
    "memref.atomic_rmw": _atomic_rmw,
    "memref.cast": _same,
    "memref.collapse_shape": _collapse_shape,
    "memref.copy": _copy,
    "memref.dealloc": _nothing,
    "memref.dim": _dim,
    "memref.distinct_objects": _same,
    "memref.expand_shape": _expand_shape,
    "memref.extract_aligned_pointer_as_index": _address,
    "memref.extract_strided_metadata": _metadata,
    "memref.get_global": _get_global,
    "memref.load": _load,
    "memref.memory_space_cast": _same,
    "memref.prefetch": _nothing,
    "memref.reinterpret_cast": _reinterpret_cast,
    "memref.store": _store,
    "memref.subview": _subview,
    "memref.transpose": _transpose,
}
"""The rule of each operation, by name."""
