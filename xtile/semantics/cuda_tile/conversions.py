"""Conversions between types of numbers, and the bits of numbers.

Source: CUDA Tile IR specification, "Floating-Point Conversion Semantics"; NVIDIA/cuda-tile 13.3.0,
`Ops.td`; for f8E8M0FNU `cuda_fp8.h` of CUDA 13.0, for f4E2M1FN the PTX ISA's `cvt`;
docs/semantics.md, "CUDA Tile IR: numbers".
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
from xdsl.ir import Operation

from xtile.dialects.cuda_tile.enumerations import RoundingMode, Signedness
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.cuda_tile import exact
from xtile.semantics.cuda_tile.floating_point import rounding_mode
from xtile.semantics.cuda_tile.integer import signedness_of, without_overflow
from xtile.semantics.cuda_tile.numbers import address_units, operand_number, result_number
from xtile.semantics.cuda_tile.rounding import DIRECTED, directed, rounded_from_f64
from xtile.semantics.storage import from_bits, storage_bits, to_bits
from xtile.semantics.upstream import casts
from xtile.semantics.upstream.elementwise import apply
from xtile.semantics.upstream.numbers import Number
from xtile.semantics.values import NumberFunction, Value, choose, floats_of, is_exact

_LARGEST = {
    "f8E4M3FN": 448.0,
    "f8E4M3FNUZ": 240.0,
    "f8E5M2": 57344.0,
    "f8E5M2FNUZ": 57344.0,
    "f6E2M3FN": 7.5,
    "f6E3M2FN": 28.0,
    "f4E2M1FN": 6.0,
}
"""The largest number of the types that finite and infinite numbers are saturated to.

Those with 6 bits and those without infinity are none of CUDA Tile IR's, but saturated in the core
form likewise.
"""

_NAN_BITS = {
    "f8E4M3FN": 0x7F,
    "f8E4M3FNUZ": 0x80,
    "f8E5M2": 0x7F,
    "f8E5M2FNUZ": 0x80,
    "f6E2M3FN": 0x1F,
    "f6E3M2FN": 0x1F,
    "f4E2M1FN": 0x07,
}
"""What NaN becomes in these types; those without one get their largest number."""

_POWERS = "f8E8M0FNU"
"""The type of the powers of two from 2^-127 to 2^127."""

_LEAST_POWER, _LARGEST_POWER = -127, 127

_NAN_POWER = 0xFF
"""The bits of the NaN among powers of two."""


def float_to_float(source: Number, target: Number, mode: RoundingMode) -> NumberFunction:
    """Floats to floats of another type."""
    if target.text == _POWERS:
        return lambda value: _to_power(value.astype(np.float64), mode)

    def convert(value: Value) -> Value:
        if is_exact(value):
            return target.rounded(value)
        wide = value.astype(np.float64)
        return _to_float(wide, target, mode, is_nan=np.isnan(wide))

    return convert


def _to_float(wide: Value, target: Number, mode: RoundingMode, is_nan: Value) -> Value:
    """Numbers of type f64, exact or rounded to odd, in a type."""
    largest = _LARGEST.get(target.text)
    if largest is None:
        return wide if target.dtype == np.float64 else rounded_from_f64(wide, target, mode)
    near = rounded_from_f64(np.clip(wide, -largest, largest), target, mode)
    nan = from_bits(np.asanyarray(_NAN_BITS[target.text], np.uint8), target)
    return choose(is_nan, nan, near)


def _to_power(wide: Value, mode: RoundingMode) -> Value:
    """The power of two beside each absolute value: not larger for `zero`, else not smaller."""
    fraction, exponent = np.frexp(np.abs(wide))
    # A fraction is at least 1/2, and 1/2 is that of a power of two.
    is_between = (fraction > 0.5) & (mode is not RoundingMode.ZERO)
    power = exponent - 1 + is_between
    power = choose(np.isinf(wide), _LARGEST_POWER, choose(wide == 0, _LEAST_POWER, power))
    bits = np.clip(power, _LEAST_POWER, _LARGEST_POWER) - _LEAST_POWER
    bits = np.asanyarray(choose(np.isnan(wide), _NAN_POWER, bits)).astype(np.uint8)
    return bits.view(ml_dtypes.float8_e8m0fnu)[()]


def integer_to_float(
    source: Number, target: Number, signedness: Signedness, mode: RoundingMode
) -> NumberFunction:
    """Integers to floats, with one rounding."""
    is_signed = signedness is Signedness.SIGNED
    sign = source.signed if is_signed else source.unsigned
    dtype = np.dtype(np.int64 if is_signed else np.uint64)
    is_double = target.dtype == np.float64

    def rounded(whole: Value) -> Value:
        low = whole & dtype.type(2**32 - 1)
        near, lost = exact.add((whole - low).astype(np.float64), low.astype(np.float64))
        if is_double:
            return directed(near, lost, mode) if mode in DIRECTED else near
        return _to_float(exact.to_odd((near, lost)), target, mode, is_nan=np.False_)

    return lambda value: floats_of(sign(value).astype(dtype), target.dtype, rounded)


def float_to_integer(source: Number, target: Number, signedness: Signedness) -> NumberFunction:
    """Floats to integers, rounded towards zero; what is out of range becomes the nearest one.

    A truth value says whether a number is not 0, as NaN is not.
    """
    if target.bits == 1:
        return lambda value: value != 0
    return casts.to_integer(source, target, signedness is Signedness.SIGNED)


def extension(source: Number, target: Number, signedness: Signedness) -> NumberFunction:
    """Integers to wider ones."""
    if signedness is Signedness.SIGNED:
        return casts.sign_extension(source, target)
    return casts.zero_extension(source, target)


def truncation(source: Number, target: Number) -> NumberFunction:
    """Integers to narrower ones, without their high bits."""
    return casts.sign_extension(source, target)


def bitcast(source: Number, target: Number) -> NumberFunction:
    """Numbers with the same bits.

    Raises:
        ValueError: The types differ in width.
    """
    if storage_bits(source) != storage_bits(target):
        raise ValueError(f"{source.text} and {target.text} differ in width")
    return lambda value: from_bits(to_bits(value, source), target)


def _ftof(operation: Operation, compiler: Compiler) -> Step:
    source, target = operand_number(operation), result_number(operation)
    return apply(operation, compiler, float_to_float(source, target, rounding_mode(operation)))


def _ftoi(operation: Operation, compiler: Compiler) -> Step:
    source, target = operand_number(operation), result_number(operation)
    function = float_to_integer(source, target, signedness_of(operation))
    return apply(operation, compiler, function)


def _itof(operation: Operation, compiler: Compiler) -> Step:
    source, target = operand_number(operation), result_number(operation)
    mode = rounding_mode(operation)
    function = integer_to_float(source, target, signedness_of(operation), mode)
    return apply(operation, compiler, function)


def _exti(operation: Operation, compiler: Compiler) -> Step:
    source, target = operand_number(operation), result_number(operation)
    return apply(operation, compiler, extension(source, target, signedness_of(operation)))


def _trunci(operation: Operation, compiler: Compiler) -> Step:
    source, target = operand_number(operation), result_number(operation)
    step = apply(operation, compiler, truncation(source, target))
    return without_overflow(operation, compiler, step)


def _bitcast(operation: Operation, compiler: Compiler) -> Step:
    source, target = operand_number(operation), result_number(operation)
    return apply(operation, compiler, bitcast(source, target))


def _converted_addresses(source: int, target: int) -> NumberFunction:
    """Addresses in other units."""

    def convert(value: Value) -> Value:
        return value // np.int64(source) * np.int64(target)

    return convert


def _int_to_ptr(operation: Operation, compiler: Compiler) -> Step:
    units = address_units(operation.results[0].type)
    return apply(operation, compiler, _converted_addresses(1, units))


def _ptr_to_int(operation: Operation, compiler: Compiler) -> Step:
    units = address_units(operation.operands[0].type)
    return apply(operation, compiler, _converted_addresses(units, 1))


def _ptr_to_ptr(operation: Operation, compiler: Compiler) -> Step:
    source = address_units(operation.operands[0].type)
    target = address_units(operation.results[0].type)
    return apply(operation, compiler, _converted_addresses(source, target))


HANDLERS: dict[str, Handler] = {
    "cuda_tile.bitcast": _bitcast,
    "cuda_tile.exti": _exti,
    "cuda_tile.ftof": _ftof,
    "cuda_tile.ftoi": _ftoi,
    "cuda_tile.int_to_ptr": _int_to_ptr,
    "cuda_tile.itof": _itof,
    "cuda_tile.ptr_to_int": _ptr_to_int,
    "cuda_tile.ptr_to_ptr": _ptr_to_ptr,
    "cuda_tile.trunci": _trunci,
}
"""The handler of each operation, by name."""
