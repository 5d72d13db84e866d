"""Numbers and vectors as arrays with the axes (rows, lanes, ...)."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Operation, SSAValue

from xtile.semantics.upstream import numbers
from xtile.semantics.values import Array, Value, is_array, with_axes

AXES = 2
"""Axes before those of a vector: rows and lanes."""


def is_vector(value: SSAValue) -> bool:
    """Whether a value is a vector."""
    return isinstance(value.type, VectorType)


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The shape of a vector; () for a number.

    Raises:
        ValueError: The vector is scalable.
    """
    return numbers.shape_of(value.type)


def numbers_in(operation: Operation, name: str) -> list[int]:
    """The numbers in a property: an array of numbers, or of integer attributes."""
    attribute: Any = operation.properties[name]
    if hasattr(attribute, "get_values"):
        return [int(number) for number in attribute.get_values()]
    return [int(each.value.data) for each in attribute]


def as_array(value: Value) -> Array:
    """A number with the axes rows and lanes; a vector stays as it is."""
    return value if is_array(value) else np.asanyarray(value).reshape(1, 1)


def as_number(array: Array) -> Value:
    """A number that has the axes rows and lanes; a scalar if all work-items share it."""
    return array[0, 0] if array.shape == (1, 1) else array


def spread(value: Value, rank: int) -> Array:
    """A number or vector with axes of length 1 added, so that a vector has `rank` of its own."""
    array = as_array(value)
    return with_axes(array, AXES + rank - array.ndim)


def along(length: int, axis: int, rank: int) -> Array:
    """The numbers from 0 to length - 1 along an axis of vectors with `rank` axes."""
    shape = [1] * (AXES + rank)
    shape[AXES + axis] = length
    return np.arange(length, dtype=np.int64).reshape(shape)


def outer_shape(*arrays: Array) -> tuple[int, ...]:
    """The rows and lanes of what is made of several vectors."""
    return np.broadcast_shapes(*(array.shape[:AXES] for array in arrays))


def with_outer(array: Array, outer: tuple[int, ...]) -> Array:
    """A vector for so many rows and lanes, without a copy."""
    return np.broadcast_to(array, (*outer, *array.shape[AXES:]))


def flattened(array: Array) -> Array:
    """A vector with all its axes made one, in row-major order."""
    return array.reshape(*array.shape[:AXES], -1)
