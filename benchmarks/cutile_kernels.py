"""Kernels in cuTile Python for `tiles.py`, exported as CUDA Tile IR."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cuda.tile as ct
from cuda.tile.compilation import (
    ArrayConstraint,
    CallingConvention,
    KernelSignature,
    ScalarConstraint,
    export_kernel,
)

CONSTANT = ct.Constant[int]
ZERO = ct.PaddingMode.ZERO
LOWEST = ct.PaddingMode.NEG_INF


@ct.kernel
def matmul(a, b, c, m: CONSTANT, n: CONSTANT, k: CONSTANT):
    """A tile block computes a tile of C."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((m, n), dtype=ct.float32)
    for step in range(ct.cdiv(a.shape[1], k)):
        x = ct.load(a, (i, step), (m, k), padding_mode=ZERO)
        y = ct.load(b, (step, j), (k, n), padding_mode=ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(c, (i, j), acc)


@ct.kernel
def persistent_matmul(a, b, c, m: CONSTANT, n: CONSTANT, k: CONSTANT):
    """Tile blocks that take tiles of C in turn."""
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
def softmax(x, y, size: CONSTANT):
    """A tile block has a row."""
    i = ct.bid(0)
    row = ct.load(x, (i, 0), (1, size), padding_mode=LOWEST)
    powers = ct.exp(row - ct.max(row, axis=1, keepdims=True))
    ct.store(y, (i, 0), powers / ct.sum(powers, axis=1, keepdims=True))


@ct.kernel
def rms_norm(x, weight, y, eps, size: CONSTANT):
    """A tile block has a row."""
    i = ct.bid(0)
    row = ct.load(x, (i, 0), (1, size), padding_mode=ZERO)
    scale = ct.rsqrt(ct.sum(row * row, axis=1, keepdims=True) / x.shape[1] + eps)
    w = ct.reshape(ct.load(weight, (0,), (size,), padding_mode=ZERO), (1, size))
    ct.store(y, (i, 0), row * scale * w)


@ct.kernel
def layer_norm(x, weight, bias, y, eps, size: CONSTANT):
    """A tile block goes through a row in parts, three times."""
    i, columns = ct.bid(0), x.shape[1]
    total = ct.zeros((1, size), dtype=ct.float32)
    for part in range(ct.cdiv(columns, size)):
        total += ct.load(x, (i, part), (1, size), padding_mode=ZERO)
    mean = ct.sum(total, axis=1) / columns
    squares = ct.zeros((1, size), dtype=ct.float32)
    for part in range(ct.cdiv(columns, size)):
        tile = ct.load(x, (i, part), (1, size), padding_mode=ZERO)
        inside = part * size + ct.arange(size, dtype=ct.int32) < columns
        centered = ct.where(inside, tile - mean, 0.0)
        squares += centered * centered
    scale = ct.rsqrt(ct.sum(squares, axis=1) / columns + eps)
    for part in range(ct.cdiv(columns, size)):
        tile = ct.load(x, (i, part), (1, size), padding_mode=ZERO)
        w = ct.load(weight, (part,), (size,), padding_mode=ZERO)
        b = ct.load(bias, (part,), (size,), padding_mode=ZERO)
        ct.store(y, (i, part), (tile - mean) * scale * w + b)


@ct.kernel
def causal_attention(q, k, v, out, scale, rows: CONSTANT, columns: CONSTANT, depth: CONSTANT):
    """A tile block has some queries of a head; the softmax is computed on the way."""
    i, head = ct.bid(0), ct.bid(1)
    queries = ct.reshape(ct.load(q, (head, i, 0), (1, rows, depth)), (rows, depth))
    own = i * rows + ct.arange(rows, dtype=ct.int32)[:, None]
    largest = ct.full((rows, 1), -1.0e30, dtype=ct.float32)
    total = ct.zeros((rows, 1), dtype=ct.float32)
    acc = ct.zeros((rows, depth), dtype=ct.float32)
    for j in range(ct.cdiv((i + 1) * rows, columns)):
        keys = ct.load(k, (head, 0, j), (1, depth, columns), order=(0, 2, 1))
        scores = ct.mma(
            queries,
            ct.reshape(keys, (depth, columns)),
            ct.zeros((rows, columns), dtype=ct.float32),
        )
        seen = j * columns + ct.arange(columns, dtype=ct.int32)[None, :] <= own
        scores = ct.where(seen, scores * scale, -1.0e30)
        now = ct.maximum(largest, ct.max(scores, axis=1, keepdims=True))
        weights = ct.exp2(scores - now)
        alpha = ct.exp2(largest - now)
        total = total * alpha + ct.sum(weights, axis=1, keepdims=True)
        values = ct.reshape(ct.load(v, (head, j, 0), (1, columns, depth)), (columns, depth))
        acc = ct.mma(weights.astype(ct.float16), values, acc * alpha)
        largest = now
    result = ct.reshape((acc / total).astype(ct.float16), (1, rows, depth))
    ct.store(out, (head, i, 0), result)


@ct.kernel
def add(a, b, c, size: CONSTANT):
    """Element by element."""
    i = ct.bid(0)
    ct.store(c, (i,), ct.load(a, (i,), (size,)) + ct.load(b, (i,), (size,)))


def array(dtype: Any, rank: int) -> ArrayConstraint:
    """An array of any size, row by row, that no other overlaps."""
    return ArrayConstraint(
        dtype,
        rank,
        index_dtype=ct.int32,
        stride_lower_bound_incl=0,
        alias_groups=(),
        may_alias_internally=False,
        stride_constant=(None,) * (rank - 1) + (1,),
        base_addr_divisible_by=16,
    )


BF16, F16, F32 = ct.bfloat16, ct.float16, ct.float32
NUMBER = ScalarConstraint(F32)

KERNELS: dict[str, tuple[Any, Sequence[Any]]] = {
    "add": (add, [*[array(F32, 1)] * 3, 16384]),
    "causal_attention": (causal_attention, [*[array(F16, 3)] * 4, NUMBER, 64, 64, 64]),
    "layer_norm": (layer_norm, [array(F32, 2), *[array(F32, 1)] * 2, array(F32, 2), NUMBER, 1024]),
    "matmul": (matmul, [*[array(F32, 2)] * 3, 128, 128, 32]),
    "matmul_bf16": (matmul, [*[array(BF16, 2)] * 2, array(F32, 2), 128, 128, 32]),
    "persistent_matmul": (persistent_matmul, [*[array(F16, 2)] * 2, array(F32, 2), 128, 128, 32]),
    "rms_norm": (rms_norm, [array(F32, 2), array(F32, 1), array(F32, 2), NUMBER, 4096]),
    "softmax": (softmax, [array(F32, 2), array(F32, 2), 4096]),
}
"""The kernels, and what their parameters are."""


def export(name: str, directory: Path) -> Path:
    """Writes the bytecode of a kernel into a file."""
    kernel, parameters = KERNELS[name]
    file = directory / f"{name}.tileirbc"
    export_kernel(
        kernel,
        [KernelSignature(parameters, CallingConvention.cutile_python_v1())],
        str(file),
        gpu_code="sm_100",
        output_format="tileir_bytecode",
        bytecode_version="13.3",
    )
    return file
