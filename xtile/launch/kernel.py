"""Finding the function to launch in what a caller calls a kernel."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import IndexType, ModuleOp, StringAttr, i64
from xdsl.ir import Attribute, Operation

from xtile.api import parse, verify
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.types import type_text
from xtile.launch.errors import ArgumentError, describe_type
from xtile.launch.memory_types import GroupMemory, MemoryType, group_memory_of, memory_type_of
from xtile.semantics.language import language_of


@dataclass(frozen=True)
class Parameter:
    """One parameter of a function.

    Attributes:
        name: Its name without `%`.
        type: Its type.
        attributes: Its named attributes: alignment (bytes), shape_gcd, stride_gcd.
        may_be_address: Whether it is an integer in which a kernel may take a pointer.
    """

    name: str
    type: Attribute
    attributes: dict[str, Attribute]
    may_be_address: bool = False

    def __str__(self) -> str:
        return f"argument '{self.name}' ({self.type_text})"

    @property
    def type_text(self) -> str:
        """The type as its language writes it."""
        return type_text(self.type)

    @property
    def memory(self) -> MemoryType | None:
        """What an array must be to be the argument; None for what is no memref of numbers.

        Raises:
            ArgumentError: The type is a memref for which no array can be passed.
        """
        try:
            return memory_type_of(self.type)
        except ValueError as error:
            raise ArgumentError(f"{self}: {error}") from None

    @property
    def group(self) -> GroupMemory | None:
        """What a list of arrays must be to be the argument; None for what is no group.

        Raises:
            ArgumentError: The type is a group for which no arrays can be passed.
        """
        try:
            return group_memory_of(self.type)
        except ValueError as error:
            raise ArgumentError(f"{self}: {error}") from None

    @property
    def is_memory(self) -> bool:
        """Whether the argument is an array, or a group of arrays."""
        return self.group is not None or self.memory is not None


def find_function(kernel: object, entry: str | None) -> Operation:
    """Returns the function named `entry`, or the only function of a path, a text or a module.

    Raises:
        ArgumentError: It is none of these, there is no such function, or several and no `entry`.
        DiagnosticError: The text cannot be read, or the kernel breaks the language's rules.
    """
    if isinstance(kernel, ModuleOp):
        verify(kernel)
        return choose_function(kernel, entry)
    if not isinstance(kernel, str | os.PathLike):
        raise ArgumentError(
            f"expected a kernel as a path, a text or a module, given {describe_type(kernel)}"
        )
    return choose_function(parse(cast("str | os.PathLike[str]", kernel)), entry)


_KERNEL = "gpu.kernel"
"""The attribute of a `gpu.func` that is there to be launched."""


_MAIN = "main"
"""The function of the host that runs where none is named."""


def name_of(function: Operation) -> str:
    """The name of a function."""
    name = function.get_attr_or_prop("sym_name")
    assert isinstance(name, StringAttr)
    return name.data


def choose_function(module: ModuleOp, entry: str | None) -> Operation:
    """Returns the function named `entry`, or the host's `main`, or the only one of a module.

    A function of the host, a `func.func`, can be named; where there is no kernel, it can be the
    only one.

    Raises:
        ArgumentError: There is no such function, or several and no `entry`.
    """
    functions = {name_of(op): op for op in module.walk() if _is_kernel(op)}
    hosts = {name_of(op): op for op in module.walk() if is_host_function(op)}
    if entry is None and _MAIN in hosts:
        return hosts[_MAIN]
    if entry in hosts or not functions:
        functions = hosts
    if not functions:
        raise ArgumentError("the kernel has no function to launch")
    names = ", ".join(f"'{name}'" for name in functions)
    if entry is None:
        if len(functions) > 1:
            raise ArgumentError(f"the kernel has several functions; choose entry from {names}")
        return next(iter(functions.values()))
    if entry not in functions:
        raise ArgumentError(f"the kernel has no function '{entry}'; it has {names}")
    return functions[entry]


def _is_kernel(operation: Operation) -> bool:
    if isinstance(operation, FuncOp):
        return True
    return operation.name == "gpu.func" and _KERNEL in operation.attributes


def is_host_function(operation: Operation) -> bool:
    """Whether an operation is a function of the host with a body."""
    return operation.name == "func.func" and bool(operation.regions[0].blocks)


def parameters_of(function: Operation) -> list[Parameter]:
    """The parameters of a function in signature order; a nameless one is named by its place."""
    return [
        Parameter(
            value.name_hint or str(index),
            value.type,
            _promises(function, index),
            may_be_address=value.type in (i64, IndexType()) and not isinstance(function, FuncOp),
        )
        for index, value in enumerate(language_of(function).parameters(function))
    ]


def _promises(function: Operation, index: int) -> dict[str, Attribute]:
    """What a function's attributes promise of an argument."""
    return function.attributes_of_parameter(index) if isinstance(function, FuncOp) else {}
