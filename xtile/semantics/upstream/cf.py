"""The `cf` dialect's assertions; branches between blocks are not executed.

Source: MLIR (LLVM 22), `Dialect/ControlFlow/IR/ControlFlowOps.td`.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.state import State, any_active


def _assert(operation: Operation, compiler: Compiler) -> Step:
    (condition,) = compiler.slots(operation.operands)
    message = cast("StringAttr", operation.properties["msg"]).data

    def step(state: State) -> None:
        if any_active(~state.values[condition], state):
            raise UnlocatedError(f"the assertion does not hold: {message}")

    return step


HANDLERS: dict[str, Handler] = {"cf.assert": _assert}
"""The handler of each operation, by name."""
