"""Kernels that access memory through tiles of pointers, as in Triton's tutorials and libraries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from tests.seeds import fresh_generator
from tests.transforms.structure.pointer_builder import Kernel, Tile, Writer

Array = Any
Launch: TypeAlias = "tuple[list[Any], tuple[int, int, int]]"
"""Arguments, of which outputs are filled with NaN, and a grid."""

INFINITE = float("inf")


@dataclass(frozen=True)
class Case:
    """A kernel, and launches of it of several sizes."""

    write: Writer
    launches: Callable[[], list[Launch]]

    def text(self) -> str:
        """The kernel in CUDA Tile IR."""
        kernel = Kernel()
        self.write(kernel)
        return kernel.text()


CASES: dict[str, Case] = {}


def _case(launches: Callable[[], list[Launch]]) -> Callable[[Writer], Writer]:
    def add(write: Writer) -> Writer:
        CASES[write.__name__] = Case(write, launches)
        return write

    return add


def _random(*shape: int) -> Array:
    return fresh_generator().standard_normal(shape).astype(np.float32)


def _integers(low: int, high: int, *shape: int) -> Array:
    return fresh_generator().integers(low, high, shape).astype(np.int32)


def _blank(*shape: int) -> Array:
    return np.full(shape, np.nan, np.float32)


def _blocks(size: int, block: int) -> int:
    return -(-size // block)


def _strides(*arrays: Array) -> list[int]:
    return [stride // array.itemsize for array in arrays for stride in array.strides]


# --- one dimension ---


def _vectors(block: int, inputs: int) -> Callable[[], list[Launch]]:
    def launches() -> list[Launch]:
        made: list[Launch] = []
        for n in (64, 200, 333):
            arrays = [*(_random(n) for _ in range(inputs)), _blank(n)]
            made.append(([*arrays, n], (_blocks(n, block), 1, 1)))
        return made

    return launches


@_case(_vectors(64, 2))
def vector_add(k: Kernel) -> None:
    x, y, out = k.pointers("x y out")
    (n,) = k.integers("n")
    at = k.block() * 64 + k.arange(64)
    mask = at < n
    k.store(out + at, k.load(x + at, mask) + k.load(y + at, mask), mask)


@_case(_vectors(64, 1))
def reverse(k: Kernel) -> None:
    x, out = k.pointers("x out")
    (n,) = k.integers("n")
    at = k.block() * 64 + k.arange(64)
    mask = at < n
    k.store(out + at, k.load(x + (n - 1 - at), mask), mask)


@_case(_vectors(64, 1))
def shifted(k: Kernel) -> None:
    """A stencil, which reads beyond both ends."""
    x, out = k.pointers("x out")
    (n,) = k.integers("n")
    at = k.block() * 64 + k.arange(64)
    inside = at < n
    left = k.load(x + (at - 1), (at > 0) & inside, 0)
    right = k.load(x + (at + 1), (at + 1) < n, 0)
    k.store(out + at, left + right, inside)


@_case(_vectors(64, 1))
def grid_stride(k: Kernel) -> None:
    """Few blocks with a loop over the parts of a vector."""
    x, out = k.pointers("x out")
    (n,) = k.integers("n")
    lanes = k.arange(64)
    with k.loop(k.block() * 64, n, 128, [lanes]) as loop:
        at = loop.variable + lanes
        mask = at < n
        k.store(out + at, k.load(x + at, mask) * 2.0, mask)
        loop.carry(loop.carried[0])


@_case(_vectors(32, 1))
def dropout(k: Kernel) -> None:
    """Drops what a hash of the position says."""
    x, out = k.pointers("x out")
    (n,) = k.integers("n")
    at = k.block() * 32 + k.arange(32)
    mask = at < n
    hashed = (at * 1103515245 + 12345) % 1024
    kept = hashed < 512
    k.store(out + at, k.select(kept, k.load(x + at, mask, 0) * 2.0, 0), mask)


def _two_steps() -> list[Launch]:
    made: list[Launch] = []
    for n, step in ((40, 2), (64, 3), (100, 5)):
        made.append(([_random(n * step), _blank(n), n, step], (_blocks(n, 32), 1, 1)))
    return made


@_case(_two_steps)
def strided_copy(k: Kernel) -> None:
    x, out = k.pointers("x out")
    n, step = k.integers("n step")
    at = k.block() * 32 + k.arange(32)
    mask = at < n
    k.store(out + at, k.load(x + at * step, mask), mask)


def _every_other() -> list[Launch]:
    return [([_random(2 * n), _blank(n), _blank(n)], (n // 32, 1, 1)) for n in (32, 64, 160)]


@_case(_every_other)
def deinterleave(k: Kernel) -> None:
    """No masks, and steps of 2."""
    x, real, imaginary = k.pointers("x real imaginary")
    at = k.block() * 32 + k.arange(32)
    k.store(real + at, k.load(x + 2 * at))
    k.store(imaginary + at, k.load(x + (2 * at + 1)))


# --- rows ---


def _rows(inputs: int, outputs: int, vectors: int = 0, row: int = 64) -> Callable[[], list[Launch]]:
    """Matrices with padding behind each row, and vectors of a row's size."""

    def launches() -> list[Launch]:
        made: list[Launch] = []
        for rows, columns in ((3, row), (5, 50), (7, 33)):
            wide = columns + 7
            given = [_random(rows, wide) for _ in range(inputs)]
            given += [_random(columns) for _ in range(vectors)]
            blanks = [_blank(rows, wide) for _ in range(outputs)]
            made.append(([*given, *blanks, wide, columns], (rows, 1, 1)))
        return made

    return launches


def _row(k: Kernel, stride: Tile, columns: Tile, size: int = 64) -> tuple[Tile, Tile, Tile]:
    """The offset of a block's row, its columns, and which there are."""
    at = k.arange(size)
    return k.block() * stride, at, at < columns


@_case(_rows(1, 1))
def softmax(k: Kernel) -> None:
    x, out = k.pointers("x out")
    stride, columns = k.integers("stride columns")
    start, at, mask = _row(k, stride, columns)
    row = k.load(x + start + at, mask, -INFINITE)
    e = k.unary("exp", row - k.reduce("maxf", row))
    k.store(out + start + at, e / k.reduce("addf", e), mask)


@_case(_rows(1, 1, vectors=2))
def layer_norm_forward(k: Kernel) -> None:
    """Three loops over the parts of a row."""
    x, w, b, out = k.pointers("x w b out")
    stride, columns = k.integers("stride columns")
    x, out = x + k.block() * stride, out + k.block() * stride
    zero, count = k.constant(0, (16,), "f32"), k.cast("itof", columns, "f32")
    with k.loop(0, columns, 16, [zero]) as loop:
        at = loop.variable + k.arange(16)
        loop.carry(loop.carried[0] + k.load(x + at, at < columns, 0))
    mean = k.reduce("addf", loop.results[0]) / count
    with k.loop(0, columns, 16, [zero]) as loop:
        at = loop.variable + k.arange(16)
        inside = at < columns
        centered = k.select(inside, k.load(x + at, inside, 0) - mean, 0)
        loop.carry(loop.carried[0] + centered * centered)
    variance = k.reduce("addf", loop.results[0]) / count
    scale = k.unary("rsqrt", variance + 1e-5)
    with k.loop(0, columns, 16, []) as loop:
        at = loop.variable + k.arange(16)
        inside = at < columns
        value = (k.load(x + at, inside, 0) - mean) * scale
        k.store(out + at, value * k.load(w + at, inside) + k.load(b + at, inside), inside)


@_case(_rows(2, 1, vectors=1))
def layer_norm_backward(k: Kernel) -> None:
    """The gradient of the input of a normalization."""
    x, dy, w, dx = k.pointers("x dy w dx")
    stride, columns = k.integers("stride columns")
    start, at, mask = _row(k, stride, columns)
    count = k.cast("itof", columns, "f32")
    value = k.load(x + start + at, mask, 0)
    mean = k.reduce("addf", value) / count
    centered = k.select(mask, value - mean, 0)
    scale = k.unary("rsqrt", k.reduce("addf", centered * centered) / count + 1e-5)
    normal = centered * scale
    weighted = k.load(w + at, mask, 0) * k.load(dy + start + at, mask, 0)
    c1 = k.reduce("addf", normal * weighted) / count
    c2 = k.reduce("addf", weighted) / count
    k.store(dx + start + at, (weighted - (normal * c1 + c2)) * scale, mask)


@_case(_rows(1, 1))
def cumulated(k: Kernel) -> None:
    x, out = k.pointers("x out")
    stride, columns = k.integers("stride columns")
    start, at, mask = _row(k, stride, columns)
    k.store(out + start + at, k.cumulate(k.load(x + start + at, mask, 0)), mask)


def _halves() -> list[Launch]:
    made: list[Launch] = []
    for rows, half in ((2, 16), (3, 20), (5, 32)):
        angles = _random(rows, half)
        given = [_random(rows, 2 * half), np.cos(angles), np.sin(angles), _blank(rows, 2 * half)]
        made.append(([*given, half], (rows, 1, 1)))
    return made


@_case(_halves)
def rope(k: Kernel) -> None:
    """Rotates the two halves of a row."""
    x, cos, sin, out = k.pointers("x cos sin out")
    (half,) = k.integers("half")
    at = k.arange(32)
    mask = at < half
    row, angles = k.block() * (half * 2), k.block() * half
    a, b = k.load(x + row + at, mask, 0), k.load(x + row + half + at, mask, 0)
    c, s = k.load(cos + angles + at, mask, 0), k.load(sin + angles + at, mask, 0)
    k.store(out + row + at, a * c - b * s, mask)
    k.store(out + row + half + at, a * s + b * c, mask)


# --- boxes of more dimensions ---


def _matrices() -> list[Launch]:
    made: list[Launch] = []
    for m, n in ((32, 32), (40, 20), (17, 61)):
        x, out = _random(m, n + 3), _blank(n, m + 5)
        grid = (_blocks(m, 16), _blocks(n, 32), 1)
        made.append(([x, out, m, n, n + 3, m + 5], grid))
    return made


@_case(_matrices)
def transpose(k: Kernel) -> None:
    x, out = k.pointers("x out")
    m, n, x_stride, out_stride = k.integers("m n x_stride out_stride")
    rows, columns = k.block(0) * 16 + k.arange(16), k.block(1) * 32 + k.arange(32)
    mask = (rows[:, None] < m) & (columns[None, :] < n)
    value = k.load(x + (rows[:, None] * x_stride + columns[None, :]), mask, 0)
    k.store(out + (columns[None, :] * out_stride + rows[:, None]), value, mask)


@_case(_matrices)
def transpose_in_registers(k: Kernel) -> None:
    x, out = k.pointers("x out")
    m, n, x_stride, out_stride = k.integers("m n x_stride out_stride")
    rows, columns = k.block(0) * 16 + k.arange(16), k.block(1) * 32 + k.arange(32)
    inside, below = (columns[None, :] < n), (rows[None, :] < m)
    at = x + rows[:, None] * x_stride + columns[None, :]
    value = k.transpose(k.load(at, (rows[:, None] < m) & inside, 0))
    at = out + columns[:, None] * out_stride + rows[None, :]
    k.store(at, value, (columns[:, None] < n) & below)


@_case(_matrices)
def outer_sum(k: Kernel) -> None:
    """A row and a column, repeated to a matrix."""
    x, out = k.pointers("x out")
    m, n, x_stride, out_stride = k.integers("m n x_stride out_stride")
    rows, columns = k.block(0) * 16 + k.arange(16), k.block(1) * 32 + k.arange(32)
    row = k.load(x + columns, columns < n, 0)
    column = k.load(x + rows * x_stride, rows < m, 0)
    mask = (rows[:, None] < m) & (columns[None, :] < n)
    at = out + columns[None, :] * out_stride + rows[:, None]
    k.store(at, row[None, :] + column[:, None], mask)


def _volumes() -> list[Launch]:
    made: list[Launch] = []
    for a, b, c in ((4, 8, 16), (5, 7, 9), (3, 11, 20)):
        x, out = _random(a, b, c), _blank(c, a, b)
        grid = (_blocks(a, 2), _blocks(b, 4), _blocks(c, 8))
        made.append(([x, out, a, b, c, *_strides(x)[:2], *_strides(out)[:2]], grid))
    return made


@_case(_volumes)
def permute_3d(k: Kernel) -> None:
    x, out = k.pointers("x out")
    a, b, c, xa, xb, oc, oa = k.integers("a b c xa xb oc oa")
    i = (k.block(0) * 2 + k.arange(2))[:, None, None]
    j = (k.block(1) * 4 + k.arange(4))[None, :, None]
    n = (k.block(2) * 8 + k.arange(8))[None, None, :]
    mask = (i < a) & (j < b) & (n < c)
    k.store(out + (n * oc + i * oa + j), k.load(x + (i * xa + j * xb + n), mask, 0), mask)


def _squares() -> list[Launch]:
    return [([_random(n, n), _blank(n), n], (_blocks(n, 16), 1, 1)) for n in (16, 33, 50)]


@_case(_squares)
def diagonal(k: Kernel) -> None:
    x, out = k.pointers("x out")
    (n,) = k.integers("n")
    at = k.block() * 16 + k.arange(16)
    k.store(out + at, k.load(x + at * (n + 1), at < n, 0), at < n)


@_case(_squares)
def triangle_sums(k: Kernel) -> None:
    """The mask compares rows with columns."""
    x, out = k.pointers("x out")
    (n,) = k.integers("n")
    rows, columns = k.block() * 16 + k.arange(16), k.arange(64)
    below = (columns[None, :] <= rows[:, None]) & (rows[:, None] < n)
    value = k.load(x + rows[:, None] * n + columns[None, :], below, 0)
    k.store(out + rows, k.reduce("addf", value, 1), rows < n)


# --- products ---


def _products(parts: int = 1) -> Callable[[], list[Launch]]:
    def launches() -> list[Launch]:
        made: list[Launch] = []
        for m, n, depth in ((32, 32, 32), (40, 20, 50), (17, 35, 64)):
            a, b, c = _random(m, depth + 1), _random(depth, n + 2), _blank(m, n + 3)
            if parts > 1:
                c[:] = 0
            grid = (_blocks(m, 16), _blocks(n, 16), parts)
            made.append(([a, b, c, m, n, depth, *_strides(a, b, c)], grid))
        return made

    return launches


def _operands(k: Kernel) -> tuple[list[Tile], list[Tile], list[Tile]]:
    return k.pointers("a b c"), k.integers("m n k"), k.integers("am ak bk bn cm cn")


def _store_product(k: Kernel, c: Tile, value: Tile, sizes: list[Tile], strides: list[Tile]) -> None:
    rows, columns = (k.block(axis) * 16 + k.arange(16) for axis in (0, 1))
    mask = (rows[:, None] < sizes[0]) & (columns[None, :] < sizes[1])
    at = c + rows[:, None] * strides[4] + columns[None, :] * strides[5]
    k.store(at, value, mask)


@_case(_products())
def matmul_advancing(k: Kernel) -> None:
    """Pointers that advance, as in Triton's tutorial, without its remainders."""
    (a, b, c), sizes, strides = _operands(k)
    (m, n, depth), (am, ak, bk, bn, _, _) = sizes, strides
    rows, columns = (k.block(axis) * 16 + k.arange(16) for axis in (0, 1))
    along = k.arange(16)
    a_at = a + (rows[:, None] * am + along[None, :] * ak)
    b_at = b + (along[:, None] * bk + columns[None, :] * bn)
    zero = k.constant(0, (16, 16), "f32")
    with k.loop(0, (depth + 15) // 16, 1, [zero, a_at, b_at]) as loop:
        acc, a_now, b_now = loop.carried
        left = depth - loop.variable * 16
        x = k.load(a_now, (along[None, :] < left) & (rows[:, None] < m), 0)
        y = k.load(b_now, (along[:, None] < left) & (columns[None, :] < n), 0)
        loop.carry(k.dot(x, y, acc), a_now + 16 * ak, b_now + 16 * bk)
    _store_product(k, c, loop.results[0], sizes, strides)


@_case(_products())
def matmul_from_offsets(k: Kernel) -> None:
    """Pointers that are computed anew in each iteration."""
    (a, b, c), sizes, strides = _operands(k)
    (m, n, depth), (am, ak, bk, bn, _, _) = sizes, strides
    rows, columns = (k.block(axis) * 16 + k.arange(16) for axis in (0, 1))
    zero = k.constant(0, (16, 16), "f32")
    with k.loop(0, depth, 16, [zero]) as loop:
        along = loop.variable + k.arange(16)
        a_at = a + (rows[:, None] * am + along[None, :] * ak)
        b_at = b + (along[:, None] * bk + columns[None, :] * bn)
        x = k.load(a_at, (along[None, :] < depth) & (rows[:, None] < m), 0)
        y = k.load(b_at, (along[:, None] < depth) & (columns[None, :] < n), 0)
        loop.carry(k.dot(x, y, loop.carried[0]))
    _store_product(k, c, loop.results[0], sizes, strides)


@_case(_products())
def matmul_wrapping(k: Kernel) -> None:
    """Triton's tutorial: rows beyond the end begin again."""
    (a, b, c), sizes, strides = _operands(k)
    (m, n, depth), (am, ak, bk, bn, _, _) = sizes, strides
    rows = (k.block(0) * 16 + k.arange(16)) % m
    columns = (k.block(1) * 16 + k.arange(16)) % n
    along = k.arange(16)
    a_at = a + (rows[:, None] * am + along[None, :] * ak)
    b_at = b + (along[:, None] * bk + columns[None, :] * bn)
    zero = k.constant(0, (16, 16), "f32")
    with k.loop(0, (depth + 15) // 16, 1, [zero, a_at, b_at]) as loop:
        acc, a_now, b_now = loop.carried
        left = depth - loop.variable * 16
        x, y = k.load(a_now, along[None, :] < left, 0), k.load(b_now, along[:, None] < left, 0)
        loop.carry(k.dot(x, y, acc), a_now + 16 * ak, b_now + 16 * bk)
    _store_product(k, c, loop.results[0], sizes, strides)


@_case(_products(2))
def split_k(k: Kernel) -> None:
    """Parts of the depth, which are added up in memory."""
    (a, b, c), sizes, strides = _operands(k)
    (m, n, depth), (am, ak, bk, bn, cm, cn) = sizes, strides
    rows, columns = (k.block(axis) * 16 + k.arange(16) for axis in (0, 1))
    zero = k.constant(0, (16, 16), "f32")
    with k.loop(k.block(2) * 16, depth, 32, [zero]) as loop:
        along = loop.variable + k.arange(16)
        inside = along < depth
        x = k.load(
            a + rows[:, None] * am + along[None, :] * ak,
            (rows[:, None] < m) & inside[None, :],
            0,
        )
        y = k.load(
            b + along[:, None] * bk + columns[None, :] * bn,
            (columns[None, :] < n) & inside[:, None],
            0,
        )
        loop.carry(k.dot(x, y, loop.carried[0]))
    mask = (rows[:, None] < m) & (columns[None, :] < n)
    at = c + rows[:, None] * cm + columns[None, :] * cn
    k.add_atomically(at, loop.results[0], mask)


def _exact_products() -> list[Launch]:
    made: list[Launch] = []
    for m, n, depth in ((16, 16, 16), (32, 16, 48), (48, 32, 32)):
        grid = (m // 16, n // 16, 1)
        made.append(([_random(m, depth), _random(depth, n), _blank(m, n), n, depth], grid))
    return made


@_case(_exact_products)
def matmul_without_masks(k: Kernel) -> None:
    a, b, c = k.pointers("a b c")
    n, depth = k.integers("n k")
    rows, columns = (k.block(axis) * 16 + k.arange(16) for axis in (0, 1))
    along = k.arange(16)
    a_at = a + rows[:, None] * depth + along[None, :]
    b_at = b + along[:, None] * n + columns[None, :]
    zero = k.constant(0, (16, 16), "f32")
    with k.loop(0, depth, 16, [zero, a_at, b_at]) as loop:
        acc, a_now, b_now = loop.carried
        loop.carry(k.dot(k.load(a_now), k.load(b_now), acc), a_now + 16, b_now + 16 * n)
    k.store(c + rows[:, None] * n + columns[None, :], loop.results[0])


def _stages() -> list[Launch]:
    made: list[Launch] = []
    for rows, columns, first in ((16, 64, 32), (20, 90, 5), (5, 33, 33)):
        grid = (_blocks(rows, 16), 1, 1)
        made.append(([_random(rows, columns), _blank(rows), rows, columns, first], grid))
    return made


@_case(_stages)
def two_loops(k: Kernel) -> None:
    """The second loop goes on where the first one has left pointers, as causal attention does."""
    x, out = k.pointers("x out")
    m, n, first = k.integers("m n first")
    rows, along = k.block() * 16 + k.arange(16), k.arange(16)
    at = x + rows[:, None] * n + along[None, :]
    inside = rows[:, None] < m
    with k.loop(0, first // 16, 1, [k.constant(0, (16, 16), "f32"), at]) as loop:
        total, now = loop.carried
        loop.carry(total + k.load(now, inside, 0), now + 16)
    total, now = loop.results
    with k.loop((first // 16) * 16, n, 16, [total, now]) as loop:
        total, now = loop.carried
        left = (loop.variable + along)[None, :] < n
        loop.carry(total + k.load(now, inside & left, 0) * 2.0, now + 16)
    k.store(out + rows, k.reduce("addf", loop.results[0], 1), rows < m)


def _attention() -> list[Launch]:
    made: list[Launch] = []
    for rows, columns in ((32, 32), (20, 50), (33, 17)):
        q, kv = _random(rows, 16), [_random(columns, 16) for _ in range(2)]
        made.append(([q, *kv, _blank(rows, 16), rows, columns], (_blocks(rows, 16), 1, 1)))
    return made


@_case(_attention)
def attention(k: Kernel) -> None:
    """The online softmax; keys and values advance."""
    q, keys, values, out = k.pointers("q keys values out")
    m, n = k.integers("m n")
    rows, along, depth = k.block() * 16 + k.arange(16), k.arange(16), k.arange(16)
    own = rows[:, None] * 16 + depth[None, :]
    query = k.load(q + own, rows[:, None] < m, 0)
    k_at = keys + (along[None, :] * 16 + depth[:, None])
    v_at = values + (along[:, None] * 16 + depth[None, :])
    largest, total = k.constant(-1e30, (16,), "f32"), k.constant(0, (16,), "f32")
    start = [k.constant(0, (16, 16), "f32"), largest, total, k_at, v_at]
    with k.loop(0, n, 16, start) as loop:
        acc, largest, total, k_now, v_now = loop.carried
        inside = (loop.variable + along) < n
        scores = k.dot(query, k.load(k_now, inside[None, :], 0), k.constant(0, (16, 16), "f32"))
        scores = k.select(inside[None, :], scores, -1e30)
        now = k.select(k.reduce("maxf", scores, 1) > largest, k.reduce("maxf", scores, 1), largest)
        weights = k.unary("exp", scores - now[:, None])
        alpha = k.unary("exp", largest - now)
        total = total * alpha + k.reduce("addf", weights, 1)
        acc = k.dot(weights, k.load(v_now, inside[:, None], 0), acc * alpha[:, None])
        loop.carry(acc, now, total, k_now + 256, v_now + 256)
    acc, _, total, _, _ = loop.results
    k.store(out + own, acc / total[:, None], rows[:, None] < m)


# --- elements anywhere ---


def _lookups() -> list[Launch]:
    made: list[Launch] = []
    for count, width in ((3, 32), (5, 20), (8, 27)):
        table, places = _random(11, width), _integers(0, 11, count)
        made.append(([table, places, _blank(count, width), width], (count, 1, 1)))
    return made


@_case(_lookups)
def embedding(k: Kernel) -> None:
    """A block for each row, whose number is in memory."""
    (table,), (places,), (out,) = k.pointers("t"), k.pointers("places", "i32"), k.pointers("out")
    (width,) = k.integers("width")
    at = k.arange(32)
    mask = at < width
    row = k.load(places + k.block())
    k.store(out + k.block() * width + at, k.load(table + row * width + at, mask), mask)


@_case(_lookups)
def embedding_of_rows(k: Kernel) -> None:
    """One block; rows anywhere."""
    (table,), (places,), (out,) = k.pointers("t"), k.pointers("places", "i32"), k.pointers("out")
    (width,) = k.integers("width")
    rows, at = k.block() + k.arange(1), k.arange(32)
    row = k.load(places + rows)
    mask = at[None, :] < width
    value = k.load(table + (row[:, None] * width + at[None, :]), mask)
    k.store(out + (rows[:, None] * width + at[None, :]), value, mask)


def _counts() -> list[Launch]:
    made: list[Launch] = []
    for n in (50, 64, 130):
        made.append(([_integers(0, 9, n), np.zeros(9, np.int32), n], (_blocks(n, 32), 1, 1)))
    return made


@_case(_counts)
def histogram(k: Kernel) -> None:
    x, counts = k.pointers("x counts", "i32")
    (n,) = k.integers("n")
    at = k.block() * 32 + k.arange(32)
    mask = at < n
    value = k.load(x + at, mask, 0)
    k.add_atomically(counts + value, k.constant(1, (32,)), mask)


def _permutations() -> list[Launch]:
    made: list[Launch] = []
    for n in (40, 64, 90):
        order = fresh_generator().permutation(n).astype(np.int32)
        made.append(([_random(n), order, _blank(n), n], (_blocks(n, 32), 1, 1)))
    return made


@_case(_permutations)
def scattered(k: Kernel) -> None:
    (x,), (order,), (out,) = k.pointers("x"), k.pointers("order", "i32"), k.pointers("out")
    (n,) = k.integers("n")
    at = k.block() * 32 + k.arange(32)
    mask = at < n
    k.store(out + k.load(order + at, mask, 0), k.load(x + at, mask), mask)


def _block_sparse() -> list[Launch]:
    made: list[Launch] = []
    for blocks, used in ((4, 2), (5, 3), (7, 4)):
        chosen = fresh_generator().permutation(blocks)[:used].astype(np.int32)
        x = _random(16, blocks * 16)
        made.append(([x, chosen, _blank(16, 16), used, blocks * 16], (1, 1, 1)))
    return made


@_case(_block_sparse)
def block_sparse(k: Kernel) -> None:
    """The sum of some blocks of columns, which a list names."""
    (x,), (chosen,), (out,) = k.pointers("x"), k.pointers("chosen", "i32"), k.pointers("out")
    used, width = k.integers("used width")
    rows, along = k.arange(16), k.arange(16)
    with k.loop(0, used, 1, [k.constant(0, (16, 16), "f32")]) as loop:
        first = k.load(chosen + loop.variable) * 16
        at = x + rows[:, None] * width + (first + along)[None, :]
        loop.carry(loop.carried[0] + k.load(at))
    k.store(out + rows[:, None] * 16 + along[None, :], loop.results[0])


def _groups() -> list[Launch]:
    made: list[Launch] = []
    for n, group in ((32, 4), (60, 3), (90, 7)):
        scales = _random(_blocks(n, group))
        made.append(([_random(n), scales, _blank(n), n, group], (_blocks(n, 32), 1, 1)))
    return made


@_case(_groups)
def dequantize(k: Kernel) -> None:
    """One scale for several neighbours: quotients of indices."""
    x, scales, out = k.pointers("x scales out")
    n, group = k.integers("n group")
    at = k.block() * 32 + k.arange(32)
    mask = at < n
    k.store(out + at, k.load(x + at, mask) * k.load(scales + at // group, mask), mask)


def _flat() -> list[Launch]:
    made: list[Launch] = []
    for rows, columns in ((4, 16), (5, 9), (7, 12)):
        x = _random(rows, columns + 4)
        n = rows * columns
        made.append(([x, _blank(n), n, columns, columns + 4], (_blocks(n, 32), 1, 1)))
    return made


@_case(_flat)
def flattened(k: Kernel) -> None:
    """Quotients and remainders of a flat index, as compilers of tensors write them."""
    x, out = k.pointers("x out")
    n, columns, stride = k.integers("n columns stride")
    at = k.block() * 32 + k.arange(32)
    mask = at < n
    k.store(out + at, k.load(x + ((at // columns) * stride + at % columns), mask), mask)


def _convolution() -> list[Launch]:
    made: list[Launch] = []
    for h, w in ((16, 16), (9, 20), (21, 13)):
        grid = (_blocks(h, 8), _blocks(w, 16), 1)
        made.append(([_random(h, w), _random(9), _blank(h, w), h, w], grid))
    return made


@_case(_convolution)
def convolution(k: Kernel) -> None:
    """3 by 3 neighbours, of which some are outside."""
    x, weights, out = k.pointers("x weights out")
    h, w = k.integers("h w")
    rows, columns = k.block(0) * 8 + k.arange(8), k.block(1) * 16 + k.arange(16)
    total = k.constant(0, (8, 16), "f32")
    for i in range(3):
        for j in range(3):
            y, z = (rows + (i - 1))[:, None], (columns + (j - 1))[None, :]
            mask = (y >= 0) & (y < h) & (z >= 0) & (z < w)
            weight = k.load(weights + (3 * i + j))
            total = total + k.load(x + (y * w + z), mask, 0) * weight
    mask = (rows[:, None] < h) & (columns[None, :] < w)
    k.store(out + (rows[:, None] * w + columns[None, :]), total, mask)


def _two_sources() -> list[Launch]:
    made: list[Launch] = []
    for n, first in ((40, 1), (64, 0), (33, 1)):
        made.append(([_random(n), _random(n), _blank(n), n, first], (_blocks(n, 32), 1, 1)))
    return made


@_case(_two_sources)
def either(k: Kernel) -> None:
    """One of two pointers is selected."""
    a, b, out = k.pointers("a b out")
    n, first = k.integers("n first")
    at = k.block() * 32 + k.arange(32)
    mask = at < n
    source = k.select(first > 0, a, b)
    k.store(out + at, k.load(source + at, mask), mask)
