"""Which parameters a kernel may write to."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import MemRefType, UnrankedMemRefType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from xtile.dialects.tensorlang.ops.collective import BlasA2Operation, BlasA3Operation
from xtile.dialects.tensorlang.ops.cooperative_matrix import (
    CooperativeMatrixAtomicStoreOp,
    CooperativeMatrixAtomicUpdate,
    CooperativeMatrixStoreOp,
)
from xtile.dialects.tensorlang.ops.memory import AtomicStoreOp, AtomicUpdateOperation, StoreOp
from xtile.dialects.tensorlang.types import GroupType, MemrefType

_WRITTEN_OPERANDS: dict[str, int] = {
    "gpu.memcpy": 0,
    "memref.atomic_rmw": 1,
    "memref.copy": 1,
    "memref.generic_atomic_rmw": 0,
    "memref.store": 1,
    "vector.compressstore": 0,
    "vector.maskedstore": 0,
    "vector.scatter": 0,
    "vector.store": 1,
    "vector.transfer_write": 1,
    "xegpu.atomic_rmw": 0,
    "xegpu.store": 1,
    "xegpu.store_matrix": 1,
    "xegpu.store_nd": 1,
}
"""For each operation of the upstream dialects that writes the operand that it writes to."""


def written_parameters(function: Operation) -> frozenset[int]:
    """The indices of the memref and group parameters that an operation may write to."""
    if function.name == "cuda_tile.entry":
        from xtile.launch.tile_writes import written_pointers

        return written_pointers(function)
    written: set[int] = set()
    for operation in function.walk():
        for target in _written_memrefs(operation):
            root = _root(target)
            if isinstance(root, BlockArgument) and root.owner.parent_op() is function:
                written.add(root.index)
    return frozenset(written)


def _written_memrefs(operation: Operation) -> Sequence[SSAValue]:
    """The memrefs that an operation writes to, or that a function may write to that it calls."""
    if operation.name in _WRITTEN_OPERANDS:
        return (operation.operands[_WRITTEN_OPERANDS[operation.name]],)
    if operation.name == "func.call":
        return operation.operands
    written = _written_memref(operation)
    return () if written is None else (written,)


def _written_memref(operation: Operation) -> SSAValue | None:
    """The memref that an instruction of the tensor language writes to, if it does."""
    match operation:
        case BlasA2Operation():
            return operation.b
        case BlasA3Operation():
            return operation.c
        case (
            StoreOp()
            | AtomicStoreOp()
            | AtomicUpdateOperation()
            | CooperativeMatrixStoreOp()
            | CooperativeMatrixAtomicStoreOp()
            | CooperativeMatrixAtomicUpdate()
        ):
            return operation.memref
        case _:
            return None


def _root(value: SSAValue) -> SSAValue:
    """What a view is a view on: a parameter, or the result of alloca."""
    while isinstance(value.owner, Operation) and value.owner.operands:
        source = value.owner.operands[0]
        if not _is_memory(source.type):
            return value
        value = source
    return value


def _is_memory(type: Attribute) -> bool:
    """Whether a value of a type leads to memory, which what is made of it leads to as well."""
    memory = MemrefType | GroupType | MemRefType | UnrankedMemRefType
    return isinstance(type, memory) or type.name == "xegpu.tensor_desc"
