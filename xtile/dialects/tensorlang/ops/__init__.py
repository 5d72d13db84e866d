"""The instructions of the tensor language, one module for each family.

`OPERATIONS` lists them all; a new instruction is added to its family's module and is found here.
"""

from __future__ import annotations

from types import ModuleType

from xtile.dialects.tensorlang.operation import TensorLangOperation
from xtile.dialects.tensorlang.ops import (
    arithmetic,
    builtins,
    collective,
    control,
    cooperative_matrix,
    function,
    memory,
    subgroup,
)


def _operations_of(module: ModuleType) -> list[type[TensorLangOperation]]:
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, TensorLangOperation)
        and value.__module__ == module.__name__
        and "name" in vars(value)
    ]


OPERATIONS: list[type[TensorLangOperation]] = [
    operation
    for module in (
        function,
        collective,
        arithmetic,
        memory,
        control,
        builtins,
        cooperative_matrix,
        subgroup,
    )
    for operation in _operations_of(module)
]

BY_MNEMONIC: dict[str, type[TensorLangOperation]] = {op.mnemonic(): op for op in OPERATIONS}
"""Every instruction by its name in the tensor language."""
