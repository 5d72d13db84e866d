"""Launches of kernels: their memrefs share the host's memory, and they are done at once.

Source: MLIR (LLVM 22), `Dialect/GPU/IR/GPUOps.td`; docs/semantics.md, "Host code".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import Operation, SSAValue

from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.launch import LaunchOp
from xtile.dialects.gpu.launch_func import LaunchFuncOp
from xtile.host.memory import uniform, with_token
from xtile.semantics.compiler import Body, Compiler, Step
from xtile.semantics.configuration import Configuration, Size3, configuration_of
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.program import Program, group_ids
from xtile.semantics.state import State
from xtile.semantics.upstream.allocation import attributions
from xtile.semantics.upstream.func import symbol
from xtile.semantics.upstream.gpu_ids import thread_id
from xtile.semantics.values import Value


@dataclass(frozen=True)
class LaunchSizes:
    """The sizes of a launch, all of them positive.

    Attributes:
        grid: The work-groups in each dimension.
        block: The work-items of a work-group in each dimension.
        dynamic_shared_memory: Bytes of local memory that each work-group gets beside its own.
    """

    grid: Size3
    block: Size3
    dynamic_shared_memory: int

    def configuration(self, kernel: Operation) -> Configuration:
        """The sizes as the engine takes them for a kernel."""
        configuration = configuration_of(kernel, self.grid, self.block)
        return replace(configuration, dynamic_shared_memory=self.dynamic_shared_memory)


Launcher: TypeAlias = "Callable[[FuncOp, Sequence[Value], LaunchSizes, State], None]"
"""Launches a kernel with the values of its arguments for a host, and waits until it is done."""


def launch_here(
    kernel: FuncOp, arguments: Sequence[Value], sizes: LaunchSizes, host: State
) -> None:
    """Runs a kernel in the engine that runs the host's code, too."""
    Program(kernel, arguments, sizes.configuration(kernel), host.addresses).run()


class _Sizes:
    """The sizes of a launch, which the host computes."""

    def __init__(self, operation: LaunchOp | LaunchFuncOp, compiler: Compiler) -> None:
        memory = operation.dynamicSharedMemorySize
        self._grid = compiler.slots((operation.gridSizeX, operation.gridSizeY, operation.gridSizeZ))
        self._block = compiler.slots(
            (operation.blockSizeX, operation.blockSizeY, operation.blockSizeZ)
        )
        self._memory = None if memory is None else compiler.slot(memory)

    def of(self, values: Sequence[Value]) -> LaunchSizes:
        """The sizes for the values that the host has computed.

        Raises:
            UnlocatedError: A size is not positive.
        """
        grid, block = (
            self._size("grid", self._grid, values),
            self._size("block", self._block, values),
        )
        memory = 0 if self._memory is None else int(uniform(values[self._memory]))
        if memory < 0:
            raise UnlocatedError(f"the size of dynamic shared memory is negative: {memory}")
        return LaunchSizes(grid, block, memory)

    def _size(self, what: str, slots: Sequence[int], values: Sequence[Value]) -> Size3:
        x, y, z = (int(uniform(values[slot])) for slot in slots)
        if min(x, y, z) < 1:
            raise UnlocatedError(f"the {what} must be positive, but is ({x}, {y}, {z})")
        return x, y, z


def _launch_func(operation: LaunchFuncOp, compiler: Compiler) -> Step:
    kernel = symbol(operation, operation.kernel)
    if not isinstance(kernel, FuncOp):
        raise ValueError(f"{operation.kernel} is a {kernel.name}, and only a gpu.func can run")
    expected, given = kernel.function_type.inputs.data, tuple(operation.kernelOperands.types)
    if expected != given:
        raise ValueError(
            f"{operation.kernel} takes ({_list(expected)}), but the launch gives ({_list(given)})"
        )
    sizes = _Sizes(operation, compiler)
    operands = compiler.slots(operation.kernelOperands)
    launcher: Launcher = getattr(compiler, "launcher", launch_here)

    def step(state: State) -> None:
        values = state.values
        launcher(kernel, [values[operand] for operand in operands], sizes.of(values), state)

    return with_token(operation, compiler, step)


def _list(types: Iterable[object]) -> str:
    return ", ".join(map(str, types))


def _launch(operation: LaunchOp, compiler: Compiler) -> Step:
    if getattr(compiler, "launcher", launch_here) is not launch_here:
        raise ValueError(
            "the body of gpu.launch runs on the device 'reference' only; make it a kernel that "
            "gpu.launch_func launches, as mlir-opt's pass gpu-kernel-outlining does"
        )
    sizes = _Sizes(operation, compiler)
    captured = _captured(operation)
    sources = compiler.slots(captured)

    def step(state: State) -> None:
        values = state.values
        configuration = sizes.of(values).configuration(operation)
        kernel = _InlineKernel(operation, configuration, captured)
        kernel.run(state, [values[source] for source in sources])

    return with_token(operation, compiler, step)


def _captured(operation: Operation) -> list[SSAValue]:
    """The values from outside that an operation's regions use."""
    found: dict[SSAValue, None] = {}
    for inner in operation.walk():
        if inner is operation:
            continue
        for operand in inner.operands:
            owner = operand.owner
            around = owner if isinstance(owner, Operation) else owner.parent_op()
            if around is None or not operation.is_ancestor(around) or around is operation:
                is_own = not isinstance(owner, Operation) and around is operation
                if not is_own:
                    found[operand] = None
    return list(found)


class _InlineKernel:
    """The body of a `gpu.launch`, compiled for one size of the launch."""

    def __init__(
        self, operation: LaunchOp, configuration: Configuration, captured: Sequence[SSAValue]
    ) -> None:
        compiler = Compiler(configuration, is_observed=False)
        ids = operation.index_arguments
        self._configuration = configuration
        self._captured = compiler.slots(captured)
        self._ids = compiler.slots(ids)
        made = attributions(operation, len(ids), compiler)
        body = compiler.region(operation.body)
        operations = [operation] * len(made) + body.operations
        self._body = Body(operations, made + body.steps, body.yields, body.allocated)
        self._slot_count = compiler.slot_count
        self._threads = [thread_id(configuration, dimension) for dimension in range(3)]

    def run(self, host: State, captured: Sequence[Value]) -> None:
        """Runs all work-groups with values from the host."""
        initial: list[Value] = [None] * self._slot_count
        for slot, value in zip(self._captured, captured, strict=True):
            initial[slot] = value
        for group in group_ids(self._configuration.grid):
            values = list(initial)
            for slot, value in zip(self._ids, self._index_values(group), strict=True):
                values[slot] = value
            state = State(
                values, group, self._configuration, host.addresses, None, False, host.warnings
            )
            self._body.run(state)

    def _index_values(self, group: Size3) -> list[Value]:
        """Ids and sizes in the order of the body's arguments; each work-group is a cluster."""
        sizes = (*self._configuration.grid, *self._configuration.work_group_size)
        ids = [*map(np.int64, group), *self._threads, *map(np.int64, sizes)]
        clusters = [*map(np.int64, group), *map(np.int64, self._configuration.grid)]
        return (ids + clusters)[: len(self._ids)]


HANDLERS: dict[str, Callable[[Any, Any], Step]] = {
    "gpu.launch": _launch,
    "gpu.launch_func": _launch_func,
}
"""The handler of each operation, by name."""
