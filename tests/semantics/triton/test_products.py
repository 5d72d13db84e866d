"""Products of matrices against numpy in f64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_generator
from tests.semantics.triton.programs import DTYPES, computed, tensor
from xtile.semantics.upstream.numbers import FLOATS

_M, _N, _K = 16, 32, 64


def _floats(shape: tuple[int, ...], element: str) -> Any:
    return fresh_generator().standard_normal(shape).astype(DTYPES[element])


def _product(
    a: Any, b: Any, c: Any, types: tuple[str, str, str], precision: str = "", batch: int = 0
) -> Any:
    factors = [tensor(each.shape, type) for each, type in zip((a, b, c), types, strict=True)]
    clause = f", inputPrecision = {precision}" if precision else ""
    body = f"%r0 = tt.dot %0, %1, %2{clause} : {factors[0]} * {factors[1]} -> {factors[2]}"
    (found,) = computed(body, [a, b, c], [(c.shape, types[2])])
    return found


@pytest.mark.parametrize(
    ("factor", "accumulator"),
    [
        ("f16", "f32"),
        ("f16", "f16"),
        ("bf16", "f32"),
        ("f32", "f32"),
        ("f64", "f64"),
        ("f8E4M3FN", "f32"),
        ("f8E5M2FNUZ", "f32"),
    ],
)
def test_dot(factor: str, accumulator: str) -> None:
    a, b, c = _floats((_M, _K), factor), _floats((_K, _N), factor), _floats((_M, _N), accumulator)
    found = _product(a, b, c, (factor, factor, accumulator))
    exact = a.astype(np.float64) @ b.astype(np.float64) + c.astype(np.float64)
    # One rounding, but for the order of sums in f64.
    np.testing.assert_allclose(
        found.astype(np.float64),
        exact.astype(DTYPES[accumulator]).astype(np.float64),
        rtol=1e-3 if accumulator == "f16" else 1e-6,
        atol=1e-12,
    )


def test_dot_of_integers() -> None:
    generator = fresh_generator()
    a, b = (
        generator.integers(-128, 128, (_M, _K), np.int8),
        generator.integers(-128, 128, (_K, _N), np.int8),
    )
    c = generator.integers(-(2**31), 2**31, (_M, _N), np.int32)
    found = _product(a, b, c, ("i8", "i8", "i32"))
    exact = a.astype(np.int64) @ b.astype(np.int64) + c
    np.testing.assert_array_equal(found, exact.astype(np.int32))


def test_dot_of_batches() -> None:
    a, b, c = _floats((2, _M, _K), "f16"), _floats((2, _K, _N), "f16"), _floats((2, _M, _N), "f32")
    found = _product(a, b, c, ("f16", "f16", "f32"))
    exact = np.matmul(a.astype(np.float64), b.astype(np.float64)) + c
    np.testing.assert_allclose(found, exact, rtol=1e-6, atol=1e-12)


_LEAST_BITS = {"tf32": 9, "tf32x3": 18, "bf16x3": 14, "bf16x6": 21, "ieee": 22}
"""The bits of a product that are right at least, for each precision."""


@pytest.mark.parametrize("precision", _LEAST_BITS)
def test_precision(precision: str) -> None:
    a, b = _floats((_M, _K), "f32"), _floats((_K, _N), "f32")
    found = _product(a, b, np.zeros((_M, _N), np.float32), ("f32", "f32", "f32"), precision)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    size = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)
    error = np.max(np.abs(found - exact) / size)
    assert error <= 2.0 ** -_LEAST_BITS[precision]
    # Each precision loses what it says that it loses.
    if precision in ("tf32", "bf16x3"):
        assert error > 2.0**-24


def test_infinities_of_split_factors() -> None:
    a = np.full((16, 16), np.inf, np.float32)
    b = np.ones((16, 16), np.float32)
    found = _product(a, b, np.zeros((16, 16), np.float32), ("f32", "f32", "f32"), "bf16x3")
    np.testing.assert_array_equal(found, np.inf)


_KINDS = {
    "e4m3": ("f8E4M3FN", "f8E4M3FN"),
    "e5m2": ("f8E5M2", "f8E5M2"),
    "e2m3": ("i8", "f6E2M3FN"),
    "e3m2": ("i8", "f6E3M2FN"),
    "e2m1": ("i8", "f4E2M1FN"),
    "bf16": ("bf16", "bf16"),
    "fp16": ("f16", "f16"),
}
"""For each kind of elements the type in the text, and the numbers."""


def _packed(values: Any, axis: int) -> Any:
    """Two numbers of four bits in a byte, the first one in the lower half."""
    bits = np.moveaxis(values.view(np.uint8), axis, -1)
    joined = bits[..., 0::2] | bits[..., 1::2] << 4
    return np.ascontiguousarray(np.moveaxis(joined, -1, axis)).view(np.int8)


@pytest.mark.parametrize("lhs", _KINDS)
@pytest.mark.parametrize("rhs", ["e4m3", "e2m1"])
@pytest.mark.parametrize("is_packed_along_k", [True, False])
def test_dot_scaled(lhs: str, rhs: str, is_packed_along_k: bool) -> None:
    generator = fresh_generator()
    values: list[Any] = []
    given: list[Any] = []
    types: list[str] = []
    for kind, shape, axis in ((lhs, (_M, _K), 1), (rhs, (_K, _N), 0)):
        element, number = _KINDS[kind]
        numbers: Any = (generator.standard_normal(shape) * 2).astype(FLOATS[number].dtype)
        values.append(numbers.astype(np.float64))
        if kind == "e2m1":
            packed = _packed(numbers, axis if is_packed_along_k else 1 - axis)
        else:
            packed = numbers.view(np.int8) if element == "i8" else numbers
        given.append(packed)
        types.append(tensor(packed.shape, element))
    scales = [generator.integers(118, 136, (rows, _K // 32), np.uint8) for rows in (_M, _N)]
    powers = [np.repeat(2.0 ** (each.astype(int) - 127), 32, axis=1) for each in scales]
    c = _floats((_M, _N), "f32")
    scale_types = [tensor(each.shape, "i8") for each in scales]
    packing = "" if is_packed_along_k else ", lhs_k_pack = false, rhs_k_pack = false"
    attributes = f" {{fastMath = false{packing}}}"
    body = (
        f"%r0 = tt.dot_scaled %0 scale %1, %2 scale %3, %4 lhs = {lhs} rhs = {rhs}{attributes} : "
        f"{types[0]}, {scale_types[0]} * {types[1]}, {scale_types[1]} -> tensor<{_M}x{_N}xf32>"
    )
    operands = [given[0], scales[0].view(np.int8), given[1], scales[1].view(np.int8), c]
    (found,) = computed(body, operands, [((_M, _N), "f32")])
    exact = (values[0] * powers[0]) @ (values[1] * powers[1].T) + c
    np.testing.assert_allclose(found, exact, rtol=1e-6, atol=1e-9)
