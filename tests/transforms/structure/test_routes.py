"""Kernels with tiles of pointers compute the same on CPUs, and as CUDA Tile IR with views."""

from __future__ import annotations

import copy
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.samples import one_of
from tests.seeds import fresh_generator
from tests.transforms.structure.pointer_kernels import CASES
from tests.transforms.structure.test_structure import arrays_after, raised, wrapping_kernel
from xtile.translate.route import translate

POINTERS = {
    "convolution": 17,  # Tiles that begin before memory, and nine numbers.
    "dequantize": 1,
    "block_sparse": 1,  # A number.
    "embedding": 1,  # A number.
    "embedding_of_rows": 1,
    "flattened": 1,
    "reverse": 1,  # Views have no negative strides.
    "scattered": 1,
    "shifted": 1,  # A tile that begins before memory.
    "triangle_sums": 1,
}
"""The kernels that have accesses through pointers left as CUDA Tile IR, and how many."""


def _compare(found: list[Any], wanted: list[Any]) -> None:
    for one, other in zip(found, wanted, strict=True):
        # Sums in f32 are added up in another order.
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", CASES)
def test_kernels_on_opencl(name: str) -> None:
    before = raised(CASES[name].text())
    for launch in CASES[name].launches():
        arguments, grid = copy.deepcopy(launch)
        xtile.run(CASES[name].text(), arguments, grid, device="opencl")
        found: list[Any] = [each for each in arguments if isinstance(each, np.ndarray)]
        _compare(found, arrays_after(before, launch))


@pytest.mark.slow
@pytest.mark.parametrize("name", one_of(2, CASES))
def test_kernels_lowered_to_views(name: str) -> None:
    before = raised(CASES[name].text())
    again = _as_cuda_tile(before)
    text = xtile.to_text(again, "mlir")
    through_pointers = text.count("load_ptr_tko") + text.count("store_ptr_tko")
    assert through_pointers == POINTERS.get(name, 0)
    for launch in CASES[name].launches():
        _compare(arrays_after(again, launch), arrays_after(before, launch))


@lru_cache(maxsize=1)
def _as_cuda_tile(module: ModuleOp) -> ModuleOp:
    """What a module becomes; it is printed, read again and verified."""
    lowered = translate(module, "tile-to-cuda_tile")
    return xtile.parse(xtile.to_text(lowered, "mlir"), language="mlir")


def test_opencl_compiles_offsets_that_wrap_around_without_checks() -> None:
    x = fresh_generator().random(64).astype(np.float32)
    for a, step in ((2, 3), (65536, 1)):
        out = np.full(16, np.nan, np.float32)
        xtile.run(wrapping_kernel(), [x, out, a, a if step == 1 else 1], device="opencl")
        np.testing.assert_array_equal(out, x[: 16 * step : step])
