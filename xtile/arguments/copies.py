"""Copies of a launch's arguments, with the strides of the originals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np

from xtile.arguments.arrays import Output
from xtile.arguments.groups import Group
from xtile.semantics.values import Array


def copied(arguments: Sequence[Any]) -> list[Any]:
    """The same arguments in memory of their own; those that are one array stay one."""
    made: dict[int, Array] = {}
    return [_copied(each, made) for each in arguments]


def arrays_of(argument: Any) -> list[Array]:
    """The arrays that an argument consists of: one, those of a group, or none."""
    if isinstance(argument, Output):
        return arrays_of(argument.array)
    if isinstance(argument, Group):
        return [array for entry in argument.entries for array in arrays_of(entry)]
    if isinstance(argument, list | tuple):
        return [array for entry in argument for array in arrays_of(entry)]  # pyright: ignore[reportUnknownVariableType]
    return [argument] if is_memory(argument) else []


def is_memory(argument: object) -> TypeGuard[Array]:
    """Whether an argument is an array; one without dimensions is memory, too."""
    return isinstance(argument, np.ndarray)


def _copied(argument: Any, made: dict[int, Array]) -> Any:
    if isinstance(argument, Output):
        return Output(_copied(argument.array, made))
    if isinstance(argument, Group):
        entries = [_copied(entry, made) for entry in argument.entries]
        return Group(entries, argument.offset, argument.shapes)
    if isinstance(argument, list | tuple):
        return [_copied(each, made) for each in argument]  # pyright: ignore[reportUnknownVariableType]
    if not is_memory(argument):
        return argument
    if id(argument) not in made:
        made[id(argument)] = _array(argument)
    return made[id(argument)]


def _array(array: Array) -> Array:
    """A copy with the same strides, gaps between columns included."""
    if array.size == 0 or any(stride < 0 for stride in array.strides):
        return array.copy(order="K")
    last = sum((n - 1) * stride for n, stride in zip(array.shape, array.strides, strict=True))
    memory = np.zeros(last + array.itemsize, np.uint8)
    result = np.ndarray(array.shape, array.dtype, memory, 0, array.strides)
    result[...] = array
    return result
