"""Kernels such as those that are written in cuTile Python, exported without a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any

import cuda.tile as ct
from cuda.tile.compilation import (
    CallingConvention,
    KernelSignature,
    ScalarConstraint,
    export_kernel,
)

from tests.dialects.cuda_tile.bytecode.cutile_kernels import CONSTANT, array, matmul, softmax

ZERO = ct.PaddingMode.ZERO


@ct.kernel
def layer_norm(x, weight, bias, out, eps, size: CONSTANT):
    """Two passes over a row, the second one with what the first one found."""
    row, columns = ct.bid(0), x.shape[1]
    total = ct.zeros((1, size), dtype=ct.float32)
    for part in range(ct.cdiv(columns, size)):
        total += ct.load(x, (row, part), (1, size), padding_mode=ZERO)
    mean = ct.sum(total, axis=1) / columns
    squares = ct.zeros((1, size), dtype=ct.float32)
    for part in range(ct.cdiv(columns, size)):
        tile = ct.load(x, (row, part), (1, size), padding_mode=ZERO)
        inside = part * size + ct.arange(size, dtype=ct.int32) < columns
        centered = ct.where(inside, tile - mean, 0.0)
        squares += centered * centered
    scale = ct.rsqrt(ct.sum(squares, axis=1) / columns + eps)
    for part in range(ct.cdiv(columns, size)):
        tile = ct.load(x, (row, part), (1, size), padding_mode=ZERO)
        w = ct.load(weight, (part,), (size,), padding_mode=ZERO)
        b = ct.load(bias, (part,), (size,), padding_mode=ZERO)
        ct.store(out, (row, part), (tile - mean) * scale * w + b)


@ct.kernel
def attention(q, k, v, out, scale, rows: CONSTANT, columns: CONSTANT, depth: CONSTANT):
    """The online softmax in base 2, with transposed keys."""
    i = ct.bid(0)
    queries = ct.load(q, (i, 0), (rows, depth), padding_mode=ZERO)
    largest = ct.full((rows, 1), -1.0e30, dtype=ct.float32)
    total = ct.zeros((rows, 1), dtype=ct.float32)
    acc = ct.zeros((rows, depth), dtype=ct.float32)
    for j in range(ct.cdiv(k.shape[0], columns)):
        keys = ct.load(k, (0, j), (depth, columns), order=(1, 0), padding_mode=ZERO)
        scores = ct.mma(queries, keys, ct.zeros((rows, columns), dtype=ct.float32)) * scale
        inside = j * columns + ct.arange(columns, dtype=ct.int32) < k.shape[0]
        scores = ct.where(inside, scores, -1.0e30)
        now = ct.maximum(largest, ct.max(scores, axis=1, keepdims=True))
        weights = ct.exp2(scores - now, flush_to_zero=True)
        alpha = ct.exp2(largest - now, flush_to_zero=True)
        total = total * alpha + ct.sum(weights, axis=1, keepdims=True)
        values = ct.load(v, (j, 0), (columns, depth), padding_mode=ZERO)
        acc = ct.mma(weights.astype(ct.float16), values, acc * alpha)
        largest = now
    ct.store(out, (i, 0), ct.truediv(acc, total, flush_to_zero=True))


@ct.kernel
def persistent_matmul(a, b, c, m: CONSTANT, n: CONSTANT, k: CONSTANT):
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


@ct.kernel
def split_k_matmul(a, b, c, m: CONSTANT, n: CONSTANT, k: CONSTANT):
    """Sums of products that several tile blocks add up atomically."""
    i, step = ct.bid(0), ct.bid(1)
    x = ct.load(a, (i, step), (m, k), padding_mode=ZERO)
    y = ct.load(b, (step, 0), (k, n), padding_mode=ZERO)
    acc = ct.mma(x, y, ct.zeros((m, n), dtype=ct.float32))
    rows = i * m + ct.arange(m, dtype=ct.int32)[:, None]
    columns = ct.arange(n, dtype=ct.int32)[None, :]
    ct.atomic_add(c, (rows, columns), acc)


@ct.kernel
def gather_scatter(x, places, out, size: CONSTANT):
    """Elements by their places, some of which are outside."""
    own = ct.bid(0) * size + ct.arange(size, dtype=ct.int32)
    places_ = ct.gather(places, own, padding_value=-1)
    ct.scatter(out, own, ct.gather(x, places_, padding_value=7.0))


@ct.kernel
def histogram(x, bins, size: CONSTANT):
    """Counts by atomic updates."""
    values = ct.load(x, (ct.bid(0),), (size,))
    ct.atomic_add(bins, values, 1)


@ct.kernel
def prefix_sums(x, out, size: CONSTANT):
    """Sums of a row from either side."""
    tile = ct.load(x, (ct.bid(0), 0), (1, size), padding_mode=ZERO)
    ct.store(out, (ct.bid(0), 0), ct.cumsum(tile, axis=1) - ct.cumsum(tile, axis=1, reverse=True))


@ct.kernel
def places_of_largest(x, out, size: CONSTANT):
    """The place of the largest number in each row."""
    tile = ct.load(x, (ct.bid(0), 0), (1, size), padding_mode=ct.PaddingMode.NEG_INF)
    ct.store(out, (ct.bid(0),), ct.argmax(tile, axis=1))


@ct.kernel
def collatz(x, out, limit, size: CONSTANT):
    """A loop that is left early, and one that goes on early."""
    i = ct.bid(0)
    n, steps = ct.gather(x, i), 0
    while n != 1:
        if steps >= limit:
            break
        steps += 1
        if n % 2 == 0:
            n = n // 2
            continue
        n = 3 * n + 1
    ct.scatter(out, i, steps)


@ct.kernel
def quantize(x, out, scales, size: CONSTANT):
    """A row in eight bits with one scale."""
    i = ct.bid(0)
    tile = ct.load(x, (i, 0), (1, size), padding_mode=ZERO)
    scale = ct.max(ct.abs(tile), axis=1, keepdims=True) / 127.0
    ct.store(scales, (i,), ct.reshape(scale, (1,)))
    ct.store(out, (i, 0), ct.astype(ct.floor(tile / scale + 0.5), ct.int8))


@ct.kernel
def rotated(x, out, size: CONSTANT):
    """Halves that change places, permuted and joined."""
    tile = ct.load(x, (ct.bid(0), 0), (1, size))
    low = ct.extract(tile, (0, 0), shape=(1, size // 2))
    high = ct.extract(tile, (0, 1), shape=(1, size // 2))
    ct.store(out, (0, ct.bid(0)), ct.permute(ct.cat((-high, low), 1), (1, 0)))


F16, F32, I32, I8 = ct.float16, ct.float32, ct.int32, ct.int8
NUMBER, COUNT = ScalarConstraint(F32), ScalarConstraint(I32)

KERNELS: dict[str, tuple[Any, Sequence[Any]]] = {
    "attention": (attention, [*[array(F16, 2)] * 3, array(F32, 2), NUMBER, 16, 32, 16]),
    "collatz": (collatz, [array(I32, 1), array(I32, 1), COUNT, 1]),
    "gather_scatter": (gather_scatter, [array(F32, 1), array(I32, 1), array(F32, 1), 32]),
    "histogram": (histogram, [array(I32, 1), array(I32, 1), 64]),
    "layer_norm": (layer_norm, [array(F32, 2), *[array(F32, 1)] * 2, array(F32, 2), NUMBER, 32]),
    "matmul": (matmul, [*[array(F16, 2)] * 2, array(F32, 2), 32, 16, 16]),
    "persistent_matmul": (persistent_matmul, [*[array(F16, 2)] * 2, array(F32, 2), 16, 16, 16]),
    "places_of_largest": (places_of_largest, [array(F32, 2), array(I32, 1), 64]),
    "prefix_sums": (prefix_sums, [array(F32, 2), array(F32, 2), 64]),
    "quantize": (quantize, [array(F32, 2), array(I8, 2), array(F32, 1), 64]),
    "rotated": (rotated, [array(F32, 2), array(F32, 2), 64]),
    "softmax": (softmax, [array(F32, 2), array(F32, 2), 64]),
    "split_k_matmul": (split_k_matmul, [*[array(F16, 2)] * 2, array(F32, 2), 16, 16, 16]),
}
"""The kernels, and what their parameters are."""


def exported(name: str) -> bytes:
    """The bytecode of a kernel."""
    kernel, parameters = KERNELS[name]
    output = BytesIO()
    export_kernel(
        kernel,
        [KernelSignature(parameters, CallingConvention.cutile_python_v1())],
        output,
        gpu_code="sm_100",
        output_format="tileir_bytecode",
        bytecode_version="13.3",
    )
    return output.getvalue()
