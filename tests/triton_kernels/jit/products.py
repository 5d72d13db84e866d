"""Products of matrices."""

import triton
import triton.language as tl


@triton.jit
def _leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def _grouped(pid, m_blocks, n_blocks, GROUP: tl.constexpr):
    """The block of a program, where neighbours share columns."""
    per_group = GROUP * n_blocks
    first = (pid // per_group) * GROUP
    size = min(m_blocks - first, GROUP)
    return first + (pid % per_group) % size, (pid % per_group) // size


@triton.jit
def matmul(
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
    GROUP: tl.constexpr,
    PRECISION: tl.constexpr,
    ACTIVATION: tl.constexpr,
):
    """Programs in groups, sizes that are no multiples of blocks, sums of the accumulator's type."""
    pid_m, pid_n = _grouped(tl.program_id(0), tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N), GROUP)
    offs_am = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offs_bn = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (offs_am[:, None] * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + (offs_k[:, None] * stride_bk + offs_bn[None, :] * stride_bn)
    if a_ptr.dtype.element_ty == tl.int8:
        accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.int32)
    else:
        accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_K, other=0.0)
        accumulator = tl.dot(
            a, b, accumulator, input_precision=PRECISION, out_dtype=accumulator.dtype
        )
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    if ACTIVATION == "leaky_relu":
        accumulator = _leaky_relu(accumulator)
    c = accumulator.to(c_ptr.dtype.element_ty)
    offs_cm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_cn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + stride_cm * offs_cm[:, None] + stride_cn * offs_cn[None, :]
    tl.store(c_ptrs, c, mask=(offs_cm[:, None] < M) & (offs_cn[None, :] < N))


@triton.jit
def matmul_bias(
    a_ptr,
    b_ptr,
    bias_ptr,
    c_ptr,
    M,
    N,
    K,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    EVEN_K: tl.constexpr,
):
    """A linear layer, whose weights have a row for each output, with bias and gelu by sigmoid."""
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    ram = tl.max_contiguous(tl.multiple_of(rm % M, BLOCK_M), BLOCK_M)
    rbn = tl.max_contiguous(tl.multiple_of(rn % N, BLOCK_N), BLOCK_N)
    rk = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K, BLOCK_K):
        if EVEN_K:
            a = tl.load(a_ptr + ram[:, None] * K + (k + rk)[None, :])
            b = tl.load(b_ptr + rbn[None, :] * K + (k + rk)[:, None])
        else:
            a = tl.load(
                a_ptr + ram[:, None] * K + (k + rk)[None, :], mask=(k + rk)[None, :] < K, other=0
            )
            b = tl.load(
                b_ptr + rbn[None, :] * K + (k + rk)[:, None], mask=(k + rk)[:, None] < K, other=0
            )
        acc += tl.dot(a, b)
    acc += tl.load(bias_ptr + rn, mask=rn < N, other=0.0)[None, :].to(tl.float32)
    acc = acc * tl.sigmoid(1.702 * acc)
    mask = (rm < M)[:, None] & (rn < N)[None, :]
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(c_ptr.dtype.element_ty), mask=mask)


@triton.jit
def matmul_persistent(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    PROGRAMS: tl.constexpr,
):
    """Programs take blocks in turn."""
    n_blocks = tl.cdiv(N, BLOCK_N)
    blocks = tl.cdiv(M, BLOCK_M) * n_blocks
    offs_k = tl.arange(0, BLOCK_K)
    for block in tl.range(tl.program_id(0), blocks, PROGRAMS, flatten=False):
        offs_m = (block // n_blocks) * BLOCK_M + tl.arange(0, BLOCK_M)
        offs_n = (block % n_blocks) * BLOCK_N + tl.arange(0, BLOCK_N)
        accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in range(tl.cdiv(K, BLOCK_K)):
            at = k * BLOCK_K + offs_k
            a = tl.load(
                a_ptr + offs_m[:, None] * K + at[None, :],
                mask=(offs_m[:, None] < M) & (at[None, :] < K),
                other=0.0,
            )
            b = tl.load(
                b_ptr + at[:, None] * N + offs_n[None, :],
                mask=(at[:, None] < K) & (offs_n[None, :] < N),
                other=0.0,
            )
            accumulator = tl.dot(a, b, accumulator)
        mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
        tl.store(
            c_ptr + offs_m[:, None] * N + offs_n[None, :], accumulator.to(tl.float16), mask=mask
        )


@triton.jit
def matmul_split_k(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    SPLIT_K: tl.constexpr,
):
    """Programs that share a block of the result add to it atomically."""
    pid = tl.program_id(0)
    n_blocks = tl.cdiv(N, BLOCK_N)
    rm = (pid // n_blocks) * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = (pid % n_blocks) * BLOCK_N + tl.arange(0, BLOCK_N)
    rk = tl.program_id(1) * BLOCK_K + tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for _ in range(tl.cdiv(K, BLOCK_K * SPLIT_K)):
        a = tl.load(
            a_ptr + rm[:, None] * K + rk[None, :],
            mask=(rm < M)[:, None] & (rk < K)[None, :],
            other=0.0,
        )
        b = tl.load(
            b_ptr + rk[:, None] * N + rn[None, :],
            mask=(rk < K)[:, None] & (rn < N)[None, :],
            other=0.0,
        )
        acc = tl.dot(a, b, acc)
        rk += BLOCK_K * SPLIT_K
    mask = (rm < M)[:, None] & (rn < N)[None, :]
    tl.atomic_add(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=mask)


@triton.jit
def matmul_batched(
    a_ptr,
    b_ptr,
    c_ptr,
    K,
    N,
    BATCH: tl.constexpr,
    M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """Several products in one dot of rank 3."""
    batch = tl.arange(0, BATCH)[:, None, None]
    m = tl.arange(0, M)[None, :, None]
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)[None, None, :]
    acc = tl.zeros((BATCH, M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        ka = start + tl.arange(0, BLOCK_K)[None, None, :]
        kb = start + tl.arange(0, BLOCK_K)[None, :, None]
        a = tl.load(a_ptr + (batch * M + m) * K + ka, mask=ka < K, other=0.0)
        b = tl.load(b_ptr + (batch * K + kb) * N + n, mask=(kb < K) & (n < N), other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + (batch * M + m) * N + n, acc, mask=n < N)


@triton.jit
def matmul_descriptors(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """Blocks of memory by tensor descriptors, made in the kernel."""
    a_desc = tl.make_tensor_descriptor(
        a_ptr, shape=[M, K], strides=[K, 1], block_shape=[BLOCK_M, BLOCK_K]
    )
    b_desc = tl.make_tensor_descriptor(
        b_ptr, shape=[K, N], strides=[N, 1], block_shape=[BLOCK_K, BLOCK_N]
    )
    c_desc = tl.make_tensor_descriptor(
        c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BLOCK_M, BLOCK_N]
    )
    m = tl.program_id(0) * BLOCK_M
    n = tl.program_id(1) * BLOCK_N
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        acc = tl.dot(a_desc.load([m, k]), b_desc.load([k, n]), acc)
    c_desc.store([m, n], acc.to(tl.float16))


@triton.jit
def descriptor_edges(x_ptr, out_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr):
    """What lies outside of a descriptor's tensor is read as zero, and not written."""
    source = tl.make_tensor_descriptor(
        x_ptr, shape=[rows, columns], strides=[columns, 1], block_shape=[R, C]
    )
    target = tl.make_tensor_descriptor(
        out_ptr, shape=[columns, rows], strides=[rows, 1], block_shape=[C, R]
    )
    r = tl.program_id(0) * R
    c = tl.program_id(1) * C
    x = tl.load_tensor_descriptor(source, [r, c])
    tl.store_tensor_descriptor(target, [c, r], tl.trans(x) + tl.sum(x))


@triton.jit
def descriptor_nan(x_ptr, out_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr):
    """What lies outside of a descriptor's tensor is read as NaN."""
    x = tl.make_tensor_descriptor(
        x_ptr,
        shape=[rows, columns],
        strides=[columns, 1],
        block_shape=[R, C],
        padding_option="nan",
    ).load([tl.program_id(0) * R, 0])
    at = (tl.program_id(0) * R + tl.arange(0, R)[:, None]) * C + tl.arange(0, C)[None, :]
    tl.store(out_ptr + at, x)


@triton.jit
def matmul_block_pointers(
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
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """Blocks of memory by block pointers, which move along the sum."""
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    a_block = tl.make_block_ptr(
        base=a_ptr,
        shape=(M, K),
        strides=(stride_am, stride_ak),
        offsets=(pid_m * BLOCK_M, 0),
        block_shape=(BLOCK_M, BLOCK_K),
        order=(1, 0),
    )
    b_block = tl.make_block_ptr(
        base=b_ptr,
        shape=(K, N),
        strides=(stride_bk, stride_bn),
        offsets=(0, pid_n * BLOCK_N),
        block_shape=(BLOCK_K, BLOCK_N),
        order=(1, 0),
    )
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(0, K, BLOCK_K):
        a = tl.load(a_block, boundary_check=(0, 1), padding_option="zero")
        b = tl.load(b_block, boundary_check=(0, 1), padding_option="zero")
        acc += tl.dot(a, b)
        a_block = tl.advance(a_block, (0, BLOCK_K))
        b_block = tl.advance(b_block, (BLOCK_K, 0))
    c_block = tl.make_block_ptr(
        base=c_ptr,
        shape=(M, N),
        strides=(N, 1),
        offsets=(pid_m * BLOCK_M, pid_n * BLOCK_N),
        block_shape=(BLOCK_M, BLOCK_N),
        order=(1, 0),
    )
    tl.store(c_block, acc.to(tl.float16), boundary_check=(0, 1))


@triton.jit
def matmul_scaled(
    a_ptr,
    a_scale_ptr,
    b_ptr,
    b_scale_ptr,
    c_ptr,
    K,
    M: tl.constexpr,
    N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    A_FORMAT: tl.constexpr,
    B_FORMAT: tl.constexpr,
):
    """Blocks of 32 numbers share a scale, a power of two; two numbers of 4 bits are a byte."""
    A_PACK: tl.constexpr = 2 if A_FORMAT == "e2m1" else 1
    B_PACK: tl.constexpr = 2 if B_FORMAT == "e2m1" else 1
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    ka = tl.arange(0, BLOCK_K // A_PACK)
    kb = tl.arange(0, BLOCK_K // B_PACK)
    ks = tl.arange(0, BLOCK_K // 32)
    acc = tl.zeros((M, N), tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + m[:, None] * (K // A_PACK) + (k // A_PACK + ka)[None, :])
        b = tl.load(b_ptr + (k // B_PACK + kb)[:, None] * N + n[None, :])
        a_scale = tl.load(a_scale_ptr + m[:, None] * (K // 32) + (k // 32 + ks)[None, :])
        b_scale = tl.load(b_scale_ptr + n[:, None] * (K // 32) + (k // 32 + ks)[None, :])
        acc = tl.dot_scaled(a, a_scale, A_FORMAT, b, b_scale, B_FORMAT, acc)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc)


@triton.jit
def matvec(a_ptr, x_ptr, y_ptr, M, K, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr):
    """A product with a vector, without matrix units."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    acc = tl.zeros((BLOCK_M,), tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(
            a_ptr + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0
        )
        x = tl.load(x_ptr + k, mask=k < K, other=0.0)
        acc += tl.sum(a.to(tl.float32) * x[None, :].to(tl.float32), axis=1)
    tl.store(y_ptr + m, acc, mask=m < M)


@triton.jit
def matmul_int4(
    a_ptr,
    b_ptr,
    scales_ptr,
    zeros_ptr,
    c_ptr,
    M,
    N,
    K,
    GROUP: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """Weights of 4 bits, eight to a word along the sum, with scales and zeros for groups of it."""
    rm = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    rk = tl.arange(0, BLOCK_K)
    shifts = (rk % 8) * 4
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + rm[:, None] * K + (k + rk)[None, :], mask=rm[:, None] < M, other=0.0)
        words = tl.load(b_ptr + ((k + rk) // 8)[:, None] * N + rn[None, :])
        group = (k + rk) // GROUP
        scales = tl.load(scales_ptr + group[:, None] * N + rn[None, :])
        zeros = tl.load(zeros_ptr + group[:, None] * (N // 8) + (rn // 8)[None, :])
        zero = (zeros >> ((rn % 8) * 4)[None, :]) & 0xF
        b = ((words >> shifts[:, None]) & 0xF) - zero
        acc = tl.dot(a, b.to(tl.float16) * scales, acc)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(tl.float16), mask=rm[:, None] < M)


@triton.jit
def matmul_experts(
    a_ptr,
    b_ptr,
    c_ptr,
    tokens_ptr,
    experts_ptr,
    weights_ptr,
    valid,
    N,
    K,
    TOP_K: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """Rows are gathered by a sorted list of tokens; each block of them has one expert's weights."""
    pid_m = tl.program_id(0)
    tokens = tl.load(tokens_ptr + pid_m * BLOCK_M + tl.arange(0, BLOCK_M))
    is_token = tokens < valid
    expert = tl.load(experts_ptr + pid_m).to(tl.int64)
    if expert == -1:
        return
    rn = (tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    rk = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (tokens[:, None] // TOP_K) * K + rk[None, :]
    b_ptrs = b_ptr + expert * N * K + rn[None, :] * K + rk[:, None]
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        inside = rk < K - k * BLOCK_K
        a = tl.load(a_ptrs, mask=is_token[:, None] & inside[None, :], other=0.0)
        b = tl.load(b_ptrs, mask=inside[:, None], other=0.0)
        acc += tl.dot(a, b)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K
    weight = tl.load(weights_ptr + tokens, mask=is_token, other=0)
    acc = acc * weight[:, None]
    rn = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = is_token[:, None] & (rn[None, :] < N)
    tl.store(c_ptr + tokens[:, None] * N + rn[None, :], acc.to(tl.float16), mask=mask)


@triton.jit
def convolution(
    x_ptr,
    w_ptr,
    y_ptr,
    C,
    H,
    W,
    OUT_C,
    OH,
    OW,
    KH: tl.constexpr,
    KW: tl.constexpr,
    STRIDE: tl.constexpr,
    PADDING: tl.constexpr,
    BLOCK_P: tl.constexpr,
    BLOCK_C: tl.constexpr,
    BLOCK_O: tl.constexpr,
):
    """Two dimensions, channels last: for each tap a product over the channels."""
    p = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    n = p // (OH * OW)
    oh = p // OW % OH
    ow = p % OW
    o = tl.program_id(1) * BLOCK_O + tl.arange(0, BLOCK_O)
    acc = tl.zeros((BLOCK_P, BLOCK_O), tl.float32)
    for i in tl.static_range(KH):
        for j in tl.static_range(KW):
            h = oh * STRIDE - PADDING + i
            w = ow * STRIDE - PADDING + j
            inside = (h >= 0) & (h < H) & (w >= 0) & (w < W)
            for start in range(0, C, BLOCK_C):
                c = start + tl.arange(0, BLOCK_C)
                x = tl.load(
                    x_ptr + ((n * H + h) * W + w)[:, None] * C + c[None, :],
                    mask=inside[:, None] & (c[None, :] < C),
                    other=0.0,
                )
                taps = tl.load(
                    w_ptr + (o[None, :] * KH + i) * KW * C + j * C + c[:, None],
                    mask=(o[None, :] < OUT_C) & (c[:, None] < C),
                    other=0.0,
                )
                acc = tl.dot(x, taps, acc)
    mask = (n * OH * OW + oh * OW + ow == p)[:, None] & (o[None, :] < OUT_C)
    tl.store(y_ptr + p[:, None] * OUT_C + o[None, :], acc, mask=mask)


@triton.jit
def batch_of_products(
    a_ptr, b_ptr, c_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):
    """Products of three-dimensional blocks, stored transposed."""
    b = tl.arange(0, B)[:, None, None]
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a_ptr + b * M * K + m[None, :, None] * K + k[None, None, :])
    y = tl.load(b_ptr + b * K * N + k[None, :, None] * N + n[None, None, :])
    z = tl.permute(tl.dot(x, y), (0, 2, 1))
    tl.store(c_ptr + b * M * N + n[None, :, None] * M + m[None, None, :], z)


@triton.jit
def matmul_block_scales(
    a_ptr, b_ptr, a_scales_ptr, b_scales_ptr, c_ptr, M, N, K,
    GROUP: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """A product of 8 bits: a scale for each row and GROUP columns of A, and each square of B."""
    rows = (tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    columns = (tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + rows[:, None] * K + k[None, :]
    b_ptrs = b_ptr + columns[None, :] * K + k[:, None]
    groups = tl.cdiv(K, GROUP)
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for i in range(tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=k[None, :] < K - i * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=k[:, None] < K - i * BLOCK_K, other=0.0)
        group = i * BLOCK_K // GROUP
        a_scale = tl.load(a_scales_ptr + rows * groups + group)
        b_scale = tl.load(b_scales_ptr + columns // GROUP * groups + group)
        total += tl.dot(a, b) * a_scale[:, None] * b_scale[None, :]
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total.to(tl.bfloat16), mask=mask)


@triton.jit
def solve_triangular(a_ptr, out_ptr, rows, N: tl.constexpr):
    """The inverse of I + the part of A below its diagonal, whose rows are replaced one by one."""
    block = tl.program_id(0) * N
    i = tl.arange(0, N)
    at = (block + i[:, None]) * N + i[None, :]
    mask = block + i[:, None] < rows
    x = -tl.where(i[:, None] > i[None, :], tl.load(a_ptr + at, mask=mask, other=0.0), 0.0)
    for k in range(1, min(N, rows - block)):
        row = tl.load(a_ptr + (block + k) * N + i)
        row = -tl.where(i < k, row, 0.0)
        row += tl.sum(row[:, None] * x, 0)
        x = tl.where((i == k)[:, None], row[None, :], x)
    x += (i[:, None] == i[None, :]).to(tl.float32)
    tl.store(out_ptr + at, x, mask=mask)
