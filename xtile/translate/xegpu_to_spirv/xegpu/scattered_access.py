"""Loads, stores and updates of scattered points: each lane accesses its own.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUOps.td`, `create_tdesc`, `update_offset`, `load`,
`store`, `prefetch` and `atomic_rmw`; docs/semantics.md, "XeGPU".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Self

from typing_extensions import override
from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.xegpu.operation import element_type as xegpu_element_type
from xtile.dialects.xegpu.operation import points as points_of
from xtile.dialects.xegpu.operation import shape_of, tensor_desc
from xtile.dialects.xegpu.ops.atomics import AtomicRMWOp
from xtile.dialects.xegpu.ops.descriptors import CreateDescOp, UpdateOffsetOp
from xtile.dialects.xegpu.ops.scattered import LoadGatherOp, PrefetchOp, StoreScatterOp
from xtile.dialects.xegpu.types import TensorDescType
from xtile.rewrite.descriptors import Descriptor
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_spirv.atomics import update
from xtile.translate.xegpu_to_spirv.control import Condition, do_where, value_where
from xtile.translate.xegpu_to_spirv.gpu import of_subgroup
from xtile.translate.xegpu_to_spirv.lowering import Carried, Lowering
from xtile.translate.xegpu_to_spirv.memory import (
    Location,
    load_piece,
    location,
    pointer_to,
    store_piece,
)
from xtile.translate.xegpu_to_spirv.types import (
    legal_lengths,
    natural_alignment,
    of_length,
    register_type,
)
from xtile.translate.xegpu_to_spirv.vectors.entries import (
    Entry,
    assemble,
    define_entries,
    element,
    entries,
    entries_of,
)
from xtile.translate.xegpu_to_spirv.vectors.positions import extract_dynamic
from xtile.translate.xegpu_to_spirv.xegpu.block_descriptors import MemorySpace, pointer_from_address
from xtile.translate.xegpu_to_spirv.xegpu.lane_code import check_points


@dataclass(frozen=True)
class ScatteredDescriptor(Carried):
    """Points of memory.

    Attributes:
        memory: The memory, from the location on that offsets are counted from.
        offsets: The offset of each point, in elements.
    """

    memory: Descriptor
    offsets: tuple[SSAValue, ...]

    @override
    def flat(self, lowering: Lowering) -> list[SSAValue]:
        return [self.memory.pointer, lowering.as_value(self.memory.offset), *self.offsets]

    @classmethod
    @override
    def rebuilt(cls, type_: Attribute, values: Iterator[SSAValue]) -> Self:
        assert isinstance(type_, TensorDescType)
        pointer, offset = next(values), next(values)
        memory = _linear(pointer, type_.element_type, offset)
        return cls(memory, tuple(next(values) for _ in range(prod(points_of(type_)))))


def _linear(pointer: SSAValue, element: Attribute, offset: Index) -> Descriptor:
    """Memory with one dimension, whose end is not known."""
    return Descriptor(pointer, element, offset, (), (1,), natural_alignment(element))


@dataclass(frozen=True)
class _Point:
    """One point of an access.

    Attributes:
        offset: Its offset in elements.
        inside: Whether the mask allows it.
    """

    offset: SSAValue
    inside: Condition


@dataclass(frozen=True)
class _Access:
    """What an operation accesses: so many elements at each point.

    Attributes:
        memory: The memory.
        points: The points of a lane.
        chunk: Elements of each point.
    """

    memory: Descriptor
    points: Sequence[_Point]
    chunk: int

    def parts(self, lowering: Lowering) -> Iterator[tuple[_Point, Location, int]]:
        """The point, the location and the length of each part that can be a vector."""
        for point in self.points:
            first = location(lowering, self.memory, [point.offset])
            for length in legal_lengths(self.chunk):
                yield point, first, length
                first = first.after(length)


# --- descriptors ---


def _numbers(old: SSAValue, lowering: Lowering) -> list[SSAValue]:
    """The numbers of a vector, or the only one."""
    return [element(lowering, entry) for entry in entries(old, lowering)]


def _base(old: SSAValue, type_: Attribute, lowering: Lowering) -> Descriptor:
    """The memory that offsets are counted from."""
    meaning = lowering.meaning(old)
    if isinstance(meaning, Descriptor):
        return _linear(meaning.pointer, meaning.element, meaning.offset)
    pointer = pointer_from_address(lowering, meaning, type_, MemorySpace.GLOBAL)
    return _linear(pointer, type_, 0)


def _create_tdesc(operation: CreateDescOp, lowering: Lowering) -> None:
    type_ = tensor_desc(operation.TensorDesc)
    meaning = lowering.meaning(operation.source)
    if isinstance(meaning, Descriptor):
        memory = _base(operation.source, type_.element_type, lowering)
    else:
        space = type_.memory_space
        pointer = pointer_from_address(lowering, meaning, type_.element_type, space)
        memory = _linear(pointer, type_.element_type, 0)
    offsets = tuple(_numbers(operation.offsets, lowering))
    lowering.define(operation.TensorDesc, ScatteredDescriptor(memory, offsets))


def _update_offset(operation: UpdateOffsetOp, lowering: Lowering) -> None:
    descriptor = _descriptor(operation.TensorDesc, lowering)
    moves = _numbers(operation.offsets, lowering)
    offsets = (
        lowering.shared_compute("IAdd", i64, a, b)
        for a, b in zip(descriptor.offsets, moves, strict=True)
    )
    lowering.define(operation.result, replace(descriptor, offsets=tuple(offsets)))


def _descriptor(old: SSAValue, lowering: Lowering) -> ScatteredDescriptor:
    meaning = lowering.meaning(old)
    assert isinstance(meaning, ScatteredDescriptor)
    return meaning


# --- accesses ---


def _access(
    operation: Operation,
    lowering: Lowering,
    source: SSAValue,
    offsets: SSAValue | None,
    mask: SSAValue,
    value: SSAValue,
    chunk: int,
) -> _Access:
    """The access of one lane.

    Raises:
        DiagnosticError: The value does not fit the points, or they are a subgroup's.
    """
    if offsets is None:
        descriptor = _descriptor(source, lowering)
        memory, numbers = descriptor.memory, list(descriptor.offsets)
        shape = points_of(tensor_desc(source))
    else:
        memory = _base(source, xegpu_element_type(value.type), lowering)
        numbers, shape = _numbers(offsets, lowering), shape_of(offsets.type)
    conditions = _numbers(mask, lowering)
    count = prod(shape_of(value.type))
    if len(numbers) > 1 and count == chunk and shape != shape_of(value.type):
        lanes = lowering.kernel.lanes
        if len(numbers) != lanes:
            raise lowering.error(
                f"the value is the part of one lane, but there are {len(numbers)} points; in a "
                f"subgroup of {lanes} lanes there must be one for each"
            )
        numbers, conditions = (
            [_of_lane(lowering, numbers)],
            [_of_lane(lowering, conditions)],
        )
    if len(numbers) * chunk != count or len(conditions) != len(numbers):
        raise lowering.error(
            f"the value has {count} elements, but there are {len(numbers)} points of {chunk}"
        )
    check_points(operation, len(numbers), lowering)
    pairs = zip(numbers, conditions, strict=True)
    always = lowering.true()
    points = [_Point(number, None if where is always else where) for number, where in pairs]
    return _Access(memory, points, chunk)


def _of_lane(lowering: Lowering, numbers: Sequence[SSAValue]) -> SSAValue:
    """The number that stands at the lane's location."""
    lane = of_subgroup(lowering, "SubgroupLocalInvocationId")
    row: list[Entry] = []
    rest = [(number, 0) for number in numbers]
    for length in legal_lengths(len(numbers)):
        row += entries_of([assemble(lowering, rest[:length])])
        rest = rest[length:]
    return extract_dynamic(lowering, row, lane)


def _load(operation: LoadGatherOp, lowering: Lowering) -> None:
    access = _access(
        operation,
        lowering,
        operation.source,
        operation.offsets,
        operation.mask,
        operation.value,
        operation.effective_chunk_size,
    )
    memory = access.memory
    loaded: list[Entry] = []
    for point, first, length in access.parts(lowering):
        type_ = of_length(register_type(memory.element), length)
        nothing = lowering.constants.of_bits(0, type_)
        make = _loading(lowering, memory, first, length)
        loaded += entries_of([value_where(lowering, point.inside, make, nothing)])
    define_entries(lowering, operation.value, loaded)


def _loading(
    lowering: Lowering, memory: Descriptor, first: Location, length: int
) -> Callable[[], SSAValue]:
    return lambda: load_piece(lowering, memory, first, length)


def _store(operation: StoreScatterOp, lowering: Lowering) -> None:
    access = _access(
        operation,
        lowering,
        operation.dest,
        operation.offsets,
        operation.mask,
        operation.value,
        operation.effective_chunk_size,
    )
    rest = entries(operation.value, lowering)
    for point, first, length in access.parts(lowering):
        value = assemble(lowering, rest[:length])
        rest = rest[length:]
        do_where(lowering, point.inside, _storing(lowering, access.memory, first, value))


def _storing(
    lowering: Lowering, memory: Descriptor, first: Location, value: SSAValue
) -> Callable[[], None]:
    return lambda: store_piece(lowering, memory, first, value)


def _prefetch(operation: PrefetchOp, lowering: Lowering) -> None:
    """Fetches nothing: there is no mask, so any of the points may be outside of the memory."""


def _atomic_rmw(operation: AtomicRMWOp, lowering: Lowering) -> None:
    chunk = tensor_desc(operation.tensorDesc).chunk_size
    arguments = (operation.tensorDesc, None, operation.mask, operation.value, chunk)
    access = _access(operation, lowering, *arguments)
    kind = operation.update.name
    memory = access.memory
    (point,) = access.points
    first = location(lowering, memory, [point.offset])
    zero = lowering.constants.of_bits(0, register_type(memory.element))

    def updating(number: int, value: SSAValue) -> Callable[[], SSAValue]:
        pointer = pointer_to(lowering, memory, first.after(number))
        return lambda: update(lowering, kind, value, memory, pointer)

    before: list[Entry] = []
    for number, value in enumerate(_numbers(operation.value, lowering)):
        make = updating(number, value)
        before.append((value_where(lowering, point.inside, make, zero), 0))
    define_entries(lowering, operation.result, before)


RULES: dict[str, Rule] = {
    AtomicRMWOp.name: _atomic_rmw,
    CreateDescOp.name: _create_tdesc,
    LoadGatherOp.name: _load,
    PrefetchOp.name: _prefetch,
    StoreScatterOp.name: _store,
    UpdateOffsetOp.name: _update_offset,
}
"""The rule of each operation, by name."""
