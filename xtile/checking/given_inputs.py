"""What a user says of a check's inputs: options of the command, an archive, or a Python file.

A Python file has a function `inputs(generator)` that returns a dict of arguments by name, or such a
dict and the grid. An archive of numpy (`.npz`) has an array for each argument by name.
"""

from __future__ import annotations

import os
import re
import runpy
from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from xtile.arguments.errors import ArgumentError
from xtile.arguments.signature import Parameter, Signature
from xtile.launch.specification import value_of

_FUNCTION = "inputs"


def given_arguments(
    options: Namespace, signature: Signature
) -> tuple[dict[str, Any], tuple[int, ...] | None]:
    """The arguments that options give, by name, and the grid, if something says it.

    Args:
        options: Those of the command: `arg`, `inputs`, `grid` and `seed`.
        signature: That of the kernel.

    Raises:
        ArgumentError: An argument is unknown, or a file has none.
    """
    generator = np.random.default_rng(options.seed)
    parameters = {parameter.name: parameter for parameter in signature.parameters}
    arguments, grid = _of_file(options.inputs, generator) if options.inputs else ({}, None)
    for name in arguments:
        _known(name, parameters, options.inputs or "")
    for name, text in options.arg:
        arguments[name] = value_of(_known(name, parameters, "--arg"), text, generator)
    return arguments, options.grid or grid


def given_shapes(options: Namespace, signature: Signature) -> dict[str, tuple[int, ...]]:
    """The shapes that `--size` gives, by name.

    Raises:
        ArgumentError: A shape is malformed or of no argument.
    """
    parameters = {parameter.name: parameter for parameter in signature.parameters}
    shapes: dict[str, tuple[int, ...]] = {}
    for name, text in options.size:
        parameter = _known(name, parameters, "--size")
        if not re.fullmatch(r"\d{1,9}(x\d{1,9})*", text):
            raise ArgumentError(f"{parameter}: expected a size such as 64x64, given '{text}'")
        shapes[name] = tuple(map(int, text.split("x")))
    return shapes


def _known(name: str, parameters: Mapping[str, Parameter], who: str) -> Parameter:
    if name not in parameters:
        known = ", ".join(parameters) or "none"
        raise ArgumentError(f"{who} {name}: the kernel has no such argument; it has: {known}")
    return parameters[name]


def _of_file(
    path: str, generator: np.random.Generator
) -> tuple[dict[str, Any], tuple[int, ...] | None]:
    if path.endswith(".npz"):
        try:
            with np.load(path, allow_pickle=False) as archive:
                return {name: _scalar_or_array(archive[name]) for name in archive.files}, None
        except (OSError, ValueError) as error:
            raise ArgumentError(f"cannot read {path}: {error}") from None
    if not path.endswith(".py"):
        raise ArgumentError(f"--inputs {path}: expected a file ending with .npz or .py")
    if not os.path.exists(path):
        raise ArgumentError(f"--inputs {path}: there is no such file")
    function = runpy.run_path(path).get(_FUNCTION)
    if not callable(function):
        raise ArgumentError(f"--inputs {path}: it has no function {_FUNCTION}(generator)")
    made = cast("Callable[[np.random.Generator], Any]", function)(generator)
    pair = cast("tuple[Any, Any]", made) if isinstance(made, tuple) else (made, None)
    arguments, grid = pair
    if not isinstance(arguments, Mapping):
        raise ArgumentError(
            f"--inputs {path}: {_FUNCTION}(generator) returns no dict of arguments by name"
        )
    sizes = None if grid is None else tuple(np.atleast_1d(grid).tolist())
    return dict(cast("Mapping[str, Any]", arguments)), sizes


def _scalar_or_array(array: Any) -> Any:
    return array[()].item() if array.ndim == 0 else array
