"""The numbers and vectors that attributes stand for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Operation

from xtile.semantics.upstream.numbers import Kind, Number, full_shape, number_of
from xtile.semantics.values import Array, Value


def constant_value(value: Attribute, type: Attribute) -> Value:
    """The value of a scalar, vector or tensor type that an attribute stands for.

    Raises:
        ValueError: The attribute is no constant of that type.
    """
    number = number_of(type)
    given: Any = value
    if isinstance(value, DenseIntOrFPElementsAttr):
        return elements(given, number).reshape(full_shape(type))
    if isinstance(value, IntegerAttr | FloatAttr):
        return number.number(given.value.data)
    parts = _complex_parts(given)
    if parts is not None and number.kind is Kind.COMPLEX:
        return number.number(complex(*parts))
    raise ValueError(f"{value} is no constant of type {type}")


def elements(value: Attribute, type: Number) -> Array:
    """The elements of a dense attribute in row-major order, as numbers of a type.

    Raises:
        ValueError: The attribute is not dense.
    """
    if not isinstance(value, DenseIntOrFPElementsAttr):
        raise ValueError(f"the elements of {value} are not known; write dense<...>")
    given: Sequence[Any] = cast("Any", value).get_values()
    if type.kind is Kind.COMPLEX:
        given = [complex(*entry) for entry in given]
    if len(given) == 1:
        count = math.prod(value.get_shape())
        return np.broadcast_to(type.numbers(given), (count,))
    if len(given) > 1 and all(entry == given[0] for entry in given[1:]):
        return np.broadcast_to(type.numbers(given[:1]), (len(given),))
    return type.numbers(given)


def _complex_parts(value: Attribute) -> tuple[float, float] | None:
    """The real and the imaginary part of a complex constant."""
    if isinstance(value, ArrayAttr):
        entries = cast("ArrayAttr[Attribute]", value).data
        if len(entries) == 2 and all(isinstance(entry, FloatAttr) for entry in entries):
            real, imaginary = (cast("Any", entry).value.data for entry in entries)
            return real, imaginary
    if value.name == "complex.number":
        return cast("Any", value).real.data, cast("Any", value).imag.data
    return None


def filled(type: Attribute, fill: int) -> Value:
    """A value of a scalar, vector or tensor type whose bytes all are `fill`."""
    number = number_of(type)
    data = np.full(number.dtype.itemsize, fill, np.uint8)
    value = data.view(number.dtype)[0] if number.bits > 1 else np.bool_(fill != 0)
    shape = full_shape(type)
    return np.broadcast_to(value, shape) if shape else value


def integer_attribute(operation: Operation, name: str) -> int | None:
    """The integer that an attribute or property of an operation holds; None without one."""
    value = operation.get_attr_or_prop(name)
    return cast("Any", value).value.data if isinstance(value, IntegerAttr) else None


def has_flag(operation: Operation, name: str) -> bool:
    """Whether an operation has an attribute or property that stands for itself."""
    return isinstance(operation.get_attr_or_prop(name), UnitAttr)


def word_attribute(operation: Operation, name: str, words: Sequence[str] = ()) -> str:
    """What an attribute or property that holds a word says, such as `x` or `add`; "" without one.

    Enumerations and strings are words. An integer is the number of one of `words`.
    """
    value: Any = operation.get_attr_or_prop(name)
    if value is None:
        return ""
    number = integer_attribute(operation, name)
    if number is not None:
        return words[number]
    data = getattr(value, "data", None)
    if data is None:
        # An enumeration that nobody defined reads as its text, such as `#gpu<dim x>`.
        data = str(value).rstrip(">").replace("<", " ").split()[-1]
    return str(getattr(data, "value", data))
