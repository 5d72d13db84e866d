"""Binds the arguments of a launch to the parameters of a function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from xtile.arguments.array_arguments import flattened, takes_pointers
from xtile.arguments.arrays import Output
from xtile.arguments.device_memory import DeviceArray, DeviceView, is_of_pyopencl
from xtile.arguments.errors import ArgumentError, describe_type
from xtile.arguments.gpu_arrays import gpu_array_of
from xtile.arguments.groups import GroupView, bind_group
from xtile.arguments.memory_types import MemoryType
from xtile.arguments.scalars import convert_scalar
from xtile.arguments.signature import Parameter, Signature
from xtile.arguments.stacks import Stack
from xtile.arguments.views import View, bind_memref, check_divisors, memory_of
from xtile.arguments.words import WordsView, are_words, bind_words

BoundArgument: TypeAlias = "np.generic | View | DeviceView | GroupView | WordsView | None"
"""A scalar of the parameter's type, memory, or None for a null memref.

Memory for an integer parameter stands for its address.
"""


def bind(
    signature: Signature,
    arguments: Sequence[Any] | Mapping[str, Any],
    *,
    check_promises: bool = True,
) -> list[BoundArgument]:
    """Checks the arguments against a function's signature.

    Args:
        signature: That of the function to launch.
        arguments: Values in signature order, or by parameter name.
        check_promises: Whether shape_gcd and stride_gcd are checked. Promises about alignment
            are not: numpy aligns to 16 bytes, and no result depends on it.

    Returns:
        The arguments in signature order.

    Raises:
        ArgumentError: Arguments are missing, superfluous, or do not fit.
    """
    parameters = signature.parameters
    values = _in_order(signature, arguments)
    return [
        _bind_one(parameter, value, index in signature.written, check_promises)
        for index, (parameter, value) in enumerate(zip(parameters, values, strict=True))
    ]


def _in_order(signature: Signature, arguments: Sequence[Any] | Mapping[str, Any]) -> list[Any]:
    name, parameters = signature.name, signature.parameters
    if isinstance(arguments, list | tuple | Mapping) and takes_pointers(signature):
        return flattened(signature, arguments)
    if isinstance(arguments, Mapping):
        return _by_name(name, parameters, arguments)
    if isinstance(arguments, list | tuple):
        if len(arguments) != len(parameters):
            names = ", ".join(parameter.name for parameter in parameters)
            raise ArgumentError(
                f"@{name} takes {_count(len(parameters))} ({names}), given {len(arguments)}"
            )
        return list(arguments)
    raise ArgumentError(
        f"expected the arguments as a list or a dict, given {describe_type(arguments)}"
    )


def _by_name(name: str, parameters: Sequence[Parameter], arguments: Mapping[str, Any]) -> list[Any]:
    names = [parameter.name for parameter in parameters]
    for given in arguments:
        if given not in names:
            raise ArgumentError(
                f"@{name} has no parameter '{given}'; its parameters are {', '.join(names)}"
            )
    for parameter in parameters:
        if parameter.name not in arguments:
            raise ArgumentError(f"{parameter}: no value is given")
    return [arguments[parameter_name] for parameter_name in names]


def _count(number: int) -> str:
    return "1 argument" if number == 1 else f"{number} arguments"


def _bind_one(
    parameter: Parameter, value: Any, is_written: bool, check_promises: bool
) -> BoundArgument:
    label = str(parameter)
    if parameter.group is not None:
        group = bind_group(label, parameter.group, value, is_written)
        # The entries of a stack are alike.
        entries = group.entries[:1] if isinstance(group.entries, Stack) else group.entries
        views = [view for view in entries if view is not None]
        bound: BoundArgument = group
    elif parameter.memory is not None:
        if _is_null(parameter.memory, value):
            return None
        if are_words(parameter.memory, value):
            return bind_words(label, parameter.memory, value, is_written)
        view = bind_memref(label, parameter.memory, value, is_written)
        views, bound = [view], view
    elif parameter.may_be_address and not isinstance(value, int | float | np.generic):
        return _address(parameter, value)
    else:
        return convert_scalar(parameter, value)
    if check_promises:
        for view in views:
            check_divisors(label, parameter.attributes, view.shape, view.strides)
    return bound


def _address(parameter: Parameter, value: Any) -> BoundArgument:
    """Memory of which a kernel takes the address, or the number that is given instead."""
    label = str(parameter)
    if isinstance(value, DeviceArray) or is_of_pyopencl(value):
        array = value if isinstance(value, DeviceArray) else DeviceArray(value)
        return DeviceView(array.memory, (), (), array.offset)
    gpu_array = gpu_array_of(label, value)
    if gpu_array is not None:
        return DeviceView(gpu_array.memory, (), (), 0)
    return memory_of(label, value) if _is_memory(value) else convert_scalar(parameter, value)


def _is_null(type: MemoryType, value: Any) -> bool:
    """Whether a value is the null pointer; a kernel that takes plain pointers also takes 0."""
    return value is None or (type.has_any_shape and isinstance(value, int) and value == 0)


def _is_memory(value: Any) -> bool:
    """Whether a value is an array, and not a number."""
    return isinstance(value, Output) or getattr(value, "ndim", 0) > 0
