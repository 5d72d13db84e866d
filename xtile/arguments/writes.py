"""Which parameters a kernel may write to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import MemRefType, UnrankedMemRefType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from xtile.arguments.pointer_writes import is_pointer, written_pointers
from xtile.dialects.effects import written_operands
from xtile.dialects.tensorlang.types import GroupType, MemrefType


def written_parameters(function: Operation) -> frozenset[int]:
    """The indices of the memref and group parameters that an operation may write to."""
    if any(is_pointer(value.type) for value in _values(function)):
        return written_pointers(function)
    written: set[int] = set()
    for operation in function.walk():
        for target in _written_memrefs(operation):
            root = _root(target)
            if isinstance(root, BlockArgument) and root.owner.parent_op() is function:
                written.add(root.index)
    return frozenset(written)


def _values(function: Operation) -> Iterator[SSAValue]:
    """The parameters of a function and all results in it."""
    for block in function.regions[0].blocks if function.regions else ():
        yield from block.args
    for operation in function.walk():
        yield from operation.results


def _written_memrefs(operation: Operation) -> Sequence[SSAValue]:
    """The memrefs that an operation writes to, or that a function may write to that it calls."""
    return operation.operands if operation.name == "func.call" else written_operands(operation)


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
