"""Elements in other positions, and as other types."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

from tests.semantics.vector.operations import Array, evaluate, random_operand

OF_ONE: dict[str, tuple[str, str, Callable[[Array], Array]]] = {
    "vector.broadcast {0} : f32 to vector<2x3xf32>": (
        "f32",
        "vector<2x3xf32>",
        lambda a: np.broadcast_to(a, (2, 3)),
    ),
    "vector.broadcast {0} : vector<2x1xi8> to vector<3x2x4xi8>": (
        "vector<2x1xi8>",
        "vector<3x2x4xi8>",
        lambda a: np.broadcast_to(a, (3, 2, 4)),
    ),
    "vector.shape_cast {0} : vector<2x3xf32> to vector<3x1x2xf32>": (
        "vector<2x3xf32>",
        "vector<3x1x2xf32>",
        lambda a: a.reshape(3, 1, 2),
    ),
    "vector.transpose {0}, [2, 0, 1] : vector<2x3x4xi16> to vector<4x2x3xi16>": (
        "vector<2x3x4xi16>",
        "vector<4x2x3xi16>",
        lambda a: a.transpose(2, 0, 1),
    ),
    "vector.extract_strided_slice {0} {{offsets = [1, 2], sizes = [2, 1], strides = [1, 1]}} : "
    "vector<3x4x2xf32> to vector<2x1x2xf32>": (
        "vector<3x4x2xf32>",
        "vector<2x1x2xf32>",
        lambda a: a[1:3, 2:3],
    ),
    "vector.bitcast {0} : vector<2x4xi8> to vector<2x2xi16>": (
        "vector<2x4xi8>",
        "vector<2x2xi16>",
        lambda a: a.view(np.int16),
    ),
    "vector.bitcast {0} : vector<2xf32> to vector<4xbf16>": (
        "vector<2xf32>",
        "vector<4xbf16>",
        lambda a: a.view(np.uint16).view(ml_dtypes.bfloat16),
    ),
    "vector.bitcast {0} : vector<f32> to vector<i32>": (
        "vector<f32>",
        "vector<i32>",
        lambda a: a.view(np.int32),
    ),
    "vector.bitcast {0} : vector<8xi1> to vector<1xi8>": (
        "vector<8xi1>",
        "vector<1xi8>",
        lambda a: np.packbits(a, bitorder="little").view(np.int8),
    ),
    "vector.bitcast {0} : vector<2x1xi8> to vector<2x2xi4>": (
        "vector<2x1xi8>",
        "vector<2x2xi4>",
        lambda a: np.concatenate([(a << 4) >> 4, a >> 4], -1),
    ),
}
"""For each operation the operand's type, the result's, and what it is in one work-item."""

OF_TWO: dict[str, tuple[str, str, str, Callable[[Array, Array], Array]]] = {
    "vector.shuffle {0}, {1} [0, 4, 3, 1] : vector<2x2xf32>, vector<3x2xf32>": (
        "vector<2x2xf32>",
        "vector<3x2xf32>",
        "vector<4x2xf32>",
        lambda a, b: np.concatenate([a, b])[[0, 4, 3, 1]],
    ),
    "vector.shuffle {0}, {1} [1, 0, 1] : vector<f32>, vector<f32>": (
        "vector<f32>",
        "vector<f32>",
        "vector<3xf32>",
        lambda a, b: np.array([b, a, b]),
    ),
    "vector.interleave {0}, {1} : vector<2x3xi8> -> vector<2x6xi8>": (
        "vector<2x3xi8>",
        "vector<2x3xi8>",
        "vector<2x6xi8>",
        lambda a, b: np.stack([a, b], -1).reshape(2, 6),
    ),
    "vector.interleave {0}, {1} : vector<i8> -> vector<2xi8>": (
        "vector<i8>",
        "vector<i8>",
        "vector<2xi8>",
        lambda a, b: np.array([a, b]),
    ),
}
"""The same for operations with two operands."""


@pytest.mark.parametrize("operation", OF_ONE)
def test_operations_on_one_vector(operation: str, rng: np.random.Generator) -> None:
    type_, result, expected = OF_ONE[operation]
    operand = random_operand(rng, type_)
    found = evaluate(operation, [(type_, operand)], result)
    for row, given in zip(found, operand, strict=True):
        np.testing.assert_array_equal(row, expected(given))


@pytest.mark.parametrize("operation", OF_TWO)
def test_operations_on_two_vectors(operation: str, rng: np.random.Generator) -> None:
    first, second, result, expected = OF_TWO[operation]
    a, b = random_operand(rng, first), random_operand(rng, second)
    found = evaluate(operation, [(first, a), (second, b)], result)
    for row, one, other in zip(found, a, b, strict=True):
        np.testing.assert_array_equal(row, expected(one, other))


def test_a_part_is_inserted(rng: np.random.Generator) -> None:
    part = random_operand(rng, "vector<2xf32>")
    whole = random_operand(rng, "vector<3x2x4xf32>")
    found = evaluate(
        "vector.insert_strided_slice {0}, {1} {{offsets = [2, 0, 1], strides = [1]}} : "
        "vector<2xf32> into vector<3x2x4xf32>",
        [("vector<2xf32>", part), ("vector<3x2x4xf32>", whole)],
        "vector<3x2x4xf32>",
    )
    expected = whole.copy()
    expected[:, 2, 0, 1:3] = part
    np.testing.assert_array_equal(found, expected)


def test_even_and_odd_elements(rng: np.random.Generator) -> None:
    vector = random_operand(rng, "vector<2x6xi16>")
    even, odd = evaluate(
        "vector.deinterleave {0} : vector<2x6xi16> -> vector<2x3xi16>",
        [("vector<2x6xi16>", vector)],
        "vector<2x3xi16>",
        "vector<2x3xi16>",
    )
    np.testing.assert_array_equal(even, vector[..., 0::2])
    np.testing.assert_array_equal(odd, vector[..., 1::2])


def test_poison_has_all_bits_set(rng: np.random.Generator) -> None:
    vector = random_operand(rng, "vector<2xi8>")
    found: Array = evaluate(
        "vector.shuffle {0}, {0} [1, -1, 2] : vector<2xi8>, vector<2xi8>",
        [("vector<2xi8>", vector)],
        "vector<3xi8>",
    )
    np.testing.assert_array_equal(found[:, 1], np.full(len(vector), -1))
    np.testing.assert_array_equal(found[:, [0, 2]], vector[:, [1, 0]])
