"""Reductions and scans."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.semantics.upstream.kernels import DTYPES
from tests.semantics.vector.operations import WORK_ITEMS, Array, evaluate, random_operand


def _maximum_of_unsigned(a: Any, b: Any) -> Any:
    return np.maximum(a.view(np.uint32), b.view(np.uint32)).view(np.int32)


def _minimum_of_unsigned(a: Any, b: Any) -> Any:
    return np.minimum(a.view(np.uint32), b.view(np.uint32)).view(np.int32)


INTEGERS: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "mul": np.multiply,
    "minsi": np.minimum,
    "maxsi": np.maximum,
    "minui": _minimum_of_unsigned,
    "maxui": _maximum_of_unsigned,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}

FLOATS: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "mul": np.multiply,
    "minnumf": np.fmin,
    "maxnumf": np.fmax,
    "minimumf": np.minimum,
    "maximumf": np.maximum,
}

KINDS = [("i32", kind) for kind in INTEGERS] + [("f32", kind) for kind in FLOATS]


def function_of(element: str, kind: str) -> Callable[[Any, Any], Any]:
    """What combines two numbers."""
    return (INTEGERS if element == "i32" else FLOATS)[kind]


@pytest.mark.parametrize(("element", "kind"), KINDS)
def test_each_kind(element: str, kind: str, rng: np.random.Generator) -> None:
    vector, acc = random_operand(rng, f"vector<5x{element}>"), random_operand(rng, element)
    function = function_of(element, kind)
    plain = evaluate(
        f"vector.reduction <{kind}>, {{0}} : vector<5x{element}> into {element}",
        [(f"vector<5x{element}>", vector)],
        element,
    )
    np.testing.assert_array_equal(plain, reduce(function, vector.T))
    with_start = evaluate(
        f"vector.reduction <{kind}>, {{0}}, {{1}} : vector<5x{element}> into {element}",
        [(f"vector<5x{element}>", vector), (element, acc)],
        element,
    )
    np.testing.assert_array_equal(with_start, reduce(function, vector.T, acc))


@pytest.mark.parametrize(("element", "kind"), KINDS)
def test_each_kind_under_a_mask(element: str, kind: str, rng: np.random.Generator) -> None:
    vector, mask = random_operand(rng, f"vector<5x{element}>"), random_operand(rng, "vector<5xi1>")
    mask[:, 0] = True
    found = evaluate(
        f"vector.mask {{1}} {{{{ vector.reduction <{kind}>, {{0}} : vector<5x{element}> "
        f"into {element} }}}} : vector<5xi1> -> {element}",
        [(f"vector<5x{element}>", vector), ("vector<5xi1>", mask)],
        element,
    )
    for i in range(WORK_ITEMS):
        assert found[i] == reduce(function_of(element, kind), vector[i][mask[i]])


NEUTRAL = {
    ("i8", "add"): 0,
    ("i8", "mul"): 1,
    ("i8", "minsi"): 127,
    ("i8", "maxsi"): -128,
    ("i8", "minui"): -1,
    ("i8", "maxui"): 0,
    ("i8", "and"): -1,
    ("i8", "or"): 0,
    ("i8", "xor"): 0,
    ("f32", "add"): 0,
    ("f32", "mul"): 1,
    ("f32", "minimumf"): np.inf,
    ("f32", "maximumf"): -np.inf,
    ("f32", "minnumf"): np.nan,
    ("f32", "maxnumf"): np.nan,
}


@pytest.mark.parametrize(("element", "kind"), NEUTRAL)
def test_a_reduction_of_nothing(element: str, kind: str, rng: np.random.Generator) -> None:
    vector = random_operand(rng, f"vector<3x{element}>")
    found = evaluate(
        f"vector.mask %m {{{{ vector.reduction <{kind}>, {{0}} : vector<3x{element}> "
        f"into {element} }}}} : vector<3xi1> -> {element}",
        [(f"vector<3x{element}>", vector)],
        element,
        before="%m = vector.constant_mask [0] : vector<3xi1>",
    )
    np.testing.assert_array_equal(found, np.full(WORK_ITEMS, NEUTRAL[element, kind], found.dtype))


def test_floats_are_added_one_after_the_other(rng: np.random.Generator) -> None:
    vector = rng.standard_normal((WORK_ITEMS, 64)).astype(np.float32)
    found = evaluate(
        "vector.reduction <add>, {0} : vector<64xf32> into f32", [("vector<64xf32>", vector)], "f32"
    )
    np.testing.assert_array_equal(found, np.add.accumulate(vector, axis=1)[:, -1])


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_narrow_floats_are_rounded_once(element: str) -> None:
    ones = np.ones((WORK_ITEMS, 600), DTYPES[element])
    ones[:, 0] = 2048
    found = evaluate(
        f"vector.reduction <add>, {{0}} : vector<600x{element}> into {element}",
        [(f"vector<600x{element}>", ones)],
        element,
    )
    expected = np.float32(2048 + 599).astype(DTYPES[element])
    np.testing.assert_array_equal(found, np.full(WORK_ITEMS, expected))


DIMENSIONS = {
    "[1]": (1, "vector<2x4xf32>"),
    "[0, 2]": ((0, 2), "vector<3xf32>"),
    "[0, 1, 2]": ((0, 1, 2), "f32"),
    "[]": ((), "vector<2x3x4xf32>"),
}


@pytest.mark.parametrize("dims", DIMENSIONS)
def test_dimensions(dims: str, rng: np.random.Generator) -> None:
    axes, result = DIMENSIONS[dims]
    vector, acc = random_operand(rng, "vector<2x3x4xf32>"), random_operand(rng, result)
    found = evaluate(
        f"vector.multi_reduction <add>, {{0}}, {{1}} {dims} : vector<2x3x4xf32> to {result}",
        [("vector<2x3x4xf32>", vector), (result, acc)],
        result,
    )
    for i in range(WORK_ITEMS):
        np.testing.assert_array_equal(found[i], acc[i] + vector[i].sum(axes))


def test_dimensions_under_a_mask(rng: np.random.Generator) -> None:
    vector, acc = random_operand(rng, "vector<2x3x4xi32>"), random_operand(rng, "vector<3xi32>")
    mask = random_operand(rng, "vector<2x3x4xi1>")
    found = evaluate(
        "vector.mask {2} {{ vector.multi_reduction <add>, {0}, {1} [0, 2] : vector<2x3x4xi32> to "
        "vector<3xi32> }} : vector<2x3x4xi1> -> vector<3xi32>",
        [("vector<2x3x4xi32>", vector), ("vector<3xi32>", acc), ("vector<2x3x4xi1>", mask)],
        "vector<3xi32>",
    )
    np.testing.assert_array_equal(found, acc + np.where(mask, vector, 0).sum((1, 3)))


def scanned(vector: Array, initial: Array, *, is_inclusive: bool) -> list[Array]:
    """The result of a scan along the middle dimension, and what is accumulated."""
    return evaluate(
        f"vector.scan <add>, {{0}}, {{1}} {{{{inclusive = {str(is_inclusive).lower()}, "
        "reduction_dim = 1 : i64}} : vector<2x3x4xi32>, vector<2x4xi32>",
        [("vector<2x3x4xi32>", vector), ("vector<2x4xi32>", initial)],
        "vector<2x3x4xi32>",
        "vector<2x4xi32>",
    )


def test_inclusive_scan(rng: np.random.Generator) -> None:
    vector, initial = (
        random_operand(rng, "vector<2x3x4xi32>"),
        random_operand(rng, "vector<2x4xi32>"),
    )
    found, accumulated = scanned(vector, initial, is_inclusive=True)
    np.testing.assert_array_equal(found, np.cumsum(vector, axis=2))
    np.testing.assert_array_equal(accumulated, vector.sum(2))


def test_exclusive_scan(rng: np.random.Generator) -> None:
    vector, initial = (
        random_operand(rng, "vector<2x3x4xi32>"),
        random_operand(rng, "vector<2x4xi32>"),
    )
    found, accumulated = scanned(vector, initial, is_inclusive=False)
    before = np.concatenate([initial[:, :, np.newaxis], vector[:, :, :-1]], 2)
    np.testing.assert_array_equal(found, np.cumsum(before, axis=2))
    np.testing.assert_array_equal(accumulated, before.sum(2))


def test_scan_of_a_line_rounds_each_sum(rng: np.random.Generator) -> None:
    vector = rng.standard_normal((WORK_ITEMS, 8)).astype(ml_dtypes.bfloat16)
    found, accumulated = evaluate(
        "vector.scan <add>, {0}, {1} {{inclusive = true, reduction_dim = 0 : i64}} : "
        "vector<8xbf16>, vector<bf16>",
        [("vector<8xbf16>", vector), ("vector<bf16>", vector[:, 0])],
        "vector<8xbf16>",
        "vector<bf16>",
    )
    sums = np.add.accumulate(vector.astype(np.float32), axis=1).astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(found, sums)
    np.testing.assert_array_equal(accumulated, sums[:, -1])
