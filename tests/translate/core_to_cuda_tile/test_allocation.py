"""Memory that a tile block allocates."""

from __future__ import annotations

import pytest

import xtile
from tests.tile_tools import assembled
from tests.translate.core_to_cuda_tile.entries import CHIPS
from xtile.dialects.cuda_tile.bytecode import encode
from xtile.translate.route import Options, translate

BEHIND_PRODUCTS = """
func @k(%n: index, %A: memref<i16x?x?,strided<?,?>>, %B: memref<i64x?x?>,
        %C: memref<f16x?x?,strided<?,?>>, %D: memref<f16x56x56>) {
    %i1 = constant 1 : i16
    %zero = constant 0 : i64
    %one = constant 1.0 : f16
    %f0 = constant 0.0 : f16
    %c0 = constant 0 : index
    %c1 = constant 1 : index
    %c56 = constant 56 : index
    for %i=%c0,%n,%c1 {
        gemm.n.t %i1, %A, %A, %zero, %B
    }
    %t = alloca : memref<f16x56x56,local>
    foreach (%i,%j)=(%c0,%n),(%c56,%c56) {
        %x = load %C[%i,%j] : f16
        %y = add %x, %one : f16
        store %y, %t[%i,%j]
    }
    axpby.n %one, %t, %f0, %D
}
"""


@pytest.mark.parametrize("chip", CHIPS)
def test_memory_behind_loops_of_products_compiles(chip: str) -> None:
    """It does not with the promise that its address is a multiple of 16."""
    module = xtile.parse(BEHIND_PRODUCTS, language="tensorlang")
    entries = translate(module, "tensorlang-to-cuda_tile", Options(chip))
    assert "cuda_tile.alloca" in {each.name for each in entries.walk()}
    assembled(encode(entries), chip)
