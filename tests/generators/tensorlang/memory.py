"""Random memory instructions: views, loads, stores, atomics and barriers."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from xdsl.ir import Attribute, SSAValue

from tests.generators.tensorlang.builder import Builder, Level, Maker
from tests.generators.tensorlang.choices import NUMBERS, REALS
from xtile.dialects.tensorlang.operation import (
    TensorLangOperation,
    integer_attribute,
    integer_list_attribute,
)
from xtile.dialects.tensorlang.ops import memory as ops
from xtile.dialects.tensorlang.types import BOOL, DYNAMIC, INDEX, GroupType, MemrefType


def _memref_type(value: SSAValue) -> MemrefType:
    assert isinstance(value.type, MemrefType)
    return value.type


def _associated(builder: Builder) -> None:
    tensor = builder.group() if builder.chance(0.5) else builder.any_memref()
    builder.compute(ops.AssociatedOp, [tensor], BOOL)


def _size(builder: Builder) -> None:
    tensor = builder.group() if builder.chance(0.3) else builder.any_memref(least_order=1)
    order = 1 if isinstance(tensor.type, GroupType) else _memref_type(tensor).order
    mode = {"mode": integer_attribute(builder.random.randrange(order))}
    builder.compute(ops.SizeOp, [tensor], INDEX, mode)


def _load(builder: Builder) -> None:
    if builder.chance(0.3):
        group = builder.group()
        assert isinstance(group.type, GroupType)
        index = builder.indices(1, builder.needed_level)
        builder.compute(ops.LoadOp, [group, index], group.type.element)
        return
    memref = builder.any_memref()
    type = _memref_type(memref)
    indices = builder.indices(type.order, builder.needed_level)
    builder.compute(ops.LoadOp, [memref, indices], type.element_type, level=builder.varying)


def _store(builder: Builder) -> None:
    memref = builder.any_memref()
    type = _memref_type(memref)
    value = builder.scalar(type.element_type)
    builder.append(ops.StoreOp, [value, memref, builder.indices(type.order)])


def _atomic_load(builder: Builder) -> None:
    memref = builder.any_memref()
    type = _memref_type(memref)
    builder.compute(
        ops.AtomicLoadOp,
        [memref, builder.indices(type.order)],
        type.element_type,
        builder.modifiers("scope", "semantics"),
        Level.WORK_ITEM,
    )


def _atomic_store(builder: Builder) -> None:
    memref = builder.any_memref()
    type = _memref_type(memref)
    operands = [builder.scalar(type.element_type), memref, builder.indices(type.order)]
    builder.append(ops.AtomicStoreOp, operands, builder.modifiers("scope", "semantics"))


def _atomic_update(cls: type[TensorLangOperation], builder: Builder) -> None:
    memref = builder.any_memref(elements=NUMBERS if cls is ops.AtomicAddOp else REALS)
    type = _memref_type(memref)
    builder.compute(
        cls,
        [builder.scalar(type.element_type), memref, builder.indices(type.order)],
        type.element_type,
        builder.modifiers("scope", "semantics"),
        Level.WORK_ITEM,
    )


def barrier(builder: Builder) -> None:
    """Appends a barrier, which the whole work-group must reach."""
    properties = {**builder.flag("global_fence"), **builder.flag("local_fence")}
    builder.append(ops.BarrierOp, [], properties)


@dataclass
class _View:
    """The shape and the strides of a view that is put together mode by mode."""

    shape: list[int] = field(default_factory=list[int])
    strides: list[int] = field(default_factory=list[int])
    least_stride: int = 1

    def add(self, builder: Builder, size: int, stride: int) -> None:
        """Appends a mode; its stride may be forgotten, as it must be if it is too small."""
        if stride < self.least_stride or builder.chance(0.2):
            stride = DYNAMIC
        self.shape.append(size)
        self.strides.append(stride)
        known_stride = self.least_stride if stride == DYNAMIC else stride
        self.least_stride = known_stride * max(size, 1)

    def type(self, memref: MemrefType) -> MemrefType:
        """The type of the view of a memref of this type."""
        return MemrefType.get(memref.element_type, self.shape, self.strides, memref.address_space)


@dataclass
class _Mixed:
    """Constants, and values where a constant is DYNAMIC."""

    constants: list[int] = field(default_factory=list[int])
    values: list[SSAValue] = field(default_factory=list[SSAValue])

    def add(self, builder: Builder, constant: int) -> None:
        """Appends a constant; a value for DYNAMIC."""
        self.constants.append(constant)
        if constant == DYNAMIC:
            self.values.append(builder.scalar(INDEX, builder.needed_level))


def _subview(builder: Builder) -> None:
    memref = builder.any_memref()
    type, view = _memref_type(memref), _View()
    offsets, sizes = _Mixed(), _Mixed()
    for mode, stride in zip(type.shape, type.strides, strict=True):
        offset, size = _slice(builder, mode)
        offsets.add(builder, offset)
        sizes.add(builder, size)
        if size:
            view.add(builder, size, stride)
    properties: dict[str, Attribute] = {
        "static_offsets": integer_list_attribute(offsets.constants),
        "static_sizes": integer_list_attribute(sizes.constants),
    }
    operands = [memref, offsets.values, sizes.values]
    builder.compute(ops.SubviewOp, operands, view.type(type), properties)


def _slice(builder: Builder, mode: int) -> tuple[int, int]:
    """An offset and a size within a mode; size 0 removes the mode."""
    end = 8 if mode == DYNAMIC else mode
    offset = builder.random.randrange(end)
    size = builder.choice((0, 1, end - offset, DYNAMIC))
    return (DYNAMIC if builder.chance(0.4) else offset), size


def _expand(builder: Builder) -> None:
    memref = builder.any_memref(least_order=1)
    type, view, entries = _memref_type(memref), _View(), _Mixed()
    expanded = builder.random.randrange(type.order)
    for mode, (size, stride) in enumerate(zip(type.shape, type.strides, strict=True)):
        if mode != expanded:
            view.add(builder, size, stride)
            continue
        for entry in _factors(builder, size):
            entries.add(builder, entry)
            view.add(builder, entry, stride)
            stride = DYNAMIC if DYNAMIC in (stride, entry) else stride * entry
    properties: dict[str, Attribute] = {
        "mode": integer_attribute(expanded),
        "static_expand_shape": integer_list_attribute(entries.constants),
    }
    builder.compute(ops.ExpandOp, [memref, entries.values], view.type(type), properties)


def _factors(builder: Builder, size: int) -> list[int]:
    """At least two sizes whose product may be `size`; DYNAMIC ones are known at run time."""
    rest = 8 if size == DYNAMIC else size
    factors: list[int] = []
    for _ in range(builder.random.randint(1, 3)):
        factor = builder.choice([f for f in range(1, rest + 1) if rest % f == 0])
        factors.append(factor)
        rest //= factor
    factors.append(rest)
    builder.random.shuffle(factors)
    if size == DYNAMIC or builder.chance(0.4):
        factors[builder.random.randrange(len(factors))] = DYNAMIC
    return factors


def _fuse(builder: Builder) -> None:
    memref = builder.any_memref(least_order=2)
    type, view = _memref_type(memref), _View()
    first = builder.random.randrange(type.order - 1)
    last = first
    while (
        last + 1 < type.order and _may_fuse(type, last) and (last == first or builder.chance(0.7))
    ):
        last += 1
    if last == first:
        return
    fused = type.shape[first : last + 1]
    for mode, (size, stride) in enumerate(zip(type.shape, type.strides, strict=True)):
        if mode == first:
            view.add(builder, _product(fused), stride)
        elif not first < mode <= last:
            view.add(builder, size, stride)
    properties = {"from_mode": integer_attribute(first), "to_mode": integer_attribute(last)}
    builder.compute(ops.FuseOp, [memref], view.type(type), properties)


def _may_fuse(type: MemrefType, mode: int) -> bool:
    """Whether nothing speaks against fusing a mode with the next."""
    size, stride, following = type.shape[mode], type.strides[mode], type.strides[mode + 1]
    return DYNAMIC in (size, stride, following) or size * stride == following


def _product(sizes: tuple[int, ...]) -> int:
    product = 1
    for size in sizes:
        product = DYNAMIC if DYNAMIC in (product, size) else product * size
    return product


MEMORY: list[Maker] = [
    *(_associated, _size, _load, _store, _subview, _expand, _fuse),
    *(_atomic_load, _atomic_store),
    *(partial(_atomic_update, c) for c in (ops.AtomicAddOp, ops.AtomicMaxOp, ops.AtomicMinOp)),
]
"""One for each memory instruction but the barrier."""
