"""The `rocdl` dialect: hints, and the number of a work-item where a program acts as one.

Source: MLIR (LLVM 22), `Dialect/LLVMIR/ROCDLOps.td`.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.upstream.elementwise import constant


def _hint(operation: Operation, compiler: Compiler) -> Step:
    """What says how instructions are scheduled has no effect on values."""
    return lambda state: None


def _work_item(operation: Operation, compiler: Compiler) -> Step:
    if compiler.configuration.level != "tile":
        raise ValueError(f"{operation.name} has a meaning in programs of Triton only")
    return constant(operation, compiler, np.int32(0))


HANDLERS: dict[str, Handler] = {
    "rocdl.s.setprio": _hint,
    "rocdl.sched.barrier": _hint,
    "rocdl.workitem.id.x": _work_item,
}
"""The handler of each operation, by name."""
