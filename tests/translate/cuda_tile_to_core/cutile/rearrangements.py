"""Transpositions, convolutions, transforms, and accesses of elements anywhere."""

from __future__ import annotations

import math

import cuda.tile as ct
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

PaddingMode = ct.PaddingMode


@ct.kernel
def _transpose(x, out, m: CONSTANT, n: CONSTANT):
    tile = ct.load(x, (ct.bid(0), ct.bid(1)), (m, n))
    ct.store(out, (ct.bid(1), ct.bid(0)), ct.transpose(tile))


def transpose() -> Case:
    x = normal(21, 35, dtype=np.float16)
    return Case(_transpose, [x, blank(35, 21, dtype=np.float16)], {1: x.T}, (2, 3), (16, 16))


@ct.kernel
def _transpose3(x, out, a: CONSTANT, b: CONSTANT, c: CONSTANT):
    tile = ct.load(x, (ct.bid(0), ct.bid(1), ct.bid(2)), (a, b, c), padding_mode=ZERO)
    ct.store(out, (ct.bid(2), ct.bid(0), ct.bid(1)), ct.permute(tile, (2, 0, 1)))


def transpose_rank_3() -> Case:
    x = integers(-9, 9, 5, 9, 11, dtype=np.int8)
    out = blank(11, 5, 9, dtype=np.int8)
    return Case(_transpose3, [x, out], {1: x.transpose(2, 0, 1)}, (2, 2, 3), (4, 8, 4))


@ct.kernel
def _transpose4(x, out, heads: CONSTANT, rows: CONSTANT, depth: CONSTANT):
    """Heads behind rows become heads before rows, by an order of the store."""
    i, j = ct.bid(0), ct.bid(1)
    tile = ct.load(x, (i, j, 0, 0), (1, rows, heads, depth), padding_mode=ZERO)
    ct.store(out, (i, j, 0, 0), tile, order=(0, 2, 1, 3))


def transpose_rank_4() -> Case:
    x = normal(2, 11, 3, 7)
    wanted = x.transpose(0, 2, 1, 3)
    return Case(_transpose4, [x, blank(*wanted.shape)], {1: wanted}, (2, 2), (4, 8, 8))


@ct.kernel
def _rotated(x, out, size: CONSTANT):
    """Halves that change sides, permuted and joined."""
    tile = ct.load(x, (ct.bid(0), 0), (1, size))
    low = ct.extract(tile, (0, 0), shape=(1, size // 2))
    high = ct.extract(tile, (0, 1), shape=(1, size // 2))
    ct.store(out, (0, ct.bid(0)), ct.permute(ct.cat((-high, low), 1), (1, 0)))


def rotated() -> Case:
    x = normal(3, 64)
    wanted = np.concatenate([-x[:, 32:], x[:, :32]], axis=1).T
    return Case(_rotated, [x, blank(64, 3)], {1: wanted}, (3,), (64,))


@ct.kernel
def _padded(x, zeros, minus, plus, nans, negative_zeros, m: CONSTANT, n: CONSTANT):
    """What an access beyond the end finds, for each kind of padding."""
    at, shape = (ct.bid(0), ct.bid(1)), (m, n)
    whole = ct.zeros(shape, dtype=ct.float32)
    ct.store(zeros, at, whole + ct.load(x, at, shape, padding_mode=PaddingMode.ZERO))
    ct.store(minus, at, ct.load(x, at, shape, padding_mode=PaddingMode.NEG_INF))
    ct.store(plus, at, ct.load(x, at, shape, padding_mode=PaddingMode.POS_INF))
    ct.store(nans, at, ct.load(x, at, shape, padding_mode=PaddingMode.NAN))
    ct.store(negative_zeros, at, 1.0 / ct.load(x, at, shape, padding_mode=PaddingMode.NEG_ZERO))


def padded() -> Case:
    x = normal(5, 11)

    def filled(padding: float) -> Array:
        result = np.full((8, 16), padding, np.float32)
        result[:5, :11] = x
        return result

    paddings = [filled(each) for each in (0, -math.inf, math.inf, math.nan, -0.0)]
    with np.errstate(divide="ignore"):
        paddings[-1] = 1 / paddings[-1]
    outputs = [np.full((8, 16), 77, np.float32) for _ in paddings]
    wanted = dict(enumerate(paddings, 1))
    return Case(_padded, [x, *outputs], wanted, (2, 2), (4, 8), rounding(1, np.float32))


@ct.kernel
def _convolution1d(x, w, out, taps: CONSTANT, size: CONSTANT):
    """Each tap by a gather of neighbours, with zeros around."""
    channel = ct.bid(0)
    at = ct.bid(1) * size + ct.arange(size, dtype=ct.int32)
    total = ct.zeros((size,), dtype=ct.float32)
    for tap in ct.static_iter(range(taps)):
        total += ct.gather(x, (channel, at + (tap - taps // 2)), padding_value=0) * ct.gather(
            w, (channel, tap)
        )
    ct.scatter(out, (channel, at), total)


def convolution1d() -> Case:
    x, w = normal(3, 45), normal(3, 5)
    wide = x.astype(np.float64)
    wanted = np.stack([np.correlate(row, taps, "same") for row, taps in zip(wide, w, strict=True)])
    return Case(
        _convolution1d, [x, w, blank(3, 45)], {2: wanted}, (3, 2), (5, 32), rounding(8, np.float32)
    )


@ct.kernel
def _convolution2d(
    x, w, b, out, stride: CONSTANT, taps: CONSTANT, m: CONSTANT, n: CONSTANT, k: CONSTANT
):
    """An implicit product: rows are positions of the result, the depth is channels and taps."""
    image, height, width = ct.bid(0), out.shape[2], out.shape[3]
    position = ct.bid(1) * m + ct.arange(m, dtype=ct.int32)
    y, x_ = position // width, position % width
    filters = ct.bid(2) * n + ct.arange(n, dtype=ct.int32)
    depth = x.shape[1] * taps * taps
    acc = ct.zeros((m, n), dtype=ct.float32)
    for step in range(ct.cdiv(depth, k)):
        at = step * k + ct.arange(k, dtype=ct.int32)
        channel, dy, dx = at // (taps * taps), at // taps % taps, at % taps
        row = y[:, None] * stride + dy[None, :] - taps // 2
        column = x_[:, None] * stride + dx[None, :] - taps // 2
        pixels = ct.gather(x, (image, channel[None, :], row, column), padding_value=0)
        weights = ct.gather(
            w, (filters[None, :], channel[:, None], dy[:, None], dx[:, None]), padding_value=0
        )
        acc = ct.mma(pixels, weights, acc)
    acc += ct.gather(b, filters, padding_value=0)[None, :]
    ct.scatter(
        out,
        (image, filters[None, :], y[:, None], x_[:, None]),
        ct.maximum(acc, 0.0),
        mask=y[:, None] < height,
    )


def convolution2d() -> Case:
    x, w, b = normal(2, 3, 9, 7, dtype=np.float16), normal(5, 3, 3, 3, dtype=np.float16), normal(5)
    around = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(around, (3, 3), axis=(2, 3))[:, :, ::2, ::2]
    wanted = np.maximum(
        np.einsum("nchwij,fcij->nfhw", windows, w.astype(np.float64)) + b[:, None, None], 0
    )
    arguments = [x, w, b, blank(2, 5, 5, 4)]
    tolerance = rounding(30, np.float32)
    return Case(_convolution2d, arguments, {3: wanted}, (2, 2, 1), (2, 3, 16, 8, 16), tolerance)


@ct.kernel
def _max_pool(x, out, size: CONSTANT):
    """Windows of 3 x 3 with a step of 2 through a view whose tiles overlap."""
    view = x.tiled_view(
        (1, 4, size), padding_mode=PaddingMode.NEG_INF, traversal_steps=(1, 2, size)
    )
    tile = view.load((ct.bid(0), ct.bid(1), 0))
    rows = ct.where(ct.arange(4, dtype=ct.int32)[None, :, None] < 3, tile, -math.inf)
    ct.store(out, (ct.bid(0), ct.bid(1), 0), ct.max(rows, axis=1, keepdims=True))


def max_pool_rows() -> Case:
    x = normal(2, 9, 13)
    wanted = np.stack([x[:, i : i + 3].max(axis=1) for i in range(0, 7, 2)], axis=1)
    return Case(_max_pool, [x, blank(2, 4, 13)], {1: wanted}, (2, 4), (16,))


@ct.kernel
def _fft(x, out, w0, w1, twiddles, n0: CONSTANT, n1: CONSTANT):
    """A transform of n0 * n1 numbers by products with two matrices; parts are interleaved."""
    size = n0 * n1
    both = ct.load(x, (ct.bid(0), 0, 0), (1, size, 2)).reshape((n0, n1, 2))
    re = ct.extract(both, (0, 0, 0), (n0, n1, 1)).reshape((n0, n1))
    im = ct.extract(both, (0, 0, 1), (n0, n1, 1)).reshape((n0, n1))
    a_re = ct.load(w0, (0, 0, 0), (1, n0, n0)).reshape((n0, n0))
    a_im = ct.load(w0, (1, 0, 0), (1, n0, n0)).reshape((n0, n0))
    b_re = ct.load(w1, (0, 0, 0), (1, n1, n1)).reshape((n1, n1))
    b_im = ct.load(w1, (1, 0, 0), (1, n1, n1)).reshape((n1, n1))
    t_re = ct.load(twiddles, (0, 0, 0), (1, n0, n1)).reshape((n0, n1))
    t_im = ct.load(twiddles, (1, 0, 0), (1, n0, n1)).reshape((n0, n1))
    y_re, y_im = a_re @ re - a_im @ im, a_re @ im + a_im @ re
    z_re, z_im = y_re * t_re - y_im * t_im, y_re * t_im + y_im * t_re
    u_re, u_im = z_re @ b_re - z_im @ b_im, z_re @ b_im + z_im @ b_re
    joined = ct.cat(
        (ct.transpose(u_re).reshape((size, 1)), ct.transpose(u_im).reshape((size, 1))), 1
    )
    ct.store(out, (ct.bid(0), 0, 0), joined.reshape((1, size, 2)))


def _parts(z: Array, axis: int = 0) -> Array:
    return np.stack([z.real, z.imag], axis=axis).astype(np.float32)


def fft() -> Case:
    def roots(n: int) -> Array:
        return np.exp(-2j * np.pi * np.outer(np.arange(n), np.arange(n)) / n)

    x = normal(3, 32, 2)
    wanted = _parts(np.fft.fft(x[..., 0] + 1j * x[..., 1].astype(np.float64)), -1)
    twiddles = np.exp(-2j * np.pi * np.outer(np.arange(4), np.arange(8)) / 32)
    factors = [_parts(each) for each in (roots(4), roots(8), twiddles)]
    tolerance = rounding(64, np.float32)
    return Case(_fft, [x, blank(3, 32, 2), *factors], {1: wanted}, (3,), (4, 8), tolerance)


@ct.kernel
def _gather_scatter(x, places, out, size: CONSTANT):
    """Elements by their indices, some of which are outside."""
    own = ct.bid(0) * size + ct.arange(size, dtype=ct.int32)
    indices = ct.gather(places, own, padding_value=-1)
    ct.scatter(out, own, ct.gather(x, indices, padding_value=7.0))


def gather_scatter() -> Case:
    x, places = normal(40), integers(-5, 60, 70)
    inside = (places >= 0) & (places < 40)
    wanted = np.where(inside, x[np.clip(places, 0, 39)], 7)
    return Case(_gather_scatter, [x, places, blank(70)], {2: wanted}, (3,), (32,))


@ct.kernel
def _embedding(table, tokens, out, size: CONSTANT):
    """A row of the table for each token; a token beyond the table has a row of zeros."""
    token = ct.gather(tokens, ct.bid(0))
    columns = ct.arange(size, dtype=ct.int32)
    ct.scatter(out, (ct.bid(0), columns), ct.gather(table, (token, columns), padding_value=0.0))


def embedding() -> Case:
    table, tokens = normal(7, 20), integers(0, 9, 6)
    wanted = np.where((tokens < 7)[:, None], table[tokens % 7], 0)
    return Case(_embedding, [table, tokens, blank(6, 20)], {2: wanted}, (6,), (32,))


@ct.kernel
def _embedding_backward(tokens, gradients, table, rows: CONSTANT, size: CONSTANT):
    """Rows of gradients are added to their token's row, several of which may be the same."""
    own = ct.bid(0) * rows + ct.arange(rows, dtype=ct.int32)
    token = ct.gather(tokens, own, padding_value=-1)
    rows_ = ct.load(gradients, (ct.bid(0), 0), (rows, size), padding_mode=ZERO)
    ct.atomic_add(table, (token[:, None], ct.arange(size, dtype=ct.int32)[None, :]), rows_)


def embedding_backward() -> Case:
    tokens, gradients = integers(0, 4, 11), normal(11, 13)
    wanted = np.zeros((4, 13))
    np.add.at(wanted, tokens, gradients)
    arguments = [tokens, gradients, np.zeros((4, 13), np.float32)]
    return Case(
        _embedding_backward, arguments, {2: wanted}, (3,), (4, 16), rounding(11, np.float32)
    )


@ct.kernel
def _bilinear(x, out, scale, rows: CONSTANT, columns: CONSTANT):
    """An image in another size, by the four pixels around each position."""
    i = ct.bid(0) * rows + ct.arange(rows, dtype=ct.int32)
    j = ct.bid(1) * columns + ct.arange(columns, dtype=ct.int32)
    y = ct.maximum((i.astype(ct.float32) + 0.5) * scale - 0.5, 0.0)[:, None]
    x_ = ct.maximum((j.astype(ct.float32) + 0.5) * scale - 0.5, 0.0)[None, :]
    top, left = ct.floor(y), ct.floor(x_)
    y0, x0 = top.astype(ct.int32), left.astype(ct.int32)
    y1, x1 = ct.minimum(y0 + 1, x.shape[0] - 1), ct.minimum(x0 + 1, x.shape[1] - 1)
    fy, fx = y - top, x_ - left
    upper = ct.gather(x, (y0, x0)) * (1.0 - fx) + ct.gather(x, (y0, x1)) * fx
    lower = ct.gather(x, (y1, x0)) * (1.0 - fx) + ct.gather(x, (y1, x1)) * fx
    ct.store(out, (ct.bid(0), ct.bid(1)), upper * (1.0 - fy) + lower * fy)


def bilinear() -> Case:
    x = normal(6, 9)

    def around(size: int, count: int) -> tuple[Array, Array, Array]:
        at = np.maximum((np.arange(count) + 0.5) * 0.5 - 0.5, 0)
        low = np.floor(at).astype(int)
        return low, np.minimum(low + 1, size - 1), at - low

    (y0, y1, fy), (x0, x1, fx) = around(6, 12), around(9, 18)
    rows = x[y0] * (1 - fy[:, None]) + x[y1] * fy[:, None]
    wanted = rows[:, x0] * (1 - fx) + rows[:, x1] * fx
    return Case(
        _bilinear, [x, blank(12, 18), 0.5], {1: wanted}, (3, 2), (4, 16), rounding(8, np.float32)
    )


@ct.kernel
def _jacobi(x, out, rows: CONSTANT, columns: CONSTANT):
    """The mean of four neighbours inside, and the border as it is."""
    i = ct.bid(0) * rows + ct.arange(rows, dtype=ct.int32)[:, None]
    j = ct.bid(1) * columns + ct.arange(columns, dtype=ct.int32)[None, :]
    m, n = x.shape
    is_inside = (i > 0) & (i < m - 1) & (j > 0) & (j < n - 1)
    around = (
        ct.gather(x, (i - 1, j))
        + ct.gather(x, (i + 1, j))
        + ct.gather(x, (i, j - 1))
        + ct.gather(x, (i, j + 1))
    )
    ct.scatter(out, (i, j), ct.where(is_inside, around * 0.25, ct.gather(x, (i, j))))


def jacobi() -> Case:
    x = normal(7, 19)
    wanted = x.astype(np.float64)
    wanted[1:-1, 1:-1] = (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) / 4
    return Case(_jacobi, [x, blank(7, 19)], {1: wanted}, (2, 2), (4, 16), rounding(4, np.float32))


CASES = [
    transpose,
    transpose_rank_3,
    transpose_rank_4,
    rotated,
    padded,
    convolution1d,
    convolution2d,
    max_pool_rows,
    fft,
    gather_scatter,
    embedding,
    embedding_backward,
    bilinear,
    jacobi,
]
"""A case for each kernel."""
