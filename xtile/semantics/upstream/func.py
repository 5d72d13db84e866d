"""The `func` dialect: calls of functions.

Source: MLIR (LLVM 22), `Dialect/Func/IR/FuncOps.td`.
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Operation
from xdsl.traits import SymbolTable

from xtile.semantics.compiler import Body, Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.state import State
from xtile.semantics.unspecified import copy

_FUNCTIONS = ("func.func", "gpu.func", "tt.func")


def symbol(operation: Operation, name: SymbolRefAttr) -> Operation:
    """What a symbol stands for, seen from an operation.

    Raises:
        ValueError: Nothing has that name.
    """
    around: Operation | None = operation
    while around is not None:
        around = around.parent_op()
        if around is not None and around.has_trait(SymbolTable):
            found = SymbolTable.lookup_symbol(around, name)
            if found is not None:
                return found
    raise ValueError(f"there is no {name}")


def call(operation: Operation, compiler: Compiler) -> Step:
    """The handler of a call, whose operands are the arguments; of any language."""
    name = operation.properties["callee"]
    callee = symbol(operation, cast("SymbolRefAttr", name))
    if callee.name not in _FUNCTIONS:
        raise ValueError(f"{name} is no function")
    body = _body(callee, compiler)
    sources, results = compiler.slots(operation.operands), compiler.slots(operation.results)
    parameters = compiler.slots(callee.regions[0].blocks[0].args)[: len(sources)]

    def step(state: State) -> None:
        copy(state, sources, parameters)
        body.run(state)
        copy(state, body.yields, results)

    return step


def _body(function: Operation, compiler: Compiler) -> Body:
    """The compiled body of a function that is called.

    Raises:
        UnlocatedError: The function calls itself, or has no body.
    """
    name: Any = function.get_attr_or_prop("sym_name")
    if function not in compiler.functions:
        if not function.regions[0].blocks:
            raise UnlocatedError(f"@{name.data} is declared only: it has no body to execute")
        compiler.functions[function] = None
        compiler.functions[function] = compiler.region(function.regions[0])
    body = compiler.functions[function]
    if body is None:
        raise UnlocatedError(f"@{name.data} calls itself: recursion cannot be executed")
    return body


HANDLERS: dict[str, Handler] = {"func.call": call}
"""The handler of each operation, by name."""
