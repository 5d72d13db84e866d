"""The `gpu` dialect in kernels.

Source: MLIR (LLVM 22), `Dialect/GPU/IR/GPUOps.td`; docs/semantics.md, "Upstream dialects".
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from xdsl.ir import Operation

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.memory import Buffer, View
from xtile.semantics.state import State
from xtile.semantics.upstream import gpu_ids, gpu_subgroup
from xtile.semantics.upstream.allocation import undefined
from xtile.semantics.upstream.numbers import number_of
from xtile.semantics.upstream.printf import formatter


def _barrier(operation: Operation, compiler: Compiler) -> Step:
    def step(state: State) -> None:
        # Work-items run in lockstep, so that nobody is ever ahead.
        if state.observer is not None:
            state.observer.on_barrier(operation, state.active(), True, True)

    return step


def _dynamic_shared_memory(operation: Operation, compiler: Compiler) -> Step:
    """The memory that the launch gives each work-group; each use of it is the same memory."""
    size = compiler.configuration.dynamic_shared_memory
    (result,) = compiler.slots(operation.results)

    def step(state: State) -> None:
        if operation.name not in state.shared:
            data = undefined(size, np.dtype(np.int8))
            state.shared[operation.name] = Buffer(
                data, "dynamic shared memory", is_local=True, is_initialized=False
            )
        state.values[result] = View(state.shared[operation.name], 0, (size,), (1,))

    return step


def _printf(operation: Operation, compiler: Compiler) -> Step:
    text: Any = operation.properties["format"]
    fill = formatter(text.data, [number_of(operand.type) for operand in operation.operands])
    operands = compiler.slots(operation.operands)

    def step(state: State) -> None:
        shape = state.actors(is_vector=False)
        active = np.broadcast_to(state.active()[: shape[0], : shape[1]], shape)
        values = [np.broadcast_to(state.values[operand], shape) for operand in operands]
        for row, lane in np.argwhere(active):
            sys.stdout.write(fill([value[row, lane] for value in values]))

    return step


HANDLERS: dict[str, Handler] = {
    "gpu.barrier": _barrier,
    "gpu.dynamic_shared_memory": _dynamic_shared_memory,
    "gpu.printf": _printf,
    **gpu_ids.HANDLERS,
    **gpu_subgroup.HANDLERS,
}
"""The handler of each operation, by name."""
