"""Contractions, outer products and fused multiplications."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.semantics.upstream.kernels import DTYPES
from tests.semantics.vector.operations import (
    WORK_ITEMS,
    Array,
    evaluate,
    random_operand,
    shape_and_element,
)


def contraction(
    maps: str, kind: str, left: str, right: str, result: str, operands: str = "{0}, {1}, {2}"
) -> str:
    """The text of a contraction, whose maps are written as numpy's subscripts: `ik,kj->ij`."""
    letters = sorted(set(maps) - set(",->"))
    sides = maps.replace("->", ",").split(",")
    written = ", ".join(
        f"affine_map<({', '.join(letters)}) -> ({', '.join(side)})>" for side in sides
    )
    types = ", ".join('"parallel"' if each in sides[2] else '"reduction"' for each in letters)
    return (
        f"vector.contract {{{{indexing_maps = [{written}], iterator_types = [{types}], "
        f"kind = #vector.kind<{kind}>}}}} {operands} : {left}, {right} into {result}"
    )


PRODUCTS = [
    ("ik,kj->ij", "vector<2x4xf32>", "vector<4x3xf32>", "vector<2x3xf32>"),
    ("ki,jk->ji", "vector<4x2xf32>", "vector<3x4xf32>", "vector<3x2xf32>"),
    ("i,i->", "vector<5xf32>", "vector<5xf32>", "f32"),
    ("bik,bkj->bij", "vector<2x3x4xi32>", "vector<2x4x2xi32>", "vector<2x3x2xi32>"),
    ("ikl,lkj->ij", "vector<2x3x4xf64>", "vector<4x3x2xf64>", "vector<2x2xf64>"),
    ("ik,kj->ij", "vector<2x4xf16>", "vector<4x3xf16>", "vector<2x3xf32>"),
    ("ik,kj->ij", "vector<2x4xi8>", "vector<4x3xi8>", "vector<2x3xi32>"),
    ("ik,kj->ij", "vector<2x4xindex>", "vector<4x3xindex>", "vector<2x3xindex>"),
]


@pytest.mark.parametrize(("maps", "left", "right", "result"), PRODUCTS)
def test_sums_of_products(
    maps: str, left: str, right: str, result: str, rng: np.random.Generator
) -> None:
    a, b, c = (random_operand(rng, type) for type in (left, right, result))
    found = evaluate(
        contraction(maps, "add", left, right, result),
        [(left, a), (right, b), (result, c)],
        result,
    )
    for i in range(WORK_ITEMS):
        wide = c.dtype
        expected = c[i] + np.einsum(maps, a[i].astype(wide), b[i].astype(wide))
        np.testing.assert_array_equal(found[i], expected)


@pytest.mark.parametrize("kind", ["mul", "maximumf", "minnumf"])
def test_other_kinds_combine_products(kind: str, rng: np.random.Generator) -> None:
    types = "vector<2x4xf32>", "vector<4x3xf32>", "vector<2x3xf32>"
    a, b, c = (random_operand(rng, type) for type in types)
    found = evaluate(
        contraction("ik,kj->ij", kind, *types),
        list(zip(types, (a, b, c), strict=True)),
        types[2],
    )
    products = np.einsum("xik,xkj->kxij", a, b)
    ufunc: Any = {"mul": np.multiply, "maximumf": np.maximum, "minnumf": np.minimum}[kind]
    np.testing.assert_array_equal(found, ufunc(c, ufunc.reduce(products, axis=0)))


def test_a_mask_of_the_iterations(rng: np.random.Generator) -> None:
    types = "vector<2x4xi32>", "vector<4x3xi32>", "vector<2x3xi32>"
    a, b, c = (random_operand(rng, type) for type in types)
    mask = random_operand(rng, "vector<2x3x4xi1>")
    found = evaluate(
        f"vector.mask {{3}} {{{{ {contraction('ik,kj->ij', 'add', *types)} }}}} : "
        "vector<2x3x4xi1> -> vector<2x3xi32>",
        [*zip(types, (a, b, c), strict=True), ("vector<2x3x4xi1>", mask)],
        types[2],
    )
    np.testing.assert_array_equal(found, c + np.einsum("xik,xkj,xijk->xij", a, b, mask))


def test_one_vector_for_all_work_items(rng: np.random.Generator) -> None:
    c = random_operand(rng, "vector<2x2xf32>")
    types = "vector<2x3xf32>", "vector<3x2xf32>", "vector<2x2xf32>"
    found = evaluate(
        contraction("ik,kj->ij", "add", *types, operands="%a, %b, {0}"),
        [(types[2], c)],
        types[2],
        before="""%a = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : vector<2x3xf32>
        %b = arith.constant dense<[[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]]> : vector<3x2xf32>""",
    )
    np.testing.assert_array_equal(found, c + np.array([[7, 8], [16, 17]], np.float32))


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_narrow_sums_are_rounded_once(element: str, rng: np.random.Generator) -> None:
    types = f"vector<64x{element}>", f"vector<64x{element}>", element
    a, b = (rng.standard_normal((WORK_ITEMS, 64)).astype(DTYPES[element]) for _ in range(2))
    c = rng.standard_normal(WORK_ITEMS).astype(DTYPES[element])
    found = evaluate(
        contraction("i,i->", "add", *types), list(zip(types, (a, b, c), strict=True)), element
    )
    products = a.astype(np.float64) * b.astype(np.float64)
    exact = c.astype(np.float64) + products.sum(1)
    # Adding 65 numbers up in f32 loses at most 65 units of roundoff relative to the sum of their
    # magnitudes, which may move the sum across the middle between two numbers of the type.
    error = 65 * 2.0**-24 * (np.abs(c.astype(np.float64)) + np.abs(products).sum(1))
    below, above = ((exact + sign * error).astype(found.dtype) for sign in (-1, 1))
    assert ((below <= found) & (found <= above)).all()


def test_integers_of_one_bit_are_minus_one_or_zero() -> None:
    truth = np.ones((WORK_ITEMS, 3), np.bool_)
    found = evaluate(
        contraction("i,i->", "add", "vector<3xi1>", "vector<3xi1>", "i8"),
        [("vector<3xi1>", truth), ("vector<3xi1>", truth), ("i8", np.zeros(WORK_ITEMS, np.int8))],
        "i8",
    )
    np.testing.assert_array_equal(found, np.full(WORK_ITEMS, 3))


OUTER = {
    "vector.outerproduct {0}, {1} : vector<2xf32>, vector<3xf32>": ("vector<3xf32>", False),
    "vector.outerproduct {0}, {1}, {2} {{kind = #vector.kind<add>}} : vector<2xf32>, "
    "vector<3xf32>": ("vector<3xf32>", True),
    "vector.outerproduct {0}, {1}, {2} {{kind = #vector.kind<add>}} : vector<2xf32>, f32": (
        "f32",
        True,
    ),
}


@pytest.mark.parametrize("operation", OUTER)
def test_outer_products(operation: str, rng: np.random.Generator) -> None:
    right, has_start = OUTER[operation]
    columns, _ = shape_and_element(right)
    result = "vector<2x3xf32>" if columns else "vector<2xf32>"
    types = ["vector<2xf32>", right, *([result] if has_start else [])]
    operands: list[Array] = [random_operand(rng, type) for type in types]
    found = evaluate(operation, list(zip(types, operands, strict=True)), result)
    a = operands[0].reshape(WORK_ITEMS, 2, *(1,) * len(columns))
    b = operands[1].reshape(WORK_ITEMS, 1, *columns)
    np.testing.assert_array_equal(found, a * b + (operands[2] if has_start else 0))


def test_outer_product_of_another_kind_under_a_mask(rng: np.random.Generator) -> None:
    types = "vector<2xi32>", "vector<3xi32>", "vector<2x3xi32>", "vector<2x3xi1>"
    a, b, c, mask = (random_operand(rng, type) for type in types)
    found = evaluate(
        "vector.mask {3} {{ vector.outerproduct {0}, {1}, {2} {{kind = #vector.kind<maxsi>}} : "
        "vector<2xi32>, vector<3xi32> }} : vector<2x3xi1> -> vector<2x3xi32>",
        list(zip(types, (a, b, c, mask), strict=True)),
        types[2],
    )
    products = a[:, :, np.newaxis] * b[:, np.newaxis]
    np.testing.assert_array_equal(found, np.where(mask, np.maximum(c, products), c))


@pytest.mark.parametrize("element", ["f32", "bf16"])
def test_fused_multiplications_round_once(element: str, rng: np.random.Generator) -> None:
    type_ = f"vector<2x8x{element}>"
    a, b, c = (rng.standard_normal((WORK_ITEMS, 2, 8)).astype(DTYPES[element]) for _ in range(3))
    found = evaluate(
        f"vector.fma {{0}}, {{1}}, {{2}} : {type_}", [(type_, each) for each in (a, b, c)], type_
    )
    x, y, z = (each.astype(np.float64) for each in (a, b, c))
    # The exact sum fits into the long double that numpy has on this machine's kind.
    exact = np.asarray(x * y, np.longdouble) + z
    dtype: Any = np.float32 if element == "f32" else ml_dtypes.bfloat16
    np.testing.assert_array_equal(found, exact.astype(np.float64).astype(dtype))
