"""Atomic updates of boxes that nobody reads become updates of views."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from xtile.text.diagnostics import Diagnostics
from xtile.translate.route import Options, translate

ROWS, COLUMNS = 8, 16


def _kernel(
    order: str = "acq_rel, gpu", kind: str = "fadd", element: str = "f32", after: str = ""
) -> str:
    """Adds a block of `y` to a block of `x`, which has m times n numbers in rows of n."""
    tile, pointers = f"8x16x{element}", f"8x16x!tt.ptr<{element}>"
    return f"""
tt.func public @add(%x: !tt.ptr<{element}>, %y: !tt.ptr<{element}>, %m: i32, %n: i32) {{
  %bx = tt.get_program_id x : i32
  %by = tt.get_program_id y : i32
  %c8 = arith.constant 8 : i32
  %c16 = arith.constant 16 : i32
  %i0 = arith.muli %by, %c8 : i32
  %j0 = arith.muli %bx, %c16 : i32
  %r8 = tt.make_range {{end = 8 : i32, start = 0 : i32}} : tensor<8xi32>
  %r16 = tt.make_range {{end = 16 : i32, start = 0 : i32}} : tensor<16xi32>
  %is = tt.splat %i0 : i32 -> tensor<8xi32>
  %js = tt.splat %j0 : i32 -> tensor<16xi32>
  %ia = arith.addi %is, %r8 : tensor<8xi32>
  %ja = arith.addi %js, %r16 : tensor<16xi32>
  %i = tt.expand_dims %ia {{axis = 1 : i32}} : tensor<8xi32> -> tensor<8x1xi32>
  %j = tt.expand_dims %ja {{axis = 0 : i32}} : tensor<16xi32> -> tensor<1x16xi32>
  %ns = tt.splat %n : i32 -> tensor<8x1xi32>
  %ms = tt.splat %m : i32 -> tensor<8x1xi32>
  %ne = tt.splat %n : i32 -> tensor<1x16xi32>
  %il = arith.cmpi slt, %i, %ms : tensor<8x1xi32>
  %jl = arith.cmpi slt, %j, %ne : tensor<1x16xi32>
  %ib = tt.broadcast %il : tensor<8x1xi1> -> tensor<8x16xi1>
  %jb = tt.broadcast %jl : tensor<1x16xi1> -> tensor<8x16xi1>
  %mask = arith.andi %ib, %jb : tensor<8x16xi1>
  %row = arith.muli %i, %ns : tensor<8x1xi32>
  %rows = tt.broadcast %row : tensor<8x1xi32> -> tensor<8x16xi32>
  %columns = tt.broadcast %j : tensor<1x16xi32> -> tensor<8x16xi32>
  %at = arith.addi %rows, %columns : tensor<8x16xi32>
  %xs = tt.splat %x : !tt.ptr<{element}> -> tensor<{pointers}>
  %ys = tt.splat %y : !tt.ptr<{element}> -> tensor<{pointers}>
  %xp = tt.addptr %xs, %at : tensor<{pointers}>, tensor<8x16xi32>
  %yp = tt.addptr %ys, %at : tensor<{pointers}>, tensor<8x16xi32>
  %v = tt.load %yp, %mask : tensor<{pointers}>
  %old = tt.atomic_rmw {kind}, {order}, %xp, %v, %mask
    : (tensor<{pointers}>, tensor<{tile}>, tensor<8x16xi1>) -> tensor<{tile}>
  {after}
  tt.return
}}
"""


def _lowered(text: str) -> tuple[str, list[str]]:
    """The kernel in CUDA Tile IR, and the remarks about it."""
    found = Diagnostics()
    module = xtile.parse(text, language="mlir")
    lowered = translate(module, "triton-to-cuda_tile", Options(), found)
    return xtile.to_text(lowered, "mlir"), [each.message for each in found.sorted()]


def _arguments(dtype: Any) -> list[Any]:
    random = fresh_generator()
    m, n = 2 * ROWS - 3, 3 * COLUMNS - 16
    numbers = random.integers(-50, 50, (2, m, n)).astype(dtype)
    return [numbers[0], numbers[1], m, n]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("order", "kind", "element"),
    [
        ("acq_rel, gpu", "fadd", "f32"),
        ("relaxed, gpu", "fadd", "f32"),
        ("relaxed, gpu", "add", "i32"),
        ("relaxed, gpu", "max", "i32"),
    ],
)
def test_an_update_of_a_box_is_one_of_a_view(order: str, kind: str, element: str) -> None:
    text = _kernel(order, kind, element)
    lowered, _ = _lowered(text)
    assert lowered.count("atomic_red_view_tko relaxed device") == 1
    assert "atomic_rmw_tko" not in lowered
    given = _arguments(np.float32 if element == "f32" else np.int32)
    x, y = given[0].copy(), given[1]
    wanted = np.maximum(x, y) if kind == "max" else x + y
    for each in (xtile.parse(text, language="mlir"), xtile.parse(lowered, language="mlir")):
        arguments = [given[0].copy(), *given[1:]]
        xtile.run(each, arguments, grid=(3, 2))
        np.testing.assert_array_equal(arguments[0], wanted)


@pytest.mark.parametrize(
    ("order", "kind", "element", "after", "reason"),
    [
        ("acq_rel, sys", "fadd", "f32", "", "it is acq_rel, which orders other accesses"),
        ("acq_rel, gpu", "add", "i32", "", "it is acq_rel, which orders other accesses"),
        ("relaxed, sys", "fadd", "f32", "", "its scope is system, not the device"),
        (
            "acq_rel, gpu",
            "fadd",
            "f32",
            """%again = tt.load %xp, %mask : tensor<8x16x!tt.ptr<f32>>
               tt.store %yp, %again, %mask : tensor<8x16x!tt.ptr<f32>>""",
            "it is acq_rel, which orders other accesses",
        ),
        (
            "relaxed, gpu",
            "fadd",
            "f32",
            "tt.store %yp, %old, %mask : tensor<8x16x!tt.ptr<f32>>",
            "what it updates is also read by it",
        ),
    ],
)
def test_what_somebody_may_see_stays(
    order: str, kind: str, element: str, after: str, reason: str
) -> None:
    lowered, remarks = _lowered(_kernel(order, kind, element, after))
    assert f"core.atomic_rmw stays: {reason}" in remarks
    assert "atomic_red_view_tko" not in lowered
    assert f"atomic_rmw_tko {order.replace(', gpu', ' device').replace(', sys', ' sys')}" in lowered
