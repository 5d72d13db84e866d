"""What is used of the `llvm` dialect: what a program may assume.

Source: LLVM 22, `Dialect/LLVMIR/LLVMIntrinsicOps.td`.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.promises import report_broken_promise
from xtile.semantics.state import State


def _assume(operation: Operation, compiler: Compiler) -> Step:
    """Does nothing; an observer learns of what is not so."""
    (condition, *_) = compiler.slots(operation.operands)

    def step(state: State) -> None:
        broken = ~np.asanyarray(state.values[condition])
        report_broken_promise(state, operation, broken, "what is assumed does not hold")

    return step


HANDLERS: dict[str, Handler] = {"llvm.intr.assume": _assume}
"""The handler of each operation, by name."""
