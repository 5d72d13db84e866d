"""Finding the function to launch in what a caller calls a kernel."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from xtile.api import parse, verify
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.types import type_text
from xtile.launch.errors import ArgumentError, describe_type


@dataclass(frozen=True)
class Parameter:
    """One parameter of a function.

    Attributes:
        name: Its name without `%`.
        type: Its type.
        attributes: Its named attributes: alignment (bytes), shape_gcd, stride_gcd.
    """

    name: str
    type: Attribute
    attributes: dict[str, Attribute]

    def __str__(self) -> str:
        return f"argument '{self.name}' ({type_text(self.type)})"


def find_function(kernel: object, entry: str | None) -> FuncOp:
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


def choose_function(module: ModuleOp, entry: str | None) -> FuncOp:
    """Returns the function named `entry`, or the only one of a module.

    Raises:
        ArgumentError: There is no such function, or several and no `entry`.
    """
    functions = {op.sym_name.data: op for op in module.walk() if isinstance(op, FuncOp)}
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


def parameters_of(function: FuncOp) -> list[Parameter]:
    """The parameters of a function in signature order; a nameless one is named by its place."""
    return [
        Parameter(
            value.name_hint or str(index), value.type, function.attributes_of_parameter(index)
        )
        for index, value in enumerate(function.parameters)
    ]
