"""Runs a launch on numpy arrays: work-groups one after another, or in several processes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from xtile.semantics.arguments import Argument
from xtile.semantics.compiler import Instrument
from xtile.semantics.configuration import Size3, configuration_of
from xtile.semantics.errors import RunWarnings
from xtile.semantics.observer import Launch, Observer
from xtile.semantics.program import Progress, prepare


def launch(
    function: Operation,
    arguments: Sequence[Argument],
    grid: Size3,
    *,
    block: Size3 | None = None,
    observer: Observer | None = None,
    workers: int = 1,
    progress: Progress | None = None,
    instrument: Instrument | None = None,
) -> RunWarnings:
    """Runs a kernel; what it writes is in the arguments' memory afterwards.

    Args:
        function: The kernel, which must be verified.
        arguments: Its arguments in signature order. Their sizes and strides must fit the types.
        grid: Work-groups in each of three dimensions.
        block: Work-items of a work-group in each of three dimensions, in languages in which the
            launch says so.
        observer: Is told what happens.
        workers: How many processes share the work-groups. It has no effect with an observer, on
            kernels with atomic instructions, and where processes cannot be forked.
        progress: Is called with the number of finished work-groups and of all work-groups.
        instrument: Changes what each operation does; then there is one process.

    Returns:
        What was undefined, but has an effect that devices agree on. With an observer it is an
        error.

    Raises:
        ExecutionError: An operation cannot be executed; what was written stays.
        ValueError: The number or kind of arguments does not fit the parameters.
    """
    if workers > 1 and observer is None and instrument is None:
        from xtile.semantics.workers import can_share, launch_in_processes

        if can_share(function):
            return launch_in_processes(function, arguments, grid, block, workers, progress)
    if observer is not None:
        sizes = configuration_of(function, grid, block)
        observer.on_launch(
            Launch(
                function,
                list(arguments),
                grid,
                sizes.subgroup_size,
                sizes.subgroups,
                sizes.work_items,
            )
        )
    program = prepare(function, arguments, grid, block, observer, instrument)
    program.run(progress)
    return program.warnings
