"""The maximum of a tile is scaled instead of the tile, and powers of what is left stay the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.seeds import fresh_generator
from xtile.text.diagnostics import Diagnostics
from xtile.transforms.scale_after_maximum import scale_after_maximum

_KERNEL = """
gpu.module @kernels {{
  gpu.func @k(%x: memref<4x8xf32>, %p: memref<4x8xf32>, %m: memref<4xf32>, %s: f32, %n: index,
      %before: memref<4xf32>) kernel attributes {{core.level = "tile"}} {{
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %pad = arith.constant 0.0 : f32
    %none = arith.constant dense<{none}> : vector<4xf32>
    %never = arith.constant dense<0xFF800000> : vector<4x8xf32>
    %minus = arith.constant dense<-1.0> : vector<1x8xf32>
    %a = vector.transfer_read %x[%c0, %c0], %pad {{in_bounds = [true, true]}}
        : memref<4x8xf32>, vector<4x8xf32>
    %so_far = vector.transfer_read %before[%c0], %pad {{in_bounds = [true]}}
        : memref<4xf32>, vector<4xf32>
    {scale}
    %scaled = arith.mulf %factor, %a : vector<4x8xf32>
    {mask}
    %r = vector.multi_reduction <{kind}>, %kept, {first} [1] : vector<4x8xf32> to vector<4xf32>
    {difference}
    %power = math.{power} : vector<4x8xf32>
    vector.transfer_write %power, %p[%c0, %c0] {{in_bounds = [true, true]}}
        : vector<4x8xf32>, memref<4x8xf32>
    vector.transfer_write %r, %m[%c0] {{in_bounds = [true]}} : vector<4xf32>, memref<4xf32>
    {more}
    gpu.return
  }}
}}
"""

_ARGUMENT = "%factor = vector.broadcast %s : f32 to vector<4x8xf32>"

SCALES = {
    "an argument": _ARGUMENT,
    "by two steps": (
        "%row = vector.broadcast %s : f32 to vector<8x1xf32>\n"
        "    %wide = vector.shape_cast %row : vector<8x1xf32> to vector<8xf32>\n"
        "    %factor = vector.broadcast %wide : vector<8xf32> to vector<4x8xf32>"
    ),
    "a constant": "%factor = arith.constant dense<0.3> : vector<4x8xf32>",
    "a negative constant": "%factor = arith.constant dense<-0.3> : vector<4x8xf32>",
}

_INSIDE = """
      %end = vector.broadcast %n : index to vector<8xindex>
      %at = vector.step : vector<8xindex>
      %line = arith.cmpi slt, %at, %end : vector<8xindex>
      %inside = vector.broadcast %line : vector<8xi1> to vector<4x8xi1>"""

MASKS = {
    "no mask": "%kept = arith.select %true, %scaled, %scaled : vector<4x8xf32>",
    "a mask": (
        _INSIDE + "\n      %kept = arith.select %inside, %scaled, %never"
        " : vector<4x8xi1>, vector<4x8xf32>"
    ),
    "a mask that is the other way round": (
        _INSIDE
        + "\n      %yes = arith.constant dense<true> : vector<4x8xi1>"
        + "\n      %outside = arith.xori %inside, %yes : vector<4x8xi1>"
        + "\n      %kept = arith.select %outside, %never, %scaled"
        " : vector<4x8xi1>, vector<4x8xf32>"
    ),
    "a mask in a branch": (
        "%is_cut = arith.cmpi slt, %n, %c8 : index\n"
        "    %kept = scf.if %is_cut -> (vector<4x8xf32>) {"
        + _INSIDE
        + "\n      %masked = arith.select %inside, %scaled, %never"
        " : vector<4x8xi1>, vector<4x8xf32>"
        "\n      scf.yield %masked : vector<4x8xf32>\n    } else {"
        "\n      scf.yield %scaled : vector<4x8xf32>\n    }"
    ),
}

DIFFERENCES = {
    "a difference": (
        "%column = vector.shape_cast %r : vector<4xf32> to vector<4x1xf32>\n"
        "    %largest = vector.broadcast %column : vector<4x1xf32> to vector<4x8xf32>\n"
        "    %left = arith.subf %kept, %largest : vector<4x8xf32>"
    ),
    "a product with -1": (
        "%column = vector.shape_cast %r : vector<4xf32> to vector<4x1xf32>\n"
        "    %left = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>,\n"
        "        affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],\n"
        '        iterator_types = ["parallel", "parallel", "reduction"],\n'
        "        kind = #vector.kind<add>} %column, %minus, %kept\n"
        "        : vector<4x1xf32>, vector<1x8xf32> into vector<4x8xf32>"
    ),
}


def kernel(
    *,
    scale: str = _ARGUMENT,
    mask: str = MASKS["a mask"],
    kind: str = "maxnumf",
    first: str = "%none",
    difference: str = DIFFERENCES["a difference"],
    power: str = "exp2 %left fastmath<afn>",
    more: str = "",
) -> str:
    """A softmax without its sum, of 8 numbers in each of 4 rows."""
    if mask == MASKS["no mask"]:
        mask, difference = "", difference.replace("%kept", "%scaled")
    text = _KERNEL.format(
        scale=scale,
        mask=mask,
        kind=kind,
        first=first,
        difference=difference,
        power=power,
        more=more,
        none="0x7FC00000" if kind == "maxnumf" else "0xFF800000",
    )
    return text if mask else text.replace("%kept", "%scaled")


def changed(text: str) -> str | None:
    """The text of a kernel after the pass; None if it is the same module."""
    module = xtile.parse(text, language="mlir")
    result = scale_after_maximum(module)
    return None if result is module else str(result)


def results(
    module: str | ModuleOp, x: np.ndarray, scale: float, count: int, before: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    powers, maxima = np.full((4, 8), np.nan, np.float32), np.full(4, np.nan, np.float32)
    xtile.run(module, [x, powers, maxima, np.float32(scale), count, before], device="reference")
    return powers, maxima


@pytest.mark.slow
@pytest.mark.parametrize("difference", DIFFERENCES.values(), ids=DIFFERENCES)
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
def test_powers_and_maxima_are_the_same(scale: str, mask: str, difference: str) -> None:
    random = fresh_generator()
    kind, first = random.choice(
        [("maxnumf", "%none"), ("maximumf", "%none"), ("maxnumf", "%so_far")]
    )
    text = kernel(scale=scale, mask=mask, difference=difference, kind=kind, first=first)
    after = changed(text)
    assert after is not None
    assert "arith.mulf %factor, %a" not in after
    assert after.count("math.fma") == 1
    x, before = (random.normal(0, 3, shape).astype(np.float32) for shape in ((4, 8), 4))
    for number in (0.125, -0.7, 3e5, -2e-30, 0.0, -0.0, 1e-44):
        count = int(random.integers(1, 9))
        wanted = results(text, x, number, count, before)
        found = results(after, x, number, count, before)
        # A factor below 2^-126 counts as that, which no power sees.
        tiny = 2.0**-120 if abs(number) < 2.0**-126 else 0.0
        np.testing.assert_allclose(found[1], wanted[1], rtol=0, atol=tiny)
        # The difference is rounded once instead of twice.
        size = np.abs(number * x).max() + np.abs(wanted[1]).max()
        np.testing.assert_allclose(found[0], wanted[0], rtol=1e-6 + size * 2.0**-22, atol=2.0**-120)


def test_what_is_no_number_stays_so() -> None:
    text = kernel()
    after = changed(text)
    assert after is not None
    x = fresh_generator().normal(0, 3, (4, 8)).astype(np.float32)
    x[0, 1], x[1, 2], x[2, 3] = np.nan, np.inf, -np.inf
    before = np.zeros(4, np.float32)
    for number in (0.5, -0.5, np.nan):
        wanted = results(text, x, number, 8, before)
        found = results(after, x, number, 8, before)
        np.testing.assert_array_equal(found[1], wanted[1])
        np.testing.assert_allclose(found[0], wanted[0], rtol=1e-5, atol=1e-30)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ({"power": "exp2 %left"}, "powers are to be as exact as they can be"),
        ({"kind": "minnumf"}, "the smallest number is subtracted"),
        ({"kind": "add"}, "the sum is subtracted"),
        ({"scale": "%factor = arith.constant dense<0.0> : vector<4x8xf32>"}, "all are the same"),
        ({"scale": "%factor = arith.addf %a, %a : vector<4x8xf32>"}, "each has its own scale"),
        (
            {
                "more": "vector.transfer_write %kept, %x[%c0, %c0] {in_bounds = [true, true]}"
                " : vector<4x8xf32>, memref<4x8xf32>"
            },
            "the scaled numbers are stored",
        ),
        (
            {
                "more": "vector.transfer_write %left, %x[%c0, %c0] {in_bounds = [true, true]}"
                " : vector<4x8xf32>, memref<4x8xf32>"
            },
            "the differences are stored",
        ),
        (
            {"mask": MASKS["a mask"].replace("%never", "%a")},
            "what is left out is not scaled",
        ),
        (
            {"mask": MASKS["a mask in a branch"].replace("scf.yield %scaled", "scf.yield %never")},
            "a branch leaves everything out, whatever the sign of the scale is",
        ),
        (
            {
                "difference": DIFFERENCES["a difference"].replace(
                    "%kept, %largest", "%largest, %kept"
                )
            },
            "numbers are subtracted from the maximum",
        ),
    ],
)
def test_other_tiles_are_scaled(words: dict[str, str], why: str) -> None:
    assert changed(kernel(**words)) is None, why


def test_a_remark_tells_of_it() -> None:
    diagnostics = Diagnostics()
    scale_after_maximum(xtile.parse(kernel(), language="mlir"), diagnostics)
    (remark,) = diagnostics
    assert remark.message == "the maximum is scaled instead of the tile, for native powers"


EXAMPLE = Path(__file__).parents[2] / "examples" / "flash_attention.ir"


@pytest.mark.slow
def test_attention_scales_maxima_unless_it_is_to_be_exact() -> None:
    texts = [
        xtile.to_text(xtile.port(EXAMPLE, "cuda_tile", exact=exact), "mlir")
        for exact in (False, True)
    ]
    assert [" minf " in text for text in texts] == [True, False]


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.125, -0.125, 0.0])
def test_attention_computes_the_same_with_every_scale(scale: float) -> None:
    random = fresh_generator()
    q, k, v = (
        np.asfortranarray(random.normal(0, 1, (64, 96, 1)).astype(np.float16)) for _ in range(3)
    )
    outputs: list[np.ndarray] = []
    for kernel in (xtile.parse(EXAMPLE), xtile.port(EXAMPLE, "cuda_tile", chip="sm_90")):
        o = np.full_like(q, np.nan)
        xtile.run(kernel, [q, k, v, o, scale], grid=(2, 1, 1), device="reference")
        outputs.append(o.astype(np.float64))
    np.testing.assert_allclose(outputs[1], outputs[0], rtol=0, atol=2e-3)
