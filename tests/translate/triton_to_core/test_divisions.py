"""Elements that a mask leaves out may be divided by 0, in every language that a kernel becomes."""

from __future__ import annotations

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from tests.translate.triton_to_core.ways import computed
from xtile.semantics.errors import ExecutionError
from xtile.translate.route import Options, translate

DIVISIONS = ("divsi", "divui", "remsi", "remui")
SIZE = 64


def _wanted(name: str, a: int, b: int) -> int:
    if name.endswith("ui"):
        a, b = a % 2**32, b % 2**32
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    made = quotient if name.startswith("div") else a - quotient * b
    return (made + 2**31) % 2**32 - 2**31


@pytest.mark.parametrize("name", DIVISIONS)
def test_divisors_that_are_0_change_no_other_element(name: str) -> None:
    random = fresh_generator()
    a = random.integers(-(2**31), 2**31, SIZE).astype(np.int32)
    b = random.integers(-9, 9, SIZE).astype(np.int32)
    b[::7] = 0
    body = f"%r0 = arith.{name} %0, %1 : tensor<{SIZE}xi32>"
    for way, (found,) in computed(body, [a, b], [((SIZE,), "i32")]):
        used = [i for i in range(SIZE) if b[i] and (a[i], b[i]) != (-(2**31), -1)]
        assert len(used) > SIZE // 2
        assert [found[i] for i in used] == [_wanted(name, int(a[i]), int(b[i])) for i in used], way


_MASKED = f"""
tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %n: i32) {{
  %i = tt.make_range {{end = {SIZE} : i32, start = 0 : i32}} : tensor<{SIZE}xi32>
  %ns = tt.splat %n : i32 -> tensor<{SIZE}xi32>
  %mask = arith.cmpi slt, %i, %ns : tensor<{SIZE}xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<{SIZE}x!tt.ptr<i32>>
  %xa = tt.addptr %xs, %i : tensor<{SIZE}x!tt.ptr<i32>>, tensor<{SIZE}xi32>
  %zero = arith.constant dense<0> : tensor<{SIZE}xi32>
  %b = tt.load %xa, %mask, %zero : tensor<{SIZE}x!tt.ptr<i32>>
  %a = arith.constant dense<1000> : tensor<{SIZE}xi32>
  %q = arith.divsi %a, %b : tensor<{SIZE}xi32>
  %ys = tt.splat %y : !tt.ptr<i32> -> tensor<{SIZE}x!tt.ptr<i32>>
  %ya = tt.addptr %ys, %i : tensor<{SIZE}x!tt.ptr<i32>>, tensor<{SIZE}xi32>
  tt.store %ya, %q, %mask : tensor<{SIZE}x!tt.ptr<i32>>
  tt.return
}}"""


@pytest.mark.parametrize(
    ("route", "chip"),
    [
        (None, None),
        ("triton-to-cuda_tile", "sm_90"),
        ("triton-to-amdg", "gfx942"),
        ("triton-to-xegpu", "pvc"),
        ("triton-to-tensorlang", None),
    ],
)
def test_what_a_mask_leaves_out(route: str | None, chip: str | None) -> None:
    module = xtile.parse(_MASKED, language="mlir")
    if route is not None:
        module = translate(module, route, Options(chip))
    x = fresh_generator().integers(1, 99, SIZE).astype(np.int32)
    y = np.full(SIZE, 77, np.int32)
    xtile.run(module, [x, y, 50])
    assert [*y[:50]] == [*(1000 // x[:50])]
    assert set(y[50:]) == {77}


def test_a_number_that_is_0() -> None:
    """No mask leaves it out."""
    body = "%r0 = arith.divsi %0, %1 : i32"
    with pytest.raises(ExecutionError, match="division by zero"):
        list(computed(body, [np.int32(4), np.int32(0)], [((), "i32")]))
