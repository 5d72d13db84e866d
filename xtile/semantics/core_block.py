"""The meaning of the `core` dialect's operations of a whole work-group.

Source: docs/core-form.md; docs/semantics.md, "Linear algebra" and "Execution".
"""

from __future__ import annotations

from xtile.dialects.core import CumsumOp, ParallelOp
from xtile.dialects.tensorlang.operation import integer_value
from xtile.semantics import blas
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.state import State


def _cumsum(operation: CumsumOp, compiler: Compiler) -> Step:
    return blas.cumsum(operation, compiler, integer_value(operation.dimension))


def _parallel(operation: ParallelOp, compiler: Compiler) -> Step:
    """The region's scalars are a work-item's and its vectors a subgroup's."""
    body = compiler.region(operation.body)

    def step(state: State) -> None:
        before, state.level = state.level, "subgroup"
        if state.observer is not None:
            state.observer.on_phase()
        try:
            body.run(state)
        finally:
            state.level = before
        if state.observer is not None:
            state.observer.on_phase()

    return step


HANDLERS: dict[str, Handler] = {
    "core.axpby": blas.axpby,
    "core.cumsum": _cumsum,
    "core.gemm": blas.gemm,
    "core.gemv": blas.gemv,
    "core.ger": blas.ger,
    "core.hadamard": blas.hadamard,
    "core.parallel": _parallel,
    "core.sum": blas.row_sums,
}
"""The handler of each operation, by name."""
