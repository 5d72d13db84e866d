"""Finding an operation of a dialect by its name, without loading what stands behind it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module


def find_operation(package: str, families: Sequence[str], name: str) -> object:
    """Returns the operation of that name, from the first family that defines it.

    Args:
        package: The package of the dialect's operations.
        families: Its modules.
        name: The name of a class, such as `GemmOp`.

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
