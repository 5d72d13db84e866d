"""Products of matrix units: which chips have them, and K where the text leaves it out."""

from __future__ import annotations

import pytest

import xtile
from tests.dialects.triton.modules import module_text, printed_for
from tests.triton_releases.folders import releases
from tests.triton_releases.judges import judge
from xtile.dialects.triton.versions import OLDEST, V3_5, V3_6, parse_release
from xtile.text.diagnostics import DiagnosticError

MFMA = (
    "#ttg.amd_mfma<{{version = {}, warpsPerCTA = [4, 1], instrShape = [{}], isTransposed = true}}>"
)
WMMA = "#ttg.amd_wmma<{{version = {}, isTranspose = true, warpsPerCTA = [4, 1]{}}}>"


def _product(
    layout: str, element: str, width: int, *, chip: str, depth: int = 64, more: str = ""
) -> str:
    a, b = (f"#ttg.dot_op<{{opIdx = {n}, parent = #mma, kWidth = {width}}}>" for n in (0, 1))
    left, right = f"tensor<64x{depth}x{element}, {a}>", f"tensor<{depth}x64x{element}, {b}>"
    sums = {"i8": "i32", "f64": "f64"}.get(element, "f32")
    result = f"tensor<64x64x{sums}, #mma>"
    return module_text(
        f"%r = tt.dot %a, %b, %c{more} : {left} * {right} -> {result}",
        f"%a: {left}, %b: {right}, %c: {result}",
        layouts=f"#mma = {layout}",
        chip=chip,
        lanes=64 if "mfma" in layout else 32,
    )


THERE = [
    (MFMA.format(3, "32, 32, 8"), "f16", 4, "gfx942", ""),
    (MFMA.format(3, "16, 16, 16"), "bf16", 4, "gfx942", ""),
    (MFMA.format(3, "16, 16, 8"), "f32", 2, "gfx942", ", inputPrecision = tf32"),
    (MFMA.format(3, "64, 4, 64"), "f16", 4, "gfx942", ""),
    (MFMA.format(3, "32, 32, 8"), "f16", 4, "gfx950", ""),
    (MFMA.format(4, "32, 32, 16"), "f8E5M2", 8, "gfx950", ""),
    (MFMA.format(2, "32, 32, 4"), "bf16", 2, "gfx90a", ""),
    (WMMA.format(1, ""), "f16", 16, "gfx1100", ""),
    (WMMA.format(2, ""), "f16", 8, "gfx1201", ""),
    (WMMA.format(3, ", instrShape = [16, 16, 32]"), "f16", 16, "gfx1250", ""),
]


@pytest.mark.parametrize(("layout", "element", "width", "chip", "more"), THERE)
def test_products_that_chips_have(
    layout: str, element: str, width: int, chip: str, more: str
) -> None:
    xtile.parse(_product(layout, element, width, chip=chip, more=more), language="mlir")


MISSING = [
    (MFMA.format(3, "32, 32, 4"), "f16", 4, "gfx942", "has no MFMA version 3 of 32x32x4 of f16"),
    (MFMA.format(3, "32, 32, 8"), "f32", 4, "gfx942", "it has 32x32x2"),
    (MFMA.format(4, "32, 32, 16"), "f16", 8, "gfx942", "it has 32x32x8"),
    (MFMA.format(3, "16, 16, 4"), "i8", 4, "gfx90a", "nor another one of 16x16"),
    (MFMA.format(3, "64, 4, 16"), "f16", 4, "gfx942", "it has 64x4x64"),
    (
        WMMA.format(2, ""),
        "f16",
        8,
        "gfx1100",
        "is for version 2 of WMMA, but gfx1100 has version 1",
    ),
    (
        WMMA.format(1, ""),
        "f16",
        16,
        "gfx1250",
        "is for version 1 of WMMA, but gfx1250 has version 3",
    ),
    (WMMA.format(1, ""), "f32", 16, "gfx1100", "nor another one of 16x16"),
    (MFMA.format(3, "32, 32, 8"), "f16", 4, "gfx1100", "a warp of gfx1100 has 32 lanes"),
    (WMMA.format(1, ""), "f16", 16, "gfx942", "a warp of gfx942 has 64 lanes"),
]


@pytest.mark.parametrize(("layout", "element", "width", "chip", "message"), MISSING)
def test_products_that_chips_lack(
    layout: str, element: str, width: int, chip: str, message: str
) -> None:
    """Triton reads them, and fails or aborts where it compiles them."""
    with pytest.raises(DiagnosticError) as error:
        xtile.parse(_product(layout, element, width, chip=chip), language="mlir")
    assert message in str(error.value)


LEFT_OUT = [
    (3, "32, 32", "f16", 4, 64, "", 8),
    (3, "16, 16", "f16", 4, 64, "", 16),
    (3, "32, 32", "f32", 2, 64, ", inputPrecision = tf32", 4),
    (3, "32, 32", "f32", 1, 64, "", 2),
    (3, "16, 16", "i8", 8, 64, "", 32),
    (3, "32, 32", "f8E4M3FNUZ", 8, 64, "", 16),
    (4, "16, 16", "f16", 8, 64, "", 32),
    (4, "16, 16", "f16", 4, 16, "", 16),
]
"""Version, M and N, elements, kWidth, K of the tensors, precision, and K of the instruction."""


@pytest.mark.parametrize(
    ("version", "shape", "element", "width", "size", "more", "depth"), LEFT_OUT
)
def test_the_depth_of_an_instruction_follows_from_the_product(
    version: int, shape: str, element: str, width: int, size: int, more: str, depth: int
) -> None:
    """It is what Triton 3.6 to 3.9 choose for the same kernel."""
    chip = "gfx942" if version == 3 else "gfx950"
    layout = MFMA.format(version, shape)
    module = xtile.parse(
        _product(layout, element, width, chip=chip, depth=size, more=more), language="mlir"
    )
    assert f"instrShape = [{shape}, {depth}]" in printed_for(module, V3_6)
    assert f"instrShape = [{shape}]" in printed_for(module, V3_5)
    for release in releases():
        text = printed_for(module, parse_release(release))
        if parse_release(release) > OLDEST or element != "f8E4M3FNUZ":
            verdict = judge(release, text, chip=chip)
            assert verdict.accepted, (verdict.said, text)


def test_a_layout_without_a_product_has_no_depth() -> None:
    text = module_text(
        "%y = tt.splat %x : f32 -> tensor<64x64xf32, #mma>",
        "%x: f32",
        layouts=f"#mma = {MFMA.format(3, '32, 32')}",
    )
    with pytest.raises(DiagnosticError, match=r"3\.6 also needs K"):
        printed_for(xtile.parse(text, language="mlir"), V3_6)
