"""Puts loads of blocks where products need them.

A subgroup then holds the factors of one step of the depth, not of all steps. Drivers load earlier
where registers are free, but a load that comes early takes registers wherever it stands.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from xdsl.dialects import arith, vector
from xdsl.ir import Block, Operation, OpResult

from xtile.dialects.effects import leaves_memory, only_reads, synchronizes
from xtile.dialects.vector.slices import ExtractStridedSliceOp
from xtile.dialects.walk import walk
from xtile.dialects.xegpu.ops.block import LoadNdOp
from xtile.dialects.xegpu.ops.product import DpasOp

_PARTS = (arith.BitcastOp, vector.BitcastOp, ExtractStridedSliceOp)
"""What becomes of a loaded block before it is a factor; most of it takes no instruction."""

_MADE_OF = frozenset(kind.name for kind in (LoadNdOp, *_PARTS))
_USED_BY = frozenset(kind.name for kind in (DpasOp, *_PARTS))


def delay_loads(root: Operation) -> None:
    """Moves loads of factors, inside of an operation, down to the first products that need them.

    Those of products that do not wait for each other stay together, so that the time that memory
    takes passes once. Loads pass nothing that may change memory.
    """
    blocks: dict[Block, None] = {}
    for operation in walk(root):
        if operation.name == DpasOp.name and operation.parent is not None:
            blocks[operation.parent] = None
    for block in blocks:
        _reorder(block)


def _reorder(block: Block) -> None:
    waiting: dict[Operation, None] = {}
    for operation in list(block.ops):
        if _is_of_factor(operation, block):
            waiting[operation] = None
            continue
        for each in _needed(operation, waiting) if waiting else ():
            _put(each, operation, waiting)


def _needed(operation: Operation, waiting: Collection[Operation]) -> Sequence[Operation]:
    """What must not wait any longer when an operation comes."""
    if not _is_passed(operation):
        return list(waiting)
    needed = _owners(operation)
    if not isinstance(operation, DpasOp) or not any(each in waiting for each in needed):
        return needed
    return [owner for product in _step(operation) for owner in _owners(product)]


def _step(first: Operation) -> Iterator[DpasOp]:
    """The products from one on, none of which needs the sums of another."""
    found: set[Operation] = set()
    operation: Operation | None = first
    while operation is not None and _is_passed(operation):
        if isinstance(operation, DpasOp):
            if not found.isdisjoint(_owners(operation)):
                return
            found.add(operation)
            yield operation
        operation = operation.next_op


def _put(operation: Operation, before: Operation, waiting: dict[Operation, None]) -> None:
    """Puts an operation that waits, and those that it needs, before another one."""
    if operation not in waiting:
        return
    del waiting[operation]
    for each in _owners(operation):
        _put(each, before, waiting)
    operation.detach()
    block = before.parent
    assert block is not None
    block.insert_op_before(operation, before)


def _owners(operation: Operation) -> list[Operation]:
    """What makes the operands of an operation."""
    return [operand.op for operand in operation.operands if isinstance(operand, OpResult)]


def _is_of_factor(operation: Operation, block: Block) -> bool:
    """Whether an operation makes nothing but factors of products in the same block."""
    if operation.name not in _MADE_OF:
        return False
    users = [use.operation for result in operation.results for use in result.uses]
    return all(user.parent is block and user.name in _USED_BY for user in users)


def _is_passed(operation: Operation) -> bool:
    """Whether a load may as well come after an operation."""
    is_harmless = leaves_memory(operation) or only_reads(operation)
    return is_harmless and not operation.regions and not synchronizes(operation)
