"""Runs the work-groups of a launch in several processes.

The processes are forked, so that they share the compiled kernel's inputs for free; memory that the
kernel may write lies in a shared mapping while they run and is copied back at the end.
"""

from __future__ import annotations

import mmap
import multiprocessing
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

import numpy as np
from xdsl.ir import Operation

from xtile.processes import die_with, leave_interrupts_to_parent
from xtile.semantics.arguments import Argument, GroupArgument, MemrefArgument, WordsArgument
from xtile.semantics.configuration import Size3
from xtile.semantics.errors import ExecutionError, RunWarnings
from xtile.semantics.language import language_of
from xtile.semantics.program import Program, Progress, group_ids, prepare
from xtile.semantics.values import Array

_WAIT_SECONDS = 0.1

_MOST_WORKERS = 256
"""More processes than these are of no use on any machine."""


class _Group(NamedTuple):
    """What a process tells of a work-group; operations are numbers.

    Attributes:
        warnings: Operations that have warnings, each with its message.
        failure: The operation that cannot be executed, and why; None if the work-group is done.
    """

    warnings: list[tuple[int, str]]
    failure: tuple[int, str] | None = None


def can_share(function: Operation) -> bool:
    """Whether work-groups may run in different processes."""
    return hasattr(os, "fork") and language_of(function).may_share(function)


def launch_in_processes(
    function: Operation,
    arguments: Sequence[Argument],
    grid: Size3,
    block: Size3 | None,
    workers: int,
    progress: Progress | None,
) -> RunWarnings:
    """Runs a launch in up to `workers` processes.

    Returns:
        As `engine.launch`.

    Raises:
        ExecutionError: An instruction cannot be executed in some work-group.
    """
    shared = _SharedMemory()
    program = prepare(function, [shared.argument(argument) for argument in arguments], grid, block)
    total = grid[0] * grid[1] * grid[2]
    workers = min(workers, total, _MOST_WORKERS)
    context = multiprocessing.get_context("fork")
    operations = list(function.walk())
    readers: list[Connection] = []
    processes: list[Any] = []
    try:
        for index in range(workers):
            reader, writer = context.Pipe(duplex=False)
            groups = islice(group_ids(grid), index, None, workers)
            work = (program, groups, operations, writer, os.getpid())
            process = context.Process(target=_work, args=work)
            processes.append(process)
            process.start()
            writer.close()
            readers.append(reader)
        return _collect(readers, operations, total, progress)
    finally:
        for process in processes:
            if process.pid is not None:
                process.kill()
                process.join()
        shared.copy_back()


def _work(
    program: Program,
    groups: Iterable[Size3],
    operations: list[Operation],
    writer: Connection,
    parent: int,
) -> None:
    """Runs some work-groups and sends what is to tell of each, up to the first that fails."""
    die_with(parent)
    leave_interrupts_to_parent()
    for group in groups:
        program.warnings.messages.clear()
        failure = None
        try:
            program.run_group(group)
        except ExecutionError as error:
            failure = operations.index(error.operation), error.message
        found = program.warnings.messages.items()
        writer.send(_Group([(operations.index(each), what) for each, what in found], failure))
        if failure is not None:
            return


def _collect(
    readers: list[Connection],
    operations: list[Operation],
    total: int,
    progress: Progress | None,
) -> RunWarnings:
    """Waits for all work-groups.

    Raises:
        ExecutionError: One failed.
    """
    warnings = RunWarnings()
    done = 0
    while done < total:
        # A limit of time ends this between two waits, not within one.
        for reader in wait(readers, _WAIT_SECONDS):
            assert isinstance(reader, Connection)
            try:
                group: _Group = reader.recv()
            except EOFError:
                readers.remove(reader)
                if not readers:
                    raise RuntimeError("a worker process ended before its work") from None
                continue
            for index, message in group.warnings:
                warnings.add(operations[index], message)
            if group.failure is not None:
                index, message = group.failure
                raise ExecutionError(operations[index], message)
            done += 1
            if progress is not None:
                progress(done, total)
    return warnings


class _SharedMemory:
    """Copies of the arguments' memory that forked processes share."""

    def __init__(self) -> None:
        self._copies: dict[tuple[int, int], tuple[Array, Array]] = {}

    def argument(self, argument: Argument) -> Argument:
        """The argument on shared memory."""
        if isinstance(argument, MemrefArgument):
            return replace(argument, base=self._share(argument.base))
        if isinstance(argument, GroupArgument):
            entries = [replace(e, base=self._share(e.base)) for e in argument.entries]
            return replace(argument, entries=entries)
        if isinstance(argument, WordsArgument):
            return WordsArgument([self._shared_word(entry) for entry in argument.entries])
        return argument

    def _shared_word(self, entry: MemrefArgument | int) -> MemrefArgument | int:
        return entry if isinstance(entry, int) else replace(entry, base=self._share(entry.base))

    def _share(self, base: Array | None) -> Array | None:
        if base is None or base.nbytes == 0:
            return base
        key = (base.ctypes.data, base.nbytes)
        if key not in self._copies:
            mapping = mmap.mmap(-1, base.nbytes)
            copy = np.frombuffer(mapping, np.uint8).view(base.dtype)
            copy[...] = base
            self._copies[key] = (base, copy)
        return self._copies[key][1]

    def copy_back(self) -> None:
        """Writes what the kernel changed to the caller's memory."""
        for base, copy in self._copies.values():
            if base.flags.writeable:
                base[...] = copy
