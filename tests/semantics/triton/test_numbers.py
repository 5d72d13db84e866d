"""Functions of numbers and conversions between floats, against numpy and exact fractions."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from tests.semantics.triton.programs import DTYPES, computed

_COUNT = 256

_FLOATS = ("f16", "bf16", "f32", "f64")

_F8 = ("f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ")

_LARGEST = {"f8E4M3FN": 448.0, "f8E5M2": 57344.0, "f8E4M3FNUZ": 240.0, "f8E5M2FNUZ": 57344.0}


def _floats(element: str, scale: float = 1.0) -> Any:
    values = fresh_generator().standard_normal(_COUNT) * scale
    return values.astype(DTYPES[element])


def _converted(values: Any, source: str, target: str, rounding: str = "") -> Any:
    body = (
        f"%r0 = tt.fp_to_fp %0{rounding} : tensor<{values.size}x{source}> -> "
        f"tensor<{values.size}x{target}>"
    )
    (found,) = computed(body, [values], [((values.size,), target)])
    return found


def _all_numbers(element: str) -> list[Fraction]:
    """The finite numbers of a type of 8 bits, in order."""
    values = np.arange(256, dtype=np.uint8).view(DTYPES[element]).astype(np.float64)
    return sorted({Fraction(float(each)) for each in values[np.isfinite(values)]})


@pytest.mark.slow
@pytest.mark.parametrize("target", _F8)
@pytest.mark.parametrize("source", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("mode", ["rtne", "rtz"])
def test_fp_to_fp_of_f8(source: str, target: str, mode: str) -> None:
    values = _floats(source, 2.0 ** fresh_generator().integers(-8, 8))
    found = _converted(values, source, target, f", rounding = {mode}").astype(np.float64)
    known = _all_numbers(target)
    for value, result in zip(values.astype(np.float64), found, strict=True):
        exact, near = Fraction(float(value)), Fraction(float(result))
        if mode == "rtz":
            inside = [each for each in known if abs(each) <= abs(exact) and each * exact >= 0]
            assert near == max(inside, key=abs)
        else:
            distance = min(abs(each - exact) for each in known)
            assert abs(near - exact) == distance


@pytest.mark.parametrize("target", _F8)
@pytest.mark.parametrize("mode", ["rtne", "rtz"])
def test_what_is_too_large_for_f8(target: str, mode: str) -> None:
    values = np.array([1e6, -1e6, np.inf, -np.inf, np.nan, 449, -241, 0.0], np.float32)
    found = _converted(values, "f32", target, f", rounding = {mode}").astype(np.float64)
    largest = _LARGEST[target]
    np.testing.assert_array_equal(found[:4], [largest, -largest, largest, -largest])
    assert np.isnan(found[4])
    np.testing.assert_array_equal(np.abs(found[5:]) <= largest, True)


@pytest.mark.parametrize("element", ["f8E4M3FNUZ", "f8E5M2FNUZ"])
def test_zero_and_nan_without_negative_zero(element: str) -> None:
    values = np.array([-0.0, np.nan], np.float32)
    found = _converted(values, "f32", element, ", rounding = rtne").view(np.uint8)
    np.testing.assert_array_equal(found, [0x00, 0x80])
    back = _converted(np.array([0x80], np.uint8).view(DTYPES[element]), element, "f32")
    assert np.isnan(back[0])


@pytest.mark.parametrize("element", _F8)
@pytest.mark.parametrize("target", ["f16", "bf16", "f32"])
def test_fp_to_fp_from_f8_is_exact(element: str, target: str) -> None:
    values = np.arange(256, dtype=np.uint8).view(DTYPES[element])
    found = _converted(values, element, target).astype(np.float64)
    np.testing.assert_array_equal(found, values.astype(np.float64))


@pytest.mark.parametrize("target", ["f16", "bf16"])
def test_fp_to_fp_toward_zero(target: str) -> None:
    values = _floats("f32", 100.0)
    found = _converted(values, "f32", target, ", rounding = rtz")
    wide = found.astype(np.float32)
    assert (np.abs(wide) <= np.abs(values)).all()
    # The next number away from zero is farther away than the exact one.
    away = (found.view(np.uint16) + 1).view(found.dtype).astype(np.float32)
    assert (np.abs(away) > np.abs(values)).all()


@pytest.mark.parametrize("element", _FLOATS)
@pytest.mark.parametrize("propagates", [True, False])
def test_clampf(element: str, propagates: bool) -> None:
    x = _floats(element)
    x[:8] = np.nan
    least, most = np.sort([_floats(element), _floats(element)], axis=0)
    word = "all" if propagates else "none"
    body = f"%r0 = tt.clampf %0, %1, %2, propagateNan = {word} : tensor<{_COUNT}x{element}>"
    (found,) = computed(body, [x, least, most], [((_COUNT,), element)])
    wide = [each.astype(np.float64) for each in (x, least, most)]
    expected = np.minimum(np.maximum(wide[0], wide[1]), wide[2])
    if not propagates:
        expected[:8] = wide[1][:8]
    np.testing.assert_array_equal(found.astype(np.float64), expected)


def test_precise_sqrt_and_divf() -> None:
    x, y = np.abs(_floats("f32")), _floats("f32")
    type_ = f"tensor<{_COUNT}xf32>"
    (root,) = computed(f"%r0 = tt.precise_sqrt %0 : {type_}", [x], [((_COUNT,), "f32")])
    np.testing.assert_array_equal(root, np.sqrt(x))
    for name in ("precise_divf", "approx_divf"):
        (found,) = computed(f"%r0 = tt.{name} %0, %1 : {type_}", [x, y], [((_COUNT,), "f32")])
        np.testing.assert_array_equal(found, x / y)


@pytest.mark.parametrize("bits", [32, 64])
def test_mulhiui(bits: int) -> None:
    a, b = fresh_generator().integers(0, 2**bits, (2, _COUNT), np.dtype(f"u{bits // 8}"))
    element = f"i{bits}"
    body = f"%r0 = tt.mulhiui %0, %1 : tensor<{_COUNT}x{element}>"
    signed = [each.view(DTYPES[element]) for each in (a, b)]
    (found,) = computed(body, signed, [((_COUNT,), element)])
    expected = [(int(x) * int(y)) >> bits for x, y in zip(a, b, strict=True)]
    np.testing.assert_array_equal(found.view(a.dtype), np.array(expected, a.dtype))


def test_bitcast() -> None:
    values = np.arange(256, dtype=np.int8)
    body = "%r0 = tt.bitcast %0 : tensor<256xi8> -> tensor<256xf8E4M3FN>"
    (found,) = computed(body, [values], [((256,), "f8E4M3FN")])
    np.testing.assert_array_equal(found.view(np.int8), values)
    assert found.dtype == ml_dtypes.float8_e4m3fn


@pytest.mark.parametrize("least", [0.0, -3.0])
def test_the_sanitizer_warns_of_casts_out_of_range(least: float) -> None:
    """Negative numbers as unsigned ones are undefined, and devices give several results."""
    kernel = """
    tt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<i8>) {
      %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
      %from = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
      %p = tt.addptr %from, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      %v = tt.load %p : tensor<16x!tt.ptr<f32>>
      %c = arith.fptoui %v : tensor<16xf32> to tensor<16xi8>
      %to = tt.splat %y : !tt.ptr<i8> -> tensor<16x!tt.ptr<i8>>
      %q = tt.addptr %to, %i : tensor<16x!tt.ptr<i8>>, tensor<16xi32>
      tt.store %q, %c : tensor<16x!tt.ptr<i8>>
      tt.return
    }
    """
    numbers = np.arange(least, least + 16.0, dtype=np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = xtile.run(kernel, [numbers, np.zeros(16, np.uint8)], sanitize=True)
    found = [(each.message, [note.message for note in each.notes]) for each in done.warnings]
    message = (
        "element [0] of what is stored depends on an element that is unspecified; "
        "in work-group (0,0,0)"
    )
    note = "a number that this gets is out of the range of the integers, or is no number"
    assert found == ([(message, [note])] if least < -1.0 else [])
