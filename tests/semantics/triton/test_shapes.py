"""Tensors of other shapes: each operation against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_generator
from tests.semantics.triton.programs import computed, kernel, tensor
from xtile.launch import run
from xtile.text.diagnostics import DiagnosticError


def _numbers(*shape: int) -> Any:
    return fresh_generator().standard_normal(shape).astype(np.float32)


def test_splat_and_unsplat() -> None:
    value = _numbers()
    (splat,) = computed("%r0 = tt.splat %0 : f32 -> tensor<2x4xf32>", [value], [((2, 4), "f32")])
    np.testing.assert_array_equal(splat, np.full((2, 4), value))
    one = _numbers(1, 1)
    (scalar,) = computed("%r0 = tt.unsplat %0 : tensor<1x1xf32>", [one], [((), "f32")])
    assert scalar == one[0, 0]


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_expand_dims(axis: int) -> None:
    value = _numbers(4, 8)
    expected = np.expand_dims(value, axis)
    body = (
        f"%r0 = tt.expand_dims %0 {{axis = {axis} : i32}} : tensor<4x8xf32> -> "
        f"{tensor(expected.shape, 'f32')}"
    )
    (found,) = computed(body, [value], [(expected.shape, "f32")])
    np.testing.assert_array_equal(found, expected)


def test_broadcast() -> None:
    value = _numbers(1, 8, 1)
    body = "%r0 = tt.broadcast %0 : tensor<1x8x1xf32> -> tensor<2x8x4xf32>"
    (found,) = computed(body, [value], [((2, 8, 4), "f32")])
    np.testing.assert_array_equal(found, np.broadcast_to(value, (2, 8, 4)))


@pytest.mark.parametrize("words", ["", "allow_reorder ", "efficient_layout "])
def test_reshape(words: str) -> None:
    value = _numbers(4, 8)
    body = f"%r0 = tt.reshape %0 {words}: tensor<4x8xf32> -> tensor<2x16xf32>"
    (found,) = computed(body, [value], [((2, 16), "f32")])
    np.testing.assert_array_equal(found, value.reshape(2, 16))


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0)])
def test_trans(order: tuple[int, ...]) -> None:
    value = _numbers(2, 4, 8)
    expected = value.transpose(order)
    body = (
        f"%r0 = tt.trans %0 {{order = array<i32: {', '.join(map(str, order))}>}} : "
        f"tensor<2x4x8xf32> -> {tensor(expected.shape, 'f32')}"
    )
    (found,) = computed(body, [value], [(expected.shape, "f32")])
    np.testing.assert_array_equal(found, expected)


def test_cat() -> None:
    a, b = _numbers(8), _numbers(8)
    body = "%r0 = tt.cat %0, %1 : tensor<8xf32> -> tensor<16xf32>"
    (found,) = computed(body, [a, b], [((16,), "f32")])
    np.testing.assert_array_equal(found, np.concatenate([a, b]))


def test_join_and_split() -> None:
    a, b = _numbers(4, 8), _numbers(4, 8)
    body = "%r0 = tt.join %0, %1 : tensor<4x8xf32> -> tensor<4x8x2xf32>"
    (found,) = computed(body, [a, b], [((4, 8, 2), "f32")])
    np.testing.assert_array_equal(found, np.stack([a, b], axis=-1))
    body = "%r0, %r1 = tt.split %0 : tensor<4x8x2xf32> -> tensor<4x8xf32>"
    first, second = computed(body, [found], [((4, 8), "f32")] * 2)
    np.testing.assert_array_equal(first, a)
    np.testing.assert_array_equal(second, b)


@pytest.mark.parametrize("axis", [0, 1])
def test_gather(axis: int) -> None:
    source = _numbers(8, 16)
    shape = (8, 4) if axis else (4, 16)
    indices = fresh_generator().integers(0, source.shape[axis], shape, np.int32)
    body = (
        f"%r0 = tt.gather %0[%1] {{axis = {axis} : i32}} : (tensor<8x16xf32>, "
        f"{tensor(shape, 'i32')}) -> {tensor(shape, 'f32')}"
    )
    (found,) = computed(body, [source, indices], [(shape, "f32")])
    np.testing.assert_array_equal(found, np.take_along_axis(source, indices, axis))


def test_gather_outside() -> None:
    indices = np.array([0, 1, 8, 0], np.int32)
    body = (
        "%r0 = tt.gather %0[%1] {axis = 0 : i32} : (tensor<8xf32>, tensor<4xi32>) -> tensor<4xf32>"
    )
    module, arrays = kernel(body, [_numbers(8), indices], [((4,), "f32")])
    with pytest.raises(DiagnosticError, match="the index 8 lies outside of dimension 0"):
        run(module, arrays)


def test_histogram() -> None:
    values = fresh_generator().integers(-4, 40, 64, np.int32)
    mask = fresh_generator().random(64) < 0.5
    body = "%r0 = tt.histogram %0 : tensor<64xi32> -> tensor<32xi32>"
    (found,) = computed(body, [values], [((32,), "i32")])
    expected = np.array([np.sum(values == each) for each in range(32)])
    np.testing.assert_array_equal(found, expected)
    body = "%r0 = tt.histogram %0, %1 : tensor<64xi32> -> tensor<32xi32>"
    (found,) = computed(body, [values, mask], [((32,), "i32")])
    expected = np.array([np.sum((values == each) & mask) for each in range(32)])
    np.testing.assert_array_equal(found, expected)


def test_make_range() -> None:
    body = "%r0 = tt.make_range {end = 24 : i32, start = 8 : i32} : tensor<16xi32>"
    (found,) = computed(body, [], [((16,), "i32")])
    np.testing.assert_array_equal(found, np.arange(8, 24))
