"""What an operation of a block-level kernel reads and writes, and which work-items do it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias, cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xtile.dialects.atomic_kinds import AtomicRMWKind, kind_of
from xtile.dialects.core.arguments import is_noalias, source_of
from xtile.dialects.core.attributes import AtomicKind
from xtile.dialects.core.blas import BlasA2Operation, BlasA3Operation
from xtile.dialects.core.complex_parts import ComplexPartOp
from xtile.dialects.core.subgroup import AtomicUpdateOp, ParallelOp
from xtile.dialects.effects import leaves_memory, read_operands, written_operands
from xtile.dialects.gpu.attributes import AddressSpaceAttr
from xtile.dialects.gpu.enumerations import AddressSpace
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.memory_orders import RELAXED, ordering_of
from xtile.dialects.walk import walk
from xtile.transforms.distribute.numbers import constant_of


class Space(Enum):
    """Memory that is not told apart any further.

    GLOBAL: global memory that may be that of any argument.
    SHARED: the global memory of all arguments that may overlap.
    LOCAL: local memory that may be any of the buffers.
    PRIVATE: a work-item's own memory.
    """

    GLOBAL = "global"
    SHARED = "shared"
    LOCAL = "local"
    PRIVATE = "private"


Root: TypeAlias = Space | SSAValue
"""Memory: a buffer in local memory, an argument that overlaps no other, or any of a space."""


class Kind(Enum):
    """What is done with memory; additions may be done in any order."""

    READ = "read"
    WRITE = "write"
    ADD = "add"


@dataclass(frozen=True)
class Access:
    """An access to memory, by all work-items or by work-item 0 alone."""

    root: Root
    kind: Kind
    is_by_first: bool = False

    def conflicts_with(self, other: Access) -> bool:
        """Whether the order of the two matters and a barrier must keep it."""
        if self.kind is other.kind and self.kind is not Kind.WRITE:
            return False
        if self.is_by_first and other.is_by_first:
            return False
        return _may_overlap(self.root, other.root)


def may_share_memory(a: SSAValue, b: SSAValue) -> bool:
    """Whether two memrefs may have elements in common, as a work-item sees them."""
    first, second = root_of(a), root_of(b)
    return first is second or _may_overlap(first, second)


def _may_overlap(a: Root, b: Root) -> bool:
    if a == b:
        return a is not Space.PRIVATE
    space = _space_around(a)
    return space is _space_around(b) and space in (a, b)


def _space_around(root: Root) -> Space:
    """The space that memory is a part of."""
    if isinstance(root, Space):
        return Space.GLOBAL if root is Space.SHARED else root
    return space_of(root)


def root_of(value: SSAValue) -> Root:
    """The memory that a memref is part of.

    A view is part of its source, and so is an entry of a group. Local memory comes from an `alloca`
    or an argument of the function; a memref from anywhere else may be any of its space.
    """
    space = space_of(value)
    if space is Space.GLOBAL:
        return _private_or_global(value)
    if space is Space.PRIVATE:
        return space
    while not isinstance(value.owner, Block):
        owner = value.owner
        if isinstance(owner, memref.AllocaOp | memref.AllocOp):
            return value
        if not _is_view(owner):
            return Space.LOCAL
        value = owner.operands[0]
    return value if isinstance(value.owner.parent_op(), FuncOp) else Space.LOCAL


def memory_behind(value: SSAValue) -> Root:
    """The memory of a memref, of a pointer or of a tile of pointers."""
    return root_of(value) if isinstance(value.type, MemRefType) else _private_or_global(value)


def _private_or_global(value: SSAValue) -> Root:
    """What memory without a space is: an `alloca` is a work-item's own, all else is global."""
    while not isinstance(value.owner, Block):
        if isinstance(value.owner, memref.AllocaOp):
            return Space.PRIVATE
        source = source_of(value.owner)
        if source is None:
            return Space.GLOBAL
        value = source
    if not isinstance(value.owner.parent_op(), FuncOp):
        return Space.GLOBAL
    return value if is_noalias(value) else Space.SHARED


def _is_view(operation: Operation) -> bool:
    """Whether the result is part of the first operand's memory."""
    return isinstance(operation, ComplexPartOp) or (
        operation.dialect_name() == "memref"
        and bool(operation.operands)
        and isinstance(operation.operands[0].type, MemRefType)
        and not isinstance(operation, memref.LoadOp)
    )


def space_of(value: SSAValue) -> Space:
    """The memory that a memref's type names."""
    space = cast("MemRefType[Attribute]", value.type).memory_space
    if isinstance(space, AddressSpaceAttr):
        if space.data is AddressSpace.WORKGROUP:
            return Space.LOCAL
        return Space.PRIVATE if space.data is AddressSpace.PRIVATE else Space.GLOBAL
    return Space.GLOBAL


def accesses(operation: Operation, is_work_of_first: bool = False) -> frozenset[Access]:
    """What one operation of collective code does to memory, and all that is nested in it.

    Args:
        operation: The operation.
        is_work_of_first: Whether work-item 0 alone does the linear algebra.
    """
    if isinstance(operation, BlasA2Operation | BlasA3Operation):
        return frozenset(
            Access(access.root, access.kind, is_work_of_first)
            for access in _linear_algebra(operation)
        )
    if isinstance(operation, ParallelOp):
        return accesses_of_work_items(operation)
    is_by_first = isinstance(operation, _DONE_ONCE)
    return frozenset(
        Access(access.root, access.kind, is_by_first) for access in _of_work_items(operation)
    )


_DONE_ONCE = (memref.StoreOp, memref.AtomicRMWOp, AtomicUpdateOp)
"""What work-item 0 does for the work-group."""


def accesses_of_work_items(operation: Operation) -> frozenset[Access]:
    """What an operation does, with all that is nested in it, if each work-item executes it."""
    return frozenset(access for nested in walk(operation) for access in _of_work_items(nested))


def _linear_algebra(operation: BlasA2Operation | BlasA3Operation) -> Iterable[Access]:
    if isinstance(operation, BlasA2Operation):
        inputs, output = (operation.a,), root_of(operation.b)
    else:
        inputs, output = (operation.a, operation.b), root_of(operation.c)
    for value in inputs:
        yield Access(root_of(value), Kind.READ)
    beta = constant_of(operation.beta)
    if operation.atomic is not None and beta == 1:
        yield Access(output, Kind.ADD)
        return
    yield Access(output, Kind.WRITE)
    if beta != 0:
        yield Access(output, Kind.READ)


_ADDITIONS = frozenset({AtomicRMWKind.addf, AtomicRMWKind.addi})
_CORE_ADDITIONS = frozenset({AtomicKind.ADD_FLOAT, AtomicKind.ADD_INTEGER})


def _of_work_items(operation: Operation) -> Iterable[Access]:
    """What an operation does that each work-item executes."""
    memories = [value for value in operation.operands if isinstance(value.type, MemRefType)]
    if not memories or _reads_address(operation):
        return
    if ordering_of(operation).order is not RELAXED.order:
        # Other work-groups see in this order whatever is done to memory before or after it.
        yield Access(Space.GLOBAL, Kind.WRITE)
    if isinstance(operation, memref.AtomicRMWOp | AtomicUpdateOp) and _is_addition(operation):
        yield Access(root_of(memories[0]), Kind.ADD)
        return
    read, written = read_operands(operation), written_operands(operation)
    if not read and not written:
        if operation.regions or leaves_memory(operation):
            return
        read = written = memories
    for memory in read:
        yield Access(root_of(memory), Kind.READ)
    for memory in written:
        yield Access(root_of(memory), Kind.WRITE)


def _is_addition(operation: memref.AtomicRMWOp | AtomicUpdateOp) -> bool:
    """Whether an update adds, and nobody sees what was there before."""
    if operation.results[0].first_use is not None:
        return False
    if isinstance(operation, memref.AtomicRMWOp):
        return kind_of(operation.kind) in _ADDITIONS
    return operation.kind.data in _CORE_ADDITIONS


def _reads_address(operation: Operation) -> bool:
    """Whether an operation loads an entry of a group, whose addresses do not change."""
    return isinstance(operation, memref.LoadOp) and isinstance(operation.res.type, MemRefType)
