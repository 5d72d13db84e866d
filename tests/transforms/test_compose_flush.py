"""Subnormal numbers are zeros in languages that have no word for it, too."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from xtile.transforms.compose_flush import compose_flush

TINY = 2.0**-130

NUMBERS = np.array(
    [0.0, -0.0, 1.5, -1.5, TINY, -TINY, 2.0**-126, -(2.0**-126), 3e38, np.inf, -np.inf, np.nan],
    np.float32,
)

OPERATIONS = ("addf", "subf", "mulf", "divf")


def _kernel(name: str) -> str:
    """An operation on tiles of 16 elements, and one on their first elements."""
    return f"""
    gpu.module @m {{
      gpu.func @k(%x: memref<16xf32>, %y: memref<16xf32>, %z: memref<17xf32>) kernel
          attributes {{core.level = "tile"}} {{
        %c0 = arith.constant 0 : index
        %c16 = arith.constant 16 : index
        %zero = arith.constant 0.0 : f32
        %a = vector.transfer_read %x[%c0], %zero {{in_bounds = [true]}}
            : memref<16xf32>, vector<16xf32>
        %b = vector.transfer_read %y[%c0], %zero {{in_bounds = [true]}}
            : memref<16xf32>, vector<16xf32>
        %r = arith.{name} %a, %b {{core.flush_to_zero}} : vector<16xf32>
        vector.transfer_write %r, %z[%c0] {{in_bounds = [true]}} : vector<16xf32>, memref<17xf32>
        %s = memref.load %x[%c0] : memref<16xf32>
        %t = memref.load %y[%c0] : memref<16xf32>
        %u = arith.{name} %s, %t {{core.flush_to_zero}} : f32
        memref.store %u, %z[%c16] : memref<17xf32>
        gpu.return
      }}
    }}"""


def _pairs() -> list[tuple[np.ndarray, np.ndarray]]:
    """Every pair of numbers, 16 of them at a time."""
    left, right = (each.ravel() for each in np.meshgrid(NUMBERS, NUMBERS))
    return [(left[i : i + 16], right[i : i + 16]) for i in range(0, len(left), 16)]


def _results(kernel: ModuleOp, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    z = np.full(17, 7.0, np.float32)
    xtile.run(kernel, [x, y, z], grid=1)
    return z


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("language", ["core", "tensorlang", "triton", "xegpu", "lane"])
def test_values(name: str, language: str) -> None:
    module = xtile.parse(_kernel(name), language="mlir")
    port = compose_flush(module) if language == "core" else xtile.translate(module, language)
    assert "flush_to_zero" not in str(port)
    for x, y in _pairs():
        expected, found = _results(module, x, y), _results(port, x, y)
        np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
        is_number = ~np.isnan(expected)
        given, wanted = (each[is_number].view(np.uint32) for each in (found, expected))
        np.testing.assert_array_equal(given, wanted)


def test_products_are_flushed_before_and_after() -> None:
    """An operand alone that is subnormal, and a result alone."""
    x = np.array([TINY, 2.0**-100, 1.0] + [1.0] * 13, np.float32)
    y = np.array([2.0**20, 2.0**-30, TINY] + [1.0] * 13, np.float32)
    found = _results(xtile.translate(_kernel("mulf"), "triton"), x, y)
    np.testing.assert_array_equal(found[:4], [0.0, 0.0, 0.0, 1.0])


def test_nothing_else_changes() -> None:
    module = xtile.parse(_kernel("addf").replace("{core.flush_to_zero}", ""), language="mlir")
    assert compose_flush(module) is module
