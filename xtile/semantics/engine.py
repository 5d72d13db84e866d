"""Runs a launch on numpy arrays: work-groups one after another, work-items in lockstep."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Attribute, Operation

from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.types import GroupType, MemrefType, type_text
from xtile.semantics.arguments import Argument, GroupArgument, MemrefArgument, ScalarArgument
from xtile.semantics.compiler import Body, Compiler, Handler
from xtile.semantics.configuration import Configuration, configuration_of
from xtile.semantics.constants import number_of
from xtile.semantics.instructions import (
    arithmetic,
    builtins,
    collective,
    control,
    matrix,
    matrix_access,
    memory,
    subgroup,
)
from xtile.semantics.memory import Buffer, Group, View
from xtile.semantics.numeric_types import numpy_type
from xtile.semantics.observer import Launch, Observer
from xtile.semantics.state import State
from xtile.semantics.values import Value

HANDLERS: dict[type[Operation], Handler] = {
    **arithmetic.HANDLERS,
    **builtins.HANDLERS,
    **collective.HANDLERS,
    **control.HANDLERS,
    **matrix.HANDLERS,
    **matrix_access.HANDLERS,
    **memory.HANDLERS,
    **subgroup.HANDLERS,
}
"""The handler of each instruction."""

GroupId = tuple[int, int, int]
Progress = Callable[[int, int], None]


class Program:
    """A compiled function with its arguments, which runs work-groups.

    Attributes:
        configuration: Sizes of the launch.
    """

    def __init__(
        self,
        function: FuncOp,
        arguments: Sequence[Argument],
        grid: GroupId,
        observer: Observer | None = None,
    ) -> None:
        self.configuration: Configuration = configuration_of(function, grid)
        self._observer = observer
        compiler = Compiler(HANDLERS, self.configuration, observer is not None)
        parameters = compiler.slots(function.parameters)
        # Constants and arguments that are too large for their type are infinite.
        with np.errstate(all="ignore"):
            self._body: Body = compiler.block(function.body.block)
            values = bind(function, arguments)
        self._initial: list[Value] = [None] * compiler.slot_count
        for slot, value in zip(parameters, values, strict=True):
            self._initial[slot] = value

    def run_group(self, group: GroupId) -> None:
        """Runs one work-group.

        Raises:
            ExecutionError: An instruction cannot be executed.
        """
        configuration = self.configuration
        if self._observer is not None:
            self._observer.on_group(group)
        state = State(
            list(self._initial),
            group,
            configuration.subgroups,
            configuration.subgroup_size,
            self._observer,
        )
        # Wrapping around, infinities and NaN are results like others.
        with np.errstate(all="ignore"):
            self._body.run(state)


def launch(
    function: FuncOp,
    arguments: Sequence[Argument],
    grid: GroupId,
    *,
    observer: Observer | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> None:
    """Runs a kernel; what it writes is in the arguments' memory afterwards.

    Args:
        function: The kernel, which must be verified.
        arguments: Its arguments in signature order. Their sizes and strides must fit the types.
        grid: Work-groups in each of three dimensions.
        observer: Is told what happens.
        workers: How many processes share the work-groups. It has no effect with an observer, on
            kernels with atomic instructions, and where processes cannot be forked.
        progress: Is called with the number of finished work-groups and of all work-groups.

    Raises:
        ExecutionError: An instruction cannot be executed; what was written stays.
        ValueError: The number or kind of arguments does not fit the parameters.
    """
    if workers > 1 and observer is None:
        from xtile.semantics.workers import can_share, launch_in_processes

        if can_share(function):
            launch_in_processes(function, arguments, grid, workers, progress)
            return
    if observer is not None:
        sizes = configuration_of(function, grid)
        observer.on_launch(
            Launch(function, list(arguments), grid, sizes.subgroup_size, sizes.subgroups)
        )
    program = Program(function, arguments, grid, observer)
    total = grid[0] * grid[1] * grid[2]
    for done, group in enumerate(group_ids(grid), 1):
        program.run_group(group)
        if progress is not None:
            progress(done, total)


def group_ids(grid: GroupId) -> Iterator[GroupId]:
    """The ids of all work-groups; x varies fastest."""
    for z in range(grid[2]):
        for y in range(grid[1]):
            for x in range(grid[0]):
                yield x, y, z


def bind(function: FuncOp, arguments: Sequence[Argument]) -> list[Value]:
    """The values of a function's parameters.

    Raises:
        ValueError: The number or kind of arguments does not fit the parameters.
    """
    parameters = function.parameters
    if len(arguments) != len(parameters):
        raise ValueError(
            f"@{function.sym_name.data} takes {len(parameters)} arguments, given {len(arguments)}"
        )
    memory = _Buffers()
    return [
        _bind_one(parameter.type, f"%{parameter.name_hint or index}", argument, memory)
        for index, (parameter, argument) in enumerate(zip(parameters, arguments, strict=True))
    ]


class _Buffers:
    """One buffer for each piece of memory, however many arguments refer to it."""

    def __init__(self) -> None:
        self._buffers: dict[tuple[int, int], Buffer] = {}

    def of(self, argument: MemrefArgument, dtype: np.dtype[Any], name: str) -> Buffer:
        """The buffer of a memref argument."""
        base = argument.base
        if base is None:
            return Buffer(np.empty(0, dtype), name, is_null=True)
        if base.ndim != 1 or base.dtype != dtype or not base.flags.c_contiguous:
            raise ValueError(
                f"{name} needs a contiguous one-dimensional array of {dtype.name}, given "
                f"{base.ndim} dimensions of {base.dtype.name}"
            )
        key = (base.ctypes.data, base.nbytes)
        if base.nbytes == 0 or key not in self._buffers:
            is_initialized = argument.is_initialized
            self._buffers[key] = Buffer(base, name, is_initialized=is_initialized)
        return self._buffers[key]


def _bind_one(type: Attribute, name: str, argument: Argument, memory: _Buffers) -> Value:
    match type, argument:
        case MemrefType(), MemrefArgument():
            return _view(type, name, argument, memory)
        case GroupType(), GroupArgument():
            views = [
                _view(type.element, f"entry {i} of {name}", entry, memory)
                for i, entry in enumerate(argument.entries)
            ]
            return Group(views, argument.offset, argument.is_associated, name)
        case _, ScalarArgument() if not isinstance(type, MemrefType | GroupType):
            return number_of(argument.value, type)
        case _:
            raise ValueError(f"{name} has type {type_text(type)}, given {argument}")


def _view(type: MemrefType, name: str, argument: MemrefArgument, memory: _Buffers) -> View:
    if len(argument.shape) != type.order or len(argument.strides) != type.order:
        raise ValueError(f"{name} has type {type_text(type)}, given {argument}")
    buffer = memory.of(argument, numpy_type(type), name)
    return View(buffer, argument.offset, tuple(argument.shape), tuple(argument.strides))
