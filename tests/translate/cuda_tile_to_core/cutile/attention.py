"""Attention in its forms, and what stands around it in a transformer."""

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
INV_LOG_2 = 1.4426950408889634


def _attended(
    q: Array, k: Array, v: Array, scale: float, mask: Array | None = None
) -> tuple[Array, Array]:
    """What attention computes, and the logarithms of its sums, in base e."""
    scores = q.astype(np.float64) @ np.swapaxes(k.astype(np.float64), -1, -2) * scale
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    largest = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - largest)
    total = weights.sum(axis=-1, keepdims=True)
    return weights / total @ v.astype(np.float64), (largest + np.log(total))[..., 0]


@ct.kernel
def _attention(q, k, v, out, scale, rows: CONSTANT, columns: CONSTANT, depth: CONSTANT):
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


def attention() -> Case:
    q, k, v = (normal(n, 16, dtype=np.float16) for n in (30, 50, 50))
    wanted = _attended(q, k, v, 0.25 * math.log(2))[0]
    arguments = [q, k, v, blank(30, 16), 0.25]
    tolerance = rounding(50, np.float32, np.float16)
    return Case(_attention, arguments, {3: wanted}, (2,), (16, 32, 16), tolerance)


@ct.kernel
def _causal_attention(
    q,
    k,
    v,
    out,
    scale,
    heads: CONSTANT,
    group: CONSTANT,
    rows: CONSTANT,
    columns: CONSTANT,
    depth: CONSTANT,
):
    """Four dimensions; several heads of queries share one of keys, and later keys are not seen."""
    batch, head = ct.bid(1) // heads, ct.bid(1) % heads
    shared = head // group
    scale = scale * INV_LOG_2
    i = ct.bid(0)
    offs_m = i * rows + ct.arange(rows, dtype=ct.int32)[:, None]
    offs_n = ct.arange(columns, dtype=ct.int32)[None, :]
    m_i = ct.full((rows, 1), -math.inf, dtype=ct.float32)
    l_i = ct.full((rows, 1), 0.0, dtype=ct.float32)
    acc = ct.full((rows, depth), 0.0, dtype=ct.float32)
    queries = ct.load(q, (batch, head, i, 0), (1, 1, rows, depth), padding_mode=ZERO).reshape(
        (rows, depth)
    )
    length = k.shape[2]
    end = ct.cdiv(min((i + 1) * rows, length), columns)
    mask_start = min(i * rows // columns, length // columns)
    for j in range(end):
        keys = ct.load(
            k,
            (batch, shared, 0, j),
            (1, 1, depth, columns),
            order=(0, 1, 3, 2),
            padding_mode=ZERO,
            latency=2,
        ).reshape((depth, columns))
        qk = ct.mma(queries, keys, ct.full((rows, columns), 0.0, dtype=ct.float32))
        if j >= mask_start:
            mask = (offs_m >= j * columns + offs_n) & (j * columns + offs_n < length)
            qk += ct.where(mask, 0.0, -math.inf)
        m_ij = max(m_i, ct.max(qk, axis=-1, keepdims=True) * scale)
        p = ct.exp2(qk * scale - m_ij, flush_to_zero=True)
        alpha = ct.exp2(m_i - m_ij, flush_to_zero=True)
        l_i = l_i * alpha + ct.sum(p, axis=-1, keepdims=True)
        acc = acc * alpha
        values = ct.load(
            v, (batch, shared, j, 0), (1, 1, columns, depth), padding_mode=ZERO, latency=4
        ).reshape((columns, depth))
        acc = ct.mma(p.astype(q.dtype), values, acc)
        m_i = m_ij
    acc = ct.truediv(acc, l_i, flush_to_zero=True, rounding_mode=ct.RoundingMode.APPROX)
    ct.store(out, (batch, head, i, 0), acc.reshape((1, 1, rows, depth)).astype(out.dtype))


def causal_attention() -> Case:
    q = normal(2, 4, 37, 16, dtype=np.float16)
    k, v = (normal(2, 2, 37, 16, dtype=np.float16) for _ in range(2))
    mask = np.tril(np.ones((37, 37), bool))
    wanted = _attended(q, k.repeat(2, axis=1), v.repeat(2, axis=1), 0.25, mask)[0]
    arguments = [q, k, v, blank(*q.shape, dtype=np.float16), 0.25]
    tolerance = rounding(40, np.float32, np.float16, np.float16)
    return Case(_causal_attention, arguments, {3: wanted}, (3, 8), (4, 2, 16, 8, 16), tolerance)


@ct.kernel
def _attention_backward(
    q, k, v, out, grad, sums, dq, dk, dv, scale, rows: CONSTANT, columns: CONSTANT, depth: CONSTANT
):
    """Gradients of keys and values of a block; those of queries are added up atomically."""
    j = ct.bid(0)
    keys = ct.load(k, (j, 0), (columns, depth), padding_mode=ZERO)
    values = ct.load(v, (j, 0), (columns, depth), padding_mode=ZERO)
    dkeys = ct.zeros((columns, depth), dtype=ct.float32)
    dvalues = ct.zeros((columns, depth), dtype=ct.float32)
    is_key = j * columns + ct.arange(columns, dtype=ct.int32) < k.shape[0]
    for i in range(ct.num_tiles(q, 0, (rows, depth))):
        queries = ct.load(q, (i, 0), (rows, depth), padding_mode=ZERO)
        g = ct.load(grad, (i, 0), (rows, depth), padding_mode=ZERO)
        o = ct.load(out, (i, 0), (rows, depth), padding_mode=ZERO)
        lse = ct.load(sums, (i,), (rows,), padding_mode=ZERO)
        delta = ct.sum(g * o, axis=1, keepdims=True)
        scores = ct.matmul(queries, ct.transpose(keys)) * scale
        p = ct.where(is_key[None, :], ct.exp(scores - lse[:, None]), 0.0)
        dvalues = ct.mma(ct.transpose(p), g, dvalues)
        ds = p * (ct.matmul(g, ct.transpose(values)) - delta) * scale
        dkeys = ct.mma(ct.transpose(ds), queries, dkeys)
        at = (
            i * rows + ct.arange(rows, dtype=ct.int32)[:, None],
            ct.arange(depth, dtype=ct.int32)[None, :],
        )
        ct.atomic_add(dq, at, ct.matmul(ds, keys))
    ct.store(dk, (j, 0), dkeys)
    ct.store(dv, (j, 0), dvalues)


def attention_backward() -> Case:
    q, k, v, g = (normal(n, 8) for n in (21, 19, 19, 21))
    out, lse = _attended(q, k, v, 0.25)
    wide = [each.astype(np.float64) for each in (q, k, v, g)]
    p = np.exp(wide[0] @ wide[1].T * 0.25 - lse[:, None])
    ds = p * (wide[3] @ wide[2].T - (wide[3] * out).sum(axis=1, keepdims=True)) * 0.25
    wanted = {6: ds @ wide[1], 7: ds.T @ wide[0], 8: p.T @ wide[3]}
    known = [out.astype(np.float32), g, lse.astype(np.float32)]
    arguments = [q, k, v, *known, np.zeros((21, 8), np.float32), blank(19, 8), blank(19, 8), 0.25]
    tolerance = rounding(128, np.float32)
    return Case(_attention_backward, arguments, wanted, (2,), (8, 16, 8), tolerance)


@ct.kernel
def _decode(
    q,
    k,
    v,
    parts,
    sums,
    scale,
    length: CONSTANT,
    group: CONSTANT,
    columns: CONSTANT,
    depth: CONSTANT,
):
    """One query for each head against a part of the keys; the parts are joined later."""
    batch, head, part = ct.bid(0), ct.bid(1), ct.bid(2)
    queries = ct.load(q, (batch, head, 0, 0), (1, 1, group, depth)).reshape((group, depth))
    queries = ct.transpose(queries)
    start = part * length
    end = min(start + length, k.shape[2])
    m_i = ct.full((group,), -math.inf, dtype=ct.float32)
    l_i = ct.full((columns, group), 0.0, dtype=ct.float32)
    acc = ct.zeros((depth, group), dtype=ct.float32)
    if end > start:
        for step in range(ct.cdiv(length, columns)):
            j = start // columns + step
            keys = ct.load(k, (batch, head, j, 0), (1, 1, columns, depth), padding_mode=ZERO)
            qk = ct.mma(
                keys.reshape((columns, depth)),
                queries,
                ct.zeros((columns, group), dtype=ct.float32),
            )
            if (j + 1) * columns > k.shape[2]:
                inside = j * columns + ct.arange(columns, dtype=ct.int32)[:, None] < k.shape[2]
                qk = ct.where(inside, qk, -1.0e6)
            qk = qk * (scale * INV_LOG_2)
            now = ct.maximum(m_i, ct.max(qk, 0))
            p = ct.exp2(qk - now[None, :])
            alpha = ct.exp2(m_i - now)
            l_i = l_i * alpha[None, :] + p
            acc = acc * alpha[None, :]
            values = ct.load(v, (batch, head, j, 0), (1, 1, columns, depth), padding_mode=ZERO)
            values = ct.transpose(values.reshape((columns, depth)))
            acc = ct.mma(values, p.astype(v.dtype), acc)
            m_i = now
    total = ct.sum(l_i, 0)
    acc = ct.transpose(ct.truediv(acc, total[None, :], rounding_mode=ct.RoundingMode.APPROX))
    ct.store(
        parts, (batch, head, 0, part, 0), acc.reshape((1, 1, group, 1, depth)).astype(parts.dtype)
    )
    at = head * group + ct.arange(group, dtype=ct.int32)
    ct.scatter(sums, (batch, at, part), m_i + ct.log2(total))


def decode() -> Case:
    q = normal(2, 2, 4, 16, dtype=np.float16)
    k, v = (normal(2, 2, 45, 16, dtype=np.float16) for _ in range(2))
    found = [_attended(q, k[..., s, :], v[..., s, :], 0.3) for s in (slice(32), slice(32, 45))]
    wanted = {
        3: np.stack([part for part, _ in found], axis=3),
        4: np.stack([sums.reshape(2, 8) * INV_LOG_2 for _, sums in found], axis=2),
    }
    arguments = [q, k, v, blank(2, 2, 4, 2, 16), blank(2, 8, 2), 0.3]
    tolerance = rounding(50, np.float32, np.float16)
    return Case(_decode, arguments, wanted, (2, 2, 2), (32, 4, 16, 16), tolerance)


@ct.kernel
def _join_parts(parts, sums, out, count: CONSTANT, depth: CONSTANT):
    """Weighs parts of attention by the logarithms of their sums; parts are no power of two."""
    head = ct.bid(0)
    lse = ct.load(sums, (head, 0), (1, count), padding_mode=ct.PaddingMode.NEG_INF).reshape(
        (count,)
    )
    weights = ct.exp2(lse - ct.max(lse))
    rows = ct.load(parts, (head, 0, 0), (1, count, depth), padding_mode=ZERO).reshape(
        (count, depth)
    )
    joined = ct.sum(rows * weights[:, None], axis=0) / ct.sum(weights)
    ct.store(out, (head, 0), joined.reshape((1, depth)).astype(out.dtype))


def join_parts() -> Case:
    parts, sums = normal(3, 5, 32), normal(3, 5)
    weights = np.exp2(sums.astype(np.float64))
    wanted = (parts * weights[..., None]).sum(axis=1) / weights.sum(axis=1, keepdims=True)
    arguments = [parts, sums, blank(3, 32, dtype=BF16)]
    return Case(_join_parts, arguments, {2: wanted}, (3,), (8, 32), rounding(16, np.float32, BF16))


@ct.kernel
def _paged_decode(q, k, v, pages, lengths, out, scale, page: CONSTANT, depth: CONSTANT):
    """Keys and values in pages, which a table finds; sequences have different lengths."""
    sequence = ct.bid(0)
    length = ct.gather(lengths, sequence)
    query = ct.load(q, (sequence, 0), (1, depth))
    largest, total = -math.inf, 0.0
    acc = ct.zeros((1, depth), dtype=ct.float32)
    step = 0
    while step * page < length:
        at = ct.gather(pages, (sequence, step))
        keys = ct.load(k, (at, 0, 0), (1, page, depth)).reshape((page, depth))
        scores = ct.sum(keys * query, axis=1) * scale
        inside = step * page + ct.arange(page, dtype=ct.int32) < length
        scores = ct.where(inside, scores, -math.inf)
        now = max(largest, ct.max(scores))
        weights = ct.exp(scores - now)
        alpha = ct.exp(largest - now)
        total = total * alpha + ct.sum(weights)
        values = ct.load(v, (at, 0, 0), (1, page, depth)).reshape((page, depth))
        acc = acc * alpha + ct.sum(weights[:, None] * values, axis=0, keepdims=True)
        largest = now
        step += 1
    ct.store(out, (sequence, 0), acc / total)


def paged_decode() -> Case:
    q, k, v = normal(3, 16), normal(6, 8, 16), normal(6, 8, 16)
    lengths, pages = np.array([5, 16, 23], np.int32), integers(0, 6, 3, 3)
    wanted = np.stack(
        [
            _attended(
                q[s : s + 1], k[pages[s]].reshape(-1, 16)[:n], v[pages[s]].reshape(-1, 16)[:n], 0.25
            )[0][0]
            for s, n in enumerate(lengths)
        ]
    )
    arguments = [q, k, v, pages, lengths, blank(3, 16), 0.25]
    return Case(_paged_decode, arguments, {5: wanted}, (3,), (8, 16), rounding(50, np.float32))


@ct.kernel
def _rope(q, cos, sin, heads: CONSTANT, half: CONSTANT):
    """Turns the halves of each head in their memory; the rest of a head stays."""
    batch, row = ct.bid(0), ct.bid(1)
    c = ct.load(cos, (row, 0), (1, half), padding_mode=ZERO)
    s = ct.load(sin, (row, 0), (1, half), padding_mode=ZERO)
    x = ct.load(q, (batch, 0, row, 0), (1, heads, 1, half), padding_mode=ZERO).reshape(
        (heads, half)
    )
    y = ct.load(q, (batch, 0, row, 1), (1, heads, 1, half), padding_mode=ZERO).reshape(
        (heads, half)
    )
    ct.store(q, (batch, 0, row, 0), (x * c - y * s).reshape((1, heads, 1, half)).astype(q.dtype))
    ct.store(q, (batch, 0, row, 1), (y * c + x * s).reshape((1, heads, 1, half)).astype(q.dtype))


def rope() -> Case:
    q, angle = normal(2, 3, 5, 20), normal(5, 8)
    cos, sin = np.cos(angle), np.sin(angle)
    x, y = q[..., :8].astype(np.float64), q[..., 8:16].astype(np.float64)
    wanted = np.concatenate([x * cos - y * sin, y * cos + x * sin, q[..., 16:]], axis=-1)
    return Case(_rope, [q, cos, sin], {0: wanted}, (2, 5), (4, 8), rounding(4, np.float32))


@ct.kernel
def _rope_interleaved(x, cos, sin, out, half: CONSTANT):
    """Pairs of neighbours are turned: parts of a tile with a dimension for the pair."""
    row = ct.load(x, (ct.bid(0), 0), (1, 2 * half)).reshape((half, 2))
    a = ct.extract(row, (0, 0), (half, 1))
    b = ct.extract(row, (0, 1), (half, 1))
    c = ct.load(cos, (ct.bid(0), 0), (1, half)).reshape((half, 1))
    s = ct.load(sin, (ct.bid(0), 0), (1, half)).reshape((half, 1))
    turned = ct.cat((a * c - b * s, a * s + b * c), 1)
    ct.store(out, (ct.bid(0), 0), turned.reshape((1, 2 * half)))


def rope_interleaved() -> Case:
    x, angle = normal(3, 32), normal(3, 16)
    z = (x[:, ::2] + 1j * x[:, 1::2].astype(np.float64)) * np.exp(1j * angle.astype(np.float64))
    wanted = np.stack([z.real, z.imag], axis=-1).reshape(3, 32)
    arguments = [x, np.cos(angle), np.sin(angle), blank(3, 32)]
    return Case(_rope_interleaved, arguments, {3: wanted}, (3,), (16,), rounding(4, np.float32))


CASES = [
    attention,
    causal_attention,
    attention_backward,
    decode,
    join_parts,
    paged_decode,
    rope,
    rope_interleaved,
]
"""A case for each kernel."""
