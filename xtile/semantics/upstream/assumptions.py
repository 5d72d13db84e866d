"""What a program asserts and assumes, and what it leaves open: of `cf`, `llvm` and `ub`.

Branches between blocks are not executed.

Source: MLIR (LLVM 22), `Dialect/ControlFlow/IR/ControlFlowOps.td`,
`Dialect/LLVMIR/LLVMIntrinsicOps.td` and `Dialect/UB/IR/UBOps.td`; docs/semantics.md, "Upstream
dialects".
"""

from __future__ import annotations

from typing import cast

import numpy as np
from xdsl.dialects.builtin import MemRefType, StringAttr, UnrankedMemRefType
from xdsl.ir import Operation

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.promises import report_broken_promise
from xtile.semantics.state import State, any_active
from xtile.semantics.upstream.constants import filled
from xtile.semantics.upstream.elementwise import constant

_ALL_BITS = 0xFF


def _assert(operation: Operation, compiler: Compiler) -> Step:
    (condition,) = compiler.slots(operation.operands)
    message = cast("StringAttr", operation.properties["msg"]).data

    def step(state: State) -> None:
        if any_active(~state.values[condition], state):
            raise UnlocatedError(f"the assertion does not hold: {message}")

    return step


def _assume(operation: Operation, compiler: Compiler) -> Step:
    """Does nothing; an observer learns of what is not so."""
    (condition, *_) = compiler.slots(operation.operands)

    def step(state: State) -> None:
        broken = ~np.asanyarray(state.values[condition])
        report_broken_promise(state, operation, broken, "what is assumed does not hold")

    return step


def _poison(operation: Operation, compiler: Compiler) -> Step:
    """All bits are set: NaN in floating types, -1 in integer types, and so easily noticed."""
    (result,) = operation.results
    if isinstance(result.type, MemRefType | UnrankedMemRefType):
        raise ValueError("a memref that is poison cannot be executed")
    return constant(operation, compiler, filled(result.type, _ALL_BITS))


HANDLERS: dict[str, Handler] = {
    "cf.assert": _assert,
    "llvm.intr.assume": _assume,
    "ub.poison": _poison,
}
"""The handler of each operation, by name."""
