"""Cases of products of matrices."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.triton_kernels.case import BF16, F16, F32, Array, Case, blank, integers, normal, rounding

E4M3 = ml_dtypes.float8_e4m3fn
E5M2 = ml_dtypes.float8_e5m2
E2M1 = ml_dtypes.float4_e2m1fn


def _wide(x: Array) -> Array:
    return x.astype(np.float64)


def _matmul(
    type_: Any,
    size: tuple[int, int, int] = (70, 50, 90),
    *,
    out: Any = None,
    transposed: str = "",
    precision: str | None = None,
    activation: str = "",
    tolerance: float | None = None,
    **options: Any,
) -> Case:
    """A product of a type, whose operands may be stored by columns."""
    m, n, k = size
    if type_ is np.int8:
        a, b = (integers(-128, 128, *shape, dtype=np.int8) for shape in ((m, k), (k, n)))
    else:
        a, b = normal(m, k).astype(type_), normal(k, n).astype(type_)
    out = type_ if out is None else out
    wanted = _wide(a) @ _wide(b)
    if activation:
        wanted = np.where(wanted >= 0, wanted, 0.01 * wanted)
    arguments = {
        "a_ptr": np.ascontiguousarray(a.T) if "a" in transposed else a,
        "b_ptr": np.ascontiguousarray(b.T) if "b" in transposed else b,
        "c_ptr": blank(m, n, dtype=out),
        "M": m,
        "N": n,
        "K": k,
        **dict(
            zip(("stride_am", "stride_ak"), (1, m) if "a" in transposed else (k, 1), strict=True)
        ),
        **dict(
            zip(("stride_bk", "stride_bn"), (1, k) if "b" in transposed else (n, 1), strict=True)
        ),
        "stride_cm": n,
        "stride_cn": 1,
    }
    blocks = {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32, "GROUP": 2}
    constants = {**blocks, "PRECISION": precision, "ACTIVATION": activation}
    if tolerance is None:
        tolerance = 0.0 if type_ is np.int8 else rounding(k, F32, out)
    grid = (-(-m // 32) * -(-n // 32),)
    wanted = {"c_ptr": wanted}
    return Case("products.matmul", arguments, wanted, grid, constants, tolerance, **options)


def matmul_f16() -> Case:
    return _matmul(F16)


def matmul_f16_even() -> Case:
    return _matmul(F16, (64, 64, 128), stages=3, warps=8)


def matmul_bf16() -> Case:
    return _matmul(BF16, out=F32)


def matmul_f32() -> Case:
    return _matmul(F32, precision="ieee")


def matmul_tf32() -> Case:
    # Operands keep ten bits or, where there is no such product, all.
    return _matmul(F32, precision="tf32", tolerance=2**-9)


def matmul_fp8() -> Case:
    return _matmul(E4M3, (64, 64, 64), out=F32)


def matmul_fp8_e5m2() -> Case:
    return _matmul(E5M2, (64, 32, 64), out=F16)


def matmul_int8() -> Case:
    return _matmul(np.int8, (64, 64, 96), out=np.int32)


def matmul_transposed() -> Case:
    return _matmul(F16, (64, 64, 96), transposed="ab")


def matmul_transposed_b() -> Case:
    return _matmul(F16, (48, 80, 64), transposed="b", activation="leaky_relu")


def matmul_bias() -> Case:
    a, b, bias = normal(40, 64, dtype=F16), normal(50, 64, dtype=F16), normal(50, dtype=F16)
    x = _wide(a) @ _wide(b).T + bias
    arguments = {
        "a_ptr": a,
        "b_ptr": b,
        "bias_ptr": bias,
        "c_ptr": blank(40, 50, dtype=F16),
        "M": 40,
        "N": 50,
        "K": 64,
    }
    constants = {"BLOCK_M": 16, "BLOCK_N": 32, "BLOCK_K": 32, "EVEN_K": True}
    wanted = {"c_ptr": x / (1 + np.exp(-1.702 * x))}
    tolerance = rounding(80, F32, F16)
    return Case("products.matmul_bias", arguments, wanted, (3, 2), constants, tolerance)


def _plain(
    function: str, a: Array, b: Array, out: Array, grid: tuple[int, ...], constants: dict[str, Any]
) -> Case:
    """A product of matrices that are stored by rows."""
    (m, k), n = a.shape, b.shape[1]
    arguments = {"a_ptr": a, "b_ptr": b, "c_ptr": out, "M": m, "N": n, "K": k}
    wanted = {"c_ptr": _wide(a) @ _wide(b)}
    tolerance = rounding(k, F32, out.dtype)
    return Case(f"products.{function}", arguments, wanted, grid, constants, tolerance)


_BLOCKS = {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32}


def matmul_persistent() -> Case:
    a, b = normal(70, 50, dtype=F16), normal(50, 90, dtype=F16)
    constants = {**_BLOCKS, "PROGRAMS": 4}
    return _plain("matmul_persistent", a, b, blank(70, 90, dtype=F16), (4,), constants)


def matmul_split_k() -> Case:
    a, b = normal(40, 200, dtype=F16), normal(200, 48, dtype=F16)
    constants = {**_BLOCKS, "SPLIT_K": 3}
    return _plain("matmul_split_k", a, b, np.zeros((40, 48), F32), (4, 3), constants)


def matmul_batched() -> Case:
    a, b = normal(2, 32, 40, dtype=F16), normal(2, 40, 50, dtype=F16)
    arguments = {"a_ptr": a, "b_ptr": b, "c_ptr": blank(2, 32, 50), "K": 40, "N": 50}
    constants = {"BATCH": 2, "M": 32, "BLOCK_N": 32, "BLOCK_K": 32}
    wanted = {"c_ptr": _wide(a) @ _wide(b)}
    tolerance = rounding(40, F32)
    return Case("products.matmul_batched", arguments, wanted, (2,), constants, tolerance)


def matmul_descriptors() -> Case:
    a, b = normal(64, 48, dtype=F16), normal(48, 80, dtype=F16)
    return _plain("matmul_descriptors", a, b, blank(64, 80, dtype=F16), (2, 3), _BLOCKS)


def descriptor_edges() -> Case:
    x = integers(-9, 10, 20, 24, dtype=F32)
    sums = np.zeros((32, 32), F32)
    sums[:20, :24] = x
    sums = sums.reshape(2, 16, 2, 16).sum(axis=(1, 3)).repeat(16, axis=0).repeat(16, axis=1)
    arguments = {"x_ptr": x, "out_ptr": blank(24, 20), "rows": 20, "columns": 24}
    wanted = {"out_ptr": (x + sums[:20, :24]).T}
    return Case("products.descriptor_edges", arguments, wanted, (2, 2), {"R": 16, "C": 16})


def descriptor_nan() -> Case:
    x = normal(20, 12)
    arguments = {"x_ptr": x, "out_ptr": blank(32, 16), "rows": 20, "columns": 12}
    wanted = {"out_ptr": np.pad(x, ((0, 12), (0, 4)), constant_values=np.nan)}
    return Case("products.descriptor_nan", arguments, wanted, (2,), {"R": 16, "C": 16})


def matmul_block_pointers() -> Case:
    a, b = normal(40, 70, dtype=F16), normal(70, 50, dtype=F16)
    case = _plain("matmul_block_pointers", a, b, blank(40, 50, dtype=F16), (2, 2), _BLOCKS)
    strides = {"stride_am": 70, "stride_ak": 1, "stride_bk": 50, "stride_bn": 1}
    arguments = {**case.arguments, **strides}
    return Case(case.function, arguments, case.wanted, case.grid, _BLOCKS, case.tolerance)


def packed_e2m1(x: Array) -> Array:
    """Two numbers of 4 bits in each byte of the last axis, the first one in the lower half."""
    bits = x.astype(E2M1).view(np.uint8) & 15
    return bits[..., ::2] | bits[..., 1::2] << 4


def _scaled(a_format: str, b_format: str) -> Case:
    m, n, k = 32, 32, 128
    types = {"e2m1": E2M1, "e4m3": E4M3, "e5m2": E5M2}
    a, b = normal(m, k).astype(types[a_format]), normal(n, k).astype(types[b_format])
    scales = [integers(122, 132, rows, k // 32, dtype=np.uint8) for rows in (m, n)]
    wide = [
        _wide(x.astype(F32)) * np.exp2(_wide(s) - 127).repeat(32, axis=1)
        for x, s in zip((a, b), scales, strict=True)
    ]
    stored = [
        packed_e2m1(x.astype(F32)) if type_ == "e2m1" else x
        for x, type_ in ((a, a_format), (b, b_format))
    ]
    arguments = {
        "a_ptr": stored[0],
        "a_scale_ptr": scales[0],
        "b_ptr": np.ascontiguousarray(stored[1].T),
        "b_scale_ptr": scales[1],
        "c_ptr": blank(m, n),
        "K": k,
    }
    constants = {"M": m, "N": n, "BLOCK_K": 64, "A_FORMAT": a_format, "B_FORMAT": b_format}
    wanted = {"c_ptr": wide[0] @ wide[1].T}
    tolerance = rounding(k, F32)
    return Case("products.matmul_scaled", arguments, wanted, (1,), constants, tolerance)


def matmul_mxfp8() -> Case:
    return _scaled("e4m3", "e4m3")


def matmul_mxfp4() -> Case:
    return _scaled("e2m1", "e2m1")


def matmul_mxfp8_mxfp4() -> Case:
    return _scaled("e5m2", "e2m1")


def matvec() -> Case:
    a, x = normal(45, 100, dtype=BF16), normal(100, dtype=BF16)
    arguments = {"a_ptr": a, "x_ptr": x, "y_ptr": blank(45), "M": 45, "K": 100}
    constants = {"BLOCK_M": 16, "BLOCK_K": 64}
    wanted = {"y_ptr": _wide(a) @ _wide(x)}
    tolerance = rounding(100, F32)
    return Case("products.matvec", arguments, wanted, (3,), constants, tolerance)


def packed_int4(x: Array, axis: int) -> Array:
    """Eight integers from 0 to 15 in each word along an axis, the first one in the lowest bits."""
    x = np.moveaxis(x.astype(np.uint32), axis, -1)
    shifts = np.arange(8, dtype=np.uint32) * np.uint32(4)
    words = np.bitwise_or.reduce(x.reshape(*x.shape[:-1], -1, 8) << shifts, axis=-1)
    return np.ascontiguousarray(np.moveaxis(words, -1, axis)).view(np.int32)


def matmul_int4() -> Case:
    m, n, k, group = 20, 64, 128, 64
    a = normal(m, k, dtype=F16)
    b, zeros = integers(0, 16, k, n), integers(0, 16, k // group, n)
    scales = (np.abs(normal(k // group, n)) / 8).astype(F16)
    weights = (b - zeros.repeat(group, axis=0)).astype(F16) * scales.repeat(group, axis=0)
    arguments = {
        "a_ptr": a,
        "b_ptr": packed_int4(b, 0),
        "scales_ptr": scales,
        "zeros_ptr": packed_int4(zeros, 1),
        "c_ptr": blank(m, n, dtype=F16),
        "M": m,
        "N": n,
        "K": k,
    }
    constants = {"GROUP": group, "BLOCK_M": 16, "BLOCK_N": 32, "BLOCK_K": 32}
    wanted = {"c_ptr": _wide(a) @ _wide(weights)}
    tolerance = rounding(k, F32, F16)
    return Case("products.matmul_int4", arguments, wanted, (2, 2), constants, tolerance)


def matmul_experts() -> Case:
    n, k, block, top = 40, 48, 16, 2
    a, b = normal(9, k, dtype=F16), normal(3, n, k, dtype=F16)
    chosen = np.stack([np.argsort(row)[:top] for row in normal(9, 3)])
    lists = [np.flatnonzero(chosen.ravel() == expert) for expert in range(3)]
    # Lists are filled up with a number that is no token, and there is a block without an expert.
    tokens = np.full((4, block), 18, np.int32)
    experts = np.array([0, 1, 2, -1], np.int32)
    for row, found in zip(tokens, lists, strict=False):
        row[: len(found)] = found
    weights = np.abs(normal(18))
    products = np.einsum("tk,tnk->tn", _wide(a).repeat(top, axis=0), _wide(b)[chosen.ravel()])
    arguments = {
        "a_ptr": a,
        "b_ptr": b,
        "c_ptr": blank(18, n, dtype=F16),
        "tokens_ptr": tokens,
        "experts_ptr": experts,
        "weights_ptr": weights,
        "valid": 18,
        "N": n,
        "K": k,
    }
    constants = {"TOP_K": top, "BLOCK_M": block, "BLOCK_N": 32, "BLOCK_K": 32}
    wanted = {"c_ptr": products * weights[:, None]}
    tolerance = rounding(k, F32, F16)
    return Case("products.matmul_experts", arguments, wanted, (4, 2), constants, tolerance)


def convolution() -> Case:
    x, w = normal(2, 7, 6, 20, dtype=F16), normal(24, 3, 3, 20, dtype=F16)
    padded = np.pad(_wide(x), ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (1, 2))[:, ::2, ::2]
    wanted = np.einsum("nhwcij,oijc->nhwo", windows, _wide(w))
    arguments = {
        "x_ptr": x,
        "w_ptr": w,
        "y_ptr": blank(2, 4, 3, 24),
        "C": 20,
        "H": 7,
        "W": 6,
        "OUT_C": 24,
        "OH": 4,
        "OW": 3,
    }
    constants = {
        "KH": 3,
        "KW": 3,
        "STRIDE": 2,
        "PADDING": 1,
        "BLOCK_P": 8,
        "BLOCK_C": 16,
        "BLOCK_O": 16,
    }
    tolerance = rounding(200, F32)
    return Case("products.convolution", arguments, {"y_ptr": wanted}, (3, 2), constants, tolerance)


def batch_of_products() -> Case:
    a, b = normal(2, 16, 32, dtype=F16), normal(2, 32, 16, dtype=F16)
    arguments = {"a_ptr": a, "b_ptr": b, "c_ptr": blank(2, 16, 16)}
    wanted = {"c_ptr": (_wide(a) @ _wide(b)).transpose(0, 2, 1)}
    constants = {"B": 2, "M": 16, "N": 16, "K": 32}
    return Case("products.batch_of_products", arguments, wanted, (1,), constants, rounding(64, F32))


def matmul_block_scales() -> Case:
    a, b = normal(40, 96, dtype=E4M3), normal(50, 96, dtype=E4M3)
    a_scales, b_scales = np.abs(normal(40, 3)), np.abs(normal(2, 3))
    scaled_a = _wide(a) * a_scales.repeat(32, axis=1)
    scaled_b = _wide(b) * b_scales.repeat(32, axis=0)[:50].repeat(32, axis=1)
    arguments = {
        "a_ptr": a,
        "b_ptr": b,
        "a_scales_ptr": a_scales,
        "b_scales_ptr": b_scales,
        "c_ptr": blank(40, 50, dtype=BF16),
        "M": 40,
        "N": 50,
        "K": 96,
    }
    constants = {"GROUP": 32, "BLOCK_M": 16, "BLOCK_N": 32, "BLOCK_K": 32}
    wanted = {"c_ptr": scaled_a @ scaled_b.T}
    tolerance = rounding(128, F32, BF16)
    return Case("products.matmul_block_scales", arguments, wanted, (3, 2), constants, tolerance)


def solve_triangular() -> Case:
    a = normal(28, 16) * F32(0.3)
    wanted = np.zeros((28, 16))
    for rows in (slice(16), slice(16, 28)):
        below = np.tril(_wide(a[rows]), -1)[:, : len(a[rows])]
        wanted[rows, : len(below)] = np.linalg.inv(np.eye(len(below)) + below)
    arguments = {"a_ptr": a, "out_ptr": blank(28, 16), "rows": 28}
    constants, tolerance = {"N": 16}, rounding(256, F32)
    outputs = {"out_ptr": wanted}
    return Case("products.solve_triangular", arguments, outputs, (2,), constants, tolerance)


CASES = [
    *(matmul_f16, matmul_f16_even, matmul_bf16, matmul_f32, matmul_tf32, matmul_fp8),
    *(matmul_fp8_e5m2, matmul_int8, matmul_transposed, matmul_transposed_b, matmul_bias),
    *(matmul_persistent, matmul_split_k, matmul_batched, matmul_descriptors, descriptor_edges),
    descriptor_nan,
    *(matmul_block_pointers, matmul_mxfp8, matmul_mxfp4, matmul_mxfp8_mxfp4, matvec, matmul_int4),
    *(matmul_experts, convolution, batch_of_products, matmul_block_scales, solve_triangular),
]
"""A case for each kernel."""
