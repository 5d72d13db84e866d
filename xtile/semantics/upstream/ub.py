"""The `ub` dialect: values that nothing may depend on.

Source: MLIR (LLVM 22), `Dialect/UB/IR/UBOps.td`; docs/semantics.md, "Upstream dialects".
"""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType, UnrankedMemRefType
from xdsl.ir import Operation

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.upstream.constants import filled
from xtile.semantics.upstream.elementwise import constant

_ALL_BITS = 0xFF


def _poison(operation: Operation, compiler: Compiler) -> Step:
    """All bits are set: NaN in floating types, -1 in integer types, and so easily noticed."""
    (result,) = operation.results
    if isinstance(result.type, MemRefType | UnrankedMemRefType):
        raise ValueError("a memref that is poison cannot be executed")
    return constant(operation, compiler, filled(result.type, _ALL_BITS))


HANDLERS: dict[str, Handler] = {"ub.poison": _poison}
"""The handler of each operation, by name."""
