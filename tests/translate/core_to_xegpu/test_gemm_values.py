"""Matrix products of the tensor language on the matrix unit and without it, against numpy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from xtile.dialects.gpu.functions import FuncOp
from xtile.semantics.arguments import MemrefArgument, ScalarArgument
from xtile.semantics.engine import launch
from xtile.translate.route import Options, translate

DTYPES: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}

SIZES = {
    "static": (128, 64, 48),
    "static with edges": (72, 40, 40),
    "dynamic": (80, 72, 56),
}
"""Rows, columns and depth."""

ALPHA, BETA = 1.5, -0.5


def _text(type: str, transposes: str, sizes: tuple[int, int, int], is_dynamic: bool) -> str:
    rows, columns, depth = sizes
    a = (rows, depth) if transposes[0] == "n" else (depth, rows)
    b = (depth, columns) if transposes[1] == "n" else (columns, depth)
    a_type, b_type, c_type = (
        "?x?" if is_dynamic else f"{shape[0]}x{shape[1]}" for shape in (a, b, (rows, columns))
    )
    known = " {shape_gcd=[8,8], stride_gcd=[1,8]}" if is_dynamic else ""
    return (
        f"func @f(%alpha: {type}, %A: memref<{type}x{a_type}>{known}, "
        f"%B: memref<{type}x{b_type}>{known}, %beta: f32, %C: memref<f32x{c_type}>{known}) {{\n"
        f"    gemm.{transposes[0]}.{transposes[1]} %alpha, %A, %B, %beta, %C\n}}\n"
    )


def _memref(array: np.ndarray[Any, Any]) -> MemrefArgument:
    return MemrefArgument(array.reshape(-1), array.shape, (array.shape[1], 1))


@pytest.mark.parametrize(
    ("chip", "route", "has_unit"),
    [
        ("pvc", "tensorlang-to-xegpu", True),
        # LLVM has no products for subgroups of 8.
        ("dg2", "tensorlang-to-xegpu", False),
        ("dg2", "tensorlang-to-lane", True),
    ],
)
@pytest.mark.parametrize("transposes", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize("type", DTYPES)
@pytest.mark.parametrize("sizes", SIZES)
def test_gemm(
    type: str, transposes: str, sizes: str, chip: str, route: str, has_unit: bool
) -> None:
    generator = fresh_generator()
    rows, columns, depth = SIZES[sizes]
    text = _text(type, transposes, SIZES[sizes], sizes == "dynamic")
    module = translate(xtile.parse(text, language="tensorlang"), route, Options(chip))
    names = [operation.name for operation in module.walk()]
    assert ("xegpu.dpas" in names) == has_unit
    a = generator.uniform(-1, 1, (rows, depth)).astype(DTYPES[type])
    b = generator.uniform(-1, 1, (depth, columns)).astype(DTYPES[type])
    c = generator.uniform(-1, 1, (rows, columns)).astype(np.float32)
    # A row-major array is the transpose of the column-major one with the same memory.
    given_a = np.ascontiguousarray(a.T if transposes[0] == "n" else a)
    given_b = np.ascontiguousarray(b.T if transposes[1] == "n" else b)
    given_c = np.ascontiguousarray(c.T)
    alpha: Any = DTYPES[type](ALPHA)
    # A bf16 is passed as its bits.
    passed = np.int16(np.asarray(alpha).view(np.int16)) if type == "bf16" else alpha
    (kernel,) = (op for op in module.walk() if isinstance(op, FuncOp))
    launch(
        kernel,
        [
            ScalarArgument(passed),
            _memref(given_a),
            _memref(given_b),
            ScalarArgument(np.float32(BETA)),
            _memref(given_c),
        ],
        (1, 1, 1),
    )
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    expected = ALPHA * (wide_a @ wide_b) + BETA * c
    # The factors' products are exact in f32; each of the sums, and three roundings at the end,
    # is off by 2**-24 of a number that is not larger than this.
    largest = abs(ALPHA) * (abs(wide_a) @ abs(wide_b)).max() + abs(BETA)
    np.testing.assert_allclose(given_c.T, expected, rtol=0, atol=(depth + 3) * 2**-24 * largest)
