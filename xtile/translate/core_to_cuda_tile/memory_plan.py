"""Which accesses of memory must be ordered, found before a kernel is translated.

CUDA Tile IR orders accesses by tokens only; the core form has the order of the program. See
docs/core-form.md, section "To CUDA Tile IR", "Order of accesses".
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue, Use
from xdsl.utils.hints import isa

from xtile.translate.core_to_cuda_tile.descriptors import GLOBAL_MEMORY
from xtile.translate.core_to_cuda_tile.types import memref_type

_MEMORY_OF_READ = {
    "memref.load": 0,
    "vector.gather": 0,
    "vector.load": 0,
    "vector.maskedload": 0,
    "vector.transfer_read": 0,
}
"""Operations that only read memory, and which operand the memory is."""

_MEMORY_OF_WRITE = {
    "core.atomic_scatter": 0,
    "core.atomic_update": 1,
    "memref.atomic_rmw": 1,
    "memref.store": 1,
    "vector.maskedstore": 0,
    "vector.scatter": 0,
    "vector.store": 1,
    "vector.transfer_write": 1,
}
"""Operations that change memory, and which operand the memory is."""

_VALUE_OF_WRITE = {
    "memref.store": 0,
    "vector.store": 0,
    "vector.transfer_write": 0,
}
"""Operations that write a value and have no other result, and which operand it is."""

_LOOPS = frozenset({"scf.for", "scf.while"})
_BRANCHES = frozenset({"scf.if"})


@dataclass
class Effects:
    """What happens to one place in a region.

    Attributes:
        writes: Whether it is written.
        reads: Whether it is read in a way that a later write must wait for.
    """

    writes: bool = False
    reads: bool = False


@dataclass
class _Access:
    operation: Operation
    place: Hashable
    number: int
    is_write: bool
    regions: tuple[Operation, ...] = field(default_factory=tuple)
    """The loops and branches around it, the outermost one first."""


class MemoryPlan:
    """The accesses of a kernel.

    Args:
        function: The kernel, as it was written.
        may_overlap: Whether different arguments may be the same memory.
    """

    def __init__(self, function: Operation, may_overlap: bool = False) -> None:
        self._function = function
        self._may_overlap = may_overlap
        self._accesses = list(self._find(function))
        self._of = {access.operation: access for access in self._accesses}

    @cached_property
    def _is_one_place(self) -> bool:
        """Whether a memref could be any memory, as one that passes through control flow."""
        return any(
            isa(value.type, MemRefType)
            for operation in self._function.walk()
            if operation.name in _LOOPS | _BRANCHES
            for value in operation.results
        ) or any(_root(memory) is None for memory in self._accessed())

    def place_of(self, memory: SSAValue) -> Hashable:
        """The place of a memref: what is allocated, or an argument, or all arguments as one."""
        if self._is_one_place:
            return GLOBAL_MEMORY
        root = _root(memory)
        if root is None or (self._may_overlap and isinstance(root, BlockArgument)):
            return GLOBAL_MEMORY
        return root

    def _accessed(self) -> Iterator[SSAValue]:
        """The memrefs that operations read or write."""
        for operation in self._function.walk():
            position = {**_MEMORY_OF_READ, **_MEMORY_OF_WRITE}.get(operation.name)
            if position is not None:
                yield operation.operands[position]

    def _find(self, function: Operation) -> Iterator[_Access]:
        for number, operation in enumerate(function.walk()):
            is_write = operation.name in _MEMORY_OF_WRITE
            tables = _MEMORY_OF_WRITE if is_write else _MEMORY_OF_READ
            position = tables.get(operation.name)
            if position is None:
                continue
            memory = operation.operands[position]
            if isa(memref_type(memory.type).element_type, MemRefType):
                continue  # The addresses of a group do not change.
            around = tuple(_around(operation))
            yield _Access(operation, self.place_of(memory), number, is_write, around)

    # --- what tokens are needed ---

    def must_be_waited_for(self, read: Operation) -> bool:
        """Whether a later write needs the token of a read.

        It does not if there is none, nor if the read is in a loop and what it reads goes nowhere
        but to the value that the next write, behind the loop, writes: that cannot be known before.
        """
        access = self._of[read]
        writes = [a for a in self._accesses if a.is_write and a.place == access.place]
        loops = [around for around in access.regions if around.name in _LOOPS]
        if any(loop in write.regions for write in writes for loop in loops):
            return True
        following = next((write for write in writes if write.number > access.number), None)
        if following is None:
            return False
        is_certain = set(following.regions) <= set(access.regions)
        return not (loops and is_certain and self._sinks(read) <= {following.operation})

    def effects(self, region: Operation) -> dict[Hashable, Effects]:
        """What a loop or a branch does to each place that exists outside of it."""
        effects: dict[Hashable, Effects] = {}
        for access in self._accesses:
            if region not in access.regions or _is_inside(access.place, region):
                continue
            if access.is_write:
                effects.setdefault(access.place, Effects()).writes = True
            elif self.must_be_waited_for(access.operation):
                effects.setdefault(access.place, Effects()).reads = True
        return effects

    def _sinks(self, read: Operation) -> set[Operation | None]:
        """What the results of an operation go to: writes, and None for what is no written value."""
        sinks: set[Operation | None] = set()
        values, seen = list[SSAValue](read.results), set[SSAValue]()
        while values:
            value = values.pop()
            if value in seen:
                continue
            seen.add(value)
            for use in value.uses:
                following = _following(use)
                if following is None:
                    sinks.add(_written_by(use))
                else:
                    values += following
        return sinks


def _root(memory: SSAValue) -> SSAValue | None:
    """What a memref is a part of: an argument or what is allocated; None if it is not known."""
    owner = memory.owner
    while isinstance(owner, Operation) and owner.name != "memref.alloca":
        if not owner.operands or not isa(owner.operands[0].type, MemRefType):
            return None
        memory = owner.operands[0]
        owner = memory.owner
    return memory


def _written_by(use: Use) -> Operation | None:
    """The write whose value this is; None if it is used for something else."""
    operation = use.operation
    return operation if _VALUE_OF_WRITE.get(operation.name) == use.index else None


def _following(use: Use) -> list[SSAValue] | None:
    """The values that are computed with an operand; None if it has another effect."""
    operation = use.operation
    if operation.name in _MEMORY_OF_READ or operation.name in _MEMORY_OF_WRITE:
        return None
    if operation.name == "scf.yield":
        parent = operation.parent_op()
        if parent is None or parent.name not in ("scf.for", "scf.if"):
            return None
        values: list[SSAValue] = [parent.results[use.index]]
        if parent.name == "scf.for":
            values.append(parent.regions[0].block.args[1 + use.index])
        return values
    if operation.name == "scf.for":
        if use.index < 3:
            return None
        position = use.index - 3
        return [operation.results[position], operation.regions[0].block.args[1 + position]]
    if operation.regions or not operation.results:
        return None
    return list(operation.results)


def _around(operation: Operation) -> Iterator[Operation]:
    """The loops and branches around an operation, the outermost one first."""
    parent = operation.parent_op()
    if parent is not None:
        yield from _around(parent)
        if parent.name in _LOOPS | _BRANCHES:
            yield parent


def _is_inside(place: Hashable, region: Operation) -> bool:
    """Whether memory is allocated in a region."""
    if not isinstance(place, SSAValue):
        return False
    block = place.owner if isinstance(place.owner, Block) else place.owner.parent
    parent = None if block is None else block.parent_op()
    while parent is not None:
        if parent is region:
            return True
        parent = parent.parent_op()
    return False
