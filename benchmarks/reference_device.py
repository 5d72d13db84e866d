"""How fast the reference device runs; the yardstick is numpy doing the same mathematics.

Both use one thread: several threads of BLAS wait for each other on a machine that does other work,
and the figures would tell about that.

python benchmarks/reference_device.py
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measuring import conditions, cost_of_call, print_table, seconds

import xtile

REPEATS = 11

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"

Case = tuple[str, Callable[[], Any], Callable[[], Any]]


def flash_attention(length: int = 512, heads: int = 2, head_dimension: int = 64) -> Case:
    """Attention in f16, as in examples/flash_attention.py."""
    generator = np.random.default_rng()
    shape = (head_dimension, length, heads)
    q, k, v = (
        np.asfortranarray(generator.standard_normal(shape).astype(np.float16)) for _ in range(3)
    )
    o = np.full(shape, np.nan, np.float16, order="F")
    scale = 1 / math.sqrt(head_dimension)
    module = xtile.parse(EXAMPLES / "flash_attention.ir")
    grid = (-(-length // 64), heads, 1)

    def in_numpy() -> list[Any]:
        results: list[Any] = []
        for head in range(heads):
            qq, kk, vv = (x[..., head].astype(np.float32) for x in (q, k, v))
            scores = np.float32(scale) * (kk.T @ qq)
            weights = np.exp(scores - scores.max(axis=0))
            results.append((vv @ (weights / weights.sum(axis=0))).astype(np.float16))
        return results

    return (
        f"flash attention d={head_dimension}, T={length}, {heads} heads",
        lambda: xtile.run(module, [q, k, v, o, scale], grid),
        in_numpy,
    )


def batched_gemm(size: int = 64, batch: int = 256) -> Case:
    """Products of square matrices in f32, as in examples/batched_gemm.py."""
    generator = np.random.default_rng()
    a, b, c = (
        np.asfortranarray(generator.standard_normal((size, size, batch)).astype(np.float32))
        for _ in range(3)
    )
    module = xtile.parse(EXAMPLES / "batched_gemm.ir")

    def in_numpy() -> Any:
        batches = (np.moveaxis(x, -1, 0) for x in (a, b, c))
        first, second, third = batches
        return first @ second + np.float32(0.5) * third

    return (
        f"batched GEMM {size} x {size} x {size}, {batch} groups",
        lambda: xtile.run(module, [1.0, a, b, 0.5, c], (batch,), entry="batched_gemm"),
        in_numpy,
    )


def main() -> None:
    """Measures and prints."""
    rows: list[list[str]] = []
    for name, on_device, in_numpy in (flash_attention(), batched_gemm()):
        device, yardstick = cost_of_call(on_device, REPEATS), cost_of_call(in_numpy, REPEATS)
        ratio = f"{device.wall / yardstick.wall:.2g}"
        rows.append([name, seconds(device.wall), seconds(yardstick.wall), ratio])
    headings = ["kernel", "reference device", "plain numpy", "ratio"]
    print_table(f"reference device, one thread, wall clock, median of {REPEATS}", headings, rows)
    print(conditions("ml_dtypes"))


if __name__ == "__main__":
    main()
