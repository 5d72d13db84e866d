"""Numbers that are rounded to bf16: sums of the matrix unit, and integers."""

from __future__ import annotations

from typing import Literal

import ml_dtypes
import numpy as np
import pytest

import xtile
from tests.mlir_opt import run_mlir_opt
from tests.precision.distances import sum_tolerance
from tests.seeds import fresh_generator
from xtile.dialects.tensorlang.types import BF16

PIPELINE = "--gpu-lower-to-xevm-pipeline=xegpu-op-level=lane zebin-chip=pvc binary-format=isa"


def product(columns: int) -> str:
    """A product of 16 x 16 and 16 x `columns` components."""
    return f"""
    func @f(%A: memref<bf16x16x16>, %B: memref<bf16x16x{columns}>, %C: memref<f32x16x{columns}>,
            %D: memref<bf16x16x{columns}>) attributes{{subgroup_size=16, work_group_size=[16,1]}} {{
      parallel {{
        %c0 = constant 0 : index
        %a = cooperative_matrix_load %A[%c0,%c0] : coopmatrix<bf16x16x16,matrix_a>
        %b = cooperative_matrix_load %B[%c0,%c0] : coopmatrix<bf16x16x{columns},matrix_b>
        %c = cooperative_matrix_load %C[%c0,%c0] : coopmatrix<f32x16x{columns},matrix_acc>
        %d = cooperative_matrix_mul_add %a, %b, %c : coopmatrix<bf16x16x{columns},matrix_acc>
        cooperative_matrix_store %d, %D[%c0,%c0]
      }}
    }}"""


@pytest.mark.parametrize("columns", [1, 8, 9])
def test_rounded_sums_compile_and_are_the_sources(columns: int) -> None:
    """With 1 and 9 columns a lane has a vector with one number, which LLVM does not compare."""
    source = xtile.parse(product(columns), language="tensorlang")
    ported = xtile.port(source, "xegpu")
    result = run_mlir_opt(xtile.to_text(ported, "mlir"), PIPELINE)
    assert (result.returncode, result.stderr) == (0, "")

    generator = fresh_generator()
    a, b, c = (
        np.asfortranarray(generator.standard_normal(shape).astype(type_))
        for shape, type_ in (
            ((16, 16), ml_dtypes.bfloat16),
            ((16, columns), ml_dtypes.bfloat16),
            ((16, columns), np.float32),
        )
    )
    c[0, 0] = np.nan
    d = np.full((16, columns), np.nan, ml_dtypes.bfloat16, order="F")
    xtile.run(source, {"A": a, "B": b, "C": c, "D": d})
    found = np.full((16, columns), np.nan, ml_dtypes.bfloat16, order="F")
    xtile.run(ported, {"A": a, "B": b, "C": c, "D": found})
    # The sums are added up in another order, so that rounding may fall to the other side.
    wide = [array.astype(float) for array in (a, b, c)]
    magnitudes = np.abs(wide[0]) @ np.abs(wide[1]) + np.abs(wide[2])
    tolerance = sum_tolerance(np.full(d.shape, 17.0), magnitudes, d, BF16)
    assert np.isnan(d[0, 0])
    error = np.abs(found.astype(float) - d.astype(float))
    assert (error <= tolerance)[~np.isnan(d)].all()
    assert np.isnan(found[0, 0])
    assert not np.isnan(found[1:, 0].astype(float)).any()


_CAST = """
func @f(%A: memref<{type}x?>, %B: memref<bf16x?>) attributes{{subgroup_size=16}} {{
  %n = size %A[0] : index
  %zero = constant 0 : index
  foreach (%i)=(%zero),(%n) {{
    %a = load %A[%i] : {type}
    %b = cast %a : bf16
    store %b, %B[%i]
  }}
}}"""


@pytest.mark.parametrize("type", ["i16", "i32", "i64", "index"])
@pytest.mark.parametrize("chip", ["cpu", "pvc"])
def test_integers_are_rounded_once(type: str, chip: Literal["cpu", "pvc"]) -> None:
    """In f32, a number beside the middle of two would become the middle."""
    source = xtile.parse(_CAST.format(type=type), language="tensorlang")
    ported = xtile.port(source, "xegpu", chip=chip)
    result = run_mlir_opt(xtile.to_text(ported, "mlir"), PIPELINE)
    assert (result.returncode, result.stderr) == (0, "")

    dtype = np.dtype({"i16": np.int16, "i32": np.int32}.get(type, np.int64))
    shifts = range(8 * dtype.itemsize - 9)
    middles = [(257 << shift) + offset for shift in shifts for offset in (-1, 0, 1)]
    info = np.iinfo(dtype)
    numbers = np.array([0, 1, info.min, info.max, *middles, *(-n for n in middles)], dtype)
    expected = np.full(len(numbers), np.nan, ml_dtypes.bfloat16)
    xtile.run(source, {"A": numbers, "B": expected})
    found = np.full(len(numbers), np.nan, ml_dtypes.bfloat16)
    xtile.run(ported, {"A": numbers, "B": found})
    np.testing.assert_array_equal(found, expected)
