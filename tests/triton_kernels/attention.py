"""Cases of attention in its forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.triton_kernels.case import BF16, F16, F32, Array, Case, blank, integers, normal, rounding


def attended(
    q: Array, k: Array, v: Array, scale: float, mask: Array | None = None
) -> tuple[Array, Array]:
    """What attention computes, and the logarithms of its sums, in base e."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = q @ np.swapaxes(k, -1, -2) * scale
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    largest = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - largest)
    total = weights.sum(axis=-1, keepdims=True)
    return weights / total @ v, (largest + np.log(total))[..., 0]


def _attention(
    type_: Any, heads: int, group: int, n: int, depth: int, *, causal: bool, **options: Any
) -> Case:
    q = normal(heads, n, depth, dtype=type_)
    k, v = (normal(heads // group, n, depth, dtype=type_) for _ in range(2))
    mask = np.tril(np.ones((n, n), bool)) if causal else None
    wanted, lse = attended(q, k.repeat(group, axis=0), v.repeat(group, axis=0), 0.2, mask)
    arguments = {
        "q_ptr": q,
        "k_ptr": k,
        "v_ptr": v,
        "out_ptr": blank(*q.shape, dtype=type_),
        "lse_ptr": blank(heads, n),
        "scale": 0.2,
        "stride_qh": n * depth,
        "stride_qm": depth,
        "stride_kh": n * depth,
        "stride_kn": depth,
        "H": heads,
        "N": n,
    }
    constants = {
        "GROUP": group,
        "D": depth,
        "BLOCK_M": 32,
        "BLOCK_N": 32,
        "CAUSAL": causal,
    }
    tolerance = rounding(2 * n, F32, type_, type_)
    outputs = {"out_ptr": wanted, "lse_ptr": lse / math.log(2)}
    grid = (-(-n // 32), heads)
    return Case("attention.attention", arguments, outputs, grid, constants, tolerance, **options)


def attention() -> Case:
    return _attention(F16, 2, 1, 64, 32, causal=False)


def attention_causal() -> Case:
    return _attention(F16, 2, 1, 50, 64, causal=True, warps=8)


def attention_grouped() -> Case:
    return _attention(BF16, 4, 2, 40, 32, causal=True)


def attention_backward() -> Case:
    q, k, v, grad = normal(40, 32), normal(50, 32), normal(50, 32), normal(40, 32)
    out, lse = attended(q, k, v, 0.2)
    wide = [x.astype(np.float64) for x in (q, k, v, grad)]
    p = np.exp(wide[0] @ wide[1].T * 0.2 - lse[:, None])
    delta = (grad * out).sum(axis=1)
    ds = p * (wide[3] @ wide[2].T - delta[:, None]) * 0.2
    arguments = {
        "q_ptr": q,
        "k_ptr": k,
        "v_ptr": v,
        "grad_ptr": grad,
        "lse_ptr": lse.astype(F32),
        "delta_ptr": delta.astype(F32),
        "dq_ptr": np.zeros((40, 32), F32),
        "dk_ptr": blank(50, 32),
        "dv_ptr": blank(50, 32),
        "scale": 0.2,
        "M": 40,
        "N": 50,
    }
    wanted = {"dq_ptr": ds @ wide[1], "dk_ptr": ds.T @ wide[0], "dv_ptr": p.T @ wide[3]}
    constants = {"D": 32, "BLOCK_M": 16, "BLOCK_N": 32}
    tolerance = rounding(128, F32)
    return Case("attention.attention_backward_keys", arguments, wanted, (2,), constants, tolerance)


def _pages() -> tuple[Array, Array, Array, Array, list[Array]]:
    """Keys and values in pages of 8 rows, which page is whose, and the rows of each sequence."""
    k, v = normal(10, 8, 32), normal(10, 8, 32)
    lengths, pages = np.array([5, 16, 23], np.int32), integers(0, 10, 3, 3)
    rows = [
        (pages[s][:, None] * 8 + np.arange(8)).ravel()[:length] for s, length in enumerate(lengths)
    ]
    return k, v, pages, lengths, rows


def decode() -> Case:
    q = normal(3, 32)
    k, v, pages, lengths, rows = _pages()
    parts, sums = blank(3, 4, 32), blank(3, 4)
    for s, found in enumerate(rows):
        per_split = -(-len(found) // 4)
        for split in range(4):
            part = found[split * per_split : (split + 1) * per_split]
            if len(part):
                keys, values = k.reshape(-1, 32)[part], v.reshape(-1, 32)[part]
                out, lse = attended(q[s : s + 1], keys, values, 0.3)
                parts[s, split], sums[s, split] = out[0], lse[0]
    arguments = {
        "q_ptr": q,
        "k_ptr": k,
        "v_ptr": v,
        "pages_ptr": pages,
        "lengths_ptr": lengths,
        "parts_ptr": blank(3, 4, 32),
        "lse_ptr": blank(3, 4),
        "scale": 0.3,
        "max_pages": 3,
    }
    constants = {"SPLITS": 4, "PAGE": 8, "BLOCK": 4, "D": 32}
    wanted = {"parts_ptr": parts, "lse_ptr": sums}
    tolerance = rounding(64, F32)
    return Case("attention.decode", arguments, wanted, (3, 4), constants, tolerance)


def decode_join() -> Case:
    parts, sums, lengths = normal(3, 4, 32), normal(3, 4), np.array([2, 16, 23], np.int32)
    used = np.arange(4) * -(-lengths[:, None] // 4) < lengths[:, None]
    weights = np.where(used, np.exp(sums.astype(np.float64)), 0)
    wanted = (parts * weights[..., None]).sum(axis=1) / weights.sum(axis=1, keepdims=True)
    arguments = {
        "parts_ptr": parts,
        "lse_ptr": sums,
        "lengths_ptr": lengths,
        "out_ptr": blank(3, 32, dtype=BF16),
    }
    constants = {"SPLITS": 4, "D": 32}
    tolerance = rounding(16, F32, BF16)
    return Case(
        "attention.decode_join", arguments, {"out_ptr": wanted}, (3,), constants, tolerance, warps=1
    )


def rope() -> Case:
    q, angle = normal(2, 5, 3, 32, dtype=F16), normal(5, 16)
    cos, sin = np.cos(angle), np.sin(angle)
    x, y = q[..., :16].astype(np.float64), q[..., 16:].astype(np.float64)
    c, s = cos[:, None], sin[:, None]
    wanted = {"q_ptr": np.concatenate([x * c - y * s, y * c + x * s], axis=-1)}
    arguments = {"q_ptr": q, "cos_ptr": cos, "sin_ptr": sin, "heads": 3, "seq": 5}
    tolerance = rounding(4, F32, F16)
    constants = {"D": 32, "HEADS": 4}
    return Case("attention.rope", arguments, wanted, (10,), constants, tolerance, warps=1)


def rope_interleaved() -> Case:
    x, angle = normal(3, 64), normal(3, 32)
    z = (x[:, ::2] + 1j * x[:, 1::2].astype(np.float64)) * np.exp(1j * angle.astype(np.float64))
    wanted = {"out_ptr": np.stack([z.real, z.imag], axis=-1).reshape(3, 64)}
    arguments = {
        "x_ptr": x, "cos_ptr": np.cos(angle), "sin_ptr": np.sin(angle), "out_ptr": blank(3, 64)
    }  # fmt: skip
    tolerance = rounding(4, F32)
    return Case("attention.rope_interleaved", arguments, wanted, (3,), {"D": 64}, tolerance)


def selective_scan() -> Case:
    length, channels, n = 12, 20, 8
    x, delta = normal(length, channels), np.abs(normal(length, channels))
    a, b, c = -np.abs(normal(channels, n)), normal(length, n), normal(length, n)
    state, wanted = np.zeros((channels, n)), []
    for t in range(length):
        state = np.exp(delta[t][:, None] * a.astype(np.float64)) * state
        state += (delta[t] * x[t])[:, None] * b[t]
        wanted.append(state @ c[t])
    arguments = {
        "x_ptr": x,
        "delta_ptr": delta,
        "a_ptr": a,
        "b_ptr": b,
        "c_ptr": c,
        "out_ptr": blank(length, channels),
        "length": length,
        "channels": channels,
    }
    constants = {"N": n, "BLOCK": 16}
    outputs = {"out_ptr": np.stack(wanted)}
    tolerance = rounding(64, F32)
    return Case("attention.selective_scan", arguments, outputs, (2,), constants, tolerance)


def linear_attention() -> Case:
    length, depth, decay = 40, 16, -0.1
    q, k, v = (normal(length, depth) for _ in range(3))
    distance = np.arange(length)[:, None] - np.arange(length)
    mask = np.where(distance >= 0, np.exp2(distance * decay), 0)
    scores = q.astype(np.float64) @ k.T.astype(np.float64) * mask
    arguments = {
        "q_ptr": q,
        "k_ptr": k,
        "v_ptr": v,
        "out_ptr": blank(length, depth),
        "length": length,
        "decay": decay,
    }
    constants = {"D": depth, "BLOCK": 16}
    outputs = {"out_ptr": scores @ v}
    tolerance = rounding(128, F32)
    return Case("attention.linear_attention", arguments, outputs, (1,), constants, tolerance)


CASES = [
    *(attention, attention_causal, attention_grouped, attention_backward, decode, decode_join),
    *(rope, rope_interleaved, selective_scan, linear_attention),
]
"""A case for each kernel."""
