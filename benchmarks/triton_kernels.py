"""Kernels of Triton: attention for lengths that blocks divide, so that no load has a mask, and a
persistent product in groups of rows.
"""

import triton
import triton.language as tl


@triton.jit
def _blocks(
    acc,
    l_i,
    m_i,
    q,
    k_ptrs,
    v_ptrs,
    first,
    last,
    stride_n,
    scale,
    offs_m,
    offs_n,
    BLOCK_N: tl.constexpr,
    MASKED: tl.constexpr,
):
    """Adds the keys from first to last, which are multiples of BLOCK_N."""
    k_ptrs += first * stride_n
    v_ptrs += first * stride_n
    for start in range(first, last, BLOCK_N):
        k = tl.load(k_ptrs)
        qk = tl.dot(q, k)
        if MASKED:
            qk = tl.where(offs_m[:, None] >= start + offs_n[None, :], qk, -1.0e6)
        m_ij = tl.maximum(m_i, tl.max(qk, 1) * scale)
        p = tl.math.exp2(qk * scale - m_ij[:, None])
        alpha = tl.math.exp2(m_i - m_ij)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(v_ptrs)
        acc = tl.dot(p.to(v.dtype), v, acc)
        m_i = m_ij
        k_ptrs += BLOCK_N * stride_n
        v_ptrs += BLOCK_N * stride_n
    return acc, l_i, m_i


@triton.jit
def attention(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    scale,
    stride_h,
    stride_n,
    N,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    """The online softmax in base 2; blocks on the diagonal have a loop of their own."""
    start_m = tl.program_id(0) * BLOCK_M
    head = tl.program_id(1).to(tl.int64) * stride_h
    offs_m = start_m + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, D)
    rows = head + offs_m[:, None] * stride_n + offs_d[None, :]
    k_ptrs = k_ptr + head + offs_n[None, :] * stride_n + offs_d[:, None]
    v_ptrs = v_ptr + head + offs_n[:, None] * stride_n + offs_d[None, :]
    m_i = tl.full([BLOCK_M], float("-inf"), tl.float32)
    l_i = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    q = tl.load(q_ptr + rows)
    scale *= 1.44269504
    middle = start_m if CAUSAL else N
    acc, l_i, m_i = _blocks(
        acc, l_i, m_i, q, k_ptrs, v_ptrs, 0, middle, stride_n, scale, offs_m, offs_n, BLOCK_N, False
    )
    if CAUSAL:
        last = start_m + BLOCK_M
        acc, l_i, m_i = _blocks(
            acc, l_i, m_i, q, k_ptrs, v_ptrs, middle, last, stride_n, scale, offs_m, offs_n,
            BLOCK_N, True,
        )  # fmt: skip
    tl.store(out_ptr + rows, (acc / l_i[:, None]).to(out_ptr.dtype.element_ty))


@triton.jit
def _tile(number, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr):
    """The row and the column of a tile, where `GROUP_M` rows of tiles are dealt out together."""
    rows = tl.cdiv(M, BLOCK_M)
    of_group = GROUP_M * tl.cdiv(N, BLOCK_N)
    first = (number // of_group) * GROUP_M
    height = min(rows - first, GROUP_M)
    return first + number % height, (number % of_group) // height


@triton.jit
def matmul_persistent_groups(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    PROGRAMS: tl.constexpr,
):
    """As in Triton's tutorial "Persistent Matmul", with a second number for the tile to store."""
    start = tl.program_id(0)
    tiles = tl.cdiv(M, BLOCK_M) * tl.cdiv(N, BLOCK_N)
    stored = start - PROGRAMS
    offs_k = tl.arange(0, BLOCK_K)
    for number in tl.range(start, tiles, PROGRAMS, flatten=True):
        i, j = _tile(number, M, N, BLOCK_M, BLOCK_N, GROUP_M)
        offs_m = i * BLOCK_M + tl.arange(0, BLOCK_M)
        offs_n = j * BLOCK_N + tl.arange(0, BLOCK_N)
        offs_m = tl.where(offs_m < M, offs_m, 0)
        offs_n = tl.where(offs_n < N, offs_n, 0)
        acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for k in range(tl.cdiv(K, BLOCK_K)):
            at = k * BLOCK_K + offs_k
            left = K - k * BLOCK_K
            a_ptrs = a_ptr + offs_m[:, None] * stride_am + at[None, :] * stride_ak
            b_ptrs = b_ptr + at[:, None] * stride_bk + offs_n[None, :] * stride_bn
            a = tl.load(a_ptrs, mask=offs_k[None, :] < left, other=0.0)
            b = tl.load(b_ptrs, mask=offs_k[:, None] < left, other=0.0)
            acc = tl.dot(a, b, acc)
        stored += PROGRAMS
        i, j = _tile(stored, M, N, BLOCK_M, BLOCK_N, GROUP_M)
        offs_m = i * BLOCK_M + tl.arange(0, BLOCK_M)
        offs_n = j * BLOCK_N + tl.arange(0, BLOCK_N)
        c_ptrs = c_ptr + stride_cm * offs_m[:, None] + stride_cn * offs_n[None, :]
        mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
        tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=mask)
