"""Sums of the matrix unit that are rounded to bf16."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import xtile
from tests.mlir_opt import run_mlir_opt

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

    generator = np.random.default_rng()
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
    transposed = np.full((columns, 16), np.nan, ml_dtypes.bfloat16)
    xtile.run(ported, {"A": a.T, "B": b.T, "C": c.T, "D": transposed})
    # The sums are added up in another order, so that rounding may fall to the other side.
    np.testing.assert_allclose(
        transposed.T.astype(float), d.astype(float), rtol=2.0**-7, atol=2.0**-18
    )
    assert np.isnan(transposed[0, 0])
    assert not np.isnan(transposed[0, 1:].astype(float)).any()
