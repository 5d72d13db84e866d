"""Which accesses of memory must be ordered, found before a kernel is translated.

CUDA Tile IR orders accesses by tokens only; the core form has the order of the program. See
docs/core-form-targets.md, section "To CUDA Tile IR", "Order of accesses".
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from xtile.dialects.core.arguments import is_noalias
from xtile.dialects.core.attributes import INDEPENDENT_ATTRIBUTE
from xtile.dialects.effects import changes_memory, may_access, synchronizes
from xtile.dialects.walk import walk
from xtile.translate.tiles.accesses import is_group, memory_of, root_of
from xtile.translate.tiles.descriptors import GLOBAL_MEMORY

_LOOPS = frozenset({"scf.for", "scf.while"})
_BRANCHES = frozenset({"scf.if"})


_PRINTS = frozenset({"core.print", "gpu.printf"})

OUTPUT = "output"
"""The alias set that what is printed is written to."""


@dataclass
class Effects:
    """What happens to one alias set in a region.

    Attributes:
        writes: Whether it is written.
        reads: Whether it is read in a way that a later write must wait for.
    """

    writes: bool = False
    reads: bool = False


@dataclass
class _Access:
    operation: Operation
    alias_set: Hashable
    number: int
    is_write: bool
    regions: tuple[Operation, ...] = field(default_factory=tuple)
    """The loops and branches around it, the outermost one first."""


class MemoryPlan:
    """The accesses of a kernel.

    Args:
        function: The kernel, as it was written.
    """

    def __init__(self, function: Operation) -> None:
        self._operations = walk(function)
        # The numbers of the operations that access memory, and which.
        self._memory = {
            number: memory_of(each)
            for number, each in enumerate(self._operations)
            if may_access(each)
        }
        self._accesses = list(self._find())
        self._of = {access.operation: access for access in self._accesses}

    @cached_property
    def _has_one_alias_set(self) -> bool:
        """Whether memory could be any, as a memref that passes through control flow.

        An acquire or a release is ordered with accesses of all memory.
        """
        if any(map(synchronizes, self._operations)):
            return True
        return any(
            isinstance(value.type, MemRefType)
            for operation in self._operations
            if operation.name in _LOOPS | _BRANCHES
            for value in operation.results
        ) or any(root_of(memory) is None for memory in chain(*self._memory.values()))

    def alias_set_of(self, memory: SSAValue) -> Hashable:
        """The alias set of a memref or of pointers.

        It is what is allocated, or an argument, or all that may overlap.
        """
        if self._has_one_alias_set:
            return GLOBAL_MEMORY
        root = root_of(memory)
        is_shared = isinstance(root, BlockArgument) and not is_noalias(root)
        return GLOBAL_MEMORY if root is None or is_shared else root

    def _find(self) -> Iterator[_Access]:
        for number, operation in enumerate(self._operations):
            if operation.name in _PRINTS:
                yield _Access(operation, OUTPUT, number, True, tuple(_around(operation)))
            for memory in self._memory.get(number, ()):
                if is_group(memory.type):
                    continue  # The addresses of a group do not change.
                around = tuple(_around(operation))
                # What follows an acquire comes after it, reads as well.
                is_write = changes_memory(operation) or synchronizes(operation)
                yield _Access(operation, self.alias_set_of(memory), number, is_write, around)

    # --- what tokens are needed ---

    def is_written(self, alias_set: Hashable) -> bool:
        """Whether the kernel writes an alias set."""
        return any(access.is_write and access.alias_set == alias_set for access in self._accesses)

    def must_be_waited_for(self, read: Operation) -> bool:
        """Whether a write may follow a read of the same alias set.

        Writes in a loop around it follow, too, unless iterations are independent.
        """
        access = self._of[read]
        loops = [around for around in access.regions if _repeats(around)]
        return any(
            write.number > access.number or any(loop in write.regions for loop in loops)
            for write in self._accesses
            if write.is_write and write.alias_set == access.alias_set
        )

    def effects(self, region: Operation) -> dict[Hashable, Effects]:
        """What a loop or a branch does to each alias set that exists outside of it."""
        effects: dict[Hashable, Effects] = {}
        for access in self._accesses:
            if region not in access.regions or _is_inside(access.alias_set, region):
                continue
            if access.is_write:
                effects.setdefault(access.alias_set, Effects()).writes = True
            elif self.must_be_waited_for(access.operation):
                effects.setdefault(access.alias_set, Effects()).reads = True
        return effects


def _repeats(region: Operation) -> bool:
    """Whether one iteration of a loop may access what another one does."""
    return region.name in _LOOPS and INDEPENDENT_ATTRIBUTE not in region.attributes


def _around(operation: Operation) -> Iterator[Operation]:
    """The loops and branches around an operation, the outermost one first."""
    parent = operation.parent_op()
    if parent is not None:
        yield from _around(parent)
        if parent.name in _LOOPS | _BRANCHES:
            yield parent


def _is_inside(alias_set: Hashable, region: Operation) -> bool:
    """Whether memory is allocated in a region."""
    if not isinstance(alias_set, SSAValue):
        return False
    block = alias_set.owner if isinstance(alias_set.owner, Block) else alias_set.owner.parent
    parent = None if block is None else block.parent_op()
    while parent is not None:
        if parent is region:
            return True
        parent = parent.parent_op()
    return False
