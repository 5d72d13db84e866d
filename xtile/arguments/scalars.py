"""Scalar arguments: Python and numpy numbers as values of the parameter's type."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ShapedType

from xtile.arguments.errors import ArgumentError, describe_type, describe_value
from xtile.arguments.memory_types import scalar_type_of
from xtile.arguments.signature import Parameter
from xtile.semantics.upstream.numbers import Kind, Number, number_of
from xtile.semantics.values import Array


def convert_scalar(parameter: Parameter, value: Any) -> np.generic:
    """Returns `value` as a numpy scalar of the parameter's type.

    A float is rounded to the parameter's type, as it is when C code passes a double. An integer
    must be exact.

    Raises:
        ArgumentError: The value is no number, of the wrong kind, or out of the type's range.
    """
    scalar = scalar_type_of(parameter.type)
    wrong = ArgumentError(f"{parameter}: a value of this type cannot be passed to a kernel")
    if isinstance(scalar, ShapedType):
        raise wrong
    try:
        type = number_of(scalar)
    except ValueError:
        raise wrong from None
    if type.dtype == np.bool_:
        return _boolean(parameter, value)
    number = _python_number(parameter, value)
    convert = {Kind.INTEGER: _integer, Kind.FLOAT: _float, Kind.COMPLEX: _complex}[type.kind]
    return convert(parameter, type, number)


def _boolean(parameter: Parameter, value: Any) -> np.bool_:
    if not isinstance(value, bool | np.bool_):
        raise ArgumentError(f"{parameter}: expected True or False, given {describe_type(value)}")
    return np.bool_(cast(Any, value))


def _python_number(parameter: Parameter, value: Any) -> int | float | complex:
    """Returns a Python or numpy number, or an array of order 0, as a Python number."""
    if isinstance(value, np.ndarray) and cast(Array, value).ndim == 0:
        value = cast(Array, value)[()]
    if isinstance(value, bool | np.bool_):
        raise ArgumentError(f"{parameter}: expected a number, given the bool {value}")
    if isinstance(value, int | float | complex):
        return value
    if isinstance(value, np.generic):
        return _numpy_number(parameter, cast(Any, value))
    raise ArgumentError(f"{parameter}: expected a number, given {describe_type(value)}")


def _numpy_number(parameter: Parameter, value: Any) -> int | float | complex:
    if isinstance(value, np.integer):
        return int(cast(Any, value))
    if isinstance(value, np.complexfloating):
        return complex(cast(Any, value))
    try:
        # Includes bf16, which is no numpy.floating.
        return float(value)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{parameter}: expected a number, given {describe_type(value)}"
        ) from None


def _integer(parameter: Parameter, type: Number, number: complex) -> np.generic:
    if not isinstance(number, int):
        kind = "float" if isinstance(number, float) else "complex number"
        raise ArgumentError(f"{parameter}: expected an integer, given the {kind} {number}")
    bits = type.bits
    least, largest = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    if not least <= number <= largest:
        shown = describe_value(number)
        raise ArgumentError(
            f"{parameter}: expected an integer from {least} to {largest}, given {shown}"
        )
    return type.number(number)


def _float(parameter: Parameter, type: Number, number: complex) -> np.generic:
    if isinstance(number, complex):
        raise ArgumentError(f"{parameter}: expected a real number, given the complex {number}")
    return _rounded(parameter, type, number)


def _complex(parameter: Parameter, type: Number, number: complex) -> np.generic:
    return _rounded(parameter, type, number)


def _rounded(parameter: Parameter, type: Number, number: complex) -> np.generic:
    """Rounds to the type; an integer must stay exact, and a finite number finite."""
    try:
        with np.errstate(over="ignore"):
            result: Any = type.number(number)
        back: complex = complex(result) if isinstance(number, complex) else float(result.real)
    except OverflowError:
        raise _too_large(parameter, number) from None
    if _is_finite(number) and not _is_finite(back):
        raise _too_large(parameter, number)
    if isinstance(number, int) and int(back.real) != number:
        raise ArgumentError(
            f"{parameter}: the integer {number} is not exact in this type; it would become "
            f"{int(back.real)}; pass a float if that is meant"
        )
    return result


def _too_large(parameter: Parameter, number: complex) -> ArgumentError:
    return ArgumentError(f"{parameter}: {describe_value(number)} is out of the type's range")


def _is_finite(number: complex) -> bool:
    return isinstance(number, int) or (math.isfinite(number.real) and math.isfinite(number.imag))
