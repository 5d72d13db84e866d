"""The meaning of the `core` dialect's operations of a whole work-group.

Source: docs/core-form.md; docs/semantics.md, "Linear algebra" and "Execution".
"""

from __future__ import annotations

from xtile.dialects.core.attributes import ComplexPart
from xtile.dialects.core.blas import CumsumOp
from xtile.dialects.core.complex_parts import ComplexPartOp
from xtile.dialects.core.subgroup import ParallelOp
from xtile.dialects.tensorlang.operation import integer_value
from xtile.semantics import blas
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.memory import Mask, View
from xtile.semantics.state import State
from xtile.semantics.upstream.memref_views import changed
from xtile.semantics.upstream.numbers import number_of


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


def _complex_part(operation: ComplexPartOp, compiler: Compiler) -> Step:
    """A view of every second number of the same memory."""
    dtype = number_of(operation.result.type).dtype
    first = int(operation.part.data is ComplexPart.IMAGINARY)

    def change(view: View, state: State, mask: Mask) -> View:
        strides = tuple(2 * stride for stride in view.strides)
        return View(view.buffer.typed(dtype), 2 * view.offset + first, view.shape, strides)

    return changed(operation, compiler, change)


HANDLERS: dict[str, Handler] = {
    "core.axpby": blas.axpby,
    "core.complex_part": _complex_part,
    "core.cumsum": _cumsum,
    "core.gemm": blas.gemm,
    "core.gemv": blas.gemv,
    "core.ger": blas.ger,
    "core.hadamard": blas.hadamard,
    "core.parallel": _parallel,
    "core.sum": blas.row_sums,
}
"""The handler of each operation, by name."""
