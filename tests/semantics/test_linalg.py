"""The linear algebra instructions, against f64 (or exact integer) computations."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

from xtile.dialects.tensorlang import types
from xtile.semantics.numeric_types import NUMPY_TYPES
from xtile.text.diagnostics import DiagnosticError

ELEMENTS = ["i8", "i16", "i32", "i64", "bf16", "f16", "f32", "f64", "c32", "c64"]


def random_array(rng, name: str, *shape: int) -> np.ndarray:
    """Small numbers; integers stay so small that few results wrap around."""
    dtype = NUMPY_TYPES[types.SCALAR_TYPES[name]]
    if name.startswith("i"):
        return np.asfortranarray(rng.integers(-5, 6, shape).astype(dtype))
    values = rng.standard_normal(shape)
    if name.startswith("c"):
        values = values + 1j * rng.standard_normal(shape)
    return np.asfortranarray(values.astype(dtype))


def wide(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind == "c":
        return array.astype(np.complex128)
    return array.astype(np.int64 if array.dtype.kind == "i" else np.float64)


def check(name: str, actual: np.ndarray, expected: np.ndarray, magnitude, depth: int) -> None:
    """Integers are exact modulo their width. Floats: one unit of roundoff of the result's type,
    and in the accumulation type one for each of the `depth` terms, relative to the sum of the
    terms' magnitudes, plus a few for scaling; complex products have four times the roundings."""
    dtype = actual.dtype
    if name.startswith("i"):
        np.testing.assert_array_equal(actual, expected.astype(dtype))
        return
    accumulation = np.float32 if name in ("bf16", "f16") else dtype
    unit = float(ml_dtypes.finfo(dtype).eps)
    inner = float(np.finfo(accumulation).eps) * 4 * (depth + 4)
    tolerance = unit * np.abs(expected) + (inner + unit * 1e-3) * magnitude + 1e-30
    assert np.all(np.abs(wide(actual) - expected) <= tolerance)


def number(name: str) -> str:
    return "[2.0,-1.0]" if name.startswith("c") else "2" if name.startswith("i") else "2.0"


def value(name: str):
    return 2 - 1j if name.startswith("c") else 2


@pytest.mark.parametrize("name", ELEMENTS)
@pytest.mark.parametrize(("ta", "tb"), list(itertools.product("nt", repeat=2)))
def test_gemm(name, ta, tb, run, rng) -> None:
    m, n, k = 13, 9, 17
    a = random_array(rng, name, *((m, k) if ta == "n" else (k, m)))
    b = random_array(rng, name, *((k, n) if tb == "n" else (n, k)))
    c = random_array(rng, name, m, n)
    old = wide(c)
    run(
        f"func @f(%alpha: {name}, %A: memref<{name}x?x?>, %B: memref<{name}x?x?>, "
        f"%beta: {name}, %C: memref<{name}x?x?>) {{ gemm.{ta}.{tb} %alpha, %A, %B, %beta, %C }}",
        value(name), a, b, 3, c,
    )  # fmt: skip
    x, y = wide(a if ta == "n" else a.T), wide(b if tb == "n" else b.T)
    expected = value(name) * (x @ y) + 3 * old
    check(name, c, expected, 3 * np.abs(x) @ np.abs(y) + 3 * np.abs(old), k)


@pytest.mark.parametrize(
    ("a_name", "b_name", "c_name", "alpha_name"),
    [
        ("f16", "f16", "f32", "f16"),
        ("bf16", "f32", "f32", "i8"),
        ("i8", "i8", "i32", "i8"),
        ("i8", "i16", "f32", "i8"),
        ("f16", "f32", "f64", "f32"),
        ("f32", "c32", "c64", "f32"),
        ("i32", "i64", "i64", "i16"),
    ],
)
def test_gemm_with_mixed_types(a_name, b_name, c_name, alpha_name, run, rng) -> None:
    a, b = random_array(rng, a_name, 6, 11), random_array(rng, b_name, 11, 5)
    c = np.full((6, 5), 7, NUMPY_TYPES[types.SCALAR_TYPES[c_name]], order="F")
    run(
        f"func @f(%alpha: {alpha_name}, %A: memref<{a_name}x6x11>, %B: memref<{b_name}x11x5>, "
        f"%C: memref<{c_name}x6x5>) {{ %beta = constant {number(c_name)} : {c_name} "
        f"gemm %alpha, %A, %B, %beta, %C }}",
        2, a, b, c,
    )  # fmt: skip
    expected = 2 * (wide(a) @ wide(b)) + value(c_name) * 7
    check(c_name, c, expected, 2 * np.abs(wide(a)) @ np.abs(wide(b)) + 21, 11)


def test_8_bit_products_wrap_around_only_at_the_end(run) -> None:
    a, b = np.full((1, 300), 127, np.int8, order="F"), np.full((300, 1), 127, np.int8, order="F")
    c32, c8 = np.zeros((1, 1), np.int32, order="F"), np.zeros((1, 1), np.int8, order="F")
    run(
        "func @f(%A: memref<i8x1x300>, %B: memref<i8x300x1>, %C: memref<i32x1x1>,"
        " %D: memref<i8x1x1>) { %one = constant 1 : i8  %zero = constant 0 : i8"
        "  gemm %one, %A, %B, %zero, %C  gemm %one, %A, %B, %zero, %D }",
        a, b, c32, c8,
    )  # fmt: skip
    assert c32[0, 0] == 300 * 127 * 127
    assert c8[0, 0] == np.int64(300 * 127 * 127).astype(np.int8)


def test_16_bit_sums_are_rounded_once(run) -> None:
    # In f16, 2048 + 1 is 2048 again; in f32 the ones add up.
    a = np.ones((1, 1001), np.float16, order="F")
    a[0, 0] = 2048
    c = np.full((1, 1), np.nan, np.float16, order="F")
    s = np.full(1, np.nan, np.float16)
    run(
        "func @f(%A: memref<f16x1x1001>, %C: memref<f16x1x1>, %s: memref<f16x1>) {"
        " %one = constant 1.0 : f16  %zero = constant 0.0 : f16"
        " %ones = alloca : memref<f16x1001x1,local>"
        " %o = alloca : memref<f16x1001,local>"
        " %c0 = constant 0 : index  %n = constant 1001 : index"
        " foreach (%i)=(%c0),(%n) { %u = constant 1.0 : f16  %z = constant 0 : index"
        "   store %u, %ones[%i,%z]  store %u, %o[%i] }"
        " gemm %one, %A, %ones, %zero, %C  sum.n %one, %A, %zero, %s }",
        a, c, s,
    )  # fmt: skip
    assert c[0, 0] == 3048
    assert s[0] == 3048


@pytest.mark.parametrize("name", ["i16", "bf16", "f32", "c64"])
@pytest.mark.parametrize("t", "nt")
def test_gemv_and_sum(name, t, run, rng) -> None:
    a = random_array(rng, name, 8, 13)
    x = a if t == "n" else a.T
    b = random_array(rng, name, x.shape[1])
    c, d = random_array(rng, name, x.shape[0]), random_array(rng, name, x.shape[0])
    old_c, old_d = wide(c), wide(d)
    run(
        f"func @f(%A: memref<{name}x?x?>, %b: memref<{name}x?>, %c: memref<{name}x?>, "
        f"%d: memref<{name}x?>) {{ %alpha = constant {number(name)} : {name} "
        f"gemv.{t} %alpha, %A, %b, %alpha, %c  sum.{t} %alpha, %A, %alpha, %d }}",
        a, b, c, d,
    )  # fmt: skip
    v = value(name)
    x, y = wide(x), wide(b)
    check(name, c, v * (x @ y) + v * old_c, 3 * np.abs(x) @ np.abs(y) + 3 * np.abs(old_c), 13)
    check(name, d, v * x.sum(1) + v * old_d, 3 * np.abs(x).sum(1) + 3 * np.abs(old_d), 13)


@pytest.mark.parametrize("name", ["i8", "f16", "f64", "c32"])
def test_ger_and_hadamard(name, run, rng) -> None:
    a, b, u = (random_array(rng, name, n) for n in (6, 5, 6))
    p, q = random_array(rng, name, 6, 5), random_array(rng, name, 6, 5)
    c, d, e = random_array(rng, name, 6, 5), random_array(rng, name, 6, 5), np.array(u)
    old_c, old_d = wide(c), wide(d)
    run(
        f"func @f(%a: memref<{name}x6>, %b: memref<{name}x5>, %P: memref<{name}x6x5>,"
        f" %Q: memref<{name}x6x5>, %C: memref<{name}x6x5>, %D: memref<{name}x6x5>,"
        f" %e: memref<{name}x6>) {{ %alpha = constant {number(name)} : {name} "
        f"ger %alpha, %a, %b, %alpha, %C  hadamard %alpha, %P, %Q, %alpha, %D"
        f" hadamard %alpha, %a, %a, %alpha, %e }}",
        a, b, p, q, c, d, e,
    )  # fmt: skip
    v = value(name)
    ab, pq = np.outer(wide(a), wide(b)), wide(p) * wide(q)
    check(name, c, v * ab + v * old_c, 3 * np.abs(ab) + 3 * np.abs(old_c), 1)
    check(name, d, v * pq + v * old_d, 3 * np.abs(pq) + 3 * np.abs(old_d), 1)
    aa = wide(a) ** 2
    check(name, e, v * aa + v * wide(u), 3 * np.abs(aa) + 3 * np.abs(wide(u)), 1)


@pytest.mark.parametrize("name", ["i32", "f32", "c32"])
def test_axpby_of_all_orders(name, run, rng) -> None:
    dtype = NUMPY_TYPES[types.SCALAR_TYPES[name]]
    a, b = np.array(random_array(rng, name, 1)[0]), np.array(random_array(rng, name, 1)[0])
    v, w = random_array(rng, name, 7), random_array(rng, name, 7)
    m, n = random_array(rng, name, 7, 4), np.asfortranarray(random_array(rng, name, 4, 7))
    old = [wide(x) for x in (b, w, n)]
    run(
        f"func @f(%a: memref<{name}>, %b: memref<{name}>, %v: memref<{name}x7>,"
        f" %w: memref<{name}x7>, %M: memref<{name}x7x4>, %N: memref<{name}x4x7>) {{"
        f" %alpha = constant {number(name)} : {name}  axpby %alpha, %a, %alpha, %b"
        f" axpby.t %alpha, %v, %alpha, %w  axpby.t %alpha, %M, %alpha, %N }}",
        a, b, v, w, m, n,
    )  # fmt: skip
    s = value(name)
    for actual, source, before in ((b, a, old[0]), (w, v, old[1]), (n, m.T, old[2])):
        assert actual.dtype == dtype
        x = wide(source)
        check(name, actual, s * x + s * before, 3 * np.abs(x) + 3 * np.abs(before), 1)


@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("name", ["i16", "f16", "f32"])
def test_cumsum_over_any_mode(name, mode, run, rng) -> None:
    a, b = random_array(rng, name, 5, 6, 7), random_array(rng, name, 5, 6, 7)
    old = wide(b)
    run(
        f"func @f(%A: memref<{name}x5x6x7>, %B: memref<{name}x5x6x7>) {{"
        f" %alpha = constant {number(name)} : {name}  cumsum %alpha, %A, {mode}, %alpha, %B }}",
        a, b,
    )  # fmt: skip
    sums, sizes = np.cumsum(wide(a), mode), np.cumsum(np.abs(wide(a)), mode)
    check(name, b, 2 * sums + 2 * old, 2 * sizes + 2 * np.abs(old), 7)


def test_sum_of_a_vector(run, rng) -> None:
    a, s = random_array(rng, "f32", 100), np.array(np.nan, np.float32)
    run(
        "func @f(%a: memref<f32x100>, %s: memref<f32>) { %one = constant 1.0 : f32"
        " %zero = constant 0.0 : f32  sum.n %one, %a, %zero, %s }",
        a, s,
    )  # fmt: skip
    check("f32", s, wide(a).sum(), np.abs(wide(a)).sum(), 100)


@pytest.mark.parametrize("name", ["bf16", "f16", "f32", "f64", "c32"])
def test_beta_zero_does_not_read_the_output(name, run, rng) -> None:
    a, b = random_array(rng, name, 4, 4), random_array(rng, name, 4, 4)
    dtype = NUMPY_TYPES[types.SCALAR_TYPES[name]]
    outputs = [np.full((4, 4), np.nan, dtype, order="F") for _ in range(4)]
    zero = "[0.0,0.0]" if name.startswith("c") else "0.0"
    run(
        f"func @f(%A: memref<{name}x4x4>, %B: memref<{name}x4x4>, %C: memref<{name}x4x4>,"
        f" %D: memref<{name}x4x4>, %E: memref<{name}x4x4>, %F: memref<{name}x4x4>) {{"
        f" %alpha = constant {number(name)} : {name}  %zero = constant {zero} : {name}"
        f" gemm %alpha, %A, %B, %zero, %C  gemm.atomic %alpha, %A, %B, %zero, %D"
        f" axpby %alpha, %A, %zero, %E  cumsum %alpha, %A, 0, %zero, %F }}",
        a, b, *outputs,
    )  # fmt: skip
    assert not any(np.isnan(x.astype(complex)).any() for x in outputs)
    np.testing.assert_array_equal(outputs[0], outputs[1])


def test_atomic_adds_with_beta_one(run, rng) -> None:
    a = random_array(rng, "f32", 6, 3)
    c = np.zeros((6, 3), np.float32, order="F")
    run(
        "func @f(%A: memref<f32x6x3>, %C: memref<f32x6x3>) { %one = constant 1.0 : f32"
        " axpby.atomic %one, %A, %one, %C }",
        a, c, grid=(5, 1, 1),
    )  # fmt: skip
    # Five additions, each rounded once.
    assert np.all(np.abs(c - 5 * wide(a)) <= 5 * 2.0**-24 * 5 * np.abs(a))


def test_strided_views(run, rng) -> None:
    storage = random_array(rng, "f64", 12, 10)
    a, b = storage[1:9:2, 2:7], storage[2:12:2, 7:10]
    c = np.full((8, 6), np.nan, order="F")
    run(
        "func @f(%A: memref<f64x4x5,strided<2,?>>, %B: memref<f64x5x3,strided<2,12>>,"
        " %C: memref<f64x4x3,strided<?,?>>) { %one = constant 1.0 : f64"
        " %zero = constant 0.0 : f64  gemm %one, %A, %B, %zero, %C }",
        a, b, c[::2, ::2],
    )  # fmt: skip
    check("f64", c[::2, ::2], a @ b, np.abs(a) @ np.abs(b), 5)
    assert np.isnan(c[1::2]).all()
    assert np.isnan(c[:, 1::2]).all()


def test_mismatched_sizes_are_located(run, rng) -> None:
    with pytest.raises(DiagnosticError, match="4 columns, but the second has 5 rows") as error:
        run(
            "func @f(%A: memref<f32x?x?>, %B: memref<f32x?x?>) {\n"
            "    %one = constant 1.0 : f32\n    gemm %one, %A, %B, %one, %B\n}",
            random_array(rng, "f32", 3, 4), random_array(rng, "f32", 5, 6),
        )  # fmt: skip
    assert "<text>:3.5-" in str(error.value)
