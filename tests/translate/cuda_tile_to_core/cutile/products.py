"""Products of matrices."""

from __future__ import annotations

from typing import Any

import cuda.tile as ct
import ml_dtypes
import numpy as np

from tests.translate.cuda_tile_to_core.cutile.case import (
    CONSTANT,
    ZERO,
    Array,
    Case,
    blank,
    integers,
    normal,
    rounding,
)

BF16, E8M0 = ml_dtypes.bfloat16, ml_dtypes.float8_e8m0fnu
E4M3, E5M2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2


def _wide(x: Array) -> Array:
    return x.astype(np.float64)


@ct.kernel(num_ctas=ct.ByTarget(sm_100=2), occupancy=2)
def _matmul(a, b, c, m: CONSTANT, n: CONSTANT, k: CONSTANT):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.full((m, n), 0, dtype=ct.float32)
    for step in range(ct.num_tiles(a, 1, (m, k))):
        x = ct.load(a, index=(i, step), shape=(m, k), padding_mode=ZERO)
        y = ct.load(b, index=(step, j), shape=(k, n), padding_mode=ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(c, index=(i, j), tile=acc.astype(c.dtype))


def _product(a: Array, b: Array, out: Array, *tile: int) -> Case:
    (m, k), n = a.shape, b.shape[1]
    grid = (-(-m // tile[0]), -(-n // tile[1]))
    tolerance = rounding(k, np.float32, out.dtype)
    return Case(_matmul, [a, b, out], {2: _wide(a) @ _wide(b)}, grid, tile, tolerance)


def matmul_f16() -> Case:
    return _product(
        normal(40, 33, dtype=np.float16),
        normal(33, 18, dtype=np.float16),
        blank(40, 18),
        32,
        16,
        16,
    )


def matmul_bf16() -> Case:
    a, b = normal(17, 70, dtype=BF16), normal(70, 31, dtype=BF16)
    return _product(a, b, blank(17, 31, dtype=BF16), 16, 32, 32)


def matmul_f32() -> Case:
    return _product(normal(9, 21), normal(21, 13), blank(9, 13), 8, 8, 8)


def matmul_e4m3() -> Case:
    a, b = normal(20, 40, dtype=E4M3), normal(40, 12, dtype=E4M3)
    return _product(a, b, blank(20, 12, dtype=np.float16), 16, 16, 32)


def matmul_e5m2() -> Case:
    return _product(
        normal(20, 40, dtype=E5M2), normal(40, 12, dtype=E5M2), blank(20, 12), 16, 16, 32
    )


@ct.kernel
def _matmul_swizzled(a, b, c, m: CONSTANT, n: CONSTANT, k: CONSTANT, group: CONSTANT):
    """Tile blocks in groups of rows, in tf32, with both factors transposed in memory."""
    across, down = ct.cdiv(c.shape[1], n), ct.cdiv(c.shape[0], m)
    in_group = group * across
    first = ct.bid(0) // in_group * group
    rows = min(down - first, group)
    i = first + ct.bid(0) % in_group % rows
    j = ct.bid(0) % in_group // rows
    acc = ct.zeros((m, n), dtype=ct.float32)
    for step in range(ct.cdiv(a.shape[0], k)):
        x = ct.load(a, (i, step), (m, k), order=(1, 0), padding_mode=ZERO)
        y = ct.load(b, (j, step), (n, k), padding_mode=ZERO)
        acc = ct.mma(x.astype(ct.tfloat32), ct.transpose(y).astype(ct.tfloat32), acc)
    ct.store(c, (i, j), acc)


def matmul_tf32_transposed() -> Case:
    a, b = normal(35, 50), normal(23, 35)
    wanted = _wide(a).T @ _wide(b).T
    tolerance = rounding(35, np.float32) + 2 * 2.0**-11
    grid = (4 * 3,)
    return Case(
        _matmul_swizzled, [a, b, blank(50, 23)], {2: wanted}, grid, (16, 8, 16, 3), tolerance
    )


@ct.kernel
def _persistent_matmul(a, b, c, m: CONSTANT, n: CONSTANT, k: CONSTANT):
    """Tile blocks that take tiles of the result in turn."""
    across = ct.cdiv(b.shape[1], n)
    count = ct.cdiv(a.shape[0], m) * across
    for tile in range(ct.bid(0), count, ct.num_blocks(0)):
        i, j = tile // across, tile % across
        acc = ct.zeros((m, n), dtype=ct.float32)
        for step in range(ct.cdiv(a.shape[1], k)):
            x = ct.load(a, (i, step), (m, k), padding_mode=ZERO)
            y = ct.load(b, (step, j), (k, n), padding_mode=ZERO)
            acc = ct.mma(x, y, acc)
        ct.store(c, (i, j), acc)


def persistent_matmul() -> Case:
    a, b = normal(40, 30, dtype=np.float16), normal(30, 20, dtype=np.float16)
    wanted, tolerance = {2: _wide(a) @ _wide(b)}, rounding(30, np.float32)
    return Case(_persistent_matmul, [a, b, blank(40, 20)], wanted, (2,), (16, 16, 16), tolerance)


@ct.kernel
def _split_k_matmul(a, b, c, m: CONSTANT, n: CONSTANT, k: CONSTANT):
    """Sums of products that several tile blocks add up atomically."""
    i, step = ct.bid(0), ct.bid(1)
    x = ct.load(a, (i, step), (m, k), padding_mode=ZERO)
    y = ct.load(b, (step, 0), (k, n), padding_mode=ZERO)
    acc = ct.mma(x, y, ct.zeros((m, n), dtype=ct.float32))
    rows = i * m + ct.arange(m, dtype=ct.int32)[:, None]
    columns = ct.arange(n, dtype=ct.int32)[None, :]
    ct.atomic_add(c, (rows, columns), acc)


def split_k_matmul() -> Case:
    a, b = normal(40, 32, dtype=np.float16), normal(32, 13, dtype=np.float16)
    c = normal(40, 13)
    wanted, tolerance = {2: c + _wide(a) @ _wide(b)}, rounding(33, np.float32)
    return Case(_split_k_matmul, [a, b, c], wanted, (3, 2), (16, 16, 16), tolerance)


@ct.kernel
def _split_k_with_locks(a, b, c, locks, counts, m: CONSTANT, n: CONSTANT, k: CONSTANT):
    """Parts of the depth that are added up under a lock; the first one stores."""
    i, step = ct.bid(0), ct.bid(1)
    x = ct.load(a, (i, step), (m, k), padding_mode=ZERO)
    y = ct.load(b, (step, 0), (k, n), padding_mode=ZERO)
    acc = ct.mma(x, y, ct.zeros((m, n), dtype=ct.float32))
    while ct.atomic_cas(locks, i, 0, 1, memory_order=ct.MemoryOrder.ACQUIRE) == 1:
        pass
    count = ct.gather(counts, i)
    if count == 0:
        ct.store(c, (i, 0), acc)
    else:
        ct.store(c, (i, 0), acc + ct.load(c, (i, 0), (m, n), padding_mode=ZERO))
    ct.scatter(counts, i, count + 1)
    ct.atomic_xchg(locks, i, 0, memory_order=ct.MemoryOrder.RELEASE)


def split_k_with_locks() -> Case:
    a, b = normal(20, 70, dtype=np.float16), normal(70, 9, dtype=np.float16)
    wanted = {2: _wide(a) @ _wide(b), 3: np.zeros(2), 4: np.full(2, 5)}
    arguments = [a, b, blank(20, 9), np.zeros(2, np.int32), np.zeros(2, np.int32)]
    tolerance = rounding(75, np.float32)
    return Case(_split_k_with_locks, arguments, wanted, (2, 5), (16, 16, 16), tolerance)


@ct.kernel
def _batched_matmul(a, b, c, m: CONSTANT, n: CONSTANT, k: CONSTANT):
    """One product for each batch, of tiles of three dimensions."""
    batch, i, j = ct.bid(0), ct.bid(1), ct.bid(2)
    acc = ct.zeros((1, m, n), dtype=ct.float32)
    for step in range(ct.cdiv(a.shape[2], k)):
        x = ct.load(a, (batch, i, step), (1, m, k), padding_mode=ZERO)
        y = ct.load(b, (batch, step, j), (1, k, n), padding_mode=ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(c, (batch, i, j), acc.astype(c.dtype))


def batched_matmul() -> Case:
    a, b = normal(3, 18, 20, dtype=np.float16), normal(3, 20, 10, dtype=np.float16)
    out, tolerance = blank(3, 18, 10, dtype=np.float16), rounding(20, np.float32, np.float16)
    return Case(
        _batched_matmul, [a, b, out], {2: _wide(a) @ _wide(b)}, (3, 2, 2), (16, 8, 16), tolerance
    )


@ct.kernel
def _several_batches(a, b, c, batches: CONSTANT, m: CONSTANT, n: CONSTANT, k: CONSTANT):
    """Products of several batches at once, with one second factor for all."""
    x = ct.load(a, (0, 0, 0), (batches, m, k), padding_mode=ZERO)
    y = ct.load(b, (0, 0), (k, n), padding_mode=ZERO)
    ct.store(c, (0, 0, 0), ct.matmul(x, y))


def several_batches() -> Case:
    a, b = normal(3, 7, 12), normal(12, 6)
    wanted, tolerance = {2: _wide(a) @ _wide(b)}, rounding(12, np.float32)
    return Case(_several_batches, [a, b, blank(3, 7, 6)], wanted, (1,), (4, 8, 8, 16), tolerance)


@ct.kernel
def _matmul_int8(a, b, scales, c, m: CONSTANT, n: CONSTANT, k: CONSTANT):
    """Exact sums of products of bytes, then a scale for each column."""
    acc = ct.zeros((m, n), dtype=ct.int32)
    for step in range(ct.cdiv(a.shape[1], k)):
        x = ct.load(a, (ct.bid(0), step), (m, k), padding_mode=ZERO)
        y = ct.load(b, (step, 0), (k, n), padding_mode=ZERO)
        acc = ct.mma(x, y, acc)
    scale = ct.load(scales, (0,), (n,), padding_mode=ZERO)
    ct.store(c, (ct.bid(0), 0), acc.astype(ct.float32) * scale[None, :])


def matmul_int8() -> Case:
    a, b = (integers(-128, 128, *shape, dtype=np.int8) for shape in ((20, 40), (40, 12)))
    scales = normal(12)
    wanted, tolerance = {3: _wide(a) @ _wide(b) * scales}, rounding(2, np.float32)
    arguments = [a, b, scales, blank(20, 12)]
    return Case(_matmul_int8, arguments, wanted, (2,), (16, 16, 16), tolerance)


@ct.kernel
def _matmul_uint8(a, b, c, m: CONSTANT, n: CONSTANT, k: CONSTANT):
    x = ct.load(a, (0, 0), (m, k), padding_mode=ZERO)
    y = ct.load(b, (0, 0), (k, n), padding_mode=ZERO)
    ct.store(c, (0, 0), ct.mma(x, y, ct.ones((m, n), dtype=ct.int32)))


def matmul_uint8_int8() -> Case:
    a, b = integers(0, 256, 15, 30, dtype=np.uint8), integers(-128, 128, 30, 9, dtype=np.int8)
    wanted = {2: a.astype(np.int32) @ b.astype(np.int32) + 1}
    return Case(_matmul_uint8, [a, b, blank(15, 9, dtype=np.int32)], wanted, (1,), (16, 16, 32))


@ct.kernel
def _matmul_f64(a, b, c, m: CONSTANT, n: CONSTANT, k: CONSTANT):
    acc = ct.zeros((m, n), dtype=ct.float64)
    for step in range(ct.cdiv(a.shape[1], k)):
        x = ct.load(a, (0, step), (m, k), padding_mode=ZERO)
        acc = ct.mma(x, ct.load(b, (step, 0), (k, n), padding_mode=ZERO), acc)
    ct.store(c, (0, 0), acc)


def matmul_f64() -> Case:
    a, b = normal(7, 20, dtype=np.float64), normal(20, 5, dtype=np.float64)
    tolerance = rounding(20, np.float64)
    return Case(
        _matmul_f64, [a, b, blank(7, 5, dtype=np.float64)], {2: a @ b}, (1,), (8, 8, 8), tolerance
    )


@ct.kernel
def _matrix_vector(a, x, y, m: CONSTANT, k: CONSTANT):
    """Rows times a vector, without a matrix unit."""
    total = ct.zeros((m, k), dtype=ct.float32)
    for step in range(ct.cdiv(a.shape[1], k)):
        part = ct.load(a, (ct.bid(0), step), (m, k), padding_mode=ZERO)
        total += part * ct.load(x, (step,), (k,), padding_mode=ZERO)[None, :]
    ct.store(y, (ct.bid(0),), ct.sum(total, axis=1))


def matrix_vector() -> Case:
    a, x = normal(11, 75), normal(75)
    wanted, tolerance = {2: _wide(a) @ _wide(x)}, rounding(75, np.float32)
    return Case(_matrix_vector, [a, x, blank(11)], wanted, (3,), (4, 32), tolerance)


@ct.kernel
def _grouped_matmul(a, b, ends, c, m: CONSTANT, n: CONSTANT, k: CONSTANT):
    """Groups of rows of different sizes, each with a matrix of its own."""
    group = ct.bid(0)
    start = ct.gather(ends, group - 1, padding_value=0)
    end = ct.gather(ends, group)
    x = a.slice(axis=0, start=start, stop=end)
    z = c.slice(axis=0, start=start, stop=end)
    for i in range(ct.cdiv(end - start, m)):
        acc = ct.zeros((m, n), dtype=ct.float32)
        for step in range(ct.cdiv(a.shape[1], k)):
            rows = ct.load(x, (i, step), (m, k), padding_mode=ZERO)
            weights = ct.load(b, (group, step, 0), (1, k, n), padding_mode=ZERO)
            acc = ct.mma(rows, ct.reshape(weights, (k, n)), acc)
        ct.store(z, (i, 0), acc)


def grouped_matmul() -> Case:
    a, b = normal(30, 20, dtype=np.float16), normal(3, 20, 6, dtype=np.float16)
    ends = np.array([11, 12, 30], np.int32)
    starts = [0, *ends[:-1]]
    parts = [_wide(a[s:e]) @ _wide(b[g]) for g, (s, e) in enumerate(zip(starts, ends, strict=True))]
    arguments, tolerance = [a, b, ends, blank(30, 6)], rounding(20, np.float32)
    return Case(_grouped_matmul, arguments, {3: np.concatenate(parts)}, (3,), (8, 8, 16), tolerance)


@ct.kernel
def _expert_matmul(
    x, w, tokens, experts, weights, out, top: CONSTANT, m: CONSTANT, n: CONSTANT, k: CONSTANT
):
    """Rows that are gathered for an expert's matrix, weighted, and scattered again."""
    block = ct.bid(0)
    chosen = ct.gather(tokens, block * m + ct.arange(m, dtype=ct.int32), padding_value=-1)
    expert = ct.load(experts, (block,), (1,)).item()
    acc = ct.zeros((m, n), dtype=ct.float32)
    for step in range(ct.cdiv(x.shape[1], k)):
        columns = step * k + ct.arange(k, dtype=ct.int32)
        rows = ct.gather(x, ((chosen // top)[:, None], columns[None, :]), padding_value=0)
        part = ct.load(w, (expert, ct.bid(1), step), (1, n, k), padding_mode=ZERO)
        acc = ct.mma(rows, ct.transpose(part.reshape((n, k))), acc)
    acc = acc * ct.gather(weights, chosen, padding_value=0)[:, None]
    columns = ct.bid(1) * n + ct.arange(n, dtype=ct.int32)
    ct.scatter(out, (chosen[:, None], columns[None, :]), acc.astype(out.dtype))


def expert_matmul() -> Case:
    x, w = normal(6, 20, dtype=np.float16), normal(2, 12, 20, dtype=np.float16)
    weights = normal(12)
    # Each of 6 tokens has 2 of the rows of the result; blocks of 8 rows belong to one expert.
    tokens = np.array([3, 0, 7, 8, 11, -1, -1, -1, 1, 2, 4, 5, 6, 9, 10, -1], np.int32)
    wanted = np.stack([x[t // 2].astype(np.float64) for t in range(12)])
    chosen = np.array([int(t in (3, 0, 7, 8, 11)) for t in range(12)])
    wanted = np.einsum("tk,tnk->tn", wanted, _wide(w)[1 - chosen]) * weights[:, None]
    arguments = [
        x,
        w,
        tokens,
        np.arange(2, dtype=np.int32),
        weights,
        blank(12, 12, dtype=np.float16),
    ]
    tolerance = rounding(21, np.float32, np.float16)
    return Case(_expert_matmul, arguments, {5: wanted}, (2, 2), (2, 8, 8, 16), tolerance)


@ct.kernel
def _matmul_mxfp8(a, a_scales, b, b_scales, c, m: CONSTANT, n: CONSTANT, k: CONSTANT):
    """Factors of 8 bits of which 32 along the depth share a power of two."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((m, n), dtype=ct.float32)
    for step in range(ct.cdiv(a.shape[1], k)):
        x = ct.load(a, (i, step), (m, k), padding_mode=ZERO)
        x_scales = ct.load(a_scales, (i, step), (m, k // 32))
        y = ct.load(b, (j, step), (n, k), padding_mode=ZERO)
        y_scales = ct.load(b_scales, (j, step), (n, k // 32))
        acc = ct.mma_scaled(x, x_scales, ct.transpose(y), ct.transpose(y_scales), acc)
    ct.store(c, (i, j), acc)


def _powers(*shape: int) -> Array:
    return (2.0 ** integers(-9, 9, *shape)).astype(E8M0)


def _scaled_product(a: Array, a_scales: Array, b: Array, b_scales: Array) -> Array:
    left, right = (
        _wide(each) * _wide(scales).repeat(each.shape[1] // scales.shape[1], axis=1)
        for each, scales in ((a, a_scales), (b, b_scales))
    )
    return left @ right.T


def _mxfp8(dtype: Any) -> Case:
    a, b = normal(16, 128, dtype=dtype), normal(8, 128, dtype=dtype)
    scales = _powers(16, 4), _powers(8, 4)
    wanted = _scaled_product(a, scales[0], b, scales[1])
    arguments = [a, scales[0], b, scales[1], blank(16, 8)]
    tolerance = rounding(4, np.float32)
    return Case(_matmul_mxfp8, arguments, {4: wanted}, (2, 1), (8, 8, 64), tolerance)


def matmul_mxfp8_e4m3() -> Case:
    return _mxfp8(E4M3)


def matmul_mxfp8_e5m2() -> Case:
    return _mxfp8(E5M2)


@ct.kernel
def _matmul_nvfp4(a, a_scales, b, b_scales, c, m: CONSTANT, n: CONSTANT, k: CONSTANT):
    """Factors of 4 bits, two in a byte, of which 16 share a scale in e4m3."""
    x = ct.unpack_from_bytes(
        ct.load(a, (0, 0), (m, k // 2)).reshape((m * k // 2,)), ct.float4_e2m1fn
    )
    y = ct.unpack_from_bytes(
        ct.load(b, (0, 0), (n, k // 2)).reshape((n * k // 2,)), ct.float4_e2m1fn
    )
    x_scales = ct.load(a_scales, (0, 0), (m, k // 16))
    y_scales = ct.transpose(ct.load(b_scales, (0, 0), (n, k // 16)))
    y = ct.transpose(y.reshape((n, k)))
    acc = ct.zeros((m, n), dtype=ct.float32)
    ct.store(c, (0, 0), ct.mma_scaled(x.reshape((m, k)), x_scales, y, y_scales, acc))


def matmul_nvfp4() -> Case:
    a, b = integers(0, 256, 8, 32, dtype=np.uint8), integers(0, 256, 16, 32, dtype=np.uint8)
    scales = [np.abs(normal(rows, 4)).astype(E4M3) for rows in (8, 16)]

    def numbers(packed: Array) -> Array:
        halves = np.stack([packed & 15, packed >> 4], axis=-1)
        return halves.reshape(packed.shape[0], 64).view(ml_dtypes.float4_e2m1fn)

    wanted = _scaled_product(numbers(a), scales[0], numbers(b), scales[1])
    arguments = [a, scales[0], b, scales[1], blank(8, 16)]
    return Case(_matmul_nvfp4, arguments, {4: wanted}, (1,), (8, 16, 64), rounding(4, np.float32))


CASES = [
    matmul_f16,
    matmul_bf16,
    matmul_f32,
    matmul_e4m3,
    matmul_e5m2,
    matmul_tf32_transposed,
    persistent_matmul,
    split_k_matmul,
    split_k_with_locks,
    batched_matmul,
    several_batches,
    matmul_int8,
    matmul_uint8_int8,
    matmul_f64,
    matrix_vector,
    grouped_matmul,
    expert_matmul,
    matmul_mxfp8_e4m3,
    matmul_mxfp8_e5m2,
    matmul_nvfp4,
]
"""A case for each kernel, or for each type of numbers that one is for."""
