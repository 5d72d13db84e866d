"""Atomic updates of scattered points.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUOps.td`, `atomic_rmw`; docs/semantics.md, "XeGPU".
"""

from __future__ import annotations

from xtile.dialects.xegpu.operation import tensor_desc
from xtile.dialects.xegpu.ops.atomics import AtomicRMWOp
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.state import State
from xtile.semantics.upstream.access import update_elements
from xtile.semantics.upstream.memref import UPDATES
from xtile.semantics.upstream.numbers import number_of
from xtile.semantics.xegpu.point_coordinates import point_coordinates
from xtile.semantics.xegpu.scattered import acting_on, scattered_access, shape_of_points


def _atomic_rmw(operation: AtomicRMWOp, compiler: Compiler) -> Step:
    source = operation.tensorDesc
    lanes = compiler.configuration.subgroup_size
    shape, chunk_size = shape_of_points(source, None), tensor_desc(source).chunk_size
    points = point_coordinates(operation, source, operation.value, shape, chunk_size, lanes)
    access = scattered_access(operation, compiler, source, None, operation.mask, points)
    function = UPDATES[operation.update.name](number_of(operation.value.type))
    value, result = compiler.slots((operation.value, operation.result))

    def step(state: State) -> None:
        found, operand = access(state), state.values[value]
        with acting_on(state, operation, points):
            state.values[result] = update_elements(
                state, operation, found.memory, (found.index,), operand, function, found.where
            )

    return step


HANDLERS: dict[str, Handler] = {"xegpu.atomic_rmw": _atomic_rmw}
"""The handler of each operation, by name."""
