"""Floats of 4, 6 and 8 bits on OpenCL's CPU device: conversions in every bit, and products."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from xtile.text.diagnostics import DiagnosticError
from xtile.translate.route import Options, translate

Array = np.ndarray[Any, Any]

TYPES = {
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
    "f6E2M3FN": ml_dtypes.float6_e2m3fn,
    "f6E3M2FN": ml_dtypes.float6_e3m2fn,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
}

_TILE = 'core.level = "tile", known_block_size = array<i32: 1, 1, 1>'

_SUBGROUP = (
    'core.level = "subgroup", intel_reqd_sub_group_size = 16 : i32, '
    "known_block_size = array<i32: 16, 1, 1>"
)


def _conversions(type_: str, source: str, count: int) -> str:
    return f"""
    gpu.module @m {{
      gpu.func @k(%x: memref<{count}x{source}>, %near: memref<{count}x{type_}>,
          %wide: memref<{count}x{source}>, %cut: memref<{count}x{type_}>) kernel
          attributes {{{_TILE}}} {{
        %c0 = arith.constant 0 : index
        %v = vector.load %x[%c0] : memref<{count}x{source}>, vector<{count}x{source}>
        %n = arith.truncf %v : vector<{count}x{source}> to vector<{count}x{type_}>
        vector.store %n, %near[%c0] : memref<{count}x{type_}>, vector<{count}x{type_}>
        %w = arith.extf %n : vector<{count}x{type_}> to vector<{count}x{source}>
        vector.store %w, %wide[%c0] : memref<{count}x{source}>, vector<{count}x{source}>
        %s = arith.truncf %v {{core.saturate}}
            : vector<{count}x{source}> to vector<{count}x{type_}>
        vector.store %s, %cut[%c0] : memref<{count}x{type_}>, vector<{count}x{type_}>
        gpu.return
      }}
    }}"""


def _numbers(dtype: Any, source: Any) -> Array:
    """All numbers of the type, what lies halfway between them, and random ones of all sizes."""
    random = fresh_generator()
    count = 2 ** min(8, int(ml_dtypes.finfo(dtype).bits))
    exact = np.arange(count, dtype=np.uint8).view(dtype).astype(np.float64)
    with np.errstate(all="ignore"):
        halves = (exact[:-1] + exact[1:]) / 2
        near = [halves * (1 + step * 2.0**-20) for step in (-1, 0, 1)]
        sizes = random.standard_normal(512) * 2.0 ** random.integers(-24, 20, 512)
        return np.concatenate([exact, *near, sizes, [1e30, -1e30, 1e-30, 0.0, -0.0]]).astype(source)


@pytest.mark.parametrize("source", ["f32", "f64"])
@pytest.mark.parametrize("type_", TYPES)
def test_conversions(type_: str, source: str) -> None:
    dtype, wide = TYPES[type_], {"f32": np.float32, "f64": np.float64}[source]
    numbers = _numbers(dtype, wide)
    made: dict[str, list[Array]] = {}
    for device in ("reference", "opencl"):
        outputs: list[Any] = [np.full(numbers.size, 1, dtype), np.full(numbers.size, np.nan, wide)]
        outputs.append(np.full(numbers.size, 1, dtype))
        text = _conversions(type_, source, numbers.size)
        xtile.run(text, [numbers, *outputs], device=device)
        made[device] = [output.astype(np.float64) for output in outputs]
    with np.errstate(all="ignore"):
        rounded = numbers.astype(dtype).astype(np.float64)
    np.testing.assert_array_equal(made["opencl"][0], rounded)
    for expected, found in zip(made["reference"], made["opencl"], strict=True):
        np.testing.assert_array_equal(found, expected)
        is_number = ~np.isnan(expected)
        assert np.array_equal(np.signbit(found)[is_number], np.signbit(expected)[is_number])


@pytest.mark.parametrize("mode", ["", "toward_zero"])
@pytest.mark.parametrize("source", ["f32", "f64"])
def test_powers_of_two(source: str, mode: str) -> None:
    """Sizes are rounded up or toward zero, and limited to the powers that there are."""
    wide = {"f32": np.float32, "f64": np.float64}[source]
    with np.errstate(over="ignore", under="ignore"):
        exact = 2.0 ** np.arange(-152, 130)
        near = [exact * (1 + step * 2.0**-20) for step in (-1, 0, 1)]
        numbers = np.concatenate([*near, [0, np.inf, np.nan]]).astype(wide)
    numbers *= fresh_generator().choice([-1, 1], numbers.size)
    count, scale = numbers.size, ml_dtypes.float8_e8m0fnu
    text = f"""
    gpu.module @m {{
      gpu.func @k(%x: memref<{count}x{source}>, %y: memref<{count}xf8E8M0FNU>,
          %z: memref<{count}x{source}>) kernel attributes {{{_TILE}}} {{
        %c0 = arith.constant 0 : index
        %v = vector.load %x[%c0] : memref<{count}x{source}>, vector<{count}x{source}>
        %n = arith.truncf %v {mode} {{core.saturate}}
            : vector<{count}x{source}> to vector<{count}xf8E8M0FNU>
        vector.store %n, %y[%c0] : memref<{count}xf8E8M0FNU>, vector<{count}xf8E8M0FNU>
        %w = arith.extf %n : vector<{count}xf8E8M0FNU> to vector<{count}x{source}>
        vector.store %w, %z[%c0] : memref<{count}x{source}>, vector<{count}x{source}>
        gpu.return
      }}
    }}"""
    powers, widened = np.full(count, 1, scale), np.full(count, 77, wide)
    xtile.run(text, [numbers, powers, widened], device="opencl")
    fraction, exponent = np.frexp(np.abs(numbers.astype(np.float64)))
    exponent = exponent - 1 + ((fraction > 0.5) & (mode == ""))
    exponent = np.where(np.isinf(numbers), 127, np.where(numbers == 0, -127, exponent))
    expected = np.where(np.isnan(numbers), np.nan, 2.0 ** np.clip(exponent, -127, 127))
    np.testing.assert_array_equal(powers.astype(np.float64), expected)
    np.testing.assert_array_equal(widened, expected)


def _product(type_: str, attributes: str) -> str:
    return f"""
    #a = affine_map<(i, j, k) -> (i, k)>
    #b = affine_map<(i, j, k) -> (k, j)>
    #c = affine_map<(i, j, k) -> (i, j)>
    gpu.module @m {{
      gpu.func @k(%A: memref<8x16x{type_}>, %B: memref<16x24x{type_}>, %C: memref<8x24xf32>) kernel
          attributes {{{attributes}}} {{
        %c0 = arith.constant 0 : index
        %zero = arith.constant 0.0 : {type_}
        %sums = arith.constant dense<0.0> : vector<8x24xf32>
        %a = vector.transfer_read %A[%c0, %c0], %zero {{in_bounds = [true, true]}}
            : memref<8x16x{type_}>, vector<8x16x{type_}>
        %b = vector.transfer_read %B[%c0, %c0], %zero {{in_bounds = [true, true]}}
            : memref<16x24x{type_}>, vector<16x24x{type_}>
        %c = vector.contract {{indexing_maps = [#a, #b, #c],
            iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}}
            %a, %b, %sums
            : vector<8x16x{type_}>, vector<16x24x{type_}> into vector<8x24xf32>
        vector.transfer_write %c, %C[%c0, %c0] {{in_bounds = [true, true]}}
            : vector<8x24xf32>, memref<8x24xf32>
        gpu.return
      }}
    }}"""


@pytest.mark.parametrize("attributes", [_TILE, _SUBGROUP], ids=["tile", "subgroup"])
@pytest.mark.parametrize("type_", TYPES)
def test_products(type_: str, attributes: str) -> None:
    random = fresh_generator()
    a, b = (random.standard_normal(shape).astype(TYPES[type_]) for shape in ((8, 16), (16, 24)))
    c = np.full((8, 24), np.nan, np.float32)
    xtile.run(_product(type_, attributes), [a, b, c], device="opencl")
    # Sums of 16 products of few bits are off by less than a unit of f32 each.
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), rtol=0, atol=1e-4)


def test_xegpu_for_llvm_has_none() -> None:
    module = xtile.parse(_product("f8E5M2", _SUBGROUP), language="mlir")
    with pytest.raises(
        DiagnosticError, match="lanes have no numbers of 4 to 8 bits; use f16 or bf16"
    ):
        translate(module, "core-to-xegpu", Options("pvc"))


_SUMS = """
gpu.module @m {{
  gpu.func @k(%x: memref<16x32x{t}>, %y: memref<16x{t}>) kernel attributes {{{attributes}}} {{
    %c0 = arith.constant 0 : index
    %v = vector.load %x[%c0, %c0] : memref<16x32x{t}>, vector<16x32x{t}>
    %none = arith.constant dense<1.0> : vector<16x{t}>
    %s = vector.multi_reduction <{kind}>, %v, %none [1] : vector<16x32x{t}> to vector<16x{t}>
    vector.store %s, %y[%c0] : memref<16x{t}>, vector<16x{t}>
    gpu.return
  }}
}}"""


@pytest.mark.parametrize("kind", ["add", "maximumf"])
@pytest.mark.parametrize("type_", ["f8E4M3FN", "f8E5M2"])
@pytest.mark.parametrize("attributes", [_TILE, _SUBGROUP], ids=["tile", "subgroup"])
def test_reductions(attributes: str, type_: str, kind: str) -> None:
    """Small integers, whose sums f32 holds and which are rounded once."""
    dtype = TYPES[type_]
    x = fresh_generator().integers(-2, 3, (16, 32)).astype(dtype)
    y = np.full(16, np.nan, dtype)
    xtile.run(_SUMS.format(t=type_, kind=kind, attributes=attributes), [x, y], device="opencl")
    wide = x.astype(np.float32)
    expected = wide.sum(axis=1) + 1 if kind == "add" else np.maximum(wide.max(axis=1), 1)
    np.testing.assert_array_equal(y.astype(np.float32), expected.astype(dtype).astype(np.float32))


_BLOCK = """
gpu.module @m {
  gpu.func @k(%x: memref<64x64xf8E4M3FN>, %y: memref<64x64xf8E4M3FN>) kernel
      attributes {core.level = "subgroup", intel_reqd_sub_group_size = 16 : i32,
                  known_block_size = array<i32: 16, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %none = arith.constant 0.0 : f8E4M3FN
    core.prefetch %x[%c32, %c0] block [8, 32] level 0 : memref<64x64xf8E4M3FN>
    %v = vector.transfer_read %x[%c0, %c32], %none {in_bounds = [true, true]}
        : memref<64x64xf8E4M3FN>, vector<8x32xf8E4M3FN>
    vector.transfer_write %v, %y[%c32, %c0] {in_bounds = [true, true]}
        : vector<8x32xf8E4M3FN>, memref<64x64xf8E4M3FN>
    gpu.return
  }
}"""


def test_blocks_that_are_prefetched_are_of_bytes() -> None:
    """OpenCL has no type of 8 bits but integers, also where nothing is loaded."""
    module = translate(xtile.parse(_BLOCK, language="mlir"), "core-to-lane", Options("pvc"))
    assert "xegpu.prefetch_nd %" in xtile.to_text(module, "mlir")
    x = fresh_generator().integers(0, 256, (64, 64), np.uint8).view(np.int8)
    y = np.full((64, 64), 77, np.int8)
    xtile.run(module, [x, y])
    expected = np.full((64, 64), 77, np.int8)
    expected[32:40, :32] = x[:8, 32:]
    np.testing.assert_array_equal(y, expected)
    assert translate(module, "core-to-spirv", Options("pvc"))
