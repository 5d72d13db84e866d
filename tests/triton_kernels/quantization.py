"""Cases of conversions between types, quantization, and routing to experts."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.triton_kernels.case import BF16, F16, F32, Array, Case, blank, integers, normal, rounding

E4M3 = ml_dtypes.float8_e4m3fn
E5M2 = ml_dtypes.float8_e5m2
E4M3_FNUZ = ml_dtypes.float8_e4m3fnuz
E5M2_FNUZ = ml_dtypes.float8_e5m2fnuz


def _convert(x: Array, type_: Any) -> Case:
    arguments = {"x_ptr": x, "out_ptr": blank(*x.shape, dtype=type_), "n": x.size}
    wanted = {"out_ptr": x.astype(type_)}
    return Case("quantization.convert", arguments, wanted, (3,), {"BLOCK": 128})


def convert_f32_bf16() -> Case:
    return _convert(normal(300), BF16)


def convert_f32_f16() -> Case:
    return _convert(normal(300), F16)


def convert_f32_e4m3() -> Case:
    return _convert(normal(300), E4M3)


def convert_f16_e5m2() -> Case:
    return _convert(normal(300, dtype=F16), E5M2)


def convert_f32_e4m3_fnuz() -> Case:
    return _convert(normal(300), E4M3_FNUZ)


def convert_f32_e5m2_fnuz() -> Case:
    return _convert(normal(300), E5M2_FNUZ)


def convert_e4m3_f16() -> Case:
    return _convert(normal(300).astype(E4M3), F16)


def convert_e5m2_f32() -> Case:
    return _convert(normal(300).astype(E5M2), F32)


def convert_e4m3_fnuz_bf16() -> Case:
    return _convert(normal(300).astype(E4M3_FNUZ), BF16)


def convert_f32_i32() -> Case:
    return _convert(normal(300) * F32(100), np.int32)


def convert_u8_f32() -> Case:
    return _convert(integers(0, 256, 300, dtype=np.uint8), F32)


def convert_i64_f16() -> Case:
    return _convert(integers(-2048, 2049, 300, dtype=np.int64), F16)


def convert_bool_i32() -> Case:
    return _convert(integers(0, 2, 300, dtype=bool), np.int32)


def _convert_to_zero(type_: Any) -> Case:
    x = normal(200)
    nearest = x.astype(type_)
    down = np.nextafter(nearest, type_(0))
    wanted = np.where(np.abs(nearest.astype(F32)) > np.abs(x), down, nearest)
    arguments = {"x_ptr": x, "out_ptr": blank(200, dtype=type_), "n": 200}
    return Case(
        "quantization.convert_to_zero", arguments, {"out_ptr": wanted}, (2,), {"BLOCK": 128}
    )


def convert_to_zero_f16() -> Case:
    return _convert_to_zero(F16)


def convert_to_zero_bf16() -> Case:
    return _convert_to_zero(BF16)


def quantize_rows() -> Case:
    # Scales are powers of two, so that no quotient depends on how it was rounded.
    x = integers(-127, 128, 4, 100, dtype=F32)
    x[:, 0] = 127
    x *= F32(2) ** integers(-8, 8, 4, 1, dtype=F32)
    scales = np.abs(x).max(axis=1) / F32(127)
    arguments = {
        "x_ptr": x,
        "out_ptr": blank(4, 100, dtype=np.int8),
        "scales_ptr": blank(4),
        "columns": 100,
    }
    wanted = {"out_ptr": x / scales[:, None], "scales_ptr": scales}
    return Case("quantization.quantize_rows", arguments, wanted, (4,), {"BLOCK": 128})


def quantize_fp8() -> Case:
    x = normal(3, 256, dtype=BF16)
    groups = x.astype(F32).reshape(3, 2, 128)
    scales = np.abs(groups).max(axis=2) / F32(448)
    arguments = {
        "x_ptr": x,
        "out_ptr": blank(3, 256, dtype=E4M3),
        "scales_ptr": blank(3, 2),
        "columns": 256,
    }
    wanted = {"out_ptr": (groups / scales[..., None]).reshape(3, 256), "scales_ptr": scales}
    tolerance = rounding(4, F32, E4M3)
    return Case("quantization.quantize_fp8", arguments, wanted, (3, 2), {"GROUP": 128}, tolerance)


def quantize_mx() -> Case:
    x = normal(13, 32) * F32(2) ** integers(-20, 20, 13, 1, dtype=F32)
    _, exponents = np.frexp(np.abs(x).max(axis=1))
    exponents = exponents - 1 - 8
    scaled = np.clip(np.ldexp(x, -exponents[:, None]), -448, 448)
    arguments = {
        "x_ptr": x,
        "out_ptr": blank(13, 32, dtype=E4M3),
        "scales_ptr": blank(13, dtype=np.uint8),
        "blocks": 13,
    }
    wanted = {"out_ptr": scaled.astype(E4M3), "scales_ptr": exponents + 127}
    return Case("quantization.quantize_mx", arguments, wanted, (2,), {"BLOCK": 8})


def dequantize_int4() -> Case:
    x, scales = integers(-8, 8, 320, dtype=np.int8), np.abs(normal(10))
    packed = (x[::2] & 15) | (x[1::2] << 4)
    arguments = {
        "words_ptr": packed,
        "scales_ptr": scales,
        "out_ptr": blank(320),
        "n": 160,
    }
    wanted = {"out_ptr": x * scales.repeat(32)}
    constants = {"GROUP": 32, "BLOCK": 64}
    return Case("quantization.dequantize_int4", arguments, wanted, (3,), constants)


def route() -> Case:
    logits = normal(21, 16)
    p = np.exp(logits.astype(np.float64))
    order = np.argsort(-p, axis=1)[:, :2]
    best = np.take_along_axis(p, order, 1)
    arguments = {
        "logits_ptr": logits,
        "weights_ptr": blank(21, 2),
        "experts_ptr": blank(21, 2, dtype=np.int32),
        "rows": 21,
    }
    wanted = {"weights_ptr": best / best.sum(axis=1, keepdims=True), "experts_ptr": order}
    constants = {"E": 16, "K": 2, "R": 16}
    return Case("quantization.route", arguments, wanted, (2,), constants, rounding(32, F32))


def count_experts() -> Case:
    experts = integers(0, 8, 50)
    ranks = [int((experts[:i] == expert).sum()) for i, expert in enumerate(experts)]
    arguments = {
        "experts_ptr": experts,
        "counts_ptr": blank(8, dtype=np.int32),
        "ranks_ptr": blank(50, dtype=np.int32),
        "n": 50,
    }
    wanted = {"counts_ptr": np.bincount(experts, minlength=8), "ranks_ptr": np.array(ranks)}
    return Case("quantization.count_experts", arguments, wanted, (1,), {"E": 8, "BLOCK": 64})


def adamw() -> Case:
    p, g = normal(200, dtype=BF16), normal(200, dtype=BF16)
    m, v = normal(200), np.abs(normal(200))
    wide = g.astype(np.float64)
    new_m, new_v = 0.9 * m + 0.1 * wide, 0.99 * v + 0.01 * wide**2
    step = 1e-2 * new_m / (1 - 0.9**5) / (np.sqrt(new_v / (1 - 0.99**5)) + 1e-6)
    arguments = {
        "p_ptr": p,
        "grad_ptr": g,
        "m_ptr": m,
        "v_ptr": v,
        "lr": 1e-2,
        "beta1": 0.9,
        "beta2": 0.99,
        "eps": 1e-6,
        "decay": 0.1,
        "step": 5,
        "n": 200,
    }
    wanted = {
        "p_ptr": p.astype(np.float64) * (1 - 1e-3) - step,
        "m_ptr": new_m,
        "v_ptr": new_v,
    }
    tolerance = rounding(32, F32, BF16)
    return Case("quantization.adamw", arguments, wanted, (2,), {"BLOCK": 128}, tolerance)


CASES = [
    *(convert_f32_bf16, convert_f32_f16, convert_f32_e4m3, convert_f16_e5m2),
    *(convert_f32_e4m3_fnuz, convert_f32_e5m2_fnuz, convert_e4m3_f16, convert_e5m2_f32),
    *(convert_e4m3_fnuz_bf16, convert_f32_i32, convert_u8_f32, convert_i64_f16, convert_bool_i32),
    *(convert_to_zero_f16, convert_to_zero_bf16, quantize_rows, quantize_fp8, quantize_mx),
    *(dequantize_int4, route, count_experts, adamw),
]
"""A case for each kernel."""
