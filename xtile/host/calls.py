"""Calls of functions: of the file's own, recursive ones included, and of the runtime library.

Source: MLIR (LLVM 22), `Dialect/Func/IR/FuncOps.td`.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from xdsl.dialects.builtin import FunctionType, SymbolRefAttr
from xdsl.ir import Operation

from xtile.host.runtime import FUNCTIONS
from xtile.host.runtime.function import Context
from xtile.semantics.compiler import Body, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.state import State
from xtile.semantics.upstream.func import symbol

if TYPE_CHECKING:
    from xtile.host.function import HostCompiler

_DEEPEST_RECURSION = 100
"""Calls of functions that call themselves within each other; each takes several Python frames."""


def _call(operation: Operation, compiler: HostCompiler) -> Step:
    name = cast("SymbolRefAttr", operation.properties["callee"])
    callee = symbol(operation, name)
    if callee.name != "func.func":
        raise ValueError(f"{name} is no function of the host")
    if not callee.regions[0].blocks:
        return _runtime_call(operation, callee, compiler)
    if callee not in compiler.functions:
        compiler.functions[callee] = None
        compiler.functions[callee] = compiler.region(callee.regions[0])
    parameters = compiler.slots(callee.regions[0].blocks[0].args)
    sources, results = compiler.slots(operation.operands), compiler.slots(operation.results)

    def step(state: State, body: Body | None = compiler.functions[callee]) -> None:
        values = state.values
        if body is None:
            body = cast("Body", compiler.functions[callee])
        for parameter, value in zip(parameters, [values[slot] for slot in sources], strict=True):
            values[parameter] = value
        body.run(state)
        for result, value in zip(results, [values[slot] for slot in body.yields], strict=True):
            values[result] = value

    if compiler.functions[callee] is None:
        return _recursive(step, results, str(name), compiler)
    return step


def _recursive(step: Step, results: tuple[int, ...], name: str, compiler: HostCompiler) -> Step:
    """A call within the function that is called: what the outer calls compute stays."""

    def recursive(state: State) -> None:
        if compiler.depth == _DEEPEST_RECURSION:
            raise UnlocatedError(f"{name} calls itself more than {_DEEPEST_RECURSION} times")
        values = state.values
        before = list(values)
        compiler.depth += 1
        try:
            step(state)
        except RecursionError:
            raise UnlocatedError(f"{name} calls itself too often for Python's stack") from None
        finally:
            compiler.depth -= 1
        computed = [values[result] for result in results]
        values[:] = before
        for result, value in zip(results, computed, strict=True):
            values[result] = value

    return recursive


def _runtime_call(operation: Operation, callee: Operation, compiler: HostCompiler) -> Step:
    name: str = cast("Any", callee).sym_name.data
    function = FUNCTIONS.get(name)
    if function is None:
        similar = get_close_matches(name, FUNCTIONS, n=4)
        hint = f"; similar names: {', '.join(similar)}" if similar else ""
        raise UnlocatedError(
            f"@{name} has no body, and is no function of the runtime library{hint}"
        )
    function.check(name, cast("FunctionType", callee.properties["function_type"]))
    sources, results = compiler.slots(operation.operands), compiler.slots(operation.results)

    def step(state: State) -> None:
        values = state.values
        arguments = [values[source] for source in sources]
        context = Context(state.addresses, compiler.generator)
        value = function.run(context, *map(_argument, arguments))
        for result in results:
            values[result] = value

    return step


def _argument(value: Any) -> Any:
    """A number without the axes that it has as a part of a vector; a memref as it is."""
    return value.reshape(-1)[0] if isinstance(value, np.ndarray) else value


HANDLERS: dict[str, Callable[[Any, Any], Step]] = {"func.call": _call}
"""The handler of each operation, by name."""
