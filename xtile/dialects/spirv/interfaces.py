"""Which variables an entry point names.

Source: SPIR-V specification, section 3.49.4 (`OpEntryPoint`): from version 1.4 on all variables of
the module that the static call tree uses, before that those of the storage classes Input and
Output.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from xdsl.ir import Operation

from xtile.dialects.spirv.instruction import Instruction
from xtile.dialects.spirv.module import FuncOp, ModuleOp

_ALL_SINCE = (1, 4)
_INPUT_AND_OUTPUT = ("Input", "Output")


def interface_of(module: ModuleOp, name: str, calls: Mapping[str, Set[str]]) -> list[Instruction]:
    """The variables of an entry point's interface, in the order of the module.

    Args:
        module: The module.
        name: The name of the entry point's function.
        calls: The names of the functions that each function names.
    """
    reached = _reached(name, calls)
    return [
        operation
        for operation in module.block.ops
        if isinstance(operation, Instruction)
        and operation.entry.name == "Variable"
        and (module.version >= _ALL_SINCE or operation.arguments[0] in _INPUT_AND_OUTPUT)
        and not reached.isdisjoint(_users(operation))
    ]


def _reached(name: str, calls: Mapping[str, Set[str]]) -> set[str]:
    """The functions of a call tree."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        function = waiting.pop()
        if function not in found:
            found.add(function)
            waiting += calls.get(function, ())
    return found


def _users(operation: Operation) -> set[str]:
    """The functions that use what an operation of the module defines, directly or by another."""
    found: set[str] = set()
    waiting = [operation]
    while waiting:
        for result in waiting.pop().results:
            for use in result.uses:
                user = use.operation
                function = user.parent_op()
                if isinstance(function, FuncOp):
                    found.add(function.sym_name)
                elif isinstance(user, Instruction):
                    waiting.append(user)
    return found
