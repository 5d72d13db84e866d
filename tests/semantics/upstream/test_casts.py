"""Conversions between types of numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.seeds import fresh_generator
from tests.semantics.upstream.kernels import DTYPES, elementwise
from tests.semantics.upstream.test_floats import rounded, same

COUNT = 128


def random_f64() -> Any:
    rng = fresh_generator()
    return rng.standard_normal(COUNT) * 2.0 ** rng.integers(-8, 8, COUNT)


@pytest.mark.parametrize("target", ["f32", "f16", "bf16", "f8E5M2", "f8E4M3FN", "tf32"])
@pytest.mark.parametrize("source", ["f64", "f32"])
def test_truncf_rounds_once(source: str, target: str) -> None:
    if source == target:
        source = "f64"
    values = random_f64()
    # Ties of the target that another rounding on the way would decide.
    near = np.array([rounded(Fraction(float(v)), target) for v in values[:32]])
    values[:32] = np.where(np.isfinite(near), near * (1 + 2.0**-30), 1.0)
    values = values.astype(DTYPES[source])
    result = elementwise(f"arith.truncf {{0}} : {source} to {target}", [values], [source], target)
    same(result, [rounded(Fraction(float(v)), target) for v in values], target)


def test_a_tie_that_f32_would_decide_wrongly() -> None:
    values = np.array([1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-8 - 2.0**-40, -1 - 2.0**-8 - 2.0**-40])
    result = elementwise("arith.truncf {0} : f64 to bf16", [values], ["f64"], "bf16")
    assert result.astype(np.float64).tolist() == [1 + 2.0**-7, 1.0, -1 - 2.0**-7]


@pytest.mark.parametrize("target", ["f32", "f16", "bf16"])
def test_rounding_modes(target: str) -> None:
    values = random_f64()
    values[:4] = [1 + 2.0**-8, -1 - 2.0**-8, 1 + 3 * 2.0**-8, 0.0]
    values[4:6] = [1 + 2.0**-11, 1 + 2.0**-24]
    for mode in ("to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away"):
        text = f"arith.truncf {{0}} {mode} : f64 to {target}"
        result = elementwise(text, [values], ["f64"], target).astype(np.float64)
        for exact, got in zip(values.tolist(), result.tolist(), strict=True):
            if mode == "downward":
                assert got <= exact
            elif mode == "upward":
                assert got >= exact
            elif mode == "toward_zero":
                assert abs(got) <= abs(exact)
            else:
                near = rounded(Fraction(exact), target)
                assert abs(got - exact) == abs(near - exact)
                if mode == "to_nearest_even":
                    assert got == near
                elif got != near:
                    assert abs(got) > abs(near)
            # No other number of the type is between.
            up = np.array(np.inf if exact > got else -np.inf, DTYPES[target])
            step = np.nextafter(DTYPES[target](got), up)
            assert got == exact or abs(float(step) - got) >= abs(exact - got)


@pytest.mark.parametrize(
    ("source", "target"),
    [("f8E4M3FN", "f16"), ("f8E5M2", "bf16"), ("f16", "f32"), ("bf16", "f64"), ("f32", "f64")],
)
def test_extf_is_exact(source: str, target: str) -> None:
    values = random_f64().astype(DTYPES[source])
    result = elementwise(f"arith.extf {{0}} : {source} to {target}", [values], [source], target)
    np.testing.assert_array_equal(result.astype(np.float64), values.astype(np.float64))


@pytest.mark.parametrize("target", ["f64", "f32", "f16", "bf16", "f8E5M2"])
@pytest.mark.parametrize("source", ["i1", "i4", "i16", "i32", "i64"])
def test_integers_to_floats(source: str, target: str) -> None:
    bits = {"i1": 1, "i4": 4, "i16": 16, "i32": 32, "i64": 64}[source]
    rng = fresh_generator()
    numbers = rng.integers(-(2 ** (bits - 1)), 2 ** (bits - 1), COUNT)
    numbers >>= rng.integers(0, bits, COUNT)
    values = (numbers != 0) if source == "i1" else numbers.astype(DTYPES[source])
    for name in ("sitofp", "uitofp"):
        result = elementwise(
            f"arith.{name} {{0}} : {source} to {target}", [values], [source], target
        )
        exact = [int(n) if name == "sitofp" else int(n) % 2**bits for n in numbers]
        same(result, [rounded(Fraction(n), target) for n in exact], target)


@pytest.mark.parametrize("source", ["f64", "f32", "f16", "bf16"])
@pytest.mark.parametrize("target", ["i4", "i8", "i32", "i64"])
def test_floats_to_integers(source: str, target: str) -> None:
    bits = {"i4": 4, "i8": 8, "i32": 32, "i64": 64}[target]
    values = random_f64()
    values[:8] = [math.inf, -math.inf, math.nan, 1e30, -1e30, 0.99, -0.99, 2.0**63]
    with np.errstate(over="ignore"):
        values = values.astype(DTYPES[source])
    for name in ("fptosi", "fptoui"):
        least = -(2 ** (bits - 1)) if name == "fptosi" else 0
        largest = 2 ** (bits - 1) - 1 if name == "fptosi" else 2**bits - 1
        result = elementwise(
            f"arith.{name} {{0}} : {source} to {target}", [values], [source], target
        )
        for value, got in zip(values.astype(np.float64).tolist(), result.tolist(), strict=True):
            if math.isnan(value):
                assert got == 0
                continue
            exact = value if math.isinf(value) else math.trunc(value)
            expected = int(min(max(exact, least), largest))
            assert got % 2**bits == expected % 2**bits


@pytest.mark.parametrize(
    ("source", "target"), [("f32", "i32"), ("i16", "bf16"), ("f16", "i16"), ("f64", "i64")]
)
def test_bitcast(source: str, target: str) -> None:
    values = random_f64().astype(np.float32)
    if source.startswith("i"):
        values = values.view(np.int32) >> 16
    values = values.astype(DTYPES[source])
    result = elementwise(f"arith.bitcast {{0}} : {source} to {target}", [values], [source], target)
    np.testing.assert_array_equal(
        result.view(np.uint8), np.ascontiguousarray(values).view(np.uint8)
    )


def test_scaling() -> None:
    values = np.array([1.5, -3.0, 0.5, 6.0], ml_dtypes.float8_e5m2)
    scales = np.array([2.0, 0.25, 8.0, 1.0], np.float32)
    up = elementwise("arith.scaling_extf {0}, {1} : f8E5M2, f32 to f32", [values, scales],
                     ["f8E5M2", "f32"], "f32")  # fmt: skip
    assert up.tolist() == [3.0, -0.75, 4.0, 6.0]
    down = elementwise("arith.scaling_truncf {0}, {1} : f32, f32 to f8E5M2", [up, scales],
                       ["f32", "f32"], "f8E5M2")  # fmt: skip
    assert down.astype(np.float64).tolist() == values.astype(np.float64).tolist()
