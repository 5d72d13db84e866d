"""`dpas` against numpy: each type, whole matrices and the parts of lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_generator
from tests.semantics.upstream.kernels import kernel, run
from tests.semantics.xegpu.kernels import LANES, random_array, undefined
from xtile.semantics.errors import ExecutionError


@pytest.fixture
def rng() -> np.random.Generator:
    return fresh_generator()


Shapes = tuple[str, str, str]
"""The shapes of the two factors and of the result, as text."""

DPAS = """%a = xegpu.load_nd %ta[0, 0] : {ta} -> vector<{a}x{left}>
        %b = xegpu.load_nd %tb[0, 0] {packed} : {tb} -> vector<{b}x{left}>
        %c = xegpu.load_nd %tc[0, 0] : {tc} -> vector<{c}x{right}>
        %d = xegpu.dpas %a, %b, %c {mode}
          : vector<{a}x{left}>, vector<{b}x{left}>, vector<{c}x{right}> -> vector<{c}x{right}>
        xegpu.store_nd %d, %td[0, 0] : vector<{c}x{right}>, {tc}"""


def product(
    a: Any,
    b: Any,
    c: Any,
    left: str,
    right: str,
    shapes: Shapes,
    packed: bool = False,
) -> Any:
    """A B + C, computed with vectors of these shapes."""
    (rows, inner), columns = a.shape, b.shape[1]
    types = {
        "ta": f"!xegpu.tensor_desc<{rows}x{inner}x{left}>",
        "tb": f"!xegpu.tensor_desc<{inner}x{columns}x{left}>",
        "tc": f"!xegpu.tensor_desc<{rows}x{columns}x{right}>",
    }
    memory = {
        "a": f"memref<{rows}x{inner}x{left}>",
        "b": f"memref<{inner}x{columns}x{left}>",
        "c": f"memref<{rows}x{columns}x{right}>",
        "d": f"memref<{rows}x{columns}x{right}>",
    }
    create = [
        f"%t{n} = xegpu.create_nd_tdesc %m{n} : {m} -> {types['tc' if n == 'd' else f't{n}']}"
        for n, m in memory.items()
    ]
    names = dict(zip("abc", shapes, strict=True))
    body = DPAS.format(
        left=left, right=right, mode="", packed="<{packed}>" if packed else "", **names, **types
    )
    text = kernel(", ".join(f"%m{n}: {m}" for n, m in memory.items()), "\n".join([*create, body]))
    d = undefined(c.shape, right)
    run(text, a, b, c, d, block=(LANES, 1, 1))
    return d


def close(result: Any, a: Any, b: Any, c: Any, unit: float) -> None:
    """Checks a result against f64, with the error of sums in f32 and of one rounding at the end."""
    wide_a, wide_b, wide_c = (matrix.astype(np.float64) for matrix in (a, b, c))
    exact = wide_a @ wide_b + wide_c
    size = np.abs(wide_a) @ np.abs(wide_b) + np.abs(wide_c)
    tolerance = (a.shape[1] + 1) * 2.0**-24 * size + unit * np.abs(exact) + 1e-6 * unit
    assert (np.abs(result.astype(np.float64) - exact) <= tolerance).all()


UNITS = {"f32": 0.0, "f16": 2.0**-11, "bf16": 2.0**-8}
"""Half a unit in the last place of each accumulator."""


@pytest.mark.parametrize("right", UNITS)
@pytest.mark.parametrize("left", ["f16", "bf16"])
@pytest.mark.parametrize(
    ("shapes", "packed"),
    [
        (("8x16", "16x16", "8x16"), False),
        (("8x16", "8x16x2", "8x16"), True),
        (("8", "16", "8"), True),
        (("8", "16", "8"), False),
    ],
)
def test_floats_of_16_bits(
    left: str, right: str, shapes: Shapes, packed: bool, rng: np.random.Generator
) -> None:
    a, b = random_array(rng, (8, 16), left), random_array(rng, (16, 16), left)
    c = random_array(rng, (8, 16), right)
    close(product(a, b, c, left, right, shapes, packed), a, b, c, UNITS[right])


@pytest.mark.parametrize("shapes", [("8x8", "8x16", "8x16"), ("4", "8", "8")])
def test_tf32(shapes: Shapes, rng: np.random.Generator) -> None:
    a, b = random_array(rng, (8, 8), "f32"), random_array(rng, (8, 16), "f32")
    c = random_array(rng, (8, 16), "f32")
    result = product(a, b, c, "tf32", "f32", shapes)
    close(result, rounded_to_tf32(a), rounded_to_tf32(b), c, 0.0)


def rounded_to_tf32(values: Any) -> Any:
    """f32 with 10 bits of fraction, to nearest, ties to even."""
    fraction, exponent = np.frexp(values.astype(np.float64))
    return np.ldexp(np.rint(fraction * 2**11) / 2**11, exponent)


@pytest.mark.parametrize(
    ("shapes", "packed"),
    [
        (("8x32", "8x16x4", "8x16"), True),
        (("8x32", "32x16", "8x16"), False),
        (("16", "32", "8"), True),
    ],
)
def test_integers(shapes: Shapes, packed: bool, rng: np.random.Generator) -> None:
    a, b = random_array(rng, (8, 32), "i8"), random_array(rng, (32, 16), "i8")
    c = random_array(rng, (8, 16), "i32")
    exact = a.astype(np.int64) @ b.astype(np.int64) + c
    np.testing.assert_array_equal(
        product(a, b, c, "i8", "i32", shapes, packed), exact.astype(np.int32)
    )


def test_integers_without_a_sign(rng: np.random.Generator) -> None:
    a, b = (rng.integers(0, 256, shape).astype(np.uint8) for shape in ((8, 32), (32, 16)))
    c = np.zeros((8, 16), np.int32)
    text = kernel(
        "%a: memref<8x32xui8>, %b: memref<32x16xui8>, %c: memref<8x16xi32>",
        """%s = xegpu.create_nd_tdesc %a : memref<8x32xui8> -> !xegpu.tensor_desc<8x32xui8>
        %t = xegpu.create_nd_tdesc %b : memref<32x16xui8> -> !xegpu.tensor_desc<32x16xui8>
        %u = xegpu.create_nd_tdesc %c : memref<8x16xi32> -> !xegpu.tensor_desc<8x16xi32>
        %v = xegpu.load_nd %s[0, 0] : !xegpu.tensor_desc<8x32xui8> -> vector<8x32xui8>
        %w = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<32x16xui8> -> vector<32x16xui8>
        %d = xegpu.dpas %v, %w : vector<8x32xui8>, vector<32x16xui8> -> vector<8x16xi32>
        xegpu.store_nd %d, %u[0, 0] : vector<8x16xi32>, !xegpu.tensor_desc<8x16xi32>""",
    )
    run(text, a.view(np.int8), b.view(np.int8), c, block=(LANES, 1, 1))
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))


def test_integers_of_4_bits(rng: np.random.Generator) -> None:
    a, b = (rng.integers(-8, 8, shape).astype(np.int8) for shape in ((8, 64), (64, 16)))
    c = random_array(rng, (8, 16), "i32")
    exact = a.astype(np.int64) @ b.astype(np.int64) + c
    for shapes in (("8x64", "64x16", "8x16"), ("32", "64", "8")):
        result = product(a, b, c, "i4", "i32", shapes, packed=len(shapes[0]) < 3)
        np.testing.assert_array_equal(result, exact.astype(np.int32))


def test_the_result_is_rounded_once() -> None:
    a, b = np.zeros((8, 16), np.float16), np.zeros((16, 16), np.float16)
    c = np.ones((8, 16), np.float16)
    # Each product is a quarter of the distance from 1 to the next number.
    a[:, :3], b[:3] = 2.0**-6, 2.0**-6
    result = product(a, b, c, "f16", "f16", ("8x16", "16x16", "8x16"))
    np.testing.assert_array_equal(result, np.full((8, 16), 1 + 2.0**-10, np.float16))


def test_parts_that_do_not_belong_together() -> None:
    message = r"lanes that hold 8, 8 and 8 elements do not make up matrices: in a subgroup of 16,"
    text = kernel(
        "",
        """%v = arith.constant dense<1.0> : vector<8xf16>
        %d = xegpu.dpas %v, %v : vector<8xf16>, vector<8xf16> -> vector<8xf16>""",
    )
    with pytest.raises(ExecutionError, match=message):
        run(text, block=(LANES, 1, 1))


def test_integers_and_floats() -> None:
    a, b = np.zeros((8, 32), np.int8), np.zeros((32, 16), np.int8)
    c = np.zeros((8, 16), np.float32)
    with pytest.raises(ExecutionError, match=r"i8 times i8 is no f32; use i32 for integers"):
        product(a, b, c, "i8", "f32", ("8x32", "32x16", "8x16"))
