"""The entries of groups are read where the source reads them: a condition may guard the index."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator

BEHIND_A_CONDITION = """
func @copy(%G: group<memref<f32x4>x?>, %n: index, %O: memref<f32x4x?>) {
    %i = group_id.x : index
    %c = less_than %i, %n : bool
    if %c {
        %m = load %G[%i] : memref<f32x4>
        %zero = constant 0 : index
        %four = constant 4 : index
        for %j = %zero, %four {
            %x = load %m[%j] : f32
            store %x, %O[%j,%i]
        }
    }
}
"""

IN_A_LOOP = """
func @copy(%G: group<memref<f32x4>x?>, %n: index, %O: memref<f32x4x?>) {
    %i = group_id.x : index
    %zero = constant 0 : index
    %four = constant 4 : index
    %turns = sub %n, %i : index
    %some = max %turns, %zero : index
    for %turn = %zero, %some {
        %m = load %G[%i] : memref<f32x4>
        for %j = %zero, %four {
            %x = load %m[%j] : f32
            store %x, %O[%j,%i]
        }
    }
}
"""

TWICE = """
func @copy(%G: group<memref<f32x4>x?>, %n: index, %O: memref<f32x4x?>) {
    %i = group_id.x : index
    %c = less_than %i, %n : bool
    %zero = constant 0 : index
    %four = constant 4 : index
    if %c {
        %m = load %G[%i] : memref<f32x4>
        for %j = %zero, %four {
            %again = load %G[%i] : memref<f32x4>
            %x = load %again[%j] : f32
            %y = load %m[%j] : f32
            %c2 = equal %x, %y : bool
            if %c2 {
                store %x, %O[%j,%i]
            }
        }
    }
}
"""


@pytest.mark.parametrize("language", ["cuda_tile", "triton", "xegpu", "spirv"])
@pytest.mark.parametrize("text", [BEHIND_A_CONDITION, IN_A_LOOP, TWICE])
def test_no_entry_behind_the_group_is_read(text: str, language: str) -> None:
    """The grid is larger than the group, and the source's condition keeps the rest away."""
    random = fresh_generator()
    entries: list[Any] = [random.standard_normal(4).astype(np.float32) for _ in range(3)]
    out = np.full((4, 5), np.nan, np.float32, order="F")
    port = xtile.translate(text, language)
    device = "opencl" if language == "spirv" else "reference"
    xtile.run(port, [entries, 3, out], (5, 1, 1), device=device)
    np.testing.assert_array_equal(out[:, :3].T, np.array(entries))
    assert np.isnan(out[:, 3:]).all()


@pytest.mark.parametrize("language", ["cuda_tile", "triton"])
def test_an_entry_is_read_once_where_it_is_known(language: str) -> None:
    """One address, and the two numbers that are compared."""
    loads = ("cuda_tile.load_ptr_tko", "tt.load")
    assert [each.name in loads for each in xtile.translate(TWICE, language).walk()].count(True) == 3
