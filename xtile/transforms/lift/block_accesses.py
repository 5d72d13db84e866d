"""What accesses a matrix in memory: parts of lanes (XeGPU of lanes), or a matrix of a subgroup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import MemRefType, i64
from xdsl.dialects.vector import TransferReadOp, TransferWriteOp
from xdsl.ir import Operation, SSAValue

from xtile.dialects.effects import leaves_memory, only_reads, read_operands
from xtile.dialects.shapes import dimensions_of
from xtile.dialects.walk import walk
from xtile.dialects.xegpu.operation import tensor_desc
from xtile.dialects.xegpu.ops.block import LoadNdOp, StoreNdOp
from xtile.dialects.xegpu.ops.descriptors import CreateNdDescOp
from xtile.rewrite.facts import constant_of, sum_of
from xtile.rewrite.tile_emitter import shape_of
from xtile.transforms.hoist_reads import changed_memory, may_be_same
from xtile.transforms.lift.blocks_of_lanes import (
    Table,
    has_own_shape,
    is_boundary_checked,
    table_of_access,
)

Position: TypeAlias = tuple[SSAValue | None, int]
"""An index: something that is not known, and a number that is added to it."""


@dataclass(frozen=True)
class BlockAccess:
    """Reads or writes a matrix.

    Attributes:
        value: What it reads or writes.
        memory: The memref or the address that it belongs to.
        descriptor: What makes the memory of it, where that has a shape of its own.
        indices: Where the matrix begins.
        along: The dimensions of memory along which its rows and its columns follow each other.
        shape: Its rows and columns.
        inside: Along which of them it is certainly inside of memory; elements outside are zeros.
        table: Which element of it each entry of each lane is; None where the value is the matrix.
    """

    value: SSAValue
    memory: SSAValue
    descriptor: CreateNdDescOp | None
    indices: tuple[SSAValue | int, ...]
    along: tuple[int, int]
    shape: tuple[int, int]
    inside: tuple[bool, bool]
    table: Table | None

    @property
    def region(self) -> tuple[SSAValue | int | None, ...]:
        """The memory, with its shape and strides if it has its own."""
        if self.descriptor is None:
            return (self.memory,)
        return (self.memory, *self.descriptor.mixed_sizes, *self.descriptor.mixed_strides)

    @property
    def position(self) -> tuple[Position, ...]:
        """Where it begins, with known numbers apart."""
        return tuple(
            (None, index) if isinstance(index, int) else sum_of(index) for index in self.indices
        )


def access_of(operation: Operation, lanes: int) -> BlockAccess | None:
    """How an operation accesses a matrix; None if it does something else."""
    if isinstance(operation, LoadNdOp | StoreNdOp):
        return _of_lanes(operation, lanes)
    if isinstance(operation, TransferReadOp):
        is_zero = constant_of_float(operation.padding) == 0
        return _of_matrix(operation, operation.result) if is_zero else None
    if isinstance(operation, TransferWriteOp):
        return _of_matrix(operation, operation.vector)
    return None


def constant_of_float(value: SSAValue) -> float | None:
    """The number that a constant of any type is; None if it is none, and for -0."""
    known = constant_of(value)
    if known is not None:
        return known
    attribute = value.owner.properties.get("value") if isinstance(value.owner, Operation) else None
    number = getattr(getattr(attribute, "value", None), "data", None)
    return number if isinstance(number, float) and str(number) != "-0.0" else None


def _of_matrix(operation: TransferReadOp | TransferWriteOp, value: SSAValue) -> BlockAccess | None:
    shape, along = shape_of(value.type), dimensions_of(operation.permutation_map)
    known = [each for each in along if each is not None]
    if len(shape) != 2 or len(known) != 2 or operation.mask is not None:
        return None
    if not isinstance(operation.source.type, MemRefType):
        return None
    rows, columns = (bool(flag.value.data) for flag in operation.in_bounds)
    return BlockAccess(
        value,
        operation.source,
        None,
        tuple(operation.indices),
        (known[0], known[1]),
        (shape[0], shape[1]),
        (rows, columns),
        None,
    )


def _of_lanes(operation: LoadNdOp | StoreNdOp, lanes: int) -> BlockAccess | None:
    type_, descriptor = tensor_desc(operation.TensorDesc), operation.TensorDesc.owner
    if not operation.is_for_lane or not isinstance(descriptor, CreateNdDescOp) or type_.rank != 2:
        return None
    given, own = descriptor.mixed_offsets, operation.mixed_offsets
    offsets, rank = own or given, len(descriptor.mixed_sizes)
    is_at_known = isinstance(descriptor.source.type, MemRefType) or descriptor.source.type == i64
    if not is_at_known or (own and given) or len(offsets) != rank:
        return None
    try:
        table, (rows, columns) = table_of_access(operation, lanes)
    except ValueError:
        return None
    inside = not is_boundary_checked(type_)
    return BlockAccess(
        operation.value,
        descriptor.source,
        descriptor if has_own_shape(descriptor) else None,
        tuple(offsets),
        (rank - 2, rank - 1),
        (rows, columns),
        (inside, inside),
        table,
    )


def _memory_of(operation: LoadNdOp | StoreNdOp) -> SSAValue | None:
    """The memref that the memory of an access through a descriptor is part of, if it is known."""
    made = operation.TensorDesc.owner
    return _memref_at(made.source) if isinstance(made, CreateNdDescOp) else None


def _memref_at(source: SSAValue) -> SSAValue | None:
    """The memref whose memory begins at an address; a memref itself."""
    while isinstance(source.owner, Operation) and source.owner.name in _FROM_ADDRESSES:
        source = source.owner.operands[0]
    return source if isinstance(source.type, MemRefType) else None


_FROM_ADDRESSES = frozenset(
    {"arith.index_cast", "arith.index_castui", "memref.extract_aligned_pointer_as_index"}
)


# --- between the members of a grid ---


def is_undisturbed(members: Sequence[Operation], memory: SSAValue, *, is_read: bool) -> bool:
    """Whether accesses of one block may be done at once, where the last one is.

    Args:
        members: The accesses.
        memory: What they access.
        is_read: Whether they read, so that other reads do not matter.
    """
    known = _memref_at(memory)
    own, left = set(members), set(members)
    operation: Operation | None = min(members, key=_order_in_block)
    while operation is not None and left:
        left.discard(operation)
        if operation not in own and left and not _leaves(operation, known, is_read=is_read):
            return False
        operation = operation.next_op
    return True


def _order_in_block(operation: Operation) -> int:
    block = operation.parent
    assert block is not None
    return block.get_operation_index(operation)


def _leaves(operation: Operation, memory: SSAValue | None, *, is_read: bool) -> bool:
    """Whether an operation neither changes memory nor, unless that does not matter, reads it."""
    for each in walk(operation):
        if isinstance(each, StoreNdOp):
            touched = [_memory_of(each)]
        elif leaves_memory(each) or each.regions:
            continue
        elif only_reads(each):
            if is_read:
                continue
            touched = [_memory_of(each)] if isinstance(each, LoadNdOp) else read_operands(each)
            touched = touched or [None]
        else:
            touched = changed_memory(each)
            touched = [None] if touched is None else [*touched, *read_operands(each)]
        for other in touched:
            if memory is None or other is None or may_be_same(memory, other):
                return False
    return True
