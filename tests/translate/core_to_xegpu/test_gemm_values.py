"""Matrix products of the tensor language on the matrix unit and without it, against numpy."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xtile
from tests.samples import one_of
from tests.seeds import fresh_generator
from tests.translate.ported import agrees
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.tensorlang.ops.function import FuncOp as SourceFuncOp
from xtile.semantics.arguments import MemrefArgument, ScalarArgument
from xtile.semantics.engine import launch
from xtile.text.diagnostics import Diagnostics
from xtile.translate.route import Options, translate

pytestmark = pytest.mark.slow

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


_WAYS = {
    "pvc": ("pvc", "tensorlang-to-xegpu", True),
    # LLVM has no products for subgroups of 8.
    "dg2": ("dg2", "tensorlang-to-xegpu", False),
    "dg2 lanes": ("dg2", "tensorlang-to-lane", True),
}
_TRANSPOSES = ("nn", "nt", "tn", "tt")


@pytest.mark.parametrize(
    ("way", "transposes", "type", "sizes"), one_of(2, product(_WAYS, _TRANSPOSES, DTYPES, SIZES))
)
def test_gemm(way: str, transposes: str, type: str, sizes: str) -> None:
    chip, route, has_unit = _WAYS[way]
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


# --- bytes ---

BYTE_SIZES = {
    "static": (64, 64, 64),
    "static with edges": (72, 40, 52),
    "dynamic": (40, 48, 96),
}


_ROUTES = {"pvc": "tensorlang-to-xegpu", "bmg": "tensorlang-to-lane", "dg2": "tensorlang-to-lane"}


@pytest.mark.parametrize(
    ("chip", "transposes", "sizes", "output"),
    one_of(2, product(_ROUTES, _TRANSPOSES, BYTE_SIZES, ["i32", "i8"])),
)
def test_gemm_of_bytes(chip: str, transposes: str, sizes: str, output: str) -> None:
    """Sums wrap around in 32 bits, and are cut off to what C has room for."""
    generator = fresh_generator()
    rows, columns, depth = BYTE_SIZES[sizes]
    text = _text("i8", transposes, BYTE_SIZES[sizes], sizes == "dynamic")
    text = text.replace("%beta: f32", f"%beta: {output}")
    text = text.replace("%C: memref<f32", f"%C: memref<{output}")
    diagnostics = Diagnostics()
    source = xtile.parse(text, language="tensorlang")
    module = translate(source, _ROUTES[chip], Options(chip), diagnostics)
    assert "xegpu.dpas" in [operation.name for operation in module.walk()]
    assert not [each for each in diagnostics if "matrix unit" in each.message]
    a = generator.integers(-128, 128, (rows, depth), np.int8)
    b = generator.integers(-128, 128, (depth, columns), np.int8)
    total = {"i32": np.int32, "i8": np.int8}[output]
    limits = np.iinfo(total)
    c = generator.integers(limits.min, limits.max, (rows, columns), total)
    given_a = np.ascontiguousarray(a.T if transposes[0] == "n" else a)
    given_b = np.ascontiguousarray(b.T if transposes[1] == "n" else b)
    given_c = np.ascontiguousarray(c.T)
    (kernel,) = (op for op in module.walk() if isinstance(op, FuncOp))
    alpha, beta = generator.integers(-128, 128, 2)
    scalars = ScalarArgument(np.int8(alpha)), ScalarArgument(total(beta))
    memory = _memref(given_a), _memref(given_b), _memref(given_c)
    launch(kernel, [scalars[0], *memory[:2], scalars[1], memory[2]], (1, 1, 1))
    expected = alpha * (a.astype(np.int64) @ b) + beta * c.astype(np.int64)
    np.testing.assert_array_equal(given_c.T, expected.astype(total))


_OPERANDS = {
    "loaded": ("%a", "%b"),
    "computed": ("%twice", "%more"),
    "one of each": ("%a", "%more"),
}


@pytest.mark.parametrize("operands", _OPERANDS)
@pytest.mark.parametrize("loads", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize(("chip", "size"), [("pvc", 16), ("bmg", 16), ("dg2", 8)])
def test_cooperative_matrices_of_bytes(chip: str, size: int, loads: str, operands: str) -> None:
    """Matrices from memory and from registers, which lanes hold in different orders."""
    left, right = _OPERANDS[operands]
    at_a = "%c16,%k" if loads[0] == "n" else "%k,%c16"
    at_b = "%k,%c32" if loads[1] == "n" else "%c32,%k"
    text = f"""
    func @f(%A: memref<i8x64x64>, %B: memref<i8x64x64>, %C: memref<i32x32x32>)
            attributes {{subgroup_size={size}, work_group_size=[{size},1]}} {{
        parallel {{
            %c0 = constant 0 : index
            %c16 = constant 16 : index
            %c32 = constant 32 : index
            %c64 = constant 64 : index
            %zero = constant 0 : coopmatrix<i32x32x16,matrix_acc>
            %sum = for %k=%c0,%c64,%c32 init(%s=%zero) -> (coopmatrix<i32x32x16,matrix_acc>) {{
                %a = cooperative_matrix_load.{loads[0]} %A[{at_a}]
                    : coopmatrix<i8x32x32,matrix_a>
                %b = cooperative_matrix_load.{loads[1]} %B[{at_b}]
                    : coopmatrix<i8x32x16,matrix_b>
                %twice = add %a, %a : coopmatrix<i8x32x32,matrix_a>
                %more = mul %b, %b : coopmatrix<i8x32x16,matrix_b>
                %t = cooperative_matrix_mul_add {left}, {right}, %s
                    : coopmatrix<i32x32x16,matrix_acc>
                yield (%t)
            }}
            cooperative_matrix_store %sum, %C[%c0,%c16]
        }}
    }}"""
    source = xtile.parse(text, language="tensorlang")
    module = translate(source, "tensorlang-to-lane", Options(chip))
    assert "xegpu.dpas" in [operation.name for operation in module.walk()]
    (function,) = (op for op in source.walk() if isinstance(op, SourceFuncOp))
    (kernel,) = (op for op in module.walk() if isinstance(op, FuncOp))
    assert agrees(function, kernel, Random(int(fresh_generator().integers(2**32))))
