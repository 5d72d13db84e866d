"""Functions for Triton whose machine code for AMD's chips is counted; only Triton imports them."""

import triton
import triton.language as tl


@triton.jit
def matmul(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_bk,
    stride_cm,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    SUM: tl.constexpr,
):
    """C = A B, whose rows have strides that are multiples of 16."""
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    tl.assume(stride_am > 0)
    tl.assume(stride_bk > 0)
    tl.assume(stride_cm > 0)
    rows = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    columns = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    depth = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + rows[:, None] * stride_am + depth[None, :]
    b_ptrs = b_ptr + depth[:, None] * stride_bk + columns[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), SUM)
    for k in range(tl.cdiv(K, BLOCK_K)):
        left = K - k * BLOCK_K
        a = tl.load(a_ptrs, mask=depth[None, :] < left, other=0.0)
        b = tl.load(b_ptrs, mask=depth[:, None] < left, other=0.0)
        total = tl.dot(a, b, total)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * stride_bk
    to_rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    to_columns = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + to_rows[:, None] * stride_cm + to_columns[None, :]
    inside = (to_rows[:, None] < M) & (to_columns[None, :] < N)
    tl.store(c_ptrs, total.to(c_ptr.dtype.element_ty), mask=inside)


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, o_ptr, length, scale, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    """softmax(Q K^T) V of one head for each program along y."""
    first = tl.program_id(1) * length * DEPTH
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    depth = tl.arange(0, DEPTH)
    columns = tl.arange(0, BLOCK)
    q = tl.load(q_ptr + first + rows[:, None] * DEPTH + depth[None, :])
    k_ptrs = k_ptr + first + columns[None, :] * DEPTH + depth[:, None]
    v_ptrs = v_ptr + first + columns[:, None] * DEPTH + depth[None, :]
    most = tl.full((BLOCK,), float("-inf"), tl.float32)
    sums = tl.zeros((BLOCK,), tl.float32)
    total = tl.zeros((BLOCK, DEPTH), tl.float32)
    for _ in range(0, length, BLOCK):
        scores = tl.dot(q, tl.load(k_ptrs)) * scale
        larger = tl.maximum(most, tl.max(scores, 1))
        weights = tl.exp2(scores - larger[:, None])
        shrink = tl.exp2(most - larger)
        sums = sums * shrink + tl.sum(weights, 1)
        total = total * shrink[:, None]
        total = tl.dot(weights.to(tl.float16), tl.load(v_ptrs), total)
        most = larger
        k_ptrs += BLOCK * DEPTH
        v_ptrs += BLOCK * DEPTH
    out = (total / sums[:, None]).to(tl.float16)
    tl.store(o_ptr + first + rows[:, None] * DEPTH + depth[None, :], out)


@triton.jit
def softmax(x_ptr, y_ptr, columns, stride, BLOCK: tl.constexpr):
    """The softmax of a row for each program."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + at, mask=at < columns, other=float("-inf"))
    x = tl.exp(x - tl.max(x, 0))
    tl.store(y_ptr + row * stride + at, x / tl.sum(x, 0), mask=at < columns)


@triton.jit
def layer_norm(x_ptr, y_ptr, w_ptr, b_ptr, columns, stride, BLOCK: tl.constexpr):
    """The layer norm of a row for each program."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    x = tl.load(x_ptr + row * stride + at, mask=inside, other=0.0)
    mean = tl.sum(x, 0) / columns
    centred = tl.where(inside, x - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, 0) / columns + 1e-5)
    w = tl.load(w_ptr + at, mask=inside)
    b = tl.load(b_ptr + at, mask=inside)
    tl.store(y_ptr + row * stride + at, centred * scale * w + b, mask=inside)
