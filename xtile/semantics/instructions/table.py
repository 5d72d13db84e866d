"""The handler of each instruction of the tensor language."""

from __future__ import annotations

from xdsl.ir import Operation

from xtile.dialects.tensorlang.ops.cooperative_matrix import CooperativeMatrixOperation
from xtile.dialects.tensorlang.types import CoopmatrixType
from xtile.semantics.compiler import Compiler, Handler, Step
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
from xtile.semantics.instructions.events import require_converged
from xtile.semantics.state import State


def _observed(handler: Handler) -> Handler:
    """`handler`, with steps in which an observer sees that parts of a subgroup execute them."""

    def compile(operation: Operation, compiler: Compiler) -> Step:
        step = handler(operation, compiler)
        return _together(operation, step) if compiler.is_observed and _is_joint(operation) else step

    return compile


def _is_joint(operation: Operation) -> bool:
    """Whether the work-items of a subgroup must execute an instruction together."""
    types = (*operation.operand_types, *operation.result_types)
    return isinstance(operation, CooperativeMatrixOperation) or any(
        isinstance(type_, CoopmatrixType) for type_ in types
    )


def _together(operation: Operation, step: Step) -> Step:
    def observed(state: State) -> None:
        require_converged(state, operation)
        step(state)

    return observed


_BY_CLASS: dict[type[Operation], Handler] = {
    **arithmetic.HANDLERS,
    **builtins.HANDLERS,
    **collective.HANDLERS,
    **control.HANDLERS,
    **matrix.HANDLERS,
    **matrix_access.HANDLERS,
    **memory.HANDLERS,
    **subgroup.HANDLERS,
}

HANDLERS: dict[str, Handler] = {cls.name: _observed(handler) for cls, handler in _BY_CLASS.items()}
"""The handler of each instruction, by name."""
