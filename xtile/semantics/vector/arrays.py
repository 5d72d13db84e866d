"""Numbers and vectors as arrays with the axes (rows, lanes, ...)."""

from __future__ import annotations

from typing import cast

import numpy as np
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, SSAValue

from xtile.semantics.values import Array, Value, is_array

AXES = 2
"""Axes before those of a vector: rows and lanes."""


def is_vector(value: SSAValue) -> bool:
    """Whether a value is a vector."""
    return isinstance(value.type, VectorType)


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The shape of a vector; () for a number."""
    if not is_vector(value):
        return ()
    return cast("VectorType[Attribute]", value.type).get_shape()


def as_array(value: Value) -> Array:
    """A number with the axes rows and lanes; a vector stays as it is."""
    return value if is_array(value) else np.asarray(value).reshape(1, 1)


def as_number(array: Array) -> Value:
    """A number that has the axes rows and lanes; a scalar if all work-items share it."""
    return array[0, 0] if array.shape == (1, 1) else array
