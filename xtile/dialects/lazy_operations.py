"""Finding an operation of a dialect by its name, without loading what stands behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from xtile.dialects.registry import all_dialects


def operations_by_name(dialect: str) -> Callable[[str], type[Any]]:
    """The `__getattr__` of a module that has the operations of a dialect, each by its class's name.

    Args:
        dialect: The dialect, which is loaded when an operation is first asked for.
    """

    def find(name: str) -> type[Any]:
        for operation in all_dialects()[dialect]().operations if name.endswith("Op") else ():
            if operation.__name__ == name:
                return operation
        raise AttributeError(f"module 'xtile.dialects.{dialect}.ops' has no attribute '{name}'")

    return find


def find_operation(package: str, families: Sequence[str], name: str) -> object:
    """Returns the operation of that name, from the first family that defines it.

    Args:
        package: The package of the dialect's operations.
        families: Its modules.
        name: The name of a class, such as `AddFOp`.

    Raises:
        AttributeError: There is none.
    """
    # Python asks for the name of a module, too, before it imports the module.
    if name.endswith("Op"):
        for family in families:
            module = import_module(f"{package}.{family}")
            value = vars(module).get(name)
            if getattr(value, "__module__", None) == module.__name__:
                return value
    raise AttributeError(f"module '{package}' has no attribute '{name}'")
