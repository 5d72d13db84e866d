"""Branches whose sides do the same but for checks of bounds."""

from __future__ import annotations

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from xtile.text.diagnostics import Diagnostics
from xtile.transforms.join_branches import join_branches

KERNEL = """
gpu.module @kernels {{
  gpu.func @k(%a: memref<?x8xf32>, %b: memref<?x8xf32>, %n: index) kernel
      attributes {{core.level = "tile"}} {{
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %x = gpu.block_id x
    %i = arith.muli %x, %c4 : index
    %none = arith.constant 0.0 : f32
    %rows = memref.dim %a, %c0 : memref<?x8xf32>
    %end = arith.addi %i, %c4 : index
    %is_full = arith.cmpi sle, %end, %rows : index
    %r = scf.if %is_full -> (vector<4x8xf32>) {{
      %one = arith.constant 1 : index
      %s = scf.for %k = %c0 to %n step %one iter_args(%t = %zero) -> (vector<4x8xf32>) {{
        %v = vector.transfer_read %a[%i, %c0], %none {{in_bounds = [true, true]}}
            : memref<?x8xf32>, vector<4x8xf32>
        %u = arith.addf %t, %v : vector<4x8xf32>
        scf.yield %u : vector<4x8xf32>
      }}
      vector.transfer_write %s, %b[%i, %c0] {{in_bounds = [true, false]}}
          : vector<4x8xf32>, memref<?x8xf32>
      scf.yield %s : vector<4x8xf32>
    }} else {{
      %one = arith.constant 1 : index
      %s = scf.for %k = %c0 to %n step %one iter_args(%t = %zero) -> (vector<4x8xf32>) {{
        %v = vector.transfer_read %a[%i, {column}], %none {{in_bounds = [false, true]}}
            : memref<?x8xf32>, vector<4x8xf32>
        %u = arith.{operation} %t, %v : vector<4x8xf32>
        scf.yield {result} : vector<4x8xf32>
      }}
      vector.transfer_write %s, %b[%i, %c0] {{in_bounds = [false, true]}}
          : vector<4x8xf32>, memref<?x8xf32>
      {more}
      scf.yield %s : vector<4x8xf32>
    }}
    %twice = arith.addf %r, %r : vector<4x8xf32>
    vector.transfer_write %twice, %b[%i, %c0] {{in_bounds = [false, true]}}
        : vector<4x8xf32>, memref<?x8xf32>
    gpu.return
  }}
}}
""".replace(
    "    %is_full =", "    %zero = arith.constant dense<0.0> : vector<4x8xf32>\n    %is_full ="
)

SAME = {"column": "%c0", "operation": "addf", "result": "%u", "more": ""}


def test_values() -> None:
    """One side is left, with the checks of both."""
    diagnostics = Diagnostics()
    module = xtile.parse(KERNEL.format(**SAME), language="mlir")
    joined = join_branches(module, diagnostics)
    text = xtile.to_text(joined, "mlir")
    assert "scf.if" not in text
    assert "vector.transfer_write %s, %b[%i, %c0] : vector<4x8xf32>" in text
    assert "%none {in_bounds = [false, true]} : memref<?x8xf32>" in text
    assert [each.message for each in diagnostics] == [
        "both branches do the same, so that the one with all checks is taken"
    ]
    a = fresh_generator().standard_normal((11, 8), np.float32)
    b = np.full_like(a, np.nan)
    xtile.run(joined, (a, b, 3), 3)
    np.testing.assert_allclose(b, 6 * a, rtol=1e-6)


@pytest.mark.parametrize(
    "words",
    [
        {"column": "%n"},
        {"operation": "subf"},
        {"result": "%t"},
        {"more": "%unused = arith.addi %n, %n : index"},
    ],
    ids=["an operand", "an operation", "what is yielded", "more operations"],
)
def test_what_differs(words: dict[str, str]) -> None:
    module = xtile.parse(KERNEL.format(**{**SAME, **words}), language="mlir")
    assert join_branches(module) is module
