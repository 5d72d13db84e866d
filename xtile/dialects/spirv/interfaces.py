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


class Interfaces:
    """The variables that each entry point of a module names.

    Args:
        module: The module.
        calls: The names of the functions that each function names.
    """

    def __init__(self, module: ModuleOp, calls: Mapping[str, Set[str]]) -> None:
        self._calls = calls
        self._users = [
            (operation, _users(operation))
            for operation in module.block.ops
            if isinstance(operation, Instruction)
            and operation.entry.name == "Variable"
            and (module.version >= _ALL_SINCE or operation.arguments[0] in _INPUT_AND_OUTPUT)
        ]

    def of(self, name: str) -> list[Instruction]:
        """The variables of an entry point with this function, in the order of the module."""
        reached = _reached(name, self._calls)
        return [variable for variable, users in self._users if not reached.isdisjoint(users)]


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
