"""Descriptors of tensors in memory, and accesses to blocks and rows through them.

A descriptor becomes a memref. What lies outside of the tensor is padding, and is not written.

Source: Triton 3.9, `TritonOps.td`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import SSAValue

from xtile.dialects.atomic_kinds import AtomicRMWKind, kind_attribute
from xtile.dialects.core.atomics import AtomicRMWOp
from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
from xtile.dialects.memory_orders import RELAXED
from xtile.dialects.triton.operation import shape_of
from xtile.dialects.triton.tt.enumerations import DescriptorReduceKind, PaddingOption
from xtile.dialects.triton.tt.ops import (
    DescriptorGatherOp,
    DescriptorLoadOp,
    DescriptorReduceOp,
    DescriptorScatterOp,
    DescriptorStoreOp,
    MakeTensorDescOp,
)
from xtile.dialects.triton.tt.ops.descriptors import descriptor_of
from xtile.dialects.upstream import value_type
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import shape_of as vector_shape
from xtile.rewrite.tile_emitter import with_shape
from xtile.translate.triton_to_core.blocks import (
    Memory,
    Tensor,
    padding_value,
    read_block,
    write_block,
)
from xtile.translate.triton_to_core.raising import Raising


@dataclass(frozen=True)
class Descriptor:
    """What a descriptor has become.

    Attributes:
        memory: The tensor in memory.
        padding: What is read from outside of it.
    """

    memory: Memory
    padding: PaddingOption

    def parts(self, raising: Raising) -> list[SSAValue]:
        """The values that loops and branches hand on."""
        return self.memory.parts() if isinstance(self.memory, Tensor) else [self.memory]

    def of_parts(self, parts: Iterable[SSAValue]) -> Descriptor:
        """A descriptor of memory that was handed on."""
        rest, memory = iter(parts), self.memory
        handed = memory.of_parts(rest) if isinstance(memory, Tensor) else next(rest)
        return replace(self, memory=handed)

    def all(self, raising: Raising) -> SSAValue:
        """All of the tensor."""
        return self.memory.memory(raising) if isinstance(self.memory, Tensor) else self.memory


def _make(operation: MakeTensorDescOp, raising: Raising) -> None:
    tensor = Tensor.made(raising, operation.base, operation.shape, operation.strides)
    raising.define(operation.result, Descriptor(tensor, operation.padding_option))


def descriptor_meaning(raising: Raising, old: SSAValue) -> Descriptor:
    """A descriptor; an argument of a kernel pads with zeros."""
    meaning = raising.meaning(old)
    zero = PaddingOption.ZERO
    return meaning if isinstance(meaning, Descriptor) else Descriptor(meaning, zero)


def _block(
    operation: DescriptorLoadOp | DescriptorStoreOp | DescriptorReduceOp, raising: Raising
) -> tuple[tuple[int, ...], list[Index]]:
    """The shape of a block, and where it begins."""
    starts = [raising.index_of(index) for index in operation.indices]
    return descriptor_of(operation.desc).get_shape(), starts


# --- blocks ---


def _load(operation: DescriptorLoadOp, raising: Raising) -> None:
    descriptor, (shape, starts) = (
        descriptor_meaning(raising, operation.desc),
        _block(operation, raising),
    )
    type_ = raising.type(operation.result.type)
    padding = padding_value(raising, descriptor.padding, value_type(type_))
    block, checked = with_shape(type_, shape), [True] * len(shape)
    made = read_block(raising, descriptor.memory, starts, block, padding, checked)
    raising.define(operation.result, raising.reshape(made, shape_of(operation.result.type)))


def _store(operation: DescriptorStoreOp, raising: Raising) -> None:
    descriptor, (shape, starts) = (
        descriptor_meaning(raising, operation.desc),
        _block(operation, raising),
    )
    value = raising.reshape(raising.value(operation.src), shape)
    write_block(raising, value, descriptor.memory, starts, [True] * len(shape))


_KINDS: Mapping[DescriptorReduceKind, AtomicRMWKind] = {
    DescriptorReduceKind.ADD: AtomicRMWKind.addi,
    DescriptorReduceKind.MIN: AtomicRMWKind.mins,
    DescriptorReduceKind.MAX: AtomicRMWKind.maxs,
    DescriptorReduceKind.AND: AtomicRMWKind.andi,
    DescriptorReduceKind.OR: AtomicRMWKind.ori,
    DescriptorReduceKind.XOR: AtomicRMWKind.xori,
}

_OF_FLOATS: Mapping[DescriptorReduceKind, AtomicRMWKind] = {
    DescriptorReduceKind.ADD: AtomicRMWKind.addf,
    DescriptorReduceKind.MIN: AtomicRMWKind.minnumf,
    DescriptorReduceKind.MAX: AtomicRMWKind.maxnumf,
}


def _reduce(operation: DescriptorReduceOp, raising: Raising) -> None:
    """Updates each element on its own; only integers that count to a bound have no update here."""
    memory, (shape, starts) = (
        descriptor_meaning(raising, operation.desc).all(raising),
        _block(operation, raising),
    )
    value = raising.reshape(raising.value(operation.src), shape)
    kinds = _OF_FLOATS if isinstance(value_type(value.type), AnyFloat) else _KINDS
    if operation.reduction not in kinds:
        name, element = operation.reduction.name.lower(), value_type(value.type)
        raise raising.error(
            f"the update {name} of {element} cannot be translated to the core form; "
            f"write {', '.join(each.name.lower() for each in kinds)}"
        )
    indices = [indices_along(raising, start, n, shape) for n, start in enumerate(starts)]
    mask = elements_inside(raising, memory, indices, shape)
    properties = {
        "kind": kind_attribute(kinds[operation.reduction]),
        **RELAXED.properties,
    }
    raising.compute(AtomicRMWOp, [value, memory, indices, [mask]], value.type, properties)


# --- rows ---


def _rows(
    operation: DescriptorGatherOp | DescriptorScatterOp, memory: SSAValue, raising: Raising
) -> tuple[list[SSAValue], SSAValue]:
    """The indices of rows and columns, and which elements are inside of the tensor."""
    rows = raising.as_index(raising.value(operation.x_offsets), is_signed=True)
    count, width = (
        shape_of(operation.x_offsets.type)[0],
        descriptor_of(operation.desc).get_shape()[1],
    )
    columns = indices_along(raising, raising.index_of(operation.y_offset), 1, (1, width))
    indices = [raising.reshape(rows, [count, 1]), columns]
    return indices, elements_inside(raising, memory, indices, (count, width))


def _gather(operation: DescriptorGatherOp, raising: Raising) -> None:
    descriptor = descriptor_meaning(raising, operation.desc)
    memory = descriptor.all(raising)
    indices, mask = _rows(operation, memory, raising)
    type_ = raising.type(operation.result.type)
    padding = padding_value(raising, descriptor.padding, value_type(type_))
    others = raising.spread(padding, shape_of(operation.result.type))
    operands = [memory, indices, [mask], [others]]
    raising.define(operation.result, raising.compute(GatherLoadOp, operands, type_))


def _scatter(operation: DescriptorScatterOp, raising: Raising) -> None:
    memory = descriptor_meaning(raising, operation.desc).all(raising)
    indices, mask = _rows(operation, memory, raising)
    operands = [raising.value(operation.src), memory, indices, [mask]]
    raising.emit(ScatterStoreOp.build(operands=operands))


def indices_along(raising: Raising, start: Index, axis: int, shape: Sequence[int]) -> SSAValue:
    """The indices of a block along an axis, with a size of 1 along all others."""
    line = raising.step(shape[axis])
    first = raising.spread(raising.as_value(start), [shape[axis]])
    made = raising.compute(arith.AddiOp, [line, first], line.type)
    return raising.along(made, axis, len(shape))


def elements_inside(
    raising: Raising, memory: SSAValue, indices: Sequence[SSAValue], shape: Sequence[int]
) -> SSAValue:
    """Which elements of a block lie inside of a tensor, by their indices."""
    whole: SSAValue | None = None
    for dimension, each in enumerate(indices):
        size = raising.as_value(raising.size((memory, dimension)))
        limit = raising.spread(size, vector_shape(each.type))
        # A negative index is a large one without a sign.
        mask = raising.spread(raising.compare("ult", each, limit), shape)
        whole = raising.both(whole, mask)
    assert whole is not None
    return whole


RULES: dict[str, Rule] = {
    "tt.descriptor_gather": _gather,
    "tt.descriptor_load": _load,
    "tt.descriptor_reduce": _reduce,
    "tt.descriptor_scatter": _scatter,
    "tt.descriptor_store": _store,
    "tt.make_tensor_descriptor": _make,
}
"""The rule of each operation, by name."""
