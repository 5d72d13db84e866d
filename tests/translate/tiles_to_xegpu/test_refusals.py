"""What XeGPU has no words for, in the words of the source and at its source span."""

from __future__ import annotations

import pytest

import xtile
from tests.translate.tiles_to_xegpu.ported import as_xegpu, tile_kernel
from xtile.text.diagnostics import DiagnosticError


def _error(text: str, language: str = "mlir") -> str:
    with pytest.raises(DiagnosticError) as raised:
        as_xegpu(xtile.parse(text, language=language))  # pyright: ignore[reportArgumentType]
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.span is not None
    return diagnostic.message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "%old = tt.atomic_cas acq_rel, gpu, %p, %n, %n : (!tt.ptr<i32>, i32, i32) -> i32",
            (
                "tt.atomic_cas cannot be translated to XeGPU at level work-group: XeGPU has no "
                "compare-and-swap; use core.atomic_rmw"
            ),
        ),
        (
            'tt.print " n: " {hex = false, isSigned = array<i32: 1>} : %n : i32',
            (
                "tt.print cannot be translated to XeGPU at level work-group: XeGPU has no "
                "printing of a work-group"
            ),
        ),
        (
            """%true = arith.constant true
            %old = tt.atomic_rmw add, relaxed, sys, %p, %n, %true : (!tt.ptr<i32>, i32, i1) -> i32
            tt.store %p, %old : !tt.ptr<i32>""",
            (
                "XeGPU's fences are for the work-group and for the GPU, none for the system; "
                "use the scope device"
            ),
        ),
        (
            """%words = tt.splat %w : i64 -> tensor<16xi64>
            %at = tt.int_to_ptr %words : tensor<16xi64> -> tensor<16x!tt.ptr<i32>>
            %x = tt.load %at : tensor<16x!tt.ptr<i32>>
            tt.store %at, %x : tensor<16x!tt.ptr<i32>>""",
            (
                "XeGPU's loads and stores have one base, but nothing tells from which pointer "
                "these pointers are counted; add offsets to a pointer"
            ),
        ),
        (
            """%ps = tt.splat %p : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
            %qs = tt.splat %q : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
            %range = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
            %limit = tt.splat %n : i32 -> tensor<16xi32>
            %first = arith.cmpi slt, %range, %limit : tensor<16xi32>
            %at = arith.select %first, %ps, %qs : tensor<16xi1>, tensor<16x!tt.ptr<i32>>
            %x = tt.load %at : tensor<16x!tt.ptr<i32>>
            tt.store %ps, %x : tensor<16x!tt.ptr<i32>>""",
            (
                "these pointers are counted from several pointers, and XeGPU's loads and stores "
                "have one base; choose among the values that are loaded"
            ),
        ),
    ],
)
def test_what_triton_says_and_xegpu_has_not(body: str, message: str) -> None:
    text = f"""
    tt.func public @k(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %n: i32, %w: i64) {{
      {body}
      tt.return
    }}
    """
    assert _error(text, "ttir") == message


@pytest.mark.parametrize(
    ("parameters", "body", "message"),
    [
        (
            "%a: memref<4xf32>, %b: memref<4xf32>",
            "memref.copy %a, %b : memref<4xf32> to memref<4xf32>",
            (
                "memref.copy cannot be translated to XeGPU at level work-group: XeGPU copies "
                "vectors; load and store them"
            ),
        ),
        (
            "%a: memref<4xf32>, %b: memref<4xf32>, %p: i1",
            """%m = scf.if %p -> (memref<4xf32>) { scf.yield %a : memref<4xf32> }
                else { scf.yield %b : memref<4xf32> }
                %x = memref.load %m[%c0] : memref<4xf32>
                memref.store %x, %a[%c0] : memref<4xf32>""",
            "memory cannot pass through control flow in XeGPU; pass a pointer",
        ),
        (
            "%x: f32, %y: f32, %a: memref<4xf32>",
            """%z = arith.addf %x, %y {core.rounding = "upward"} : f32
                memref.store %z, %a[%c0] : memref<4xf32>""",
            "arith.addf with core.rounding cannot be translated to XeGPU at level work-group",
        ),
        (
            "%z: complex<f32>, %a: memref<4xf32>",
            """%x = complex.re %z : complex<f32>
                memref.store %x, %a[%c0] : memref<4xf32>""",
            (
                "complex.re cannot be translated: XeGPU at level work-group has no complex "
                "numbers; ask for level lane"
            ),
        ),
    ],
)
def test_what_the_core_form_says_and_xegpu_has_not(
    parameters: str, body: str, message: str
) -> None:
    assert _error(tile_kernel(parameters, body)) == message


def test_a_level_that_kernels_of_tiles_do_not_become() -> None:
    module = xtile.parse("tt.func public @k() {\n  tt.return\n}\n", language="ttir")
    with pytest.raises(DiagnosticError) as raised:
        xtile.translate(module, "xegpu", xegpu_level="vc")
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.span is not None
    assert diagnostic.message == (
        '@k is a kernel of Triton, which becomes XeGPU at level "work-group", "subgroup" or "lane" '
        'so far and not at level "vc"; ask for level "work-group", "subgroup" or "lane", or for '
        "none"
    )


def test_tiles_become_lanes_where_they_are_asked_for() -> None:
    kernel = tile_kernel(
        "%a: memref<64xf32>",
        """%zero = arith.constant 0.0 : f32
        %v = vector.transfer_read %a[%c0], %zero {in_bounds = [true]}
            : memref<64xf32>, vector<64xf32>
        vector.transfer_write %v, %a[%c0] {in_bounds = [true]} : vector<64xf32>, memref<64xf32>""",
    )
    module = xtile.parse(kernel, language="mlir")
    text = xtile.to_text(xtile.translate(module, "xegpu", xegpu_level="lane"), "mlir")
    assert "gpu.lane_id" in text
    assert "vector<64xf32>" not in text
