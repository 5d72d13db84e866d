"""Local memory: what a program keeps there, views of it, and copies to it.

Local memory is memory of the program here, and copies that Triton's devices make while they compute
are made where they stand: waiting for them is nothing then. What is only written when it is
allocated is a value.

Source: Triton 3.4 to 3.9, `TritonGPUOps.td`; 3.9, `TritonAMDGPUOps.td`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import AffineMapAttr, IntegerAttr, MemRefType, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from xtile.dialects.core.elements import GatherOp
from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
from xtile.dialects.shared_attributes import truth_attribute
from xtile.dialects.triton.ttg.ops import (
    AsyncCopyGlobalToLocalOp,
    LocalAllocOp,
    LocalGatherOp,
    LocalLoadOp,
    LocalScatterOp,
    LocalStoreOp,
    MemDescIndexOp,
    MemDescReshapeOp,
    MemDescSubsliceOp,
    MemDescSubviewOp,
    MemDescTransOp,
)
from xtile.dialects.triton.ttg.types import MemDescType
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import shape_of, with_shape
from xtile.translate.triton_to_core.raising import Raising


@dataclass(frozen=True)
class LocalMemory:
    """A view of local memory.

    Attributes:
        memory: The memref that is viewed.
        starts: The first index of the view along each dimension of the memref.
        order: For each dimension of the view that of the memref.
        sizes: The sizes of the view along these.
        shape: What shape the elements have that are loaded and stored.
    """

    memory: SSAValue
    starts: tuple[Index, ...]
    order: tuple[int, ...]
    sizes: tuple[int, ...]
    shape: tuple[int, ...]

    def parts(self, raising: Raising) -> list[SSAValue]:
        """The values that loops and branches hand on: where the view begins."""
        return [raising.as_value(start) for start in self.starts]

    def of_parts(self, parts: Iterable[SSAValue]) -> LocalMemory:
        """The same memory, viewed from where it was handed on."""
        return replace(self, starts=tuple(parts))

    def moved(self, raising: Raising, offsets: Sequence[Index]) -> LocalMemory:
        """The view that begins some elements further along its first dimensions."""
        starts = list(self.starts)
        for dimension, offset in zip(self.order, offsets, strict=False):
            starts[dimension] = raising.add(starts[dimension], offset)
        return replace(self, starts=tuple(starts))

    def of_order(self, order: Sequence[int], sizes: Sequence[int]) -> LocalMemory:
        """The view whose dimensions are some of this one's, with other sizes."""
        kept = tuple(self.order[dimension] for dimension in order)
        return replace(self, order=kept, sizes=tuple(sizes), shape=tuple(sizes))

    def load(self, raising: Raising) -> SSAValue:
        """What is in the memory."""
        element = cast("MemRefType[Attribute]", self.memory.type).element_type
        operands = [self.memory, self.parts(raising), raising.constant(0, element), []]
        type_ = with_shape(element, self.sizes)
        made = raising.compute(TransferReadOp, operands, type_, self._properties())
        return raising.reshape(made, self.shape)

    def store(self, raising: Raising, value: SSAValue) -> None:
        """Writes to the memory."""
        shaped = raising.reshape(value, self.sizes)
        raising.emit(
            TransferWriteOp.build(
                operands=[shaped, self.memory, self.parts(raising), []],
                result_types=[[]],
                properties=self._properties(),
            )
        )

    def _properties(self) -> dict[str, Attribute]:
        results = tuple(AffineDimExpr(dimension) for dimension in self.order)
        return {
            "permutation_map": AffineMapAttr(AffineMap(len(self.starts), 0, results)),
            "in_bounds": truth_attribute((True,) * len(self.sizes)),
        }


Meaning = LocalMemory | SSAValue
"""What local memory has become: memory, or where nobody writes to it its content."""


def _shape(type_: Attribute) -> tuple[int, ...]:
    return cast("MemDescType", type_).get_shape()


def _alloc(operation: LocalAllocOp, raising: Raising) -> None:
    type_ = operation.result.type
    is_value = operation.src is not None and not bool(type_.mutable_memory.value.data)
    if is_value:
        assert operation.src is not None
        raising.define(operation.result, raising.value(operation.src))
        return
    shape = type_.get_shape()
    memory = raising.compute(
        memref.AllocaOp, [[], []], MemRefType(raising.type(type_.element_type), shape)
    )
    order = tuple(range(len(shape)))
    made = LocalMemory(memory, (0,) * len(shape), order, tuple(shape), tuple(shape))
    raising.define(operation.result, made)
    if operation.src is not None:
        made.store(raising, raising.value(operation.src))


def _load(operation: LocalLoadOp, raising: Raising) -> None:
    meaning = raising.meaning(operation.src)
    value = meaning.load(raising) if isinstance(meaning, LocalMemory) else meaning
    raising.define(operation.result, value)


def _store(operation: LocalStoreOp, raising: Raising) -> None:
    memory_of(raising, operation.dst).store(raising, raising.value(operation.src))


def memory_of(raising: Raising, old: SSAValue) -> LocalMemory:
    """Local memory that is written to.

    Raises:
        DiagnosticError: It may not be written to, at the operation that is being translated.
    """
    meaning = raising.meaning(old)
    if not isinstance(meaning, LocalMemory):
        raise raising.error("this local memory is not mutable; it is written when it is allocated")
    return meaning


# --- views ---


def _index(operation: MemDescIndexOp, raising: Raising) -> None:
    meaning, at = raising.meaning(operation.src), raising.index_of(operation.index)
    shape = _shape(operation.result.type)
    if isinstance(meaning, LocalMemory):
        _check_shape(meaning, raising)
        moved = meaning.moved(raising, [at])
        raising.define(operation.result, moved.of_order(range(1, len(meaning.order)), shape))
    else:
        raising.define(operation.result, raising.part(meaning, [at]))


def _check_shape(memory: LocalMemory, raising: Raising) -> None:
    """Raises an error if a view has another shape than memory."""
    if memory.shape != memory.sizes:
        raise raising.error("a view of local memory in another shape cannot be cut into parts")


def _subslice(operation: MemDescSubsliceOp, raising: Raising) -> None:
    offsets = [int(each) for each in operation.offsets.get_values()]
    _cut(raising, operation.src, operation.result, offsets)


def _subview(operation: MemDescSubviewOp, raising: Raising) -> None:
    """The first dimensions, of which the result has none, are counted; the others are cut."""
    offsets = [raising.index_of(each) for each in operation.offsets]
    _cut(raising, operation.src, operation.result, offsets)


def _cut(raising: Raising, src: SSAValue, result: SSAValue, offsets: Sequence[Index]) -> None:
    meaning, shape = raising.meaning(src), _shape(result.type)
    count = len(offsets) - len(shape)
    if isinstance(meaning, LocalMemory):
        _check_shape(meaning, raising)
        moved = meaning.moved(raising, offsets)
        raising.define(result, moved.of_order(range(count, len(offsets)), shape))
        return
    value = raising.part(meaning, offsets[:count]) if count else meaning
    numbers = [offset for offset in offsets[count:] if isinstance(offset, int)]
    if len(numbers) != len(shape):
        raise raising.error("where this view begins must be known")
    raising.define(result, raising.slice(value, numbers, shape))


def _trans(operation: MemDescTransOp, raising: Raising) -> None:
    meaning = raising.meaning(operation.src)
    order = [int(each) for each in operation.order.get_values()]
    if isinstance(meaning, LocalMemory):
        _check_shape(meaning, raising)
        made: Meaning = meaning.of_order(order, [meaning.sizes[dimension] for dimension in order])
    else:
        made = raising.transposed(meaning, order)
    raising.define(operation.result, made)


def _reshape(operation: MemDescReshapeOp, raising: Raising) -> None:
    meaning, shape = raising.meaning(operation.src), _shape(operation.result.type)
    if isinstance(meaning, LocalMemory):
        made: Meaning = replace(meaning, shape=tuple(shape))
    else:
        made = raising.reshape(meaning, shape)
    raising.define(operation.result, made)


# --- elements at indices ---


def _indexed(
    raising: Raising, memory: LocalMemory, indices: SSAValue, axis: IntegerAttr
) -> list[SSAValue]:
    """The indices in the memref of elements whose index along an axis is given."""
    _check_shape(memory, raising)
    shape, dimension = shape_of(indices.type), axis.value.data
    given = raising.as_index(indices)
    found: list[SSAValue] = [raising.as_value(start) for start in memory.starts]
    for number, kept in enumerate(memory.order):
        line = given
        if number != dimension:
            line = raising.along(raising.step(shape[number]), number, len(shape))
        if memory.starts[kept] != 0:
            first = raising.spread(found[kept], shape_of(line.type))
            line = raising.compute(arith.AddiOp, [line, first], line.type)
        found[kept] = line
    return found


def _gather(operation: LocalGatherOp, raising: Raising) -> None:
    meaning, indices = raising.meaning(operation.src), raising.value(operation.indices)
    type_ = raising.type(operation.result.type)
    if isinstance(meaning, LocalMemory):
        found = _indexed(raising, meaning, indices, operation.axis)
        made = raising.compute(GatherLoadOp, [meaning.memory, found, [], []], type_)
    else:
        properties = {"axis": IntegerAttr(operation.axis.value.data, i64)}
        made = raising.compute(GatherOp, [meaning, indices], type_, properties)
    raising.define(operation.result, made)


def _scatter(operation: LocalScatterOp, raising: Raising) -> None:
    memory, indices = memory_of(raising, operation.dst), raising.value(operation.indices)
    found = _indexed(raising, memory, indices, operation.axis)
    value = raising.value(operation.values)
    raising.emit(ScatterStoreOp.build(operands=[value, memory.memory, found, []]))


# --- copies ---


def copy_to(
    raising: Raising,
    memory: LocalMemory,
    pointers: SSAValue,
    mask: SSAValue | None,
    other: SSAValue | None,
) -> None:
    """Loads through pointers to local memory; what the mask leaves out is `other`, or 0."""
    element = cast("MemRefType[Attribute]", memory.memory.type).element_type
    type_ = with_shape(element, shape_of(pointers.type))
    masks: list[SSAValue] = [] if mask is None else [mask]
    padding = raising.constant(0, type_) if other is None and mask is not None else other
    paddings: list[SSAValue] = [] if padding is None else [padding]
    operands: list[Any] = [pointers, [], masks, paddings]
    memory.store(raising, raising.compute(GatherLoadOp, operands, type_))


def _async_copy(operation: AsyncCopyGlobalToLocalOp, raising: Raising) -> None:
    mask, other = raising.optional(operation.mask), raising.optional(operation.other)
    copy_to(
        raising,
        memory_of(raising, operation.result),
        raising.value(operation.src),
        mask[0] if mask else None,
        other[0] if other else None,
    )
    raising.define(operation.token, Token())


class Token:
    """What the order of copies has become: nothing."""

    def parts(self, raising: Raising) -> list[SSAValue]:
        """No values."""
        return []

    def of_parts(self, parts: Iterable[SSAValue]) -> Token:
        """The same."""
        return self


def forget(operation: Operation, raising: Raising) -> None:
    """What only orders copies, or frees memory: nothing here."""
    for result in operation.results:
        raising.define(result, Token())


RULES: dict[str, Rule] = {
    "ttg.async_commit_group": forget,
    "ttg.async_copy_global_to_local": _async_copy,
    "ttg.async_wait": forget,
    "ttg.local_alloc": _alloc,
    "ttg.local_dealloc": forget,
    "ttg.local_gather": _gather,
    "ttg.local_load": _load,
    "ttg.local_scatter": _scatter,
    "ttg.local_store": _store,
    "ttg.memdesc_index": _index,
    "ttg.memdesc_reshape": _reshape,
    "ttg.memdesc_subslice": _subslice,
    "ttg.memdesc_subview": _subview,
    "ttg.memdesc_trans": _trans,
}
"""The rule of each operation, by name."""
