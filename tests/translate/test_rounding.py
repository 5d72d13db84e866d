"""Translations round constants as the reference device does."""

from __future__ import annotations

import math
import random
import struct

import numpy as np
import pytest
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute

from xtile.dialects.tensorlang import types
from xtile.semantics.numeric_types import number_of
from xtile.translate.rounding import rounded_float
from xtile.translate.tensorlang_to_core.emit import constant_operation

FLOATING = (types.BF16, types.F16, types.F32, types.F64)


def numbers() -> list[float]:
    """Ties, the smallest and the largest numbers of each type, and random bits."""
    edges = [
        math.ldexp(1 + (2 * step + 1) * 2.0**-bits, exponent) * factor
        for bits in (8, 11, 24)
        for step in (0, 1, 2)
        for exponent in (0, -1, 3, -14, -126)
        for factor in (1, 1 + 2**-50, 1 - 2**-50)
    ]
    tiny = [
        (count + 0.5) * 2.0**exponent * factor
        for exponent in (-24, -133, -149)
        for count in range(4)
        for factor in (1, 1 + 2**-40, 1 - 2**-40)
    ]
    large = [65504.0, 65519.999, 65520.0, 3.3895e38, 3.39e38, 3.4028235e38, 3.4028236e38, 1e300]
    generator = random.Random(7)
    words = (generator.getrandbits(64) for _ in range(400))
    bits = [struct.unpack("<d", struct.pack("<Q", word))[0] for word in words]
    values = [0.0, math.inf, *edges, *tiny, *large, *bits]
    return [sign * value for value in values for sign in (1, -1) if not math.isnan(value)]


@pytest.mark.parametrize("type", FLOATING, ids=str)
def test_a_number_is_rounded_once_as_on_the_reference_device(type: Attribute) -> None:
    for number in numbers():
        with np.errstate(over="ignore"):
            expected = float(number_of(number, type))
        rounded = rounded_float(number, type)
        assert struct.pack("<d", rounded) == struct.pack("<d", expected), number


@pytest.mark.parametrize("type", FLOATING, ids=str)
def test_what_is_no_number_stays_none(type: Attribute) -> None:
    assert math.isnan(rounded_float(math.nan, type))


@pytest.mark.parametrize(
    ("number", "type", "expected"),
    [
        (2**31, types.I32, -(2**31)),
        (255, types.I8, -1),
        (-129, types.I8, 127),
        (2**63, types.INDEX, -(2**63)),
        (2**64 + 5, types.I64, 5),
    ],
)
def test_an_integer_constant_wraps_around(
    number: int, type: IntegerType | IndexType, expected: int
) -> None:
    assert number_of(number, type) == expected
    value = constant_operation(number, type).properties["value"]
    assert value == IntegerAttr(expected, type)


def test_a_float_constant_that_is_too_large_is_infinite() -> None:
    value = constant_operation(-1e39, types.F32).properties["value"]
    assert value == FloatAttr(-math.inf, types.F32)
