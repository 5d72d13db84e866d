"""Conversions of CUDA Tile IR against exact numbers, and the table of special values."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_generator
from tests.semantics.cuda_tile.tiles import (
    BASE_FLOATS,
    ELEMENTS,
    INTEGERS,
    NUMBERS,
    SATURATED,
    evaluate,
    fractions,
    mixed_floats,
    random_bits,
    random_integers,
    rounded,
    same,
    signed,
    tile,
    unsigned,
)
from xtile.dialects.cuda_tile.enumerations import RoundingMode, Signedness
from xtile.dialects.cuda_tile.ops import conversions as ops
from xtile.dialects.cuda_tile.types import PointerType, TileType
from xtile.semantics.cuda_tile.conversions import integer_to_float

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

COUNT = 512
NEAREST = RoundingMode.NEAREST_EVEN
SIGNED, UNSIGNED = Signedness.SIGNED, Signedness.UNSIGNED
POWERS = "f8E8M0FNU"
FLOATS = (*BASE_FLOATS, "tf32", *SATURATED)


def ftof(values: Any, source: str, target: str, mode: RoundingMode = NEAREST) -> Any:
    """Floats converted to another type."""
    return evaluate(
        lambda v: ops.FToFOp(v, tile(np.shape(values), target), rounding_mode=mode),
        (values, source),
    )


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", FLOATS)
def test_floats_are_rounded_once(source: str, target: str) -> None:
    if source == target:
        return
    values = mixed_floats(source, COUNT)
    # Many numbers in the range of the small types, halfway between two of theirs too.
    near = fresh_generator().integers(-4096, 4096, 128) / 512
    values[:128] = np.asarray(NUMBERS[source].rounded(near))
    result = ftof(values, source, target)
    expected = [
        rounded(exact, target, NEAREST, math.copysign(0.0, float(value)))
        for value, exact in zip(values, fractions(values), strict=True)
    ]
    assert same(result, np.array(expected))


SPECIAL = np.array([np.inf, -np.inf, np.nan, 1e30, -1e30, 0.0, -0.0], np.float32)


@pytest.mark.parametrize(
    ("target", "bits"),
    [
        # The specification's table, "Floating-Point Conversion: Special Value and Saturation
        # Behavior", but for NaN in f8E4M3FN: devices give 0x7F.
        ("f8E4M3FN", [0x7E, 0xFE, 0x7F, 0x7E, 0xFE, 0x00, 0x80]),
        ("f8E5M2", [0x7B, 0xFB, 0x7F, 0x7B, 0xFB, 0x00, 0x80]),
        ("f4E2M1FN", [0x7, 0xF, 0x7, 0x7, 0xF, 0x0, 0x8]),
    ],
)
def test_what_small_floats_make_of_special_values(target: str, bits: list[int]) -> None:
    given = np.resize(SPECIAL, 8)
    result = ftof(given, "f32", target)
    found = result.view(np.uint8) & (0xF if target == "f4E2M1FN" else 0xFF)
    assert found[:7].tolist() == bits
    # The sign of a NaN is not kept.
    negative = np.array([-np.nan, -np.nan], np.float32)
    assert (ftof(negative, "f32", target).view(np.uint8) & 0xF)[0] == bits[2] & 0xF


@pytest.mark.parametrize("target", ["f16", "bf16", "tf32", "f64"])
def test_ieee_types_keep_infinities_and_nan(target: str) -> None:
    result = ftof(np.resize(SPECIAL, 8), "f32", target).astype(np.float64)
    large = math.inf if target == "f16" else 1e30
    assert same(result[:3], [math.inf, -math.inf, math.nan])
    assert np.allclose(result[3:5], [large, -large], rtol=2**-8)
    assert same(result[5:7], [0.0, -0.0])


@pytest.mark.parametrize("mode", [RoundingMode.ZERO, RoundingMode.POSITIVE_INF])
def test_powers_of_two(mode: RoundingMode) -> None:
    """f8E8M0FNU: absolute values, rounded to a power of two from 2^-127 to 2^127."""
    values = mixed_floats("f32", COUNT)
    values[:6] = [0.0, 2.0**-149, 2.0**-127, 1.0, -8.0, np.finfo(np.float32).max]
    result = ftof(values, "f32", POWERS, mode).astype(np.float64)
    for exact, found in zip(fractions(values), result, strict=True):
        size = max(abs(exact), Fraction(2) ** -127)
        power = Fraction(float(found))
        assert math.log2(found).is_integer()
        if mode is RoundingMode.ZERO:
            assert power <= size < 2 * power
        else:
            assert power >= min(size, Fraction(2) ** 127)
            assert power / 2 < size
    special = ftof(np.array([np.inf, -np.inf, np.nan, -np.nan], np.float32), "f32", POWERS, mode)
    assert special.view(np.uint8).tolist() == [254, 254, 255, 255]


@pytest.mark.parametrize("target", ["f32", "bf16", "f64"])
def test_powers_of_two_as_floats(target: str) -> None:
    values = np.arange(256, dtype=np.uint8).view(NUMBERS[POWERS].dtype)
    result = ftof(values, POWERS, target).astype(np.float64)
    assert same(result, [*(2.0**power for power in range(-127, 128)), math.nan])


@pytest.mark.parametrize("signedness", Signedness)
@pytest.mark.parametrize("target", FLOATS)
@pytest.mark.parametrize("source", INTEGERS)
def test_integers_are_rounded_once(source: str, target: str, signedness: Signedness) -> None:
    values = random_integers(source, COUNT)
    # Numbers that are halfway between two floats but for their last bits.
    if source == "i64":
        shifts = fresh_generator().integers(0, 62, 128)
        values[:128] = (np.int64(2**62) >> shifts) + (np.int64(2**37) >> shifts) + 1
    result = evaluate(
        lambda v: ops.IToFOp(v, tile(values.shape, target), signedness=signedness),
        (values, source),
    )
    read = signed if signedness is SIGNED else unsigned
    expected = [rounded(Fraction(read(v, source)), target, NEAREST) for v in values]
    assert same(result, np.array(expected))


@pytest.mark.parametrize(
    "mode", [RoundingMode.ZERO, RoundingMode.NEGATIVE_INF, RoundingMode.POSITIVE_INF]
)
@pytest.mark.parametrize("target", BASE_FLOATS)
@pytest.mark.parametrize("signedness", Signedness)
def test_integers_in_any_direction(signedness: Signedness, target: str, mode: RoundingMode) -> None:
    values = random_integers("i64", COUNT)
    convert = integer_to_float(NUMBERS["i64"], NUMBERS[target], signedness, mode)
    read = signed if signedness is SIGNED else unsigned
    expected = [rounded(Fraction(read(v, "i64")), target, mode) for v in values]
    assert same(convert(values), np.array(expected))


@pytest.mark.parametrize("signedness", Signedness)
@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", [*FLOATS, POWERS])
def test_floats_to_integers(source: str, target: str, signedness: Signedness) -> None:
    """The fraction is cut off; what is out of range becomes the nearest integer, and NaN 0.

    As a truth value everything but 0 is true.
    """
    values = random_bits(source, COUNT)
    wide = values.astype(np.float64)
    result = evaluate(
        lambda v: ops.FToIOp(v, tile(values.shape, target), signedness=signedness),
        (values, source),
    )
    bits = NUMBERS[target].bits
    if bits == 1:
        assert np.array_equal(result, wide != 0)
        return
    least = -(2 ** (bits - 1)) if signedness is SIGNED else 0
    most = least + 2**bits - 1
    read = signed if signedness is SIGNED else unsigned
    for value, found in zip(wide, result, strict=True):
        whole = 0.0 if math.isnan(value) else min(max(value, -1e30), 1e30)
        assert read(found, target) == min(max(math.trunc(whole), least), most)


@pytest.mark.parametrize("signedness", Signedness)
@pytest.mark.parametrize(
    ("source", "target"),
    [("i1", "i8"), ("i4", "i8"), ("i4", "i64"), ("i8", "i16"), ("i16", "i64"), ("i32", "i64")],
)
def test_extensions(source: str, target: str, signedness: Signedness) -> None:
    values = random_integers(source, COUNT)
    result = evaluate(
        lambda v: ops.ExtIOp(v, tile(values.shape, target), signedness=signedness),
        (values, source),
    )
    read = signed if signedness is SIGNED else unsigned
    assert result.tolist() == [read(v, source) for v in values]


@pytest.mark.parametrize(
    ("source", "target"),
    [("i8", "i1"), ("i8", "i4"), ("i64", "i4"), ("i16", "i8"), ("i64", "i32"), ("i64", "i1")],
)
def test_truncations(source: str, target: str) -> None:
    values = random_integers(source, COUNT)
    result = evaluate(lambda v: ops.TruncIOp(v, tile(values.shape, target)), (values, source))
    width = 2 ** NUMBERS[target].bits
    assert [unsigned(v, target) for v in result] == [int(v) % width for v in values]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("i8", "f8E4M3FN"),
        ("i8", "f8E5M2"),
        ("i8", POWERS),
        ("f8E4M3FN", "f8E5M2"),
        ("i16", "f16"),
        ("f16", "bf16"),
        ("i32", "f32"),
        ("i64", "f64"),
        ("i1", "i1"),
    ],
)
def test_bits_stay_the_same(a: str, b: str) -> None:
    values = random_bits(a, COUNT)
    there = evaluate(lambda v: ops.BitcastOp(v, tile(values.shape, b)), (values, a))
    assert there.tobytes() == values.tobytes()
    back = evaluate(lambda v: ops.BitcastOp(v, tile(values.shape, a)), (there, b))
    assert back.tobytes() == values.tobytes()
    number = evaluate(lambda v: ops.BitcastOp(v, tile((), b)), (values[0], a))
    assert number.tobytes() == values[:1].tobytes()


def test_addresses() -> None:
    """Pointers to elements of four bits count half bytes; integers are bytes."""
    addresses = np.array([0, 4096, 2**40, 2**41 + 8], np.int64)
    singles, halves = (PointerType(ELEMENTS[element]) for element in ("f32", "f4E2M1FN"))

    def to_pointers(values: Any, source: Any, target: Any, make: Any) -> Any:
        return evaluate(lambda v: make(v, TileType((4,), target)), (values, source))

    for pointer, units in ((singles, 1), (halves, 2)):
        made = to_pointers(addresses, "i64", pointer, ops.IntToPtrOp)
        assert made.tolist() == (addresses * units).tolist()
        back = to_pointers(made, pointer, ELEMENTS["i64"], ops.PtrToIntOp)
        assert back.tolist() == addresses.tolist()
    there = to_pointers(addresses, singles, halves, ops.PtrToPtrOp)
    assert there.tolist() == (addresses * 2).tolist()
    assert to_pointers(there, halves, singles, ops.PtrToPtrOp).tolist() == addresses.tolist()
