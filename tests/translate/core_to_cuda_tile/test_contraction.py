"""Kernels of Triton compute in f32 what Triton's own compiler makes of them for NVIDIA's GPUs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from xtile.translate.route import translate

SIZE = 16


def _kernel(*lines: str, element: str = "f32") -> str:
    """Stores %r, which the lines compute of %a, %b and %c, over the first array."""
    tile, pointers = f"tensor<{SIZE}x{element}>", f"tensor<{SIZE}x!tt.ptr<{element}>>"
    loads = [
        f"%{name}s = tt.splat %{name}p : !tt.ptr<{element}> -> {pointers}\n"
        f"%{name}a = tt.addptr %{name}s, %i : {pointers}, tensor<{SIZE}xi32>\n"
        f"%{name} = tt.load %{name}a : {pointers}"
        for name in "abc"
    ]
    body = "\n".join([*loads, *(f"{line} : {tile}" for line in lines)])
    pointer = f"!tt.ptr<{element}>"
    return f"""
    tt.func public @k(%ap: {pointer}, %bp: {pointer}, %cp: {pointer}) {{
      %i = tt.make_range {{end = {SIZE} : i32, start = 0 : i32}} : tensor<{SIZE}xi32>
      {body}
      tt.store %aa, %r : {pointers}
      tt.return
    }}"""


def _lowered(text: str) -> str:
    module = translate(xtile.parse(text, language="mlir"), "triton-to-cuda_tile")
    return xtile.to_text(module, "mlir")


def _operations(text: str) -> list[str]:
    """The operations on floats, in the order of the text."""
    return re.findall(r" = (addf|divf|exp2?|fma|mulf|negf|subf)\b", text)


PRODUCT = "%p = arith.mulf %a, %b"

Formula: TypeAlias = Callable[[Any, Any, Any], Any]
"""What is computed of %a, %b and %c."""

Case: TypeAlias = "tuple[tuple[str, ...], list[str], Formula]"
"""The lines, the operations of CUDA Tile IR on floats, and the formula."""

FUSED: dict[str, Case] = {
    "sum": ((PRODUCT, "%r = arith.addf %p, %c"), ["fma"], lambda a, b, c: a * b + c),
    "sum, product last": ((PRODUCT, "%r = arith.addf %c, %p"), ["fma"], lambda a, b, c: a * b + c),
    "difference": ((PRODUCT, "%r = arith.subf %p, %c"), ["negf", "fma"], lambda a, b, c: a * b - c),
    "from": ((PRODUCT, "%r = arith.subf %c, %p"), ["negf", "fma"], lambda a, b, c: c - a * b),
    "two products": (
        (PRODUCT, "%q = arith.mulf %b, %c", "%r = arith.addf %p, %q"),
        ["mulf", "fma"],
        lambda a, b, c: a * b + b * c,
    ),
    "square": (
        (PRODUCT, "%q = arith.mulf %p, %p", "%r = arith.addf %q, %c"),
        ["mulf", "fma"],
        lambda a, b, c: (a * b) ** 2 + c,
    ),
}

APART: dict[str, Case] = {
    "two users": (
        (PRODUCT, "%q = arith.addf %p, %c", "%r = arith.subf %q, %p"),
        ["mulf", "addf", "subf"],
        lambda a, b, c: a * b + c - a * b,
    ),
    "its own double": (
        (PRODUCT, "%r = arith.addf %p, %p"),
        ["mulf", "addf"],
        lambda a, b, c: a * b * 2,
    ),
}


@pytest.mark.parametrize("name", [*FUSED, *APART])
def test_a_product_that_only_a_sum_uses_is_rounded_with_it(name: str) -> None:
    lines, operations, wanted = {**FUSED, **APART}[name]
    text = _kernel(*lines)
    lowered = _lowered(text)
    assert _operations(lowered) == operations
    a, b, c = fresh_generator().standard_normal((3, SIZE)).astype(np.float32)
    exact = wanted(*(each.astype(np.float64) for each in (a, b, c)))
    size = np.abs(a * b) * 2 + np.abs(b * c) + np.abs(c) + (a * b) ** 2
    for each in (text, lowered):
        found = a.copy()
        xtile.run(xtile.parse(each, language="mlir"), [found, b, c])
        np.testing.assert_array_less(np.abs(found - exact), size * 2.0**-21)


@pytest.mark.parametrize("element", ["f16", "f64"])
def test_other_types_are_rounded_as_they_are_written(element: str) -> None:
    lowered = _lowered(_kernel(PRODUCT, "%r = arith.addf %p, %c", element=element))
    assert _operations(lowered) == ["mulf", "addf"]


def test_kernels_of_other_languages_are_rounded_as_they_are_written() -> None:
    text = """cuda_tile.module @m {
      entry @k(%p: tile<ptr<f32>>) {
        %a, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
        %b = mulf %a, %a : tile<f32>
        %c = subf %b, %a : tile<f32>
        %u = store_ptr_tko weak %p, %c token=%t : tile<ptr<f32>>, tile<f32> -> token
        return
      }
    }"""
    raised = translate(xtile.parse(text, language="mlir"), "cuda_tile-to-core")
    back = xtile.to_text(translate(raised, "tile-to-cuda_tile"), "mlir")
    assert _operations(back) == ["mulf", "subf"]


@pytest.mark.parametrize(
    ("line", "operation", "word"),
    [
        ("%r = arith.divf %a, %b", "divf", "rounding<full>"),
        ("%r = math.exp2 %a", "exp2", "flush_to_zero"),
        ("%r = math.exp %a", "exp", "rounding<approx>"),
    ],
)
def test_functions_are_as_exact_as_triton_has_them(line: str, operation: str, word: str) -> None:
    (found,) = re.findall(rf" = {operation} .*", _lowered(_kernel(line)))
    assert word in found
    (wide,) = re.findall(rf" = {operation} .*", _lowered(_kernel(line, element="f64")))
    assert word not in wide


def test_a_precise_quotient_stays_precise() -> None:
    lowered = _lowered(_kernel("%r = tt.precise_divf %a, %b"))
    (found,) = re.findall(r" = divf .*", lowered)
    assert "rounding" not in found
