"""Products with scales: what a chip's matrix unit computes, and what the others are composed of."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.seeds import fresh_generator
from tests.semantics.triton.programs import kernel
from tests.translate.triton_to_amdg.laid_out import laid_out, of_corpus, run, said_of
from tests.triton_kernels.corpus import CASES
from tests.triton_releases.judges import NEWEST, assembled, compiled
from xtile.dialects.triton.encodings.matrix_units import AMDMfmaEncodingAttr
from xtile.dialects.triton.operation import encoding_of, shape_of
from xtile.dialects.triton.tt.ops.products import DotScaledOp
from xtile.dialects.walk import walk
from xtile.translate.route import Options, translate
from xtile.translate.triton_to_amdg.scaled_products import ScaledUnit, layout_of_scales

M, N, K = 32, 64, 128

TYPES = {
    "e4m3": ("f8E4M3FN", ml_dtypes.float8_e4m3fn),
    "e5m2": ("f8E5M2", ml_dtypes.float8_e5m2),
    "e2m1": ("i8", np.int8),
    "bf16": ("bf16", ml_dtypes.bfloat16),
    "fp16": ("f16", np.float16),
}
"""What holds the elements of each kind."""

SCALED = ("e4m3", "e5m2", "e2m1")


def factor(kind: str, rows: int, columns: int, axis: int) -> Any:
    """Random numbers, of 4 bits two in a byte along an axis."""
    generator = fresh_generator()
    if kind == "e2m1":
        shape = [rows, columns]
        shape[axis] //= 2
        return generator.integers(-128, 128, shape, np.int8)
    return generator.standard_normal((rows, columns)).astype(TYPES[kind][1])


def scales(rows: int) -> Any:
    """Random exponents, and one NaN."""
    made = fresh_generator().integers(110, 140, (rows, K // 32), np.uint8)
    made[3, 1] = 255
    return made.view(np.int8)


def product(left: str, right: str, packs: bool = True) -> tuple[ModuleOp, list[Any]]:
    """A kernel with one product, and its arguments; what has 16 bits has no scales."""
    a = factor(left, M, K, 1 if packs else 0)
    b = factor(right, K, N, 0 if packs else 1)
    operands: list[Any] = [a, b, fresh_generator().standard_normal((M, N)).astype(np.float32)]
    words: list[str] = []
    types: list[str] = []
    for number, (kind, rows) in enumerate(((left, M), (right, N))):
        word = f"%{number}"
        type_ = f"tensor<{'x'.join(map(str, operands[number].shape))}x{TYPES[kind][0]}>"
        if kind in SCALED:
            word += f" scale %{len(operands)}"
            type_ += f", tensor<{rows}x{K // 32}xi8>"
            operands.append(scales(rows))
        words.append(word)
        types.append(type_)
    flags = "" if packs else ", lhs_k_pack = false, rhs_k_pack = false"
    body = (
        f"%r0 = tt.dot_scaled {words[0]}, {words[1]}, %2 lhs = {left} rhs = {right} "
        f"{{fastMath = false{flags}}} : {types[0]} * {types[1]} -> tensor<{M}x{N}xf32>"
    )
    return kernel(body, operands, [((M, N), "f32")])


def result(module: ModuleOp, arguments: list[Any]) -> Any:
    """What a kernel writes."""
    given = [each.copy() for each in arguments]
    xtile.run(module, given)
    return given[-1]


PAIRS = [
    ("e4m3", "e4m3"),
    ("e5m2", "e2m1"),
    ("e2m1", "e2m1"),
    ("bf16", "e4m3"),
    ("e5m2", "fp16"),
]


@pytest.mark.parametrize("chip", ["gfx950", "gfx942", "gfx1100"])
@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_products(left: str, right: str, chip: str) -> None:
    """The same numbers, to the bit: factors with their scales are exact in bf16."""
    module, arguments = product(left, right)
    made = laid_out(module, chip, 4)
    wanted = result(module, arguments)
    assert np.isnan(wanted).any()
    np.testing.assert_array_equal(result(made, arguments), wanted)
    is_whole = any(isinstance(each, DotScaledOp) for each in walk(made))
    assert is_whole == (chip == "gfx950" and left in SCALED and right in SCALED)


@pytest.mark.slow
def test_packed_along_the_other_dimension() -> None:
    module, arguments = product("e2m1", "e2m1", packs=False)
    made = laid_out(module, "gfx950", 4)
    np.testing.assert_array_equal(result(made, arguments), result(module, arguments))


@pytest.mark.slow
@pytest.mark.parametrize("size", [32, 128])
def test_layouts_of_scales_are_those_of_triton(size: int) -> None:
    """Each lane has the scales of the elements that it multiplies."""
    case = CASES["matmul_mxfp8"]()
    constants = {**case.constants, "M": size, "N": size, "BLOCK_K": 128}
    source = replace(case, constants=constants).source()
    verdict = compiled(NEWEST, source, "gfx950", "ttgir")
    module = xtile.parse(verdict.text, language="ttgir")
    dot = next(each for each in walk(module) if isinstance(each, DotScaledOp))
    result = encoding_of(dot.d.type)
    assert isinstance(result, AMDMfmaEncodingAttr)
    rows, _, depth = result.instr_shape.data
    for index, scale in enumerate((dot.a_scale, dot.b_scale)):
        assert scale is not None
        unit, warps = ScaledUnit(rows, depth), result.warps_per_cta.data
        expected = layout_of_scales(unit, shape_of(scale.type), tuple(warps), index)
        assert encoding_of(scale.type) == expected


@pytest.mark.parametrize(
    ("chip", "instruction"),
    [("gfx950", "v_mfma_scale_f32_32x32x64_f8f6f4"), ("gfx942", "v_mfma_f32_32x32x8_bf16")],
)
def test_machine_code(chip: str, instruction: str) -> None:
    made = laid_out(of_corpus("matmul_mxfp8_mxfp4"), chip, 1)
    assert not said_of(made, NEWEST, chip)
    run(made, CASES["matmul_mxfp8_mxfp4"]())
    verdict = assembled(NEWEST, xtile.to_text(made, "mlir"), chip, "ttgir")
    assert verdict.accepted, verdict.said
    assert re.search(rf"^\t{instruction}", verdict.text, re.MULTILINE)


@pytest.mark.parametrize("kinds", [("e4m3", "e4m3"), ("e2m1", "e5m2"), ("bf16", "e2m1")])
def test_through_the_core_form(kinds: tuple[str, str]) -> None:
    """They stay products with scales in Triton again."""
    module, arguments = product(*kinds)
    core = translate(module, "triton-to-core")
    again = translate(core, "core-to-triton", Options("gfx950"))
    (dot,) = [each for each in walk(again) if isinstance(each, DotScaledOp)]
    assert [each.name.lower() for each in dot.elements] == list(kinds)
    np.testing.assert_array_equal(result(again, arguments), result(module, arguments))
