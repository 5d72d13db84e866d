"""Floating arithmetic of arith and math against exact rational numbers and f64."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.seeds import fresh_generator
from tests.semantics.upstream.kernels import DTYPES, elementwise, final_values, kernel

TYPES = ["f64", "f32", "tf32", "f16", "bf16", "f8E5M2", "f8E4M3FN"]
SPECIAL = [0.0, -0.0, 1.0, -1.5, math.inf, -math.inf, math.nan, 3e-8, 2.0**15]
COUNT = 96

FRACTION_BITS = {"f64": 52, "f32": 23, "tf32": 10, "f16": 10, "bf16": 7, "f8E5M2": 2, "f8E4M3FN": 3}
LEAST_EXPONENT = {
    "f64": -1022, "f32": -126, "tf32": -126, "f16": -14, "bf16": -126, "f8E5M2": -14,
    "f8E4M3FN": -6,
}  # fmt: skip
LARGEST = {
    "f64": np.finfo(np.float64).max,
    "f32": float(np.finfo(np.float32).max),
    "tf32": (2 - 2.0**-10) * 2.0**127,
    "f16": 65504.0,
    "bf16": float(ml_dtypes.finfo(ml_dtypes.bfloat16).max),
    "f8E5M2": 57344.0,
    "f8E4M3FN": 448.0,
}


def rounded(exact: Fraction, type: str) -> float:
    """A number, rounded to nearest, ties to even; what is too large becomes infinite."""
    if exact == 0:
        return 0.0
    exponent = math.floor(math.log2(abs(exact))) if abs(exact) < Fraction(2) ** 900 else 900
    while Fraction(2) ** exponent > abs(exact):
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= abs(exact):
        exponent += 1
    unit = Fraction(2) ** (max(exponent, LEAST_EXPONENT[type]) - FRACTION_BITS[type])
    near = round(exact / unit) * unit
    if abs(near) > Fraction(LARGEST[type]):
        return math.copysign(math.inf, near)
    return float(near)


def random_numbers(type: str, *, special: bool = True) -> Any:
    """Random numbers of a type, held as numpy holds them."""
    rng = fresh_generator()
    wide = rng.standard_normal(COUNT) * 2.0 ** rng.integers(-6, 6, COUNT)
    if special:
        wide[: len(SPECIAL)] = SPECIAL
        rng.shuffle(wide)
    if type == "tf32":
        return np.array([v if not math.isfinite(v) else rounded(Fraction(v), type) for v in wide],
                        np.float32)  # fmt: skip
    return wide.astype(np.float32).astype(DTYPES[type])


def same(given: Any, expected: list[float], type: str) -> None:
    """Compares numbers, NaN with NaN; f8E4M3FN has no infinity, and NaN stands for it."""
    for got, wanted in zip(given.astype(np.float64).tolist(), expected, strict=True):
        if math.isnan(wanted) or (type == "f8E4M3FN" and math.isinf(wanted)):
            assert math.isnan(got), (got, wanted)
        else:
            assert got == wanted, (got, wanted)


EXACT: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "addf": lambda a, b: a + b,
    "subf": lambda a, b: a - b,
    "mulf": lambda a, b: a * b,
    "divf": lambda a, b: a / b,
    "remf": lambda a, b: a - math.trunc(a / b) * b,
}


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("name", EXACT)
def test_results_are_rounded_once(name: str, type: str) -> None:
    a, b = (random_numbers(type, special=False) for _ in range(2))
    b = np.where(b == 0, b + DTYPES[type](1), b)
    result = elementwise(f"arith.{name} {{0}}, {{1}} : {type}", [a, b], [type, type], type)
    expected = [
        rounded(EXACT[name](Fraction(float(x)), Fraction(float(y))), type)
        for x, y in zip(a, b, strict=True)
    ]
    same(result, expected, type)


@pytest.mark.parametrize("type", TYPES)
def test_special_values(type: str) -> None:
    a, b = random_numbers(type), random_numbers(type)
    with np.errstate(all="ignore"):
        wide = [value.astype(np.float64) for value in (a, b)]
        for name, function in {"addf": np.add, "mulf": np.multiply, "subf": np.subtract}.items():
            result = elementwise(f"arith.{name} {{0}}, {{1}} : {type}", [a, b], [type, type], type)
            exact = function(*wide)
            is_special = ~np.isfinite(exact)
            assert np.isnan(result.astype(np.float64))[np.isnan(exact)].all()
            same(result[is_special], exact[is_special].tolist(), type)


@pytest.mark.parametrize("type", TYPES)
def test_extrema(type: str) -> None:
    a, b = random_numbers(type), random_numbers(type)

    def larger(x: float, y: float) -> float:
        return (x if math.copysign(1, x) > 0 else y) if x == y == 0 else max(x, y)

    for name, is_maximum, keeps_nan in (
        ("maximumf", True, True),
        ("minimumf", False, True),
        ("maxnumf", True, False),
        ("minnumf", False, False),
    ):
        result = elementwise(f"arith.{name} {{0}}, {{1}} : {type}", [a, b], [type, type], type)
        for x, y, got in zip(*(v.astype(np.float64).tolist() for v in (a, b, result)), strict=True):
            numbers = [v for v in (x, y) if not math.isnan(v)]
            if not numbers or (keeps_nan and len(numbers) == 1):
                assert math.isnan(got)
                continue
            numbers = numbers * 2
            expected = larger(*numbers[:2]) if is_maximum else -larger(-numbers[0], -numbers[1])
            assert got == expected
            if keeps_nan:
                assert math.copysign(1, got) == math.copysign(1, expected)


PREDICATES: dict[str, Callable[[float, float], bool]] = {
    "eq": lambda x, y: x == y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "ne": lambda x, y: x != y,
}


@pytest.mark.parametrize("type", ["f64", "f32", "bf16", "f8E5M2"])
def test_comparisons(type: str) -> None:
    a = random_numbers(type)
    b = np.where(np.arange(COUNT) % 2 == 0, a, random_numbers(type))

    def compare(predicate: str) -> list[bool]:
        text = f"arith.cmpf {predicate}, {{0}}, {{1}} : {type}"
        return elementwise(text, [a, b], [type, type], "i1").tolist()

    pairs = list(zip(a.astype(np.float64).tolist(), b.astype(np.float64).tolist(), strict=True))
    unordered = [math.isnan(x) or math.isnan(y) for x, y in pairs]
    for name, function in PREDICATES.items():
        ordered = [function(x, y) and not nan for (x, y), nan in zip(pairs, unordered, strict=True)]
        assert compare(f"o{name}") == ordered
        assert compare(f"u{name}") == [a or b for a, b in zip(ordered, unordered, strict=True)]
    assert compare("uno") == unordered
    assert compare("ord") == [not nan for nan in unordered]
    assert compare("true") == [True] * COUNT
    assert compare("false") == [False] * COUNT


@pytest.mark.parametrize("type", ["f64", "f32", "f16", "bf16"])
def test_fma_is_rounded_once(type: str) -> None:
    a, b = random_numbers(type, special=False), random_numbers(type, special=False)
    c = random_numbers(type, special=False)
    # Products near to the third operand lose the most digits.
    c[::2] = (-(a.astype(np.float64) * b.astype(np.float64))).astype(DTYPES[type])[::2]
    result = elementwise(f"math.fma {{0}}, {{1}}, {{2}} : {type}", [a, b, c], [type] * 3, type)
    expected = [
        rounded(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)), type)
        for x, y, z in zip(a, b, c, strict=True)
    ]
    same(result, expected, type)


def test_fma_of_a_tie() -> None:
    """f64 arithmetic rounds this one twice."""
    a = np.array([1 + 2.0**-23], np.float32)
    b = np.array([1 + 2.0**-23], np.float32)
    c = np.array([2.0**-60], np.float32)
    result = elementwise("math.fma {0}, {1}, {2} : f32", [a, b, c], ["f32"] * 3, "f32")
    exact = Fraction(float(a[0])) * Fraction(float(b[0])) + Fraction(float(c[0]))
    assert float(result[0]) == rounded(exact, "f32")


def test_fma_of_infinite_and_huge_numbers() -> None:
    a = np.array([np.inf, 1e300, -1e300, 0.0, np.nan])
    b = np.array([2.0, 1e300, 1e300, -1.0, 1.0])
    c = np.array([-np.inf, 1.0, 1.0, 0.0, 1.0])
    result = elementwise("math.fma {0}, {1}, {2} : f64", [a, b, c], ["f64"] * 3, "f64")
    np.testing.assert_array_equal(result, [np.nan, np.inf, -np.inf, 0.0, np.nan])


MATH: dict[str, tuple[Callable[[float], float], float, float]] = {
    "acos": (math.acos, -1, 1),
    "acosh": (math.acosh, 1, 9),
    "asin": (math.asin, -1, 1),
    "asinh": (math.asinh, -9, 9),
    "atan": (math.atan, -9, 9),
    "atanh": (math.atanh, -0.9, 0.9),
    "cbrt": (math.cbrt, -9, 9),
    "cos": (math.cos, -9, 9),
    "cosh": (math.cosh, -3, 3),
    "erf": (math.erf, -3, 3),
    "erfc": (math.erfc, -3, 3),
    "exp": (math.exp, -3, 3),
    "exp2": (math.exp2, -3, 3),
    "expm1": (math.expm1, -3, 3),
    "log": (math.log, 0.1, 9),
    "log10": (math.log10, 0.1, 9),
    "log1p": (math.log1p, -0.5, 9),
    "log2": (math.log2, 0.1, 9),
    "rsqrt": (lambda x: 1 / math.sqrt(x), 0.1, 9),
    "sin": (math.sin, -9, 9),
    "sinh": (math.sinh, -3, 3),
    "sqrt": (math.sqrt, 0.1, 9),
    "tan": (math.tan, -1, 1),
    "tanh": (math.tanh, -3, 3),
}


@pytest.mark.parametrize("type", ["f64", "f32", "f16", "bf16"])
@pytest.mark.parametrize("name", MATH)
def test_math(name: str, type: str) -> None:
    function, least, largest = MATH[name]
    values = fresh_generator().uniform(least, largest, COUNT).astype(DTYPES[type])
    values = np.where((values.astype(np.float64) < least), DTYPES[type](largest), values)
    result = elementwise(f"math.{name} {{0}} : {type}", [values], [type], type)
    exact = np.array([function(float(value)) for value in values])
    # Half a unit in the last place, and a little for the two that may differ in f64 already.
    unit = 2.0 ** -FRACTION_BITS[type] * (1.0 if type == "f64" else 0.5001)
    error = np.abs(result.astype(np.float64) - exact)
    assert (error <= unit * np.maximum(np.abs(exact), 2.0 ** LEAST_EXPONENT[type]) * 4).all()
    if type != "f64":
        assert (error <= unit * np.abs(exact) + 2.0 ** (LEAST_EXPONENT[type])).all()


@pytest.mark.parametrize("type", ["f64", "f32", "f16", "bf16"])
def test_rounding_to_integers(type: str) -> None:
    values = np.array([-2.5, -1.5, -0.5, -0.25, -0.0, 0.25, 0.5, 1.5, 2.5, 7.75], DTYPES[type])
    expected = {
        "ceil": [-2, -1, -0.0, -0.0, -0.0, 1, 1, 2, 3, 8],
        "floor": [-3, -2, -1, -1, -0.0, 0, 0, 1, 2, 7],
        "round": [-3, -2, -1, -0.0, -0.0, 0, 1, 2, 3, 8],
        "roundeven": [-2, -2, -0.0, -0.0, -0.0, 0, 0, 2, 2, 8],
        "trunc": [-2, -1, -0.0, -0.0, -0.0, 0, 0, 1, 2, 7],
        "absf": [2.5, 1.5, 0.5, 0.25, 0, 0.25, 0.5, 1.5, 2.5, 7.75],
    }
    for name, wanted in expected.items():
        result = elementwise(f"math.{name} {{0}} : {type}", [values], [type], type)
        given = result.astype(np.float64)
        assert given.tolist() == wanted, name
        assert np.signbit(given).tolist() == np.signbit(wanted).tolist(), name


def test_binary_math() -> None:
    rng = fresh_generator()
    a, b = rng.uniform(0.1, 4, COUNT).astype(np.float32), rng.standard_normal(COUNT)
    b = b.astype(np.float32)
    power = elementwise("math.powf {0}, {1} : f32", [a, b], ["f32", "f32"], "f32")
    angle = elementwise("math.atan2 {0}, {1} : f32", [a, b], ["f32", "f32"], "f32")
    sign = elementwise("math.copysign {0}, {1} : f32", [a, b], ["f32", "f32"], "f32")
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    np.testing.assert_allclose(power, wide_a**wide_b, rtol=2.0**-23)
    np.testing.assert_allclose(angle, np.arctan2(wide_a, wide_b), rtol=2.0**-23)
    np.testing.assert_array_equal(sign, np.copysign(a, b))
    whole = rng.integers(-4, 5, COUNT).astype(np.int32)
    powers = elementwise("math.fpowi {0}, {1} : f32, i32", [a, whole], ["f32", "i32"], "f32")
    np.testing.assert_allclose(powers, wide_a**whole, rtol=2.0**-22)


def test_integer_math() -> None:
    rng = fresh_generator()
    a = rng.integers(-(2**31), 2**31, COUNT).astype(np.int32)
    a[:3] = [0, -1, -(2**31)]
    bits = [f"{int(value) % 2**32:032b}" for value in a]
    expected = {
        "absi": [(abs(int(v)) + 2**31) % 2**32 - 2**31 for v in a],
        "ctpop": [text.count("1") for text in bits],
        "ctlz": [(text + "1").index("1") for text in bits],
        "cttz": [(text[::-1] + "1").index("1") for text in bits],
    }
    for name, wanted in expected.items():
        assert elementwise(f"math.{name} {{0}} : i32", [a], ["i32"], "i32").tolist() == wanted
    base, exponent = rng.integers(-9, 10, COUNT), rng.integers(-3, 12, COUNT)
    base[base == 0] = 1
    result = elementwise("math.ipowi {0}, {1} : i64", [base, exponent], ["i64", "i64"], "i64")
    assert result.tolist() == [
        int(b) ** int(e) if e >= 0 else int(1 / int(b) ** -int(e))
        for b, e in zip(base, exponent, strict=True)
    ]


def test_vectors_are_computed_by_element() -> None:
    """A vector has the axes (rows, lanes) before its own; a constant is the same everywhere."""
    text = kernel(
        "",
        """%x = gpu.lane_id
        %v = arith.constant dense<[1.0, 2.0, 3.0, 0.1]> : vector<4xf32>
        %w = arith.constant dense<0.5> : vector<4xf32>
        %c1 = arith.constant 1 : index
        %c = arith.cmpi ugt, %x, %c1 : index
        %mask = arith.constant dense<[true, false, true, false]> : vector<4xi1>
        %p = arith.mulf %v, %v : vector<4xf32>
        %q = arith.addf %p, %w : vector<4xf32>
        %r = arith.select %c, %q, %v : vector<4xf32>
        %s = arith.select %mask, %r, %w : vector<4xi1>, vector<4xf32>""",
        attributes="subgroup_size = 4 : i32",
    )
    values = final_values(text, (8, 1, 1), "q", "r", "s")
    v = np.array([1, 2, 3, 0.1], np.float32)
    q = v * v + np.float32(0.5)
    np.testing.assert_array_equal(values["q"], q.reshape(1, 1, 4))
    r = np.stack([v, v, q, q])[np.newaxis]
    np.testing.assert_array_equal(values["r"], r)
    np.testing.assert_array_equal(values["s"], np.where([1, 0, 1, 0], r, np.float32(0.5)))
