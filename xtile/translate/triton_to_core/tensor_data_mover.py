"""Blocks and rows that gfx1250's tensor data mover copies: transfers and gathers where they stand.

Waiting for a copy is nothing then. A descriptor remembers where its block begins in the tensor, so
that a copy is one of a part of the tensor, as a load by a descriptor is.

Source: Triton 3.6 to 3.9, `third_party/amd`, `TritonAMDGPUOps.td` and `TDMUtility.cpp`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from typing_extensions import override
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import i1, i64
from xdsl.ir import Attribute, Block, Region, SSAValue

from xtile.dialects.core.pointers import PointerAddOp
from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
from xtile.dialects.triton.amdg.ops import (
    AsyncTDMCopyGlobalToLocalOp,
    AsyncTDMCopyLocalToGlobalOp,
    AsyncTDMFusedCopyGlobalToLocalOp,
    AsyncTDMGatherOp,
    AsyncTDMScatterOp,
    TDMPrefetchOp,
    UpdateTensorDescriptorOp,
)
from xtile.dialects.triton.ttg.types import MemDescType
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import with_shape
from xtile.translate.triton_to_core.blocks import Tensor, read_block, write_block
from xtile.translate.triton_to_core.descriptors import (
    Descriptor,
    descriptor_meaning,
    elements_inside,
    indices_along,
)
from xtile.translate.triton_to_core.local_memory import LocalMemory, Token, forget, memory_of
from xtile.translate.triton_to_core.raising import Raising, constant_of


@dataclass(frozen=True)
class MovedDescriptor(Descriptor):
    """What a descriptor of a part of a tensor has become.

    Attributes:
        starts: Where its block begins in the tensor.
        condition: Whether copies are made by it; None: always.
    """

    starts: tuple[Index, ...]
    condition: SSAValue | None = None

    @override
    def parts(self, raising: Raising) -> list[SSAValue]:
        raise raising.error(
            "a descriptor that amdg.update_tensor_descriptor has moved is not handed on by loops "
            "and branches here; move it where it is used"
        )

    @override
    def of_parts(self, parts: Iterable[SSAValue]) -> Descriptor:
        raise NotImplementedError

    def resolved(self, raising: Raising, name: str) -> Tensor:
        """The part of the tensor from where the block begins."""
        tensor = self.memory
        if not isinstance(tensor, Tensor):
            raise raising.error(f"{name} is for descriptors that the kernel makes itself")
        left = [
            raising.larger(raising.subtract(size, start), 0)
            for size, start in zip(tensor.sizes, self.starts, strict=True)
        ]
        return replace(_further(raising, tensor, self.starts), sizes=tuple(left))


def _further(raising: Raising, tensor: Tensor, moves: Sequence[Index]) -> Tensor:
    """A tensor that begins so many elements further, and has as many."""
    distance = raising.sum_of_products(moves, tensor.strides)
    if isinstance(distance, int) and distance == 0:
        return tensor
    operands = [tensor.pointer, raising.from_index(distance, i64)]
    pointer = raising.compute(PointerAddOp, operands, tensor.pointer.type)
    return replace(tensor, pointer=pointer)


def _moved_descriptor(raising: Raising, old: SSAValue) -> MovedDescriptor:
    found, rank = descriptor_meaning(raising, old), len(_shape(old))
    if isinstance(found, MovedDescriptor):
        return found
    return MovedDescriptor(found.memory, found.padding, (0,) * rank)


def _shape(descriptor: SSAValue) -> tuple[int, ...]:
    type_: Any = descriptor.type
    return tuple(type_.get_shape())


# --- descriptors ---


def _update(operation: UpdateTensorDescriptorOp, raising: Raising) -> None:
    made = _moved_descriptor(raising, operation.desc)
    moves = [raising.index_of(each) for each in operation.add_offsets]
    if moves and operation.clamp_bounds is not None:
        starts = [_start(raising, made, n, move) for n, move in enumerate(moves)]
        made = replace(made, starts=tuple(starts))
    elif moves or operation.set_bounds:
        tensor = made.resolved(raising, "amdg.update_tensor_descriptor without clamp_bounds")
        tensor = _further(raising, tensor, moves) if moves else tensor
        bounds = tuple(raising.index_of(each) for each in operation.set_bounds)
        tensor = replace(tensor, sizes=bounds) if bounds else tensor
        made = replace(made, memory=tensor, starts=(0,) * len(made.starts))
    if operation.pred is not None:
        made = replace(made, condition=_condition(raising, operation.pred))
    raising.define(operation.result, made)


def _start(raising: Raising, descriptor: MovedDescriptor, dimension: int, move: Index) -> Index:
    """Where a block begins that is so many elements further: behind the end if that is negative."""
    moved = raising.add(descriptor.starts[dimension], move)
    if raising.facts.is_not_negative(move):
        return moved
    memory = descriptor.memory
    size = memory.sizes[dimension] if isinstance(memory, Tensor) else None
    end = raising.size((descriptor.all(raising), dimension)) if size is None else size
    is_before = raising.compare("slt", move, 0)
    operands = [is_before, raising.as_value(end), raising.as_value(moved)]
    return raising.compute(arith.SelectOp, operands, operands[1].type)


def _condition(raising: Raising, old: SSAValue) -> SSAValue | None:
    """Whether a number is not 0; None where it certainly is not."""
    number = constant_of(old)
    if number is not None:
        return None if number else raising.constant(0, i1)
    value = raising.value(old)
    return raising.compare("ne", value, raising.constant(0, value.type))


def _where(raising: Raising, condition: SSAValue | None, emit: Callable[[], None]) -> None:
    """What `emit` emits, on a condition if there is one."""
    if condition is None:
        emit()
        return
    block = Block()
    with raising.at_end_of(block):
        emit()
        raising.emit(scf.YieldOp())
    raising.emit(scf.IfOp(condition, [], Region(block), Region()))


# --- copies of blocks ---


def _refuse_barrier(barrier: SSAValue | None, raising: Raising) -> None:
    if barrier is not None:
        raise raising.error(
            "a copy that arrives at a barrier has no counterpart in the core form; wait for it "
            "with amdg.async_tdm_wait"
        )


def _element(raising: Raising, memory: SSAValue) -> Attribute:
    type_ = memory.type
    assert isinstance(type_, MemDescType)
    return raising.type(type_.element_type)


def _read(raising: Raising, desc: SSAValue, dest: SSAValue, indices: Sequence[Index] = ()) -> None:
    """Copies a block to local memory."""
    descriptor, memory, shape = (
        _moved_descriptor(raising, desc),
        memory_of(raising, dest),
        _shape(desc),
    )
    element = _element(raising, dest)
    starts = _starts(raising, descriptor, indices)

    def copy() -> None:
        block, zero = with_shape(element, shape), raising.constant(0, element)
        checked = [True] * len(shape)
        memory.store(raising, read_block(raising, descriptor.memory, starts, block, zero, checked))

    _where(raising, descriptor.condition, copy)


def _starts(
    raising: Raising, descriptor: MovedDescriptor, indices: Sequence[Index]
) -> tuple[Index, ...]:
    if not indices:
        return descriptor.starts
    pairs = zip(descriptor.starts, indices, strict=True)
    return tuple(raising.add(start, index) for start, index in pairs)


def _to_local(operation: AsyncTDMCopyGlobalToLocalOp, raising: Raising) -> None:
    _refuse_barrier(operation.barrier, raising)
    indices = [raising.index_of(each) for each in operation.indices]
    condition = None if operation.pred is None else _condition(raising, operation.pred)

    def copy() -> None:
        _read(raising, operation.desc, operation.result, indices)

    _where(raising, condition, copy)
    raising.define(operation.token, Token())


def _fused(operation: AsyncTDMFusedCopyGlobalToLocalOp, raising: Raising) -> None:
    for desc, dest in zip(operation.descs, operation.dests, strict=True):
        _read(raising, desc, dest)
    raising.define(operation.token, Token())


def _content(raising: Raising, memory: SSAValue) -> SSAValue:
    meaning: Any = raising.meaning(memory)
    return meaning.load(raising) if isinstance(meaning, LocalMemory) else meaning


def _to_global(operation: AsyncTDMCopyLocalToGlobalOp, raising: Raising) -> None:
    _refuse_barrier(operation.barrier, raising)
    descriptor = _moved_descriptor(raising, operation.desc)
    indices = [raising.index_of(each) for each in operation.indices]
    starts = _starts(raising, descriptor, indices)

    def copy() -> None:
        value = _content(raising, operation.src)
        checked = [True] * len(starts)
        write_block(raising, value, descriptor.memory, starts, checked)

    _where(raising, descriptor.condition, copy)
    raising.define(operation.token, Token())


# --- copies of rows ---


def _elements(
    raising: Raising, descriptor: MovedDescriptor, rows: SSAValue, shape: tuple[int, ...]
) -> tuple[SSAValue, list[SSAValue], SSAValue]:
    """The tensor, the indices of rows and columns, and which elements are inside of it."""
    memory = descriptor.all(raising)
    numbers = raising.as_index(raising.value(rows), is_signed=False)
    if descriptor.starts[0] != 0:
        first = raising.spread(raising.as_value(descriptor.starts[0]), shape[:1])
        numbers = raising.compute(arith.AddiOp, [numbers, first], numbers.type)
    columns = indices_along(raising, descriptor.starts[1], 1, (1, shape[1]))
    indices = [raising.reshape(numbers, [shape[0], 1]), columns]
    return memory, indices, elements_inside(raising, memory, indices, shape)


def _gather(operation: AsyncTDMGatherOp, raising: Raising) -> None:
    _refuse_barrier(operation.barrier, raising)
    descriptor, local = (
        _moved_descriptor(raising, operation.desc),
        memory_of(raising, operation.dst),
    )
    element, shape = _element(raising, operation.dst), _shape(operation.desc)

    def copy() -> None:
        memory, indices, mask = _elements(raising, descriptor, operation.src_row_indices, shape)
        type_ = with_shape(element, shape)
        operands: list[Any] = [memory, indices, [mask], [raising.constant(0, type_)]]
        local.store(raising, raising.compute(GatherLoadOp, operands, type_))

    _where(raising, descriptor.condition, copy)
    raising.define(operation.token, Token())


def _scatter(operation: AsyncTDMScatterOp, raising: Raising) -> None:
    _refuse_barrier(operation.barrier, raising)
    descriptor, shape = _moved_descriptor(raising, operation.desc), _shape(operation.desc)

    def copy() -> None:
        value = _content(raising, operation.src)
        memory, indices, mask = _elements(raising, descriptor, operation.dst_row_indices, shape)
        raising.emit(ScatterStoreOp.build(operands=[value, memory, indices, [mask]]))

    _where(raising, descriptor.condition, copy)
    raising.define(operation.retToken, Token())


def _prefetch(operation: TDMPrefetchOp, raising: Raising) -> None:
    if operation.maybeOffsets is not None:
        raise raising.error("the offsets of amdg.tdm_prefetch have no counterpart in the core form")


RULES: dict[str, Rule] = {
    "amdg.async_tdm_copy_global_to_local": _to_local,
    "amdg.async_tdm_copy_local_to_global": _to_global,
    "amdg.async_tdm_fused_copy_global_to_local": _fused,
    "amdg.async_tdm_gather": _gather,
    "amdg.async_tdm_intrinsic_wait": forget,
    "amdg.async_tdm_scatter": _scatter,
    "amdg.async_tdm_wait": forget,
    "amdg.tdm_prefetch": _prefetch,
    "amdg.update_tensor_descriptor": _update,
}
"""The rule of each operation, by name."""
