"""Which parameters a kernel may write to."""

from __future__ import annotations

from xdsl.ir import BlockArgument, Operation, SSAValue

from xtile.dialects.tensorlang.ops.collective import BlasA2Operation, BlasA3Operation
from xtile.dialects.tensorlang.ops.cooperative_matrix import (
    CooperativeMatrixAtomicStoreOp,
    CooperativeMatrixAtomicUpdate,
    CooperativeMatrixStoreOp,
)
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.ops.memory import AtomicStoreOp, AtomicUpdateOperation, StoreOp
from xtile.dialects.tensorlang.types import GroupType, MemrefType


def written_parameters(function: FuncOp) -> frozenset[int]:
    """The indices of the memref and group parameters that an instruction may write to."""
    written: set[int] = set()
    for operation in function.body.walk():
        target = _written_memref(operation)
        root = None if target is None else _root(target)
        if isinstance(root, BlockArgument) and root.owner is function.body.block:
            written.add(root.index)
    return frozenset(written)


def _written_memref(operation: Operation) -> SSAValue | None:
    """The memref that an instruction writes to, if it does."""
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
        if not isinstance(source.type, MemrefType | GroupType):
            return value
        value = source
    return value
