"""Kernels that normalize rows, forward and backward, and losses."""

from __future__ import annotations

import math

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

BF16 = ml_dtypes.bfloat16


def _softmax_of(x: Array) -> Array:
    e = np.exp(x.astype(np.float64) - x.max(axis=-1, keepdims=True).astype(np.float64))
    return e / e.sum(axis=-1, keepdims=True)


@ct.kernel
def _softmax(x, out, size: CONSTANT):
    """A whole row at once."""
    i = ct.bid(0)
    row = ct.load(x, index=(i, 0), shape=(1, size), padding_mode=ct.PaddingMode.NEG_INF)
    e = ct.exp(row - ct.max(row, axis=1, keepdims=True))
    ct.store(out, index=(i, 0), tile=e / ct.sum(e, axis=1, keepdims=True))


def softmax() -> Case:
    x = normal(5, 50)
    return Case(
        _softmax, [x, blank(5, 50)], {1: _softmax_of(x)}, (5,), (64,), rounding(50, np.float32)
    )


@ct.kernel(occupancy=4)
def _online_softmax(x, out, size: CONSTANT):
    """Persistent, with gathers: one pass for the maximum and the sum, one to write."""
    columns = x.shape[1]
    parts = ct.cdiv(columns, size)
    for row in range(ct.bid(0), x.shape[0], ct.num_blocks(0)):
        largest = ct.full((1,), -math.inf, dtype=ct.float32)
        total = ct.zeros((1,), dtype=ct.float32)
        for part in range(parts):
            places = part * size + ct.arange(size, dtype=ct.int32)
            tile = ct.gather(x, (row, places), padding_value=-math.inf).astype(ct.float32)
            now = ct.maximum(largest, ct.max(tile, axis=0, keepdims=True))
            total = total * ct.exp(largest - now) + ct.sum(
                ct.exp(tile - now), axis=0, keepdims=True
            )
            largest = now
        for part in range(parts):
            places = part * size + ct.arange(size, dtype=ct.int32)
            tile = ct.gather(x, (row, places), padding_value=-math.inf).astype(ct.float32)
            ct.scatter(out, (row, places), (ct.exp(tile - largest) / total).astype(out.dtype))


def online_softmax() -> Case:
    x = normal(5, 75, dtype=BF16)
    tolerance = rounding(80, np.float32, BF16)
    return Case(
        _online_softmax, [x, blank(5, 75, dtype=BF16)], {1: _softmax_of(x)}, (2,), (32,), tolerance
    )


@ct.kernel
def _softmax_backward(y, dy, dx, rows: CONSTANT, size: CONSTANT):
    i = ct.bid(0)
    a = ct.load(y, (i, 0), (rows, size), padding_mode=ZERO)
    b = ct.load(dy, (i, 0), (rows, size), padding_mode=ZERO)
    ct.store(dx, (i, 0), a * (b - ct.sum(a * b, axis=1, keepdims=True)))


def softmax_backward() -> Case:
    y, dy = _softmax_of(normal(5, 27)).astype(np.float32), normal(5, 27)
    a, b = y.astype(np.float64), dy.astype(np.float64)
    wanted = a * (b - (a * b).sum(axis=1, keepdims=True))
    tolerance = rounding(32, np.float32)
    return Case(_softmax_backward, [y, dy, blank(5, 27)], {2: wanted}, (3,), (2, 32), tolerance)


@ct.kernel
def _layer_norm(x, weight, bias, out, means, scales, eps, size: CONSTANT):
    """Two passes over a row, the second one with what the first one found."""
    row, columns = ct.bid(0), x.shape[1]
    total = ct.zeros((1, size), dtype=ct.float32)
    for part in range(ct.cdiv(columns, size)):
        total += ct.load(x, (row, part), (1, size), padding_mode=ZERO)
    mean = ct.sum(total, axis=1) / columns
    ct.store(means, (row,), mean)
    squares = ct.zeros((1, size), dtype=ct.float32)
    for part in range(ct.cdiv(columns, size)):
        tile = ct.load(x, (row, part), (1, size), padding_mode=ZERO)
        inside = part * size + ct.arange(size, dtype=ct.int32) < columns
        centered = ct.where(inside, tile - mean, 0.0)
        squares += centered * centered
    scale = ct.rsqrt(ct.sum(squares, axis=1) / columns + eps)
    ct.store(scales, (row,), scale)
    for part in range(ct.cdiv(columns, size)):
        tile = ct.load(x, (row, part), (1, size), padding_mode=ZERO)
        w = ct.load(weight, (part,), (size,), padding_mode=ZERO)
        b = ct.load(bias, (part,), (size,), padding_mode=ZERO)
        ct.store(out, (row, part), (tile - mean) * scale * w + b)


def _normalized(x: Array) -> tuple[Array, Array, Array]:
    wide = x.astype(np.float64)
    mean = wide.mean(axis=1, keepdims=True)
    scale = 1 / np.sqrt(((wide - mean) ** 2).mean(axis=1, keepdims=True) + 1e-5)
    return (wide - mean) * scale, mean, scale


def layer_norm() -> Case:
    x, w, b = normal(3, 75), normal(75), normal(75)
    hat, mean, scale = _normalized(x)
    wanted = {3: hat * w + b, 4: mean[:, 0], 5: scale[:, 0]}
    # A mean near 0 has lost more of its digits than other numbers.
    tolerance = rounding(75 * 8, np.float32)
    arguments = [x, w, b, blank(3, 75), blank(3), blank(3), 1e-5]
    return Case(_layer_norm, arguments, wanted, (3,), (32,), tolerance)


@ct.kernel
def _layer_norm_backward(
    dx, dy, dw, db, x, w, means, scales, locks, group: CONSTANT, size: CONSTANT
):
    """Gradients of the input, and parts of those of weights, summed up in groups under locks."""
    row, columns = ct.bid(0), x.shape[1]
    places = ct.arange(size, dtype=ct.int32)
    inside = places < columns
    own = ct.load(x, (row, 0), (1, size), padding_mode=ZERO)
    grad = ct.load(dy, (row, 0), (1, size), padding_mode=ZERO)
    weight = ct.load(w, (0,), (size,), padding_mode=ZERO)
    mean = ct.load(means, (row,), (1,))
    scale = ct.load(scales, (row,), (1,))
    hat = ct.where(inside, (own - mean) * scale, 0.0)
    weighted = grad * weight
    c1 = ct.sum(hat * weighted, axis=1, keepdims=True) / columns
    c2 = ct.sum(weighted, axis=1, keepdims=True) / columns
    ct.store(dx, (row, 0), (weighted - (hat * c1 + c2)) * scale)
    part = row % group
    while ct.atomic_cas(locks, part, 0, 1, memory_order=ct.MemoryOrder.ACQUIRE) == 1:
        pass
    ct.store(dw, (part, 0), ct.load(dw, (part, 0), (1, size), padding_mode=ZERO) + grad * hat)
    ct.store(db, (part, 0), ct.load(db, (part, 0), (1, size), padding_mode=ZERO) + grad)
    ct.atomic_xchg(locks, part, 0, memory_order=ct.MemoryOrder.RELEASE)


def layer_norm_backward() -> Case:
    x, dy, w = normal(7, 50), normal(7, 50), normal(50)
    hat, mean, scale = _normalized(x)
    weighted = dy.astype(np.float64) * w
    c1 = (hat * weighted).mean(axis=1, keepdims=True)
    c2 = weighted.mean(axis=1, keepdims=True)
    parts = [slice(i, None, 3) for i in range(3)]
    wanted = {
        0: (weighted - (hat * c1 + c2)) * scale,
        2: np.stack([(dy * hat)[part].sum(axis=0) for part in parts]),
        3: np.stack([dy[part].astype(np.float64).sum(axis=0) for part in parts]),
        8: np.zeros(3),
    }
    sums = [np.zeros((3, 50), np.float32) for _ in range(2)]
    known = [each[:, 0].astype(np.float32) for each in (mean, scale)]
    arguments = [blank(7, 50), dy, *sums, x, w, *known, np.zeros(3, np.int32)]
    tolerance = rounding(80, np.float32)
    return Case(_layer_norm_backward, arguments, wanted, (7,), (3, 64), tolerance)


@ct.kernel
def _column_sums(parts, out, rows: CONSTANT, size: CONSTANT):
    """The second step of the gradients of weights: sums of columns."""
    total = ct.zeros((rows, size), dtype=ct.float32)
    for i in range(ct.cdiv(parts.shape[0], rows)):
        total += ct.load(parts, (i, ct.bid(0)), (rows, size), padding_mode=ZERO)
    ct.store(out, (ct.bid(0),), ct.sum(total, axis=0))


def column_sums() -> Case:
    x = normal(11, 40)
    wanted, tolerance = {1: x.astype(np.float64).sum(axis=0)}, rounding(11, np.float32)
    return Case(_column_sums, [x, blank(40)], wanted, (3,), (4, 16), tolerance)


@ct.kernel
def _rms_norm(x, w, out, eps, size: CONSTANT):
    """In f32 between numbers of 16 bits, by gathers."""
    row, columns = ct.bid(0), x.shape[1]
    squares = ct.zeros((size,), dtype=ct.float32)
    for part in range(ct.cdiv(columns, size)):
        places = part * size + ct.arange(size, dtype=ct.int32)
        tile = ct.gather(x, (row, places), latency=1).astype(ct.float32)
        squares += tile * tile
    scale = ct.rsqrt(ct.sum(squares, axis=0) / columns + eps)
    for part in range(ct.cdiv(columns, size)):
        places = part * size + ct.arange(size, dtype=ct.int32)
        tile = ct.gather(x, (row, places)).astype(ct.float32)
        weight = ct.gather(w, places).astype(ct.float32)
        ct.scatter(out, (row, places), (tile * scale * weight).astype(x.dtype), latency=1)


def rms_norm() -> Case:
    x, w = normal(4, 75, dtype=np.float16), normal(75, dtype=np.float16)
    wide = x.astype(np.float64)
    wanted = wide / np.sqrt((wide**2).mean(axis=1, keepdims=True) + 1e-6) * w
    arguments = [x, w, blank(4, 75, dtype=np.float16), 1e-6]
    tolerance = rounding(80, np.float32, np.float16)
    return Case(_rms_norm, arguments, {2: wanted}, (4,), (32,), tolerance)


@ct.kernel
def _rms_norm_backward(x, dy, w, scales, dx, dw, rows: CONSTANT, size: CONSTANT):
    """Rows of a tile block one after the other, and the weights' gradients atomically."""
    weight = ct.load(w, (0,), (size,), padding_mode=ZERO)
    columns = x.shape[1]
    total = ct.zeros((size,), dtype=ct.float32)
    first = ct.bid(0) * rows
    for row in range(first, min(first + rows, x.shape[0])):
        own = ct.load(x, (row, 0), (1, size), padding_mode=ZERO).reshape((size,))
        grad = ct.load(dy, (row, 0), (1, size), padding_mode=ZERO).reshape((size,))
        scale = ct.load(scales, (row,), (1,))
        hat = own * scale
        weighted = grad * weight
        mean = ct.sum(hat * weighted, axis=0) / columns
        ct.store(dx, (row, 0), ((weighted - hat * mean) * scale).reshape((1, size)))
        total += grad * hat
    ct.atomic_add(dw, ct.arange(size, dtype=ct.int32), total)


def rms_norm_backward() -> Case:
    x, dy, w = normal(7, 43), normal(7, 43), normal(43)
    scale = 1 / np.sqrt((x.astype(np.float64) ** 2).mean(axis=1, keepdims=True) + 1e-6)
    hat, weighted = x * scale, dy.astype(np.float64) * w
    wanted = {
        4: (weighted - hat * (hat * weighted).mean(axis=1, keepdims=True)) * scale,
        5: (dy * hat).sum(axis=0),
    }
    arguments = [x, dy, w, scale[:, 0].astype(np.float32), blank(7, 43), np.zeros(43, np.float32)]
    tolerance = rounding(64, np.float32)
    return Case(_rms_norm_backward, arguments, wanted, (3,), (3, 64), tolerance)


@ct.kernel
def _group_norm(x, w, b, out, eps, channels: CONSTANT, size: CONSTANT):
    """Channels and positions of a group together, from an image of three dimensions."""
    n, group = ct.bid(0), ct.bid(1)
    tile = ct.load(x, (n, group, 0), (1, channels, size), padding_mode=ZERO)
    count = channels * x.shape[2]
    mean = ct.sum(tile) / count
    inside = ct.arange(size, dtype=ct.int32) < x.shape[2]
    centered = ct.where(inside[None, None, :], tile - mean, 0.0)
    scale = ct.rsqrt(ct.sum(centered * centered) / count + eps)
    weight = ct.load(w, (group,), (channels,)).reshape((1, channels, 1))
    bias = ct.load(b, (group,), (channels,)).reshape((1, channels, 1))
    ct.store(out, (n, group, 0), centered * scale * weight + bias)


def group_norm() -> Case:
    x, w, b = normal(2, 8, 27), normal(8), normal(8)
    hat = _normalized(x.reshape(4, 4 * 27))[0].reshape(2, 8, 27)
    wanted = hat * w[:, None] + b[:, None]
    arguments = [x, w, b, blank(2, 8, 27), 1e-5]
    tolerance = rounding(128, np.float32)
    return Case(_group_norm, arguments, {3: wanted}, (2, 2), (4, 32), tolerance)


@ct.kernel
def _cross_entropy(logits, labels, losses, gradients, ignored: CONSTANT, size: CONSTANT):
    """The loss of a row, and its gradient in the same pass over parts of the vocabulary."""
    row, columns = ct.bid(0), logits.shape[1]
    label = ct.gather(labels, row)
    largest, total = -math.inf, 0.0
    for part in range(ct.cdiv(columns, size)):
        tile = ct.load(logits, (row, part), (1, size), padding_mode=ct.PaddingMode.NEG_INF)
        now = max(largest, ct.max(tile))
        total = total * ct.exp(largest - now) + ct.sum(ct.exp(tile - now))
        largest = now
    if label == ignored:
        ct.scatter(losses, row, 0.0)
        factor = 0.0
    else:
        ct.scatter(losses, row, largest + ct.log(total) - ct.gather(logits, (row, label)))
        factor = 1.0
    for part in range(ct.cdiv(columns, size)):
        tile = ct.load(logits, (row, part), (1, size), padding_mode=ct.PaddingMode.NEG_INF)
        is_label = part * size + ct.arange(size, dtype=ct.int32) == label
        probability = ct.exp(tile - largest) / total
        ct.store(
            gradients,
            (row, part),
            factor * ct.where(is_label[None, :], probability - 1.0, probability),
        )


def cross_entropy() -> Case:
    x, labels = normal(5, 75), integers(0, 75, 5)
    labels[2] = -100
    p = _softmax_of(x)
    is_kept = labels >= 0
    chosen = p[np.arange(5), labels % 75]
    gradients = (p - np.eye(75)[labels % 75]) * is_kept[:, None]
    wanted = {2: np.where(is_kept, -np.log(chosen), 0), 3: gradients}
    tolerance = rounding(90, np.float32)
    arguments = [x, labels, blank(5), blank(5, 75)]
    return Case(_cross_entropy, arguments, wanted, (5,), (-100, 32), tolerance)


@ct.kernel
def _log_sum_exp(x, out, rows: CONSTANT, size: CONSTANT):
    tile = ct.load(x, (ct.bid(0), 0), (rows, size), padding_mode=ct.PaddingMode.NEG_INF)
    largest = ct.max(tile, axis=1)
    total = ct.sum(
        ct.exp2((tile - largest[:, None]) * 1.4426950408889634, flush_to_zero=True), axis=1
    )
    ct.store(out, (ct.bid(0),), largest + ct.log2(total) * 0.6931471805599453)


def log_sum_exp() -> Case:
    x = normal(7, 30)
    wanted = np.log(np.exp(x.astype(np.float64)).sum(axis=1))
    return Case(_log_sum_exp, [x, blank(7)], {1: wanted}, (2,), (4, 32), rounding(50, np.float32))


CASES = [
    softmax,
    online_softmax,
    softmax_backward,
    layer_norm,
    layer_norm_backward,
    column_sums,
    rms_norm,
    rms_norm_backward,
    group_norm,
    cross_entropy,
    log_sum_exp,
]
"""A case for each kernel."""
