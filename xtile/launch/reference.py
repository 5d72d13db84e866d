"""Launches on the reference device: the language's meaning in numpy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute, Operation

from xtile.launch.binding import BoundArgument
from xtile.launch.devices import Grid, Progress
from xtile.launch.errors import SanitizerError
from xtile.launch.groups import GroupView
from xtile.launch.kernel import parameters_of
from xtile.launch.memory_types import DYNAMIC, MemoryType, group_memory_of, memory_type_of
from xtile.launch.views import View
from xtile.semantics.arguments import (
    Argument,
    GroupArgument,
    MemrefArgument,
    ScalarArgument,
)
from xtile.text.diagnostics import Diagnostics


def launch_on_reference(
    function: Operation,
    arguments: Sequence[BoundArgument],
    grid: Grid,
    block: Grid | None,
    *,
    sanitize: bool,
    workers: int,
    progress: Progress | None,
) -> None:
    """Runs a function; the arrays of the arguments hold the results afterwards.

    Raises:
        SanitizerError: `sanitize` is set and mistakes were found.
        DiagnosticError: An instruction cannot be executed.
    """
    converted = _converted(function, arguments)
    if sanitize:
        _sanitize(function, converted, grid, block, progress)
        return
    from xtile.semantics.engine import launch

    launch(function, converted, grid, block=block, workers=workers, progress=progress)


def run_host_on_reference(
    function: Operation, arguments: Sequence[BoundArgument], seed: int | None
) -> None:
    """Runs a function of the host, whose random numbers follow from `seed`, if there is one.

    Raises:
        DiagnosticError: An instruction cannot be executed.
    """
    from xtile.host.function import run_host

    run_host(function, _converted(function, arguments), seed=seed)


def _converted(function: Operation, arguments: Sequence[BoundArgument]) -> list[Argument]:
    return [
        _argument(parameter.type, argument)
        for parameter, argument in zip(parameters_of(function), arguments, strict=True)
    ]


def _sanitize(
    function: Operation,
    arguments: Sequence[Argument],
    grid: Grid,
    block: Grid | None,
    progress: Progress | None,
) -> None:
    from xtile.semantics.sanitizer import sanitize

    found = Diagnostics(limit=None)
    for report in sanitize(function, arguments, grid, block=block, progress=progress):
        found.add(report.diagnostic())
    if found.has_errors:
        raise SanitizerError(found.sorted())


def _argument(type: Attribute, argument: BoundArgument) -> Argument:
    """Returns an argument as the engine takes it."""
    group = group_memory_of(type)
    if group is not None:
        assert isinstance(argument, GroupView)
        entries = [_memref(group.element, entry) for entry in argument.entries]
        return GroupArgument(entries, argument.offset, argument.is_associated)
    memory = memory_type_of(type)
    if memory is not None:
        assert argument is None or isinstance(argument, View)
        return _memref(memory, argument)
    if isinstance(argument, View):
        return MemrefArgument(argument.memory, is_initialized=not _is_blank(argument))
    assert isinstance(argument, np.generic)
    return ScalarArgument(argument)


def _memref(type: MemoryType, view: View | None) -> MemrefArgument:
    if view is None:
        return _null(type)
    return MemrefArgument(view.memory, view.shape, view.strides, is_initialized=not _is_blank(view))


def _null(type: MemoryType) -> MemrefArgument:
    """The null pointer; its dynamic sizes are 0, its dynamic strides 1."""
    shape = tuple(0 if size == DYNAMIC else size for size in type.shape)
    strides = tuple(1 if stride == DYNAMIC else stride for stride in type.strides)
    return MemrefArgument(None, shape, strides)


def _is_blank(view: View) -> bool:
    """Whether the memory holds nothing that a kernel may read: it is declared so, or all NaN."""
    if view.is_output:
        return True
    if view.memory.dtype.kind not in "fVc" or view.memory.size == 0:
        return False
    return bool(np.isnan(view.memory).all())
