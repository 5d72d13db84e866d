"""Loads of factors stand before the products of one step of the depth, and pass no store."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from tests.translate.core_to_xegpu.lowered import kernel, lower
from xtile.targets.compilers import XTILE
from xtile.translate.route import Options, translate_to

PARAMETERS = "%A: memref<16x32xf16>, %B: memref<32x32xf16>, %C: memref<16x32xf32>"

_SHORT = {"xegpu.load_nd": "load", "xegpu.dpas": "product", "xegpu.store_nd": "store"}

_A = "in_bounds = [true, true]} : memref<16x32xf16>, vector<16x32xf16>"
_B = "in_bounds = [true, true]} : memref<32x32xf16>, vector<32x32xf16>"


def _product(between: str) -> str:
    """C := A B; some operations stand between the reads and the product."""
    return f"""%c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f16
    %zeros = arith.constant dense<0.0> : vector<16x32xf32>
    %ones = arith.constant dense<1.0> : vector<16x32xf16>
    %x = vector.transfer_read %A[%c0, %c0], %zero {{{_A}
    %y = vector.transfer_read %B[%c0, %c0], %zero {{{_B}
    {between}
    %s = vector.contract {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}}
        %x, %y, %zeros : vector<16x32xf16>, vector<32x32xf16> into vector<16x32xf32>
    vector.transfer_write %s, %C[%c0, %c0] {{in_bounds = [true, true]}}
        : vector<16x32xf32>, memref<16x32xf32>"""


_OVERWRITTEN = (
    "vector.transfer_write %ones, %A[%c0, %c0] {in_bounds = [true, true]} "
    ": vector<16x32xf16>, memref<16x32xf16>"
)


@pytest.mark.parametrize(
    ("between", "expected"),
    [
        # A step needs 2 blocks of A and 2 of B, and sums 2 x 2 blocks.
        ("", [("load", 4), ("product", 4), ("load", 4), ("product", 4), ("store", 4)]),
        (_OVERWRITTEN, [("load", 8), ("store", 4), ("product", 8), ("store", 4)]),
        ("gpu.barrier", [("load", 8), ("product", 8), ("store", 4)]),
    ],
    ids=["nothing", "a store", "a barrier"],
)
def test_loads_come_before_the_products_of_a_step(
    between: str, expected: list[tuple[str, int]]
) -> None:
    names = lower(PARAMETERS, _product(between)).names
    order = [_SHORT[name] for name in names if name in _SHORT]
    assert [(name, len(list(same))) for name, same in groupby(order)] == expected


@pytest.mark.parametrize(
    "between", ["", _OVERWRITTEN, "gpu.barrier"], ids=["nothing", "a store", "a barrier"]
)
def test_late_loads_read_the_same(between: str) -> None:
    module = xtile.parse(kernel(PARAMETERS, _product(between)), language="mlir")
    made = translate_to(module, "lane", Options("pvc", compiler=XTILE))
    generator = fresh_generator()
    a, b = (generator.integers(-4, 5, shape).astype(np.float16) for shape in ((16, 32), (32, 32)))
    c = np.full((16, 32), np.nan, np.float32)
    expected = a.astype(np.float32) @ b.astype(np.float32)
    xtile.run(made, (a, b, c), block=(16, 1, 1))
    np.testing.assert_array_equal(c, expected)
    assert (a == 1).all() == (between == _OVERWRITTEN)
