"""Reductions, scans, sorting, and counting."""

from __future__ import annotations

import math

import cuda.tile as ct
import numpy as np

from tests.translate.cuda_tile_to_core.cutile.case import (
    CONSTANT,
    ZERO,
    Case,
    blank,
    integers,
    normal,
    rounding,
)

PaddingMode = ct.PaddingMode


@ct.kernel
def _prefix_sums(x, out, size: CONSTANT):
    """Sums of a row from either side."""
    tile = ct.load(x, (ct.bid(0), 0), (1, size), padding_mode=ZERO)
    ct.store(out, (ct.bid(0), 0), ct.cumsum(tile, axis=1) - ct.cumsum(tile, axis=1, reverse=True))


def prefix_sums() -> Case:
    x = normal(3, 60)
    wide = x.astype(np.float64)
    wanted = wide.cumsum(axis=1) - wide[:, ::-1].cumsum(axis=1)[:, ::-1]
    return Case(
        _prefix_sums, [x, blank(3, 60)], {1: wanted}, (3,), (64,), rounding(120, np.float32)
    )


@ct.kernel
def _carried_sums(x, out, size: CONSTANT):
    """Sums over a long row, part by part, along the first dimension of a tile."""
    carry = ct.zeros((1,), dtype=ct.float32)
    for part in range(ct.cdiv(x.shape[1], size)):
        tile = ct.load(x, (ct.bid(0), part), (1, size), padding_mode=ZERO).reshape((size, 1))
        sums = ct.cumsum(tile, axis=0) + carry
        ct.store(out, (ct.bid(0), part), sums.reshape((1, size)))
        carry = carry + ct.sum(tile, axis=0)


def carried_sums() -> Case:
    x = normal(2, 75)
    wanted = x.astype(np.float64).cumsum(axis=1)
    return Case(
        _carried_sums, [x, blank(2, 75)], {1: wanted}, (2,), (16,), rounding(75, np.float32)
    )


@ct.kernel
def _prefix_products(x, out, rows: CONSTANT, size: CONSTANT):
    tile = ct.load(x, (0, 0), (rows, size), padding_mode=PaddingMode.UNDETERMINED)
    ct.store(out, (0, 0), ct.cumprod(tile, axis=0, reverse=True))


def prefix_products() -> Case:
    x = 1 + normal(8, 13) / 8
    wanted = x[::-1].astype(np.float64).cumprod(axis=0)[::-1]
    return Case(
        _prefix_products, [x, blank(8, 13)], {1: wanted}, (1,), (8, 16), rounding(8, np.float32)
    )


def _recurrence_step(a, b, c, d):
    return a * c, b * c + d


@ct.kernel
def _linear_recurrence(gates, x, out, steps: CONSTANT, channels: CONSTANT):
    """h = gate * h + x along time, as a scan of pairs, as state space models have it."""
    at = (0, ct.bid(0))
    gate = ct.load(gates, at, (steps, channels), padding_mode=ZERO)
    own = ct.load(x, at, (steps, channels), padding_mode=ZERO)
    _, h = ct.scan((gate, own), 0, _recurrence_step, (1.0, 0.0))
    ct.store(out, at, h)


def linear_recurrence() -> Case:
    gates, x = 1 / (1 + np.exp(-normal(13, 9))), normal(13, 9)
    wanted, h = np.zeros((13, 9)), np.zeros(9)
    for t in range(13):
        wanted[t] = h = gates[t] * h + x[t]
    arguments = [gates, x, blank(13, 9)]
    return Case(_linear_recurrence, arguments, {2: wanted}, (2,), (16, 8), rounding(32, np.float32))


@ct.kernel
def _extremes(x, largest, smallest, first, size: CONSTANT):
    """The index of the largest and of the smallest number in each row."""
    at, shape = (ct.bid(0), 0), (1, size)
    tile = ct.load(x, at, shape, padding_mode=PaddingMode.NEG_INF)
    ct.store(largest, (ct.bid(0),), ct.argmax(tile, axis=1))
    tile = ct.load(x, at, shape, padding_mode=PaddingMode.POS_INF)
    ct.store(smallest, (ct.bid(0),), ct.argmin(tile, axis=1))
    ct.store(first, (ct.bid(0),), ct.min(tile, axis=1))


def extremes() -> Case:
    x = normal(6, 60).round(1)
    outputs = [blank(6, dtype=np.int32), blank(6, dtype=np.int32), blank(6)]
    wanted = {1: x.argmax(axis=1), 2: x.argmin(axis=1), 3: x.min(axis=1)}
    return Case(_extremes, [x, *outputs], wanted, (6,), (64,))


@ct.kernel
def _top_k(x, numbers, places, top: CONSTANT, size: CONSTANT):
    """The largest numbers one after the other, as a router of experts takes them."""
    row = ct.bid(0)
    tile = ct.load(x, (row, 0), (1, size), padding_mode=PaddingMode.NEG_INF).reshape((size,))
    own = ct.arange(size, dtype=ct.int32)
    for k in range(top):
        best = ct.argmax(tile, axis=0)
        ct.scatter(numbers, (row, k), ct.max(tile))
        ct.scatter(places, (row, k), best)
        tile = ct.where(own == best, -math.inf, tile)


def top_k() -> Case:
    x = normal(5, 27)
    places = np.argsort(-x, axis=1, kind="stable")[:, :4]
    wanted = {1: np.take_along_axis(x, places, 1), 2: places}
    arguments = [x, blank(5, 4), blank(5, 4, dtype=np.int32)]
    return Case(_top_k, arguments, wanted, (5,), (4, 32))


@ct.kernel
def _bitonic_sort(x, out, levels: CONSTANT, size: CONSTANT):
    """All steps of a bitonic sort, in which partners are found by a gather."""
    own = ct.arange(size, dtype=ct.int32)
    ct.scatter(out, own, ct.gather(x, own, padding_value=2147483647))
    for level in range(1, levels + 1):
        for step in range(level):
            distance = 1 << (level - 1 - step)
            mine = ct.gather(out, own)
            partner = own ^ distance
            other = ct.gather(out, partner)
            ascends = (own & (1 << level)) == 0
            is_first = own < partner
            keeps_smaller = ascends == is_first
            ct.scatter(
                out, own, ct.where(keeps_smaller, ct.minimum(mine, other), ct.maximum(mine, other))
            )


def bitonic_sort() -> Case:
    x = integers(-99, 99, 27)
    wanted = np.append(np.sort(x), np.full(5, 2**31 - 1))
    return Case(_bitonic_sort, [x, blank(32, dtype=np.int32)], {1: wanted}, (1,), (5, 32))


@ct.kernel
def _bitonic_step(x, out, pairs: CONSTANT, distance: CONSTANT):
    """One step of a sort in a tile: partners are the two parts of a dimension."""
    tile = ct.load(x, (ct.bid(0),), (2 * pairs * distance,)).reshape((pairs, 2, distance))
    low = ct.extract(tile, (0, 0, 0), (pairs, 1, distance))
    high = ct.extract(tile, (0, 1, 0), (pairs, 1, distance))
    joined = ct.cat((ct.minimum(low, high), ct.maximum(low, high)), 1)
    ct.store(out, (ct.bid(0),), joined.reshape((2 * pairs * distance,)))


def bitonic_step() -> Case:
    x = normal(128)
    wanted = np.sort(x.reshape(16, 2, 4), axis=1).reshape(128)
    return Case(_bitonic_step, [x, blank(128)], {1: wanted}, (2,), (8, 4))


@ct.kernel
def _histogram(x, bins, size: CONSTANT):
    """Counts by atomic updates."""
    at = ct.bid(0) * size + ct.arange(size, dtype=ct.int32)
    ct.atomic_add(bins, ct.gather(x, at, padding_value=-1), 1)


def histogram() -> Case:
    x = integers(0, 10, 110)
    return Case(
        _histogram, [x, np.zeros(10, np.int32)], {1: np.bincount(x, minlength=10)}, (2,), (64,)
    )


@ct.kernel
def _compact(x, out, count, size: CONSTANT):
    """Numbers above 0 side by side: a scan finds where, an atomic counter the block's share."""
    at = ct.bid(0) * size + ct.arange(size, dtype=ct.int32)
    tile = ct.gather(x, at, padding_value=0)
    is_kept = (tile > 0).astype(ct.int32)
    ends = ct.cumsum(is_kept, axis=0)
    base = ct.atomic_add(count, 0, ct.sum(is_kept))
    ct.scatter(out, ct.where(tile > 0, base + ends - 1, -1), tile)


def compact() -> Case:
    x = integers(-9, 9, 30)
    kept = x[x > 0]
    # One tile block at a time, so that the order of the blocks is known.
    arguments = [x, np.zeros(32, np.int32), np.zeros(1, np.int32)]
    wanted = {1: np.append(kept, np.zeros(32 - kept.size)), 2: np.array([kept.size])}
    return Case(_compact, arguments, wanted, (1,), (32,))


@ct.kernel
def _bounds(x, low, high, bits, size: CONSTANT):
    """The smallest and the largest number of all, and all bits, atomically."""
    tile = ct.load(x, (ct.bid(0),), (size,))
    ct.atomic_min(low, 0, ct.min(tile))
    ct.atomic_max(high, 0, ct.max(tile))
    ct.atomic_or(bits, 0, ct.reduce(tile, 0, lambda a, b: a | b, 0))


def bounds() -> Case:
    x = integers(-500, 500, 96)
    wanted = {1: x.min(), 2: x.max(), 3: np.bitwise_or.reduce(x)}
    starts = [np.array([n], np.int32) for n in (2**31 - 1, -(2**31), 0)]
    return Case(_bounds, [x, *starts], {k: np.array([v]) for k, v in wanted.items()}, (3,), (32,))


@ct.kernel
def _variance(x, means, variances, rows: CONSTANT, size: CONSTANT):
    """Means and sums of squares that a reduction of three numbers joins, as Welford does."""
    tile = ct.load(x, (ct.bid(0), 0), (rows, size), padding_mode=ZERO)
    inside = ct.broadcast_to((ct.arange(size, dtype=ct.int32) < x.shape[1])[None, :], (rows, size))
    count = ct.where(inside, 1.0, 0.0)
    zero = ct.zeros((rows, size), dtype=ct.float32)

    def join(n, mean, square, m, other, other_square):
        total = n + m
        share = ct.where(total > 0.0, m / ct.maximum(total, 1.0), 0.0)
        delta = other - mean
        return total, mean + delta * share, square + other_square + delta * delta * n * share

    n, mean, square = ct.reduce((count, tile, zero), 1, join, (0.0, 0.0, 0.0))
    ct.store(means, (ct.bid(0),), mean)
    ct.store(variances, (ct.bid(0),), square / n)


def variance() -> Case:
    x = normal(7, 27) + 3
    wide = x.astype(np.float64)
    wanted = {1: wide.mean(axis=1), 2: wide.var(axis=1)}
    arguments = [x, blank(7), blank(7)]
    return Case(_variance, arguments, wanted, (2,), (4, 32), rounding(128, np.float32))


@ct.kernel
def _products_of_all(x, out, size: CONSTANT):
    """Reductions over all dimensions at once and over the middle one."""
    tile = ct.load(x, (0, 0, 0), (2, 4, size), padding_mode=ZERO)
    ct.store(out, (0, 0), ct.prod(tile, axis=1) + ct.max(ct.abs(tile)))


def products_of_middle() -> Case:
    x = normal(2, 4, 32)
    wanted = x.astype(np.float64).prod(axis=1) + np.abs(x).max()
    return Case(
        _products_of_all, [x, blank(2, 32)], {1: wanted}, (1,), (32,), rounding(8, np.float32)
    )


@ct.kernel
def _sums_of_all_before(x, status, sums, out, size: CONSTANT):
    """Prefix sums of an array: a tile block looks back at those before it until one is done."""
    block = ct.bid(0)
    own = ct.cumsum(ct.load(x, (block,), (size,), padding_mode=ZERO), 0)
    total = ct.sum(ct.load(x, (block,), (size,), padding_mode=ZERO))
    before = 0
    if block > 0:
        ct.scatter(sums, (block, 0), total)
        ct.atomic_xchg(status, block, 1, memory_order=ct.MemoryOrder.RELEASE)
        at = block - 1
        while True:
            state = ct.atomic_cas(status, at, 0, 0, memory_order=ct.MemoryOrder.ACQUIRE)
            if state == 2:
                before += ct.gather(sums, (at, 1)).item()
                break
            if state == 1:
                before += ct.gather(sums, (at, 0)).item()
                at -= 1
    ct.scatter(sums, (block, 1), total + before)
    ct.atomic_xchg(status, block, 2, memory_order=ct.MemoryOrder.RELEASE)
    ct.store(out, (block,), own + before)


def sums_of_all_before() -> Case:
    x = integers(-9, 9, 300)
    arguments = [x, *(np.zeros(shape, np.int32) for shape in (5, (5, 2)))]
    return Case(
        _sums_of_all_before, [*arguments, blank(300, dtype=np.int32)], {3: x.cumsum()}, (5,), (64,)
    )


@ct.kernel
def _compensated(x, out, size: CONSTANT):
    """Sums in f64 whose rounding errors are added up, too, and the largest of them."""
    total = ct.zeros((size,), dtype=ct.float64)
    error = ct.zeros((size,), dtype=ct.float64)
    for step in range(ct.cdiv(x.shape[0], size)):
        number = ct.load(x, (step,), (size,), padding_mode=ZERO) - error
        new = total + number
        total, error = new, (new - total) - number
    ct.scatter(out, 0, ct.sum(total))
    ct.scatter(out, 1, ct.max(ct.abs(total)))


def compensated() -> Case:
    x = normal(500, dtype=np.float64)
    columns = np.pad(x, (0, 12)).reshape(-1, 32).sum(axis=0)
    wanted = [x.sum(), np.abs(columns).max()]
    tolerance = rounding(500, np.float64)
    return Case(_compensated, [x, blank(2, dtype=np.float64)], {1: wanted}, (1,), (32,), tolerance)


CASES = [
    prefix_sums,
    carried_sums,
    prefix_products,
    linear_recurrence,
    extremes,
    top_k,
    bitonic_sort,
    bitonic_step,
    histogram,
    compact,
    bounds,
    variance,
    products_of_middle,
    sums_of_all_before,
    compensated,
]
"""A case for each kernel."""
