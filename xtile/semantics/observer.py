"""What the engine tells an observer of a launch, such as the sanitizer.

The engine calls the hooks in program order. Arrays in an event are flat: one entry for each
element that is accessed, or for each active work-item. Hooks must not change them. Without an
observer the engine builds no events.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from xtile.dialects.effects import exchanges

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from xtile.semantics.arguments import Argument
    from xtile.semantics.memory import Buffer
    from xtile.semantics.ordering import Order, Token

IntArray: TypeAlias = "npt.NDArray[np.int64]"
BoolArray: TypeAlias = "npt.NDArray[np.bool_]"


class AccessKind(Enum):
    """What is done to memory."""

    READ = "read"
    WRITE = "write"
    ATOMIC_READ = "atomic read"
    ATOMIC_WRITE = "atomic write"
    ATOMIC_UPDATE = "atomic update"
    ATOMIC_EXCHANGE = "atomic exchange"

    @property
    def reads(self) -> bool:
        """Whether the old content matters."""
        return self in (AccessKind.READ, AccessKind.ATOMIC_READ, AccessKind.ATOMIC_UPDATE)

    @property
    def is_update(self) -> bool:
        """Whether it reads and writes in one step, even if nobody looks at what was read."""
        return self in (AccessKind.ATOMIC_UPDATE, AccessKind.ATOMIC_EXCHANGE)

    @property
    def writes(self) -> bool:
        """Whether the content changes."""
        return self not in (AccessKind.READ, AccessKind.ATOMIC_READ)

    @property
    def is_atomic(self) -> bool:
        """Whether the access does not conflict with other atomic accesses."""
        return self not in (AccessKind.READ, AccessKind.WRITE)


def kind_of_update(operation: Operation) -> AccessKind:
    """What an atomic update does to memory: an exchange does not show what was there."""
    return AccessKind.ATOMIC_EXCHANGE if exchanges(operation) else AccessKind.ATOMIC_UPDATE


@dataclass(frozen=True, slots=True)
class Access:
    """An access to elements of one buffer; it comes before the memory changes.

    Attributes:
        operation: The instruction.
        kind: What it does.
        buffer: The memory.
        elements: The positions of the elements in the buffer, which may lie outside of it.
        indices: For each mode the index of each element.
        shape: For each mode the size of the memref that each element was addressed through.
        threads: Who accesses each element. A thread is a work-item, or one trip of a foreach:
            different trips never follow each other for certain. None: the work-group as a whole.
        values: What is written, one entry for each element; None for reads and updates.
    """

    operation: Operation
    kind: AccessKind
    buffer: Buffer
    elements: IntArray
    indices: tuple[IntArray, ...]
    shape: tuple[IntArray, ...]
    threads: IntArray | None
    values: npt.NDArray[Any] | None


@dataclass(frozen=True, slots=True)
class Launch:
    """How a launch is divided.

    Attributes:
        function: The kernel.
        arguments: Its arguments.
        grid: The number of work-groups in each dimension.
        subgroup_size: Work-items in a subgroup.
        subgroups: Subgroups in a work-group.
        work_items: Work-items in a work-group; its last subgroup may not be full.
    """

    function: Operation
    arguments: list[Argument]
    grid: tuple[int, int, int]
    subgroup_size: int
    subgroups: int
    work_items: int

    def work_item_of(self, thread: int) -> int:
        """The linear number of the work-item that a thread runs on."""
        return thread % (self.subgroups * self.subgroup_size)


class Observer(Protocol):
    """The hooks. In each, `threads` holds the active threads, as in `Access`."""

    def on_launch(self, launch: Launch) -> None:
        """A launch begins."""
        ...

    def on_group(self, group: tuple[int, int, int]) -> None:
        """A work-group begins."""
        ...

    def on_group_end(self) -> None:
        """The work-group has ended."""
        ...

    def on_access(self, access: Access) -> None:
        """Elements are about to be read, written or updated."""
        ...

    def on_tile_access(self, accesses: Sequence[Access], order: Order) -> Token:
        """A tile block is about to access memory, in one or more buffers at once.

        Returns:
            What comes before whatever takes the token of the access.
        """
        ...

    def on_subview(
        self,
        operation: Operation,
        sizes: tuple[IntArray, ...],
        offsets: tuple[IntArray, ...],
        extents: tuple[IntArray, ...],
        uses_padding: BoolArray,
        threads: IntArray,
    ) -> None:
        """A subview takes [offset, offset + extent) of modes of some sizes.

        A mode without a size has extent 1. `uses_padding` says whether memory behind the modes'
        sizes belongs to the memref. The arrays have one entry for each active thread.
        """
        ...

    def on_alloca(self, operation: Operation, buffer: Buffer) -> None:
        """Local memory is allocated; its content is undefined."""
        ...

    def on_lifetime_stop(self, operation: Operation, buffer: Buffer) -> None:
        """Local memory ends; also called at the end of the alloca's region."""
        ...

    def on_barrier(
        self,
        operation: Operation,
        active: BoolArray,
        global_fence: bool,
        local_fence: bool,
    ) -> None:
        """A barrier is reached by the `active` work-items (subgroups, work-items in each)."""
        ...

    def on_partial_barrier(self, operation: Operation, arrives: BoolArray) -> None:
        """A barrier without a fence for some subgroups only: (subgroups, work-items in each)."""
        ...

    def on_phase(self) -> None:
        """An automatic barrier with both fences, between instructions of a collective region."""
        ...

    def on_uniform_required(
        self,
        operation: Operation,
        what: str,
        values: npt.NDArray[Any],
        active: BoolArray,
        first_thread: int,
    ) -> None:
        """Something must be equal in each subgroup's active work-items.

        Both arrays have the shape (subgroups, work-items in each); `first_thread` is the thread
        of the first of them.
        """
        ...

    def on_converged_required(
        self, operation: Operation, active: BoolArray, first_thread: int
    ) -> None:
        """All or none of each subgroup's work-items must execute the instruction."""
        ...

    def on_index_overflow(self, operation: Operation, exact: list[int], threads: IntArray) -> None:
        """Arithmetic on index values did not give the exact result.

        `exact` holds the exact results of the `threads` for which that is so.
        """
        ...

    def on_unspecified(
        self, operation: Operation, message: str, origins: Sequence[Operation]
    ) -> None:
        """An operation depends on elements that other operations left unspecified."""
        ...

    def on_broken_promise(self, operation: Operation, message: str) -> None:
        """The operation promises something of its operands or its result that does not hold."""
        ...
