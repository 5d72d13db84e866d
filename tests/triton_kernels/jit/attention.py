"""Attention in its forms, and what stands around it in a transformer."""

import triton
import triton.language as tl


@triton.jit
def attention(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    lse_ptr,
    scale,
    stride_qh,
    stride_qm,
    stride_kh,
    stride_kn,
    H,
    N,
    GROUP: tl.constexpr,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    """The online softmax in base 2; several heads of queries may share one of keys."""
    start_m = tl.program_id(0)
    head = tl.program_id(1)
    q_ptr += head.to(tl.int64) * stride_qh
    out_ptr += head.to(tl.int64) * stride_qh
    shared = head // GROUP
    k_ptr += shared.to(tl.int64) * stride_kh
    v_ptr += shared.to(tl.int64) * stride_kh
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, D)
    m_i = tl.full([BLOCK_M], float("-inf"), tl.float32)
    l_i = tl.zeros([BLOCK_M], tl.float32) + 1.0
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    q = tl.load(
        q_ptr + offs_m[:, None] * stride_qm + offs_d[None, :], mask=offs_m[:, None] < N, other=0.0
    )
    scale *= 1.44269504
    hi = min((start_m + 1) * BLOCK_M, N) if CAUSAL else N
    for start_n in range(0, hi, BLOCK_N):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        columns = start_n + offs_n
        k = tl.load(
            k_ptr + columns[None, :] * stride_kn + offs_d[:, None],
            mask=columns[None, :] < N,
            other=0.0,
        )
        qk = tl.dot(q, k) * scale
        qk = tl.where(columns[None, :] < N, qk, float("-inf"))
        if CAUSAL:
            qk = tl.where(offs_m[:, None] >= columns[None, :], qk, float("-inf"))
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.math.exp2(qk - m_ij[:, None])
        alpha = tl.math.exp2(m_i - m_ij)
        acc = acc * alpha[:, None]
        v = tl.load(
            v_ptr + columns[:, None] * stride_kn + offs_d[None, :],
            mask=columns[:, None] < N,
            other=0.0,
        )
        acc = tl.dot(p.to(v.dtype), v, acc)
        l_i = tl.where(start_n == 0, 0.0, l_i * alpha) + tl.sum(p, 1)
        m_i = m_ij
    acc = acc / l_i[:, None]
    mask = offs_m < N
    tl.store(lse_ptr + head * N + offs_m, m_i + tl.math.log2(l_i), mask=mask)
    tl.store(
        out_ptr + offs_m[:, None] * stride_qm + offs_d[None, :],
        acc.to(out_ptr.dtype.element_ty),
        mask=mask[:, None],
    )


@triton.jit
def attention_backward_keys(
    q_ptr,
    k_ptr,
    v_ptr,
    grad_ptr,
    lse_ptr,
    delta_ptr,
    dq_ptr,
    dk_ptr,
    dv_ptr,
    scale,
    M,
    N,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """A block of keys against all queries; gradients of queries are added up atomically."""
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    is_key = n[:, None] < N
    k = tl.load(k_ptr + n[:, None] * D + d[None, :], mask=is_key, other=0.0)
    v = tl.load(v_ptr + n[:, None] * D + d[None, :], mask=is_key, other=0.0)
    dk = tl.zeros([BLOCK_N, D], tl.float32)
    dv = tl.zeros([BLOCK_N, D], tl.float32)
    for start in range(0, M, BLOCK_M):
        m = start + tl.arange(0, BLOCK_M)
        is_query = m[:, None] < M
        q = tl.load(q_ptr + m[:, None] * D + d[None, :], mask=is_query, other=0.0)
        grad = tl.load(grad_ptr + m[:, None] * D + d[None, :], mask=is_query, other=0.0)
        lse = tl.load(lse_ptr + m, mask=m < M, other=float("inf"))
        delta = tl.load(delta_ptr + m, mask=m < M, other=0.0)
        p = tl.exp(tl.dot(k, tl.trans(q), input_precision="ieee") * scale - lse[None, :])
        p = tl.where(is_key, p, 0.0)
        dv = tl.dot(p, grad, dv, input_precision="ieee")
        dp = tl.dot(v, tl.trans(grad), input_precision="ieee")
        ds = p * (dp - delta[None, :]) * scale
        dk = tl.dot(ds, q, dk, input_precision="ieee")
        dq = tl.dot(tl.trans(ds), k, input_precision="ieee")
        tl.atomic_add(dq_ptr + m[:, None] * D + d[None, :], dq, mask=is_query, sem="relaxed")
    tl.store(dk_ptr + n[:, None] * D + d[None, :], dk, mask=is_key)
    tl.store(dv_ptr + n[:, None] * D + d[None, :], dv, mask=is_key)


@triton.jit
def decode(
    q_ptr,
    k_ptr,
    v_ptr,
    pages_ptr,
    lengths_ptr,
    parts_ptr,
    lse_ptr,
    scale,
    max_pages,
    SPLITS: tl.constexpr,
    PAGE: tl.constexpr,
    BLOCK: tl.constexpr,
    D: tl.constexpr,
):
    """One query against a part of a sequence, whose keys and values are in pages."""
    sequence = tl.program_id(0)
    split = tl.program_id(1)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + sequence * D + d)
    length = tl.load(lengths_ptr + sequence)
    per_split = tl.cdiv(length, SPLITS)
    start = per_split * split
    end = tl.minimum(start + per_split, length)
    m_i = -float("inf")
    l_i = 0.0
    acc = tl.zeros([D], tl.float32)
    if end > start:
        for at in range(start, end, BLOCK):
            n = at + tl.arange(0, BLOCK)
            page = tl.load(pages_ptr + sequence * max_pages + n // PAGE, mask=n < end, other=0)
            rows = page * PAGE + n % PAGE
            k = tl.load(k_ptr + rows[:, None] * D + d[None, :], mask=n[:, None] < end, other=0.0)
            qk = tl.sum(q[None, :] * k, 1) * scale
            qk = tl.where(n < end, qk, float("-inf"))
            v = tl.load(v_ptr + rows[:, None] * D + d[None, :], mask=n[:, None] < end, other=0.0)
            m_ij = tl.maximum(tl.max(qk, 0), m_i)
            alpha = tl.exp(m_i - m_ij)
            p = tl.exp(qk - m_ij)
            acc = acc * alpha + tl.sum(p[:, None] * v, 0)
            l_i = l_i * alpha + tl.sum(p, 0)
            m_i = m_ij
        tl.store(parts_ptr + (sequence * SPLITS + split) * D + d, acc / l_i)
        tl.store(lse_ptr + sequence * SPLITS + split, m_i + tl.log(l_i))


@triton.jit
def decode_join(parts_ptr, lse_ptr, lengths_ptr, out_ptr, SPLITS: tl.constexpr, D: tl.constexpr):
    """Joins the parts of each sequence; parts without keys are empty."""
    sequence = tl.program_id(0)
    d = tl.arange(0, D)
    length = tl.load(lengths_ptr + sequence)
    per_split = tl.cdiv(length, SPLITS)
    total = 0.0
    largest = -float("inf")
    acc = tl.zeros([D], tl.float32)
    for split in range(SPLITS):
        if per_split * split < length:
            part = tl.load(parts_ptr + (sequence * SPLITS + split) * D + d)
            lse = tl.load(lse_ptr + sequence * SPLITS + split)
            now = tl.maximum(lse, largest)
            alpha = tl.exp(largest - now)
            weight = tl.exp(lse - now)
            acc = acc * alpha + weight * part
            total = total * alpha + weight
            largest = now
    tl.store(out_ptr + sequence * D + d, (acc / total).to(out_ptr.dtype.element_ty))


@triton.jit
def rope(q_ptr, cos_ptr, sin_ptr, heads, seq, D: tl.constexpr, HEADS: tl.constexpr):
    """Turns the halves of all heads of a row in their memory."""
    row = tl.program_id(0).to(tl.int64)
    half = tl.arange(0, D // 2)
    cos = tl.load(cos_ptr + (row % seq) * (D // 2) + half)
    sin = tl.load(sin_ptr + (row % seq) * (D // 2) + half)
    h = tl.arange(0, HEADS)
    first = q_ptr + row * heads * D + h[:, None] * D + half[None, :]
    mask = h[:, None] < heads
    x = tl.load(first, mask=mask, other=0).to(cos.dtype)
    y = tl.load(first + D // 2, mask=mask, other=0).to(cos.dtype)
    tl.store(first, x * cos[None, :] - y * sin[None, :], mask=mask)
    tl.store(first + D // 2, y * cos[None, :] + x * sin[None, :], mask=mask)


@triton.jit
def rope_interleaved(x_ptr, cos_ptr, sin_ptr, out_ptr, D: tl.constexpr):
    """Pairs of neighbours are turned."""
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * D + tl.arange(0, D))
    half = tl.arange(0, D // 2)
    cos = tl.load(cos_ptr + row * (D // 2) + half)
    sin = tl.load(sin_ptr + row * (D // 2) + half)
    a, b = tl.split(tl.reshape(x, (D // 2, 2)))
    out = tl.interleave(a * cos - b * sin, a * sin + b * cos)
    tl.store(out_ptr + row * D + tl.arange(0, D), out)


@triton.jit
def selective_scan(
    x_ptr,
    delta_ptr,
    a_ptr,
    b_ptr,
    c_ptr,
    out_ptr,
    length,
    channels,
    N: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """A state of N numbers for each channel, which a loop over time updates, as Mamba does."""
    channel = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.arange(0, N)
    mask = channel < channels
    a = tl.load(a_ptr + channel[:, None] * N + n[None, :], mask=mask[:, None], other=0.0)
    state = tl.zeros([BLOCK, N], tl.float32)
    for t in range(length):
        x = tl.load(x_ptr + t * channels + channel, mask=mask, other=0.0)
        delta = tl.load(delta_ptr + t * channels + channel, mask=mask, other=0.0)
        b = tl.load(b_ptr + t * N + n)
        c = tl.load(c_ptr + t * N + n)
        state = tl.exp(delta[:, None] * a) * state + (delta * x)[:, None] * b[None, :]
        y = tl.sum(state * c[None, :], axis=1)
        tl.store(out_ptr + t * channels + channel, y, mask=mask)


@triton.jit
def linear_attention(
    q_ptr, k_ptr, v_ptr, out_ptr, length, decay, D: tl.constexpr, BLOCK: tl.constexpr
):
    """Chunks: within one a product with a mask, between them a state with decay."""
    d = tl.arange(0, D)
    i = tl.arange(0, BLOCK)
    distance = i[:, None] - i[None, :]
    inside = tl.where(distance >= 0, tl.exp2(distance.to(tl.float32) * decay), 0.0)
    state = tl.zeros([D, D], tl.float32)
    for start in range(0, length, BLOCK):
        rows = start + i
        mask = rows[:, None] < length
        q = tl.load(q_ptr + rows[:, None] * D + d[None, :], mask=mask, other=0.0)
        k = tl.load(k_ptr + rows[:, None] * D + d[None, :], mask=mask, other=0.0)
        v = tl.load(v_ptr + rows[:, None] * D + d[None, :], mask=mask, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * inside
        out = tl.dot(scores, v, input_precision="ieee")
        carried = tl.exp2((i + 1).to(tl.float32) * decay)
        out += tl.dot(q, state, input_precision="ieee") * carried[:, None]
        left = tl.exp2((BLOCK - 1 - i).to(tl.float32) * decay)
        state = state * tl.exp2(BLOCK * decay) + tl.dot(
            tl.trans(k * left[:, None]), v, input_precision="ieee"
        )
        tl.store(out_ptr + rows[:, None] * D + d[None, :], out, mask=mask)
