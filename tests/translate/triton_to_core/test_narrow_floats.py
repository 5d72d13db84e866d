"""Casts to floats of 8 bits saturate in every language that they become, as Triton's do."""

from __future__ import annotations

from typing import Any, cast

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.seeds import fresh_generator
from xtile.text.diagnostics import DiagnosticError
from xtile.translate.route import translate

TYPES = {
    "f8E4M3FN": "float8_e4m3fn",
    "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E5M2": "float8_e5m2",
    "f8E5M2FNUZ": "float8_e5m2fnuz",
}
SIZE = 64


def _kernel(source: str, target: str, mode: str) -> str:
    given, made = f"tensor<{SIZE}x!tt.ptr<{source}>>", f"tensor<{SIZE}x!tt.ptr<{target}>>"
    return f"""
    tt.func public @k(%x: !tt.ptr<{source}>, %y: !tt.ptr<{target}>) {{
      %i = tt.make_range {{end = {SIZE} : i32, start = 0 : i32}} : tensor<{SIZE}xi32>
      %xs = tt.splat %x : !tt.ptr<{source}> -> {given}
      %xa = tt.addptr %xs, %i : {given}, tensor<{SIZE}xi32>
      %v = tt.load %xa : {given}
      %r = tt.fp_to_fp %v, rounding = {mode} : tensor<{SIZE}x{source}> -> tensor<{SIZE}x{target}>
      %ys = tt.splat %y : !tt.ptr<{target}> -> {made}
      %ya = tt.addptr %ys, %i : {made}, tensor<{SIZE}xi32>
      tt.store %ya, %r : {made}
      tt.return
    }}"""


def _numbers(dtype: Any, largest: float) -> Any:
    """Random numbers of all sizes, and those about the largest one."""
    random = fresh_generator()
    edges = [0, -0.0, largest, -largest, largest * 1.03, largest * 1.07, -largest * 2, 6e4, -6e4]
    edges += [np.inf, -np.inf, np.nan]
    sizes = 2.0 ** random.uniform(-20, 15, SIZE - len(edges))
    signs = random.choice([-1, 1], sizes.size)
    with np.errstate(over="ignore"):
        return np.array([*edges, *(sizes * signs)]).astype(dtype)


def _wanted(numbers: Any, dtype: Any, mode: str) -> Any:
    """Rounded once, by a search in all numbers of the type."""
    numpy: Any = np
    all_numbers = numpy.arange(256, dtype=np.uint8).view(dtype).astype(np.float64)
    grid = numpy.unique(numpy.abs(all_numbers[numpy.isfinite(all_numbers)]))
    exact = numbers.astype(np.float64)
    sizes = numpy.minimum(numpy.abs(exact), grid[-1])
    below = numpy.maximum(numpy.searchsorted(grid, sizes, side="right") - 1, 0)
    above = numpy.minimum(below + 1, grid.size - 1)
    down, up = sizes - grid[below], grid[above] - sizes
    # Neighbours are even and odd by turns, from 0 on.
    goes_up = (up < down) | ((up == down) & (below % 2 == 1))
    chosen = numpy.where(goes_up & (mode == "rtne"), grid[above], grid[below])
    return numpy.where(numpy.isnan(exact), numpy.nan, numpy.copysign(chosen, exact))


def _run(module: ModuleOp, numbers: Any, dtype: Any, device: str = "reference") -> Any:
    out = np.full(SIZE, np.nan, np.float32).astype(dtype)
    xtile.run(module, [numbers, out], device=device)
    return out.astype(np.float64)


@pytest.mark.parametrize("mode", ["rtne", "rtz"])
@pytest.mark.parametrize("source", ["f32", "f16"])
@pytest.mark.parametrize("target", TYPES)
def test_casts_saturate(target: str, source: str, mode: str) -> None:
    dtype = getattr(ml_dtypes, TYPES[target])
    given = np.float32 if source == "f32" else np.float16
    numbers = _numbers(given, float(cast(Any, ml_dtypes.finfo(dtype)).max))
    module = xtile.parse(_kernel(source, target, mode), language="mlir")
    wanted = _wanted(numbers, dtype, mode)
    raised = translate(module, "triton-to-core")
    made = [module, raised, translate(raised, "core-to-triton"), translate(raised, "core-to-xegpu")]
    if not target.endswith("FNUZ"):
        made.append(translate(raised, "core-to-cuda_tile"))
    for each in made:
        np.testing.assert_array_equal(_run(each, numbers, dtype), wanted)
    if mode == "rtne":
        np.testing.assert_array_equal(_run(module, numbers, dtype, "opencl"), wanted)
    else:
        with pytest.raises(DiagnosticError, match="rounded to nearest, ties to even, only"):
            _run(module, numbers, dtype, "opencl")
