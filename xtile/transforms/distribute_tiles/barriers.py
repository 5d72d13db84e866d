"""Where the subgroups of a work-group wait, so that each sees what the others have written.

At level "tile" memory is accessed in the order of the text. In XeGPU each subgroup accesses its
part of a vector, and only barriers order these.

The rule stands in docs/core-form-levels.md, section "Barriers".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects import scf
from xdsl.ir import Operation, Region, SSAValue

from xtile.dialects.atomic_kinds import AtomicRMWKind, kind_of
from xtile.dialects.core.arguments import leads_to_memory
from xtile.dialects.core.atomics import AtomicRMWOp
from xtile.dialects.core.attributes import INDEPENDENT_ATTRIBUTE
from xtile.dialects.effects import read_operands, written_operands
from xtile.dialects.gpu.functions import FuncOp
from xtile.transforms.distribute.effects import Access, Kind, Space, memory_behind

State = frozenset[Access]
"""What may have been done since the last barrier."""


def place_barriers(kernel: FuncOp) -> frozenset[Operation]:
    """The operations of a kernel at level "tile" that a barrier must precede."""
    return frozenset(_of_region(kernel.body, frozenset())[1])


def _of_region(region: Region, state: State) -> tuple[State, set[Operation]]:
    """The state after a region, and the operations in it that need a barrier."""
    found: set[Operation] = set()
    block = region.blocks.first
    for operation in () if block is None else block.ops:
        state, more = _of_operation(operation, state)
        found |= more
    return state, found


def _of_operation(operation: Operation, state: State) -> tuple[State, set[Operation]]:
    if isinstance(operation, scf.ForOp | scf.WhileOp):
        return _of_loop(operation, state)
    if operation.regions:
        found: set[Operation] = set()
        ends: State = state
        for region in operation.regions:
            end, more = _of_region(region, state)
            ends, found = ends | end, found | more
        return ends, found
    own = frozenset(_accesses(operation))
    if any(new.conflicts_with(old) for new in own for old in state):
        return own, {operation}
    return state | own, set()


def _of_loop(operation: Operation, state: State) -> tuple[State, set[Operation]]:
    """Repeats the body until what comes around the back edge is known already.

    Where iterations are independent, none waits for another.
    """
    entry, found = state, set[Operation]()
    while True:
        around = entry
        for region in operation.regions:
            around, more = _of_region(region, around)
            found |= more
        if around <= entry or INDEPENDENT_ATTRIBUTE in operation.attributes:
            return entry | around, found
        entry |= around


def _accesses(operation: Operation) -> Iterator[Access]:
    """What an operation does to memory, by all subgroups."""
    memories = [*read_operands(operation), *written_operands(operation)]
    if isinstance(operation, AtomicRMWOp) and _is_addition(operation):
        yield from _of_kind(memories, Kind.ADD)
        return
    yield from _of_kind(read_operands(operation), Kind.READ)
    yield from _of_kind(written_operands(operation), Kind.WRITE)


def _of_kind(memories: Iterable[SSAValue], kind: Kind) -> Iterator[Access]:
    for memory in memories:
        if leads_to_memory(memory.type):
            yield Access(_root(memory), kind)


def _is_addition(operation: AtomicRMWOp) -> bool:
    """Whether an update adds, and nobody sees what was there before."""
    is_unseen = operation.result.first_use is None
    return is_unseen and kind_of(operation.kind) in (AtomicRMWKind.addf, AtomicRMWKind.addi)


def _root(memory: SSAValue) -> Space | SSAValue:
    """The memory; what a kernel allocates is the work-group's own."""
    root = memory_behind(memory)
    return Space.LOCAL if root is Space.PRIVATE else root
