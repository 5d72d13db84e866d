"""Observes a launch and reports mistakes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation

from xtile.dialects.tensorlang.ops.collective import LifetimeStopOp
from xtile.semantics.arguments import Argument
from xtile.semantics.configuration import Size3
from xtile.semantics.engine import launch
from xtile.semantics.errors import ExecutionError
from xtile.semantics.memory import Buffer
from xtile.semantics.observer import Access, BoolArray, IntArray, Launch
from xtile.semantics.ordering import Order, Token
from xtile.semantics.sanitizer.disjointness import Disjointness
from xtile.semantics.sanitizer.memories import AccessedUnits, Memories, Memory
from xtile.semantics.sanitizer.promises import broken_promises
from xtile.semantics.sanitizer.releases import Releases
from xtile.semantics.sanitizer.report import Kind, Report, word_of
from xtile.semantics.sanitizer.shadow import WORK_GROUP, Actors, Shadow, same_numbers
from xtile.semantics.sanitizer.token_order import TokenOrder


def sanitize(
    function: Operation,
    arguments: Sequence[Argument],
    grid: Size3,
    *,
    block: Size3 | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Report]:
    """Runs a launch as `engine.launch` does and reports the mistakes it makes.

    A mistake is reported once for each instruction, or pair of instructions, and kind. Where an
    instruction cannot be executed, the launch ends, and the reason is among the reports.

    Returns:
        The reports, in the order in which the mistakes occurred.
    """
    sanitizer = Sanitizer()
    try:
        launch(function, arguments, grid, block=block, observer=sanitizer, progress=progress)
    except ExecutionError as error:
        sanitizer.add_failure(error)
    return sanitizer.reports


_NOTHING_RELEASED = Releases()
"""What accesses to local memory tell others."""


class Sanitizer:
    """An observer of one launch.

    Attributes:
        reports: What was found so far.
    """

    def __init__(self) -> None:
        self.reports: list[Report] = []
        self._seen: set[tuple[Kind, Operation, Operation | None, object]] = set()
        self._memories = Memories()
        self._shadows: dict[Memory, Shadow] = {}
        self._read_together: list[Access] = []
        self._operations: list[Operation] = []
        self._numbers: dict[Operation, int] = {}
        self._launch: Launch | None = None
        self._disjointness: Disjointness | None = None
        self._group: Size3 = (0, 0, 0)
        self._group_number = -1
        self._token_order = TokenOrder(self._memories)
        self._releases = Releases()
        self._global_phase = 0
        self._local_phase = 0
        self._waits: npt.NDArray[np.int64] | None = None
        self._last_wait: Operation | None = None

    def on_launch(self, launch: Launch) -> None:
        """Checks what the parameters' attributes promise."""
        self._launch = launch
        self._memories.add_arguments(launch.arguments)
        self._disjointness = Disjointness(launch)
        for report in broken_promises(launch):
            self._add(report, report.message)

    def on_group(self, group: Size3) -> None:
        """Remembers where the launch is."""
        self._group = group
        self._group_number += 1
        self._token_order.begin_block()
        self._releases.begin_group()
        self._waits = None
        self.on_phase()

    def on_group_end(self) -> None:
        """Subgroups that waited for each other in parts must have met again."""
        if self._waits is None or self._last_wait is None or len(set(self._waits)) == 1:
            return
        most = int(self._waits.max())
        behind = np.flatnonzero(self._waits != most)
        first, last = int(behind[0]), int(behind[-1])
        named = f"warp {first}" if first == last else f"warps {first} to {last}"
        some = "" if last - first + 1 == len(behind) else "some of "
        self._report(
            Kind.BARRIER,
            self._last_wait,
            f"the program ends, and {some}{named} waited {int(self._waits[first])} times at "
            f"barriers for some warps, others {most} times; the warps that one of them leaves out "
            "must wait at another",
        )

    def on_partial_barrier(self, operation: Operation, arrives: BoolArray) -> None:
        """Counts who waits; it is no fence, so that no phase begins."""
        some, all_ = arrives.any(axis=1), arrives.all(axis=1)
        if not np.array_equal(some, all_):
            warp = int(np.argmax(some != all_))
            self._report(
                Kind.BARRIER,
                operation,
                f"{int(arrives[warp].sum())} of {arrives.shape[1]} threads of warp {warp} reach "
                "the barrier; all threads of a warp reach it, or none does",
            )
        counts = np.asarray(some, dtype=np.int64)
        if self._waits is not None:
            counts += self._waits
        self._waits = counts
        self._last_wait = operation

    def on_phase(self) -> None:
        """Begins a new phase for all memory."""
        self._read_together.clear()
        self._global_phase += 1
        self._local_phase += 1

    def on_barrier(
        self, operation: Operation, active: BoolArray, global_fence: bool, local_fence: bool
    ) -> None:
        """Begins a new phase for the fenced memory; all work-items must be here."""
        assert self._launch is not None
        active = active.reshape(-1)[: self._launch.work_items]
        if not active.all():
            missing = int(np.argmin(active))
            self._report(
                Kind.BARRIER,
                operation,
                f"only {int(active.sum())} of {active.size} work-items reach the barrier; "
                f"{self._who(missing)} does not",
                work_item=self._work_item(missing),
            )
        self._global_phase += global_fence
        self._local_phase += local_fence

    def on_alloca(self, operation: Operation, buffer: Buffer) -> None:
        """Knows nothing of new memory."""
        memory = self._memories.add_own(buffer, is_filled=False)
        self._shadows[memory] = Shadow(memory)

    def on_lifetime_stop(self, operation: Operation, buffer: Buffer) -> None:
        """Forgets memory; after lifetime_stop, accesses to it are mistakes."""
        if isinstance(operation, LifetimeStopOp):
            self._shadow(buffer).is_alive = False
        else:
            memory = self._memories.forget(buffer)
            if memory is not None:
                self._shadows.pop(memory, None)
                self._token_order.forget(memory)
                self._releases.forget(memory)

    def on_access(self, access: Access) -> None:
        """Checks an access's indices, the element's content, and other accesses to it."""
        accessed = self._check_elements(access)
        if len(accessed.units) == 0:
            return
        if access.threads is None:
            self._check_together(access, accessed)
        self._check_conflict(access, self._shadow(access.buffer), accessed)

    def on_tile_access(self, accesses: Sequence[Access], order: Order) -> Token:
        """Checks an access like `on_access`, but by tokens."""
        for access in accesses:
            accessed = self._check_elements(access)
            if access.kind.writes:
                self._shadow(access.buffer).has_content[accessed.units] = True
        token, conflicts = self._token_order.access(accesses, order, self._group_number)
        for conflict in conflicts:
            what, other = conflict.description, conflict.other
            self._report_access(Kind.CONFLICT, conflict.access, conflict.at, what, other)
        return token

    def _check_elements(self, access: Access) -> AccessedUnits:
        """Checks indices and the elements' content; returns the positions inside of the memory."""
        self._check_bounds(access)
        accessed = self._memories.positions(access.buffer, access.elements)
        if len(accessed.units) == 0:
            return accessed
        shadow = self._shadow(access.buffer)
        if not shadow.is_alive:
            first = int(accessed.positions[0])
            self._report_access(
                Kind.LIFETIME, access, first, "is accessed after its lifetime ended"
            )
        if access.kind.reads:
            self._check_content(access, shadow, accessed)
        self._check_arguments(access, accessed)
        return accessed

    def _check_arguments(self, access: Access, accessed: AccessedUnits) -> None:
        """Checks that memory is reached through one argument where the kernel says so."""
        memory = self._memories.of(access.buffer)
        broken = self._disjointness and self._disjointness.broken(access, memory, accessed)
        if broken:
            at, what = broken
            self._report_access(Kind.BROKEN_PROMISE, access, at, what)

    def _check_bounds(self, access: Access) -> None:
        for mode, (index, size) in enumerate(zip(access.indices, access.shape, strict=True)):
            outside = (index < 0) | (index >= size)
            if outside.any():
                at = int(np.argmax(outside))
                self._report_access(
                    Kind.OUT_OF_BOUNDS,
                    access,
                    at,
                    f"is out of bounds: mode {mode} has size {int(size[at])}",
                )
                return

    def _check_content(self, access: Access, shadow: Shadow, accessed: AccessedUnits) -> None:
        missing = ~shadow.has_content[accessed.units]
        if missing.any():
            at = int(accessed.positions[int(np.argmax(missing))])
            self._report_access(
                Kind.UNINITIALIZED, access, at, "is read, but nothing was written to it"
            )

    def _check_together(self, access: Access, accessed: AccessedUnits) -> None:
        """Checks that a collective instruction writes what it reads as the same memref only.

        Source: docs/semantics.md, 2, "Aliases".
        """
        if not access.kind.writes:
            self._read_together.append(access)
            return
        for read in self._read_together:
            if self._memories.of(read.buffer) is not self._memories.of(access.buffer):
                continue
            units = self._memories.positions(read.buffer, read.elements).units
            is_read = np.isin(accessed.units, units)
            if is_read.any() and not np.array_equal(units, accessed.units):
                self._report_access(
                    Kind.CONFLICT,
                    access,
                    int(accessed.positions[int(np.argmax(is_read))]),
                    f"is accessed ({access.kind.value}) by an instruction that reads it as an "
                    f"element of another memref on {read.buffer.name}, in an order that nothing "
                    "specifies",
                )

    def _check_conflict(self, access: Access, shadow: Shadow, accessed: AccessedUnits) -> None:
        threads = access.threads
        if threads is None:
            threads = np.full(len(access.elements), WORK_GROUP)
        is_local, memory = access.buffer.is_local, self._memories.of(access.buffer)
        phase = self._local_phase if is_local else self._global_phase
        threads, group = threads[accessed.positions], self._group_number
        by = Actors(threads, group, phase, _NOTHING_RELEASED if is_local else self._releases)
        by.releases.acquire(access, memory, accessed, threads, phase)
        found = shadow.conflict(access, accessed, by)
        if found is not None:
            at, number = found
            other = access.operation if number < 0 else self._operations[number]
            what = "this instruction" if other is access.operation else word_of(other)
            self._report_access(
                Kind.CONFLICT,
                access,
                at,
                f"is accessed ({access.kind.value}) while another work-item accesses it with "
                f"{what}; no barrier is between",
                other,
            )
        number = self._number(access.operation)
        shadow.record(access, accessed, by, number)
        if not is_local:
            self._releases.record(access, memory, accessed, threads, group, phase)

    def on_subview(
        self,
        operation: Operation,
        sizes: tuple[IntArray, ...],
        offsets: tuple[IntArray, ...],
        extents: tuple[IntArray, ...],
        uses_padding: BoolArray,
        threads: IntArray,
    ) -> None:
        """Checks that a subview lies inside of the memref, or of its padding."""
        modes = zip(sizes, offsets, extents, strict=True)
        for mode, (size, offset, extent) in enumerate(modes):
            outside = (offset < 0) | (extent < 1) | ((offset + extent > size) & ~uses_padding)
            if outside.any():
                at = int(np.argmax(outside))
                first, count = int(offset[at]), int(extent[at])
                self._report(
                    Kind.OUT_OF_BOUNDS,
                    operation,
                    f"the subview takes {count} elements from {first} on of mode {mode}, which "
                    f"has size {int(size[at])}, in {self._who(int(threads[at]))}",
                    work_item=self._work_item(int(threads[at])),
                    index=tuple(int(values[at]) for values in offsets),
                )
                return

    def on_uniform_required(
        self,
        operation: Operation,
        what: str,
        values: npt.NDArray[Any],
        active: BoolArray,
        first_thread: int,
    ) -> None:
        """Checks that the active work-items of each subgroup agree on a value."""
        first = np.argmax(active, axis=1)[:, np.newaxis]
        agreed = np.take_along_axis(values, first, axis=1)
        differs = active & ~same_numbers(values, agreed)
        if differs.any():
            at = int(np.argmax(differs))
            self._report(
                Kind.NOT_UNIFORM,
                operation,
                f"{what} must be the same in a subgroup, but is {values.flat[at]} in "
                f"{self._who(first_thread + at)} and {agreed[at // values.shape[1], 0]} in "
                "another work-item",
                work_item=self._work_item(first_thread + at),
                detail=what,
            )

    def on_converged_required(
        self, operation: Operation, active: BoolArray, first_thread: int
    ) -> None:
        """Checks that no subgroup executes an instruction with some work-items only."""
        partial = active.any(axis=1) & ~active.all(axis=1)
        if partial.any():
            row = int(np.argmax(partial))
            at = row * active.shape[1] + int(np.argmin(active[row]))
            self._report(
                Kind.NOT_UNIFORM,
                operation,
                "all work-items of a subgroup must execute the instruction together, but "
                f"{self._who(first_thread + at)} does not",
                work_item=self._work_item(first_thread + at),
                detail="control flow",
            )

    def on_index_overflow(self, operation: Operation, exact: list[int], threads: IntArray) -> None:
        """Reports arithmetic that lost the exact result."""
        self._report(
            Kind.INDEX_OVERFLOW,
            operation,
            f"the result {exact[0]} does not fit the type, in {self._who(int(threads[0]))}",
            work_item=self._work_item(int(threads[0])),
        )

    def on_broken_promise(self, operation: Operation, message: str) -> None:
        """Reports an operation's promise that does not hold."""
        x, y, z = self._group
        what = f"{message}; in work-group ({x},{y},{z})"
        self._report(Kind.BROKEN_PROMISE, operation, what)

    def on_unspecified(
        self, operation: Operation, message: str, origins: Sequence[Operation]
    ) -> None:
        """Reports what an unspecified element reaches."""
        x, y, z = self._group
        what = f"{message}; in work-group ({x},{y},{z})"
        report = Report(Kind.UNSPECIFIED, operation, what, self._group, origins=tuple(origins))
        self._add(report, "")

    def add_failure(self, error: ExecutionError) -> None:
        """Reports the error that ended the launch, unless its cause is reported already."""
        causes = (Kind.OUT_OF_BOUNDS, Kind.INDEX_OVERFLOW)
        if any(r.kind in causes and r.operation is error.operation for r in self.reports):
            return
        is_outside = "lies outside" in error.message
        kind = Kind.OUT_OF_BOUNDS if is_outside else Kind.FAILURE
        self._report(kind, error.operation, error.message)

    def _shadow(self, buffer: Buffer) -> Shadow:
        memory = self._memories.of(buffer)
        shadow = self._shadows.get(memory)
        if shadow is None:
            shadow = self._shadows[memory] = Shadow(memory)
        shadow.split(memory.unit)
        return shadow

    def _number(self, operation: Operation) -> int:
        number = self._numbers.get(operation)
        if number is None:
            number = self._numbers[operation] = len(self._operations)
            self._operations.append(operation)
        return number

    def _work_item(self, thread: int) -> int:
        assert self._launch is not None
        return self._launch.work_item_of(thread)

    def _who(self, thread: int) -> str:
        assert self._launch is not None
        work_item = self._launch.work_item_of(thread)
        subgroup, lane = divmod(work_item, self._launch.subgroup_size)
        x, y, z = self._group
        return f"work-item {lane} of subgroup {subgroup} of work-group ({x},{y},{z})"

    def _report_access(
        self,
        kind: Kind,
        access: Access,
        at: int,
        what: str,
        other: Operation | None = None,
    ) -> None:
        index = tuple(int(values[at]) for values in access.indices)
        thread = None if access.threads is None else int(access.threads[at])
        x, y, z = self._group
        who = f"work-group ({x},{y},{z})" if thread is None else self._who(thread)
        position = ",".join(map(str, index))
        self._report(
            kind,
            access.operation,
            f"element [{position}] of memory {access.buffer.name} {what}; by {who}",
            work_item=None if thread is None else self._work_item(thread),
            index=index,
            other=other,
        )

    def _report(
        self,
        kind: Kind,
        operation: Operation,
        message: str,
        *,
        work_item: int | None = None,
        index: tuple[int, ...] | None = None,
        other: Operation | None = None,
        detail: str = "",
    ) -> None:
        report = Report(kind, operation, message, self._group, work_item, index, other)
        self._add(report, detail)

    def _add(self, report: Report, detail: str) -> None:
        """Keeps a report unless its like is there; `detail` tells mistakes of one kind apart."""
        key = (report.kind, report.operation, report.other, detail)
        if key not in self._seen:
            self._seen.add(key)
            self.reports.append(report)
