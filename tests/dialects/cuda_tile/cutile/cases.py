"""Launches of the kernels, with what they should compute."""

# pyright: basic

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

from tests.dialects.cuda_tile.cutile import kernels
from tests.dialects.cuda_tile.cutile.launching import Constant
from tests.seeds import fresh_generator

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


@dataclass(frozen=True)
class Case:
    """A launch.

    Attributes:
        kernel: The kernel.
        arguments: Its arguments.
        grid: The tile blocks.
        expected: For an argument, by position, what it is after the launch.
        tolerance: How far a result may be off, relative to the largest one.
        options: How it is exported.
        since: The first version of the bytecode that can hold it.
    """

    kernel: Any
    arguments: list[Any]
    grid: tuple[int, ...]
    expected: dict[int, Any]
    tolerance: float = 0.0
    options: dict[str, Any] = field(default_factory=dict)
    since: str = "13.1"


def normal(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """Random numbers around 0."""
    return fresh_generator().standard_normal(shape).astype(dtype)


def blank(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """Memory of which everything must be written: NaN, or -1 in integers."""
    return np.full(shape, np.nan if np.dtype(dtype).kind not in "iu" else -1, dtype)


def wide(*arrays: np.ndarray) -> list[np.ndarray]:
    """Arrays in f64."""
    return [array.astype(np.float64) for array in arrays]


# f32 has 24 bits; a handful of operations lose a few units in the last place.
SINGLE = 2.0**-20
# A result is rounded once to its type at the end.
ROUNDED = {np.dtype(np.float32): SINGLE, np.dtype(np.float16): 2.0**-10, BFLOAT16: 2.0**-7}


def fused() -> Case:
    a, b, out = normal(10, 23), normal(10, 23), blank(10, 23)
    x, y = wide(a, b)
    expected = np.where(x > 0, np.tanh(1.5 * x + y), np.abs(y))
    return Case(kernels.fused, [a, b, out, 1.5, Constant(4)], (3, 3), {2: expected}, SINGLE)


def softmax() -> Case:
    x, out = normal(9, 100, dtype=np.float16), blank(9, 100, dtype=np.float16)
    power = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    expected = power / power.sum(axis=1, keepdims=True)
    return Case(kernels.softmax, [x, out, Constant(128)], (4,), {1: expected}, 2.0**-10)


def layer_norm() -> Case:
    x, weight, bias = normal(4, 100), normal(100), normal(100)
    (numbers,) = wide(x)
    mean, deviation = numbers.mean(axis=1), 1 / np.sqrt(numbers.var(axis=1) + 1e-5)
    expected = (numbers - mean[:, None]) * deviation[:, None] * weight + bias
    arguments = [x, weight, bias, blank(4, 100), blank(4), blank(4), 1e-5, Constant(32)]
    results = {3: expected, 4: mean, 5: deviation}
    # The variance is a difference of larger numbers.
    return Case(kernels.layer_norm, arguments, (4,), results, 2.0**-17)


def matmul(dtype: Any, *, size: tuple[int, int, int] = (50, 70, 90)) -> Case:
    m, n, k = size
    a, b, c = normal(m, k, dtype=dtype), normal(k, n, dtype=dtype), blank(m, n, dtype=dtype)
    x, y = wide(a, b)
    # tf32 has 11 bits, and errors of the k products partly cancel.
    tolerance = 2.0**-10 if dtype == np.float32 else ROUNDED[np.dtype(dtype)]
    tiles = [Constant(32), Constant(16), Constant(32)]
    grid = (-(-m // 32), -(-n // 16))
    return Case(kernels.matmul, [a, b, c, *tiles], grid, {2: x @ y}, tolerance)


def batched_matmul() -> Case:
    a, b = normal(3, 20, 40, dtype=BFLOAT16), normal(3, 30, 40, dtype=BFLOAT16)
    x, y = wide(a, b)
    arguments = [a, b, blank(3, 20, 30), Constant(16), Constant(16), Constant(32)]
    expected = x @ y.transpose(0, 2, 1)
    return Case(kernels.batched_matmul, arguments, (2, 2, 3), {2: expected}, SINGLE)


def attention() -> Case:
    q, k, v = (normal(2, 64, 32, dtype=np.float16) for _ in range(3))
    x, y, z = wide(q, k, v)
    scores = np.where(np.tri(64, dtype=bool), x @ y.transpose(0, 2, 1) * 0.25, -np.inf)
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    expected = weights / weights.sum(axis=2, keepdims=True) @ z
    out = blank(2, 64, 32, dtype=np.float16)
    arguments = [q, k, v, out, 0.25, Constant(32), Constant(16), Constant(32)]
    # The weights are rounded to f16 before they are multiplied.
    return Case(kernels.attention, arguments, (2, 2), {3: expected}, 2.0**-9)


def running_sums() -> Case:
    x = normal(8, 16)
    arguments = [x, *(blank(8, 16) for _ in range(3)), Constant(16)]
    (numbers,) = wide(x)
    expected = {
        1: numbers.cumsum(axis=1),
        2: numbers[:, ::-1].cumsum(axis=1)[:, ::-1],
        3: np.maximum.accumulate(numbers, axis=1),
    }
    return Case(kernels.running_sums, arguments, (2,), expected, SINGLE)


def histogram() -> Case:
    values = fresh_generator().integers(-2, 12, 60).astype(np.int32)
    order = [int((values[:i] == value).sum()) for i, value in enumerate(values)]
    counts = np.bincount(values[(values >= 0) & (values < 10)], minlength=10)
    # What is outside of the array is not updated, and its old value is anything.
    inside = (values >= 0) & (values < 10)
    before = blank(60, dtype=np.int32)
    arguments = [values, np.zeros(10, np.int32), before, Constant(16)]
    expected = {1: counts, 2: (np.array(order), inside)}
    return Case(kernels.histogram, arguments, (4,), expected)


def gather_rows() -> Case:
    table = normal(10, 8)
    indices = fresh_generator().integers(-3, 14, 16).astype(np.int32)
    inside = (indices >= 0) & (indices < 10)
    rows = np.where(inside[:, None], table[np.where(inside, indices, 0)], -1)
    arguments = [table, indices, blank(8, 16), 2.0, Constant(8), Constant(8)]
    return Case(kernels.gather_rows, arguments, (2,), {2: 2 * rows.T})


def transpose() -> Case:
    a = normal(10, 13)
    return Case(kernels.transpose, [a, blank(13, 10), Constant(4)], (3, 2), {1: a.T})


def extremes() -> Case:
    x = normal(8, 16)
    least, product = blank(8, dtype=np.int32), blank(8)
    expected = {1: x.argmin(axis=1), 2: x.astype(np.float64).prod(axis=1) + 16}
    return Case(kernels.extremes, [x, least, product, Constant(16)], (4,), expected, SINGLE)


def first_above() -> Case:
    x = np.zeros(100, np.float32)
    x[int(fresh_generator().integers(100))] = 2
    out = blank(3, dtype=np.int32)
    part = int(np.argmax(x)) // 16
    arguments = [x, out, 1.0, Constant(16)]
    return Case(kernels.first_above, arguments, (3,), {1: np.full(3, part)})


def locked_sum() -> Case:
    x = fresh_generator().integers(-9, 9, 64).astype(np.float32)
    arguments = [x, np.zeros(16, np.float32), np.zeros(1, np.int32), Constant(16)]
    expected = {1: x.reshape(4, 16).sum(axis=0), 2: np.zeros(1)}
    return Case(kernels.locked_sum, arguments, (4,), expected)


def quantize() -> Case:
    x = np.linspace(-9, 9, 64, dtype=np.float32)
    rounded = (x * 4).astype(ml_dtypes.float8_e4m3fn).astype(np.float32)
    whole = np.trunc(rounded).astype(np.int8)
    expected = (whole * np.int8(3)).astype(np.int8) // 2 % 7
    out = blank(64, dtype=np.int8)
    return Case(kernels.quantize, [x, out, 4.0, Constant(16)], (4,), {1: expected})


def sum_of_list() -> Case:
    arrays = [fresh_generator().integers(-9, 9, 30).astype(np.float32) for _ in range(3)]
    arguments = [arrays, blank(30), Constant(16)]
    return Case(kernels.sum_of_list, arguments, (2,), {1: np.sum(arrays, axis=0)})


def windows() -> Case:
    x = fresh_generator().integers(-9, 9, 20).astype(np.float32)
    starts = range(0, 20, 2)
    padded = np.append(x, np.zeros(8))
    smooth = np.array([padded[i : i + 4].mean() for i in starts])
    counts = np.bincount([i + j for i in starts for j in range(4) if i + j < 20])
    arguments = [x, blank(10), np.zeros(20, np.int32), Constant(4)]
    return Case(kernels.windows, arguments, (10,), {1: smooth, 2: counts}, since="13.3")


def permute_rows() -> Case:
    table, out = normal(10, 12), np.zeros((8, 12), np.float32)
    order = fresh_generator().permutation(14)[:8].astype(np.int32)
    expected = np.array([table[row] if row < 10 else [np.nan] * 12 for row in order])
    arguments = [table, order, out, Constant(4), Constant(8)]
    return Case(kernels.permute_rows, arguments, (2, 2), {2: expected}, since="13.3")


def scaled_product() -> Case:
    bits = [
        fresh_generator().integers(0, 16, shape).astype(np.uint8) for shape in ((16, 64), (64, 16))
    ]
    packed = [each[:, ::2] | each[:, 1::2] << 4 for each in bits]
    x, y = (each.view(ml_dtypes.float4_e2m1fn).astype(np.float64) for each in bits)
    exponents = fresh_generator().integers(-3, 4, (16, 2))
    scales = (exponents + 127).astype(np.uint8)
    arguments = [*packed, scales, blank(16, 16), Constant(16)]
    expected = 2 * (x * np.repeat(2.0**exponents, 32, axis=1)) @ y
    options = {"gpu_code": "sm_100"}
    return Case(
        kernels.scaled_product, arguments, (1,), {3: expected}, SINGLE, options, since="13.3"
    )


CASES: dict[str, Callable[[], Case]] = {
    "attention": attention,
    "batched_matmul": batched_matmul,
    "extremes": extremes,
    "first_above": first_above,
    "fused": fused,
    "gather_rows": gather_rows,
    "histogram": histogram,
    "layer_norm": layer_norm,
    "locked_sum": locked_sum,
    "matmul_bf16": lambda: matmul(BFLOAT16),
    "matmul_f16": lambda: matmul(np.float16),
    "matmul_f32": lambda: matmul(np.float32),
    "permute_rows": permute_rows,
    "quantize": quantize,
    "running_sums": running_sums,
    "scaled_product": scaled_product,
    "softmax": softmax,
    "sum_of_list": sum_of_list,
    "transpose": transpose,
    "windows": windows,
}
"""What makes each launch."""
