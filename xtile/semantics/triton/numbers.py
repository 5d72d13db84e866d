"""Functions of numbers, conversions between floats, and arithmetic on pointers.

Source: Triton 3.9, `TritonOps.td`; docs/semantics.md, "Triton".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import ml_dtypes
import numpy as np

from xtile.dialects.pointer_types import is_pointer
from xtile.dialects.triton.tt.enumerations import PropagateNan, RoundingMode
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.triton.tensors import integer_property, number_in, pointee_storage, same
from xtile.semantics.upstream import casts, floats, integers
from xtile.semantics.upstream.elementwise import apply, elementwise
from xtile.semantics.upstream.numbers import Number
from xtile.semantics.values import NumberFunction, Value, choose, is_exact


def conversion(source: Number, target: Number, *, toward_zero: bool) -> NumberFunction:
    """Floats of one type as floats of another.

    To f8, numbers that are too large become the largest one, and so do infinities.

    Args:
        source: The type of the operand.
        target: The type of the result.
        toward_zero: Whether numbers are rounded toward zero, and not to the nearest.
    """
    if toward_zero and target.bits < source.bits:
        convert = _toward_zero(source, target)
    else:
        convert = casts.truncation(source, target)
    if target.bits != _SATURATED_BITS or source.bits == _SATURATED_BITS:
        return convert
    information = cast("Any", ml_dtypes.finfo(target.dtype))
    limit = source.number(float(information.max))
    # Comparisons with NaN are false, so NaN stays.
    return lambda value: convert(
        value
        if is_exact(value)
        else choose(
            source.wide(value) > source.wide(limit), limit, _not_below(source, value, -limit)
        )
    )


_SATURATED_BITS = 8


def _toward_zero(source: Number, target: Number) -> NumberFunction:
    def convert(value: Value) -> Value:
        if is_exact(value):
            return target.rounded(value)
        exact = source.wide(value)
        near = np.asanyarray(target.rounded(exact))
        is_past = np.abs(near.astype(exact.dtype)) > np.abs(exact)
        # Floats of one sign are ordered as their bits are.
        bits = near.view(f"u{near.dtype.itemsize}")
        nearer = (bits - is_past.astype(bits.dtype)).view(near.dtype)
        # Below the least negative number of a type without -0 is NaN.
        return choose(np.isnan(nearer) & is_past, near.dtype.type(0), nearer)

    return convert


def _not_below(number: Number, value: Value, limit: Value) -> Value:
    return choose(number.wide(value) < number.wide(limit), limit, value)


def _fp_to_fp(operation: Any, compiler: Compiler) -> Step:
    mode = integer_property(operation, "rounding", RoundingMode.RTNE)
    source, target = number_in(operation.src), number_in(operation.result)
    function = conversion(source, target, toward_zero=mode == RoundingMode.RTZ)
    return apply(operation, compiler, function)


def _clampf(operation: Any, compiler: Compiler) -> Step:
    number = number_in(operation.x)
    propagates = integer_property(operation, "propagateNan") == PropagateNan.ALL
    suffix = "imumf" if propagates else "numf"
    larger, smaller = (floats.BINARY[f"{name}{suffix}"](number) for name in ("max", "min"))

    def function(x: Value, least: Value, most: Value) -> Value:
        return smaller(larger(x, least), most)

    return apply(operation, compiler, function)


def _mulhiui(number: Number) -> Callable[[Value, Value], Value]:
    return lambda a, b: integers.extended_product(number, a, b, False)[1]


def _addptr(operation: Any, compiler: Compiler) -> Step:
    """Offsets count elements, and have a sign."""
    size = np.int64(pointee_storage(operation.ptr).step)
    number = number_in(operation.offset)

    def function(pointers: Value, offsets: Value) -> Value:
        return pointers + number.signed(offsets).astype(np.int64) * size

    return apply(operation, compiler, function)


def _bitcast(operation: Any, compiler: Compiler) -> Step:
    source, target = operation.src.type, operation.result.type
    elements = (getattr(each, "element_type", each) for each in (source, target))
    if any(is_pointer(each) for each in elements):
        return same(operation, compiler)
    function = casts.bitcast(number_in(operation.src), number_in(operation.result))
    return apply(operation, compiler, function)


HANDLERS: dict[str, Handler] = {
    "tt.addptr": _addptr,
    "tt.approx_divf": elementwise(floats.BINARY["divf"]),
    "tt.bitcast": _bitcast,
    "tt.clampf": _clampf,
    "tt.fp_to_fp": _fp_to_fp,
    "tt.int_to_ptr": same,
    "tt.mulhiui": elementwise(_mulhiui),
    "tt.precise_divf": elementwise(floats.BINARY["divf"]),
    "tt.precise_sqrt": elementwise(floats.UNARY_MATH["sqrt"]),
    "tt.ptr_to_int": same,
}
"""The handler of each operation, by name."""
