"""The text of cooperative matrices, and what their verifier refuses."""

from __future__ import annotations

from io import StringIO

import pytest

from xtile.dialects.registry import make_context
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import Diagnostics
from xtile.text.mlir import print_mlir, read_mlir
from xtile.text.source import Source

A = "!core.cooperative_matrix<16x32xbf16, matrix_a>"
B = "!core.cooperative_matrix<32x16xbf16, matrix_b>"
C = "!core.cooperative_matrix<16x16xf32, accumulator>"
I8 = "!core.cooperative_matrix<16x64xi8, matrix_a>"

PARAMETERS = (
    "%m: memref<64x64xbf16>, %bits: memref<4x64x64xi16>, %words: memref<64x64xi32>, "
    "%flat: memref<64xbf16>, %spread: memref<8x8xbf16, strided<[64, 2]>>, "
    "%f: memref<64x64xf32>, %i: index, %x: f32, %n: i32"
)

LOADS = f"""\
%a = core.cooperative_matrix_load %m[%i, %i] : memref<64x64xbf16> -> {A}
%b = core.cooperative_matrix_load packed %words[%i, %i] : memref<64x64xi32> -> {B}
%c = core.cooperative_matrix_fill %x : f32 -> {C}
"""

RIGHT = [
    f"%r = core.cooperative_matrix_load packed %m[%i, %i] : memref<64x64xbf16> -> {B}",
    f"%r = core.cooperative_matrix_load %bits[%i, %i, %i] : memref<4x64x64xi16> -> {A}",
    f"%r = core.cooperative_matrix_load packed %words[%i, %i] : memref<64x64xi32> -> {I8}",
    f"%r = core.cooperative_matrix_multiply_add %a, %b, %c : {A}, {B}, {C} -> {C}",
    f"core.cooperative_matrix_store %c, %f[%i, %i] : {C}, memref<64x64xf32>",
]

WRONG: list[tuple[str, str]] = [
    (
        "%r = core.cooperative_matrix_fill %x : f32 -> !core.cooperative_matrix<0x1xf32, matrix_a>",
        "a cooperative matrix has at least one row and one column",
    ),
    (
        "%r = core.cooperative_matrix_fill %x : f32 -> !core.cooperative_matrix<1x1xf32, matrix_c>",
        "expected one of matrix_a, matrix_b, accumulator, got matrix_c",
    ),
    (
        (
            "%r = core.cooperative_matrix_fill %x : f32 "
            "-> !core.cooperative_matrix<1x1xindex, matrix_a>"
        ),
        "a cooperative matrix has no elements of index",
    ),
    (
        f"%r = core.cooperative_matrix_fill %n : i32 -> {C}",
        "expected a number of type f32, got i32",
    ),
    (
        f"%r = core.cooperative_matrix_load %flat[%i] : memref<64xbf16> -> {A}",
        "expected a memref of at least two dimensions, got memref<64xbf16>",
    ),
    (
        f"%r = core.cooperative_matrix_load %m[%i] : memref<64x64xbf16> -> {A}",
        "expected 2 indices for memref<64x64xbf16>, got 1",
    ),
    (
        (
            "%r = core.cooperative_matrix_load %spread[%i, %i] "
            f": memref<8x8xbf16, strided<[64, 2]>> -> {A}"
        ),
        "the last dimension must have stride 1",
    ),
    (
        f"%r = core.cooperative_matrix_load %f[%i, %i] : memref<64x64xf32> -> {A}",
        "expected elements of bf16 or i16, got memref<64x64xf32>",
    ),
    (
        f"%r = core.cooperative_matrix_load packed %f[%i, %i] : memref<64x64xf32> -> {B}",
        "expected elements of bf16 or i16, got memref<64x64xf32>",
    ),
    (
        f"%r = core.cooperative_matrix_load packed %words[%i, %i] : memref<64x64xi32> -> {C}",
        "an accumulator is not packed",
    ),
    (
        (
            "%r = core.cooperative_matrix_load packed %words[%i, %i] "
            ": memref<64x64xi32> -> !core.cooperative_matrix<16x8xf32, matrix_a>"
        ),
        "elements of type f32 do not fill words of 32 bits",
    ),
    (
        (
            "%r = core.cooperative_matrix_load packed %words[%i, %i] "
            ": memref<64x64xi32> -> !core.cooperative_matrix<31x16xbf16, matrix_b>"
        ),
        "31 elements of bf16 are no whole words",
    ),
    (
        f"core.cooperative_matrix_store %a, %f[%i, %i] : {A}, memref<64x64xf32>",
        "expected elements of bf16 or i16",
    ),
    (
        f"%r = core.cooperative_matrix_multiply_add %b, %a, %c : {B}, {A}, {C} -> {C}",
        "expected matrix_a, matrix_b, accumulator, got matrix_b, matrix_a, accumulator",
    ),
    (
        (
            "%s = core.cooperative_matrix_load packed %words[%i, %i] "
            ": memref<64x64xi32> -> !core.cooperative_matrix<16x16xbf16, matrix_b>\n"
            "%r = core.cooperative_matrix_multiply_add %a, %s, %c "
            f": {A}, !core.cooperative_matrix<16x16xbf16, matrix_b>, {C} -> {C}"
        ),
        "is not added to",
    ),
    (
        (
            "%s = core.cooperative_matrix_load packed %words[%i, %i] "
            ": memref<64x64xi32> -> !core.cooperative_matrix<32x16xf16, matrix_b>\n"
            "%r = core.cooperative_matrix_multiply_add %a, %s, %c "
            f": {A}, !core.cooperative_matrix<32x16xf16, matrix_b>, {C} -> {C}"
        ),
        "have elements of different types",
    ),
    (
        (
            "%s = core.cooperative_matrix_fill %n "
            ": i32 -> !core.cooperative_matrix<16x16xi32, accumulator>\n"
            f"%r = core.cooperative_matrix_multiply_add %a, %b, %s : {A}, {B}, "
            "!core.cooperative_matrix<16x16xi32, accumulator> "
            "-> !core.cooperative_matrix<16x16xi32, accumulator>"
        ),
        "matrix_a> are added up in f32",
    ),
    (
        f"%r = core.cooperative_matrix_multiply_add %a, %b, %c : {A}, {B}, {C} -> {A}",
        "the result has the type of the sums",
    ),
]


def text_of(lines: str) -> str:
    return f"""gpu.module @m {{
gpu.func @f({PARAMETERS}) kernel attributes {{core.level = "lane"}} {{
{LOADS}{lines}
gpu.return
}}
}}
"""


def errors_of(text: str) -> list[str]:
    diagnostics = Diagnostics()
    module = read_mlir(Source("k.mlir", text), diagnostics, make_context())
    if module is not None:
        verify_module(module, diagnostics)
    return [diagnostic.render().splitlines()[0] for diagnostic in diagnostics]


@pytest.mark.parametrize("line", RIGHT)
def test_text_comes_back(line: str) -> None:
    text = text_of(line)
    assert errors_of(text) == []
    module = read_mlir(Source("k.mlir", text), Diagnostics(), make_context())
    assert module is not None
    stream = StringIO()
    print_mlir(module, stream)
    printed = [line.strip() for line in stream.getvalue().splitlines()]
    assert [line for line in printed if "cooperative" in line] == [*LOADS.splitlines(), line]


@pytest.mark.parametrize(("lines", "message"), WRONG)
def test_wrong(lines: str, message: str) -> None:
    (error,) = errors_of(text_of(lines))
    assert message in error
