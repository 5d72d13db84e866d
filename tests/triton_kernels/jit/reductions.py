"""Kernels that reduce rows: softmax, normalizations, losses, extremes with their indices."""

import triton
import triton.language as tl


@triton.jit
def softmax(x_ptr, out_ptr, x_stride, out_stride, columns, BLOCK: tl.constexpr):
    """A row at a time, which fits into a block."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_stride + offsets, mask=offsets < columns, other=-float("inf"))
    numerator = tl.exp(x - tl.max(x, axis=0))
    out = numerator / tl.sum(numerator, axis=0)
    tl.store(out_ptr + row * out_stride + offsets, out, mask=offsets < columns)


@triton.jit
def softmax_persistent(x_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    """Programs take rows in turn, in a loop with stages."""
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        offsets = tl.arange(0, BLOCK)
        mask = offsets < columns
        x = tl.load(x_ptr + row * columns + offsets, mask=mask, other=-float("inf"))
        tl.store(
            out_ptr + row * columns + offsets, tl.softmax(x.to(tl.float32)).to(x.dtype), mask=mask
        )


@triton.jit
def softmax_online(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    """Two passes over a row of any length."""
    row = tl.program_id(0)
    m = -float("inf")
    d = 0.0
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + offsets, mask=offsets < columns, other=-float("inf"))
        m_new = tl.maximum(m, tl.max(x))
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new))
        m = m_new
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < columns
        x = tl.load(x_ptr + row * columns + offsets, mask=mask, other=-float("inf"))
        tl.store(out_ptr + row * columns + offsets, tl.exp(x - m) / d, mask=mask)


@triton.jit
def layer_norm(x_ptr, w_ptr, b_ptr, out_ptr, mean_ptr, rstd_ptr, columns, eps, BLOCK: tl.constexpr):
    """Three passes over a row: mean, variance, result."""
    row = tl.program_id(0)
    x_ptr += row * columns
    out_ptr += row * columns
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + offsets, mask=offsets < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / columns
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < columns, other=0.0).to(tl.float32)
        x = tl.where(offsets < columns, x - mean, 0.0)
        squares += x * x
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < columns
        w = tl.load(w_ptr + offsets, mask=mask)
        b = tl.load(b_ptr + offsets, mask=mask)
        x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        tl.store(out_ptr + offsets, (x - mean) * rstd * w + b, mask=mask)


@triton.jit
def layer_norm_backward(
    dx_ptr,
    dy_ptr,
    dw_ptr,
    db_ptr,
    x_ptr,
    w_ptr,
    mean_ptr,
    rstd_ptr,
    lock_ptr,
    columns,
    GROUP: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Rows of a group add their parts of the weights' gradients under a lock."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    lock = row % GROUP
    count_ptr = lock_ptr + GROUP + lock
    x = tl.load(x_ptr + row * columns + offsets, mask=mask, other=0)
    dy = tl.load(dy_ptr + row * columns + offsets, mask=mask, other=0)
    w = tl.load(w_ptr + offsets, mask=mask)
    rstd = tl.load(rstd_ptr + row)
    xhat = tl.where(mask, (x - tl.load(mean_ptr + row)) * rstd, 0.0)
    wdy = tl.where(mask, w * dy, 0.0)
    c1 = tl.sum(xhat * wdy, axis=0) / columns
    c2 = tl.sum(wdy, axis=0) / columns
    tl.store(dx_ptr + row * columns + offsets, (wdy - (xhat * c1 + c2)) * rstd, mask=mask)
    dw = dy * xhat
    db = dy
    while tl.atomic_cas(lock_ptr + lock, 0, 1) == 1:
        pass
    count = tl.load(count_ptr)
    if count == 0:
        tl.atomic_xchg(count_ptr, 1)
    else:
        dw += tl.load(dw_ptr + lock * columns + offsets, mask=mask)
        db += tl.load(db_ptr + lock * columns + offsets, mask=mask)
    tl.store(dw_ptr + lock * columns + offsets, dw, mask=mask)
    tl.store(db_ptr + lock * columns + offsets, db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr + lock, 0)


@triton.jit
def column_sums(parts_ptr, out_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr):
    """Adds up the rows of a matrix, which a backward pass left."""
    c = tl.program_id(0) * C + tl.arange(0, C)
    total = tl.zeros((R, C), dtype=tl.float32)
    for i in range(0, rows, R):
        r = i + tl.arange(0, R)
        mask = (r[:, None] < rows) & (c[None, :] < columns)
        total += tl.load(parts_ptr + r[:, None] * columns + c[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + c, tl.sum(total, axis=0), mask=c < columns)


@triton.jit
def rms_norm(x_ptr, w_ptr, out_ptr, rstd_ptr, columns, eps, BLOCK: tl.constexpr):
    """The sum in f32, the product in the type of the weights."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * columns + offsets, mask=mask, other=0).to(tl.float32)
    w = tl.load(w_ptr + offsets, mask=mask, other=0)
    rstd = tl.rsqrt(tl.sum(x * x, axis=0) / columns + eps)
    tl.store(rstd_ptr + row, rstd)
    tl.store(out_ptr + row * columns + offsets, (x * rstd).to(w.dtype) * w, mask=mask)


@triton.jit
def rms_norm_backward(
    dy_ptr,
    x_ptr,
    w_ptr,
    rstd_ptr,
    dx_ptr,
    dw_ptr,
    rows,
    columns,
    PER: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Each program takes some rows, and adds its part of the weights' gradients atomically."""
    first = tl.program_id(0) * PER
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    w = tl.load(w_ptr + offsets, mask=mask, other=0.0)
    dw = tl.zeros((BLOCK,), dtype=tl.float32)
    for row in range(first, min(first + PER, rows)):
        dy = tl.load(dy_ptr + row * columns + offsets, mask=mask, other=0.0)
        x = tl.load(x_ptr + row * columns + offsets, mask=mask, other=0.0)
        rstd = tl.load(rstd_ptr + row)
        m = dy * w
        dx = rstd * m - rstd * rstd * rstd * x * (tl.sum(m * x, axis=0) / columns)
        tl.store(dx_ptr + row * columns + offsets, dx, mask=mask)
        dw += dy * x * rstd
    tl.atomic_add(dw_ptr + offsets, dw, mask=mask, sem="relaxed")


@triton.jit
def _welford(mean_a, m2_a, count_a, mean_b, m2_b, count_b):
    delta = mean_b - mean_a
    count = count_a + count_b
    part = tl.where(count == 0.0, 0.0, count_b / count)
    return mean_a + delta * part, m2_a + m2_b + delta * delta * count_a * part, count


@triton.jit
def welford(x_ptr, mean_ptr, variance_ptr, columns, BLOCK: tl.constexpr):
    """Mean and variance in one reduction of three operands."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * columns + offsets, mask=mask, other=0.0)
    count = tl.where(mask, 1.0, 0.0)
    mean, m2, total = tl.reduce((x, tl.zeros_like(x), count), 0, _welford)
    tl.store(mean_ptr + row, mean)
    tl.store(variance_ptr + row, m2 / total)


@triton.jit
def cross_entropy(logits_ptr, labels_ptr, loss_ptr, columns, ignored, BLOCK: tl.constexpr):
    """The loss, and the gradient in the memory of the logits; ignored rows leave early."""
    row = tl.program_id(0).to(tl.int64)
    logits_ptr += row * columns
    label = tl.load(labels_ptr + row)
    if label == ignored:
        for start in range(0, columns, BLOCK):
            offsets = start + tl.arange(0, BLOCK)
            tl.store(logits_ptr + offsets, 0.0, mask=offsets < columns)
        tl.store(loss_ptr + row, 0.0)
        return
    m = float("-inf")
    d = 0.0
    chosen = tl.load(logits_ptr + label)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + offsets, mask=offsets < columns, other=float("-inf"))
        m_new = tl.maximum(m, tl.max(x))
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new))
        m = m_new
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + offsets, mask=offsets < columns, other=float("-inf"))
        gradient = tl.exp(x - m) / d
        gradient = tl.where(offsets == label, gradient - 1.0, gradient)
        tl.store(logits_ptr + offsets, gradient, mask=offsets < columns)
    tl.debug_barrier()
    tl.store(loss_ptr + row, m + tl.log(d) - chosen)


@triton.jit
def extremes_with_indices(x_ptr, values_ptr, indices_ptr, rows, columns, C: tl.constexpr):
    """The largest and the smallest of a row, the first of equal ones, by both spellings."""
    row = tl.program_id(0)
    offsets = tl.arange(0, C)
    mask = offsets < columns
    x = tl.load(x_ptr + row * columns + offsets, mask=mask, other=float("-inf"))
    largest, at = tl.max(x, axis=0, return_indices=True)
    tl.store(values_ptr + row, largest)
    tl.store(indices_ptr + row, at)
    x = tl.where(mask, x, float("inf"))
    tl.store(values_ptr + rows + row, tl.min(x, axis=0))
    tl.store(indices_ptr + rows + row, tl.argmin(x, axis=0))


@triton.jit
def sums_of_blocks(x_ptr, rows_ptr, columns_ptr, all_ptr, R: tl.constexpr, C: tl.constexpr):
    """Reductions along each axis and both, of integers."""
    r = tl.arange(0, R)
    c = tl.arange(0, C)
    x = tl.load(x_ptr + r[:, None] * C + c[None, :])
    tl.store(rows_ptr + r, tl.sum(x, axis=1))
    tl.store(columns_ptr + c, tl.max(x, axis=0))
    tl.store(all_ptr, tl.sum(x))
    tl.store(all_ptr + 1, tl.xor_sum(tl.ravel(x), axis=0))
    tl.store(all_ptr + 2, tl.min(tl.min(x, axis=1, keep_dims=True), axis=0).sum())


@triton.jit
def _any(a, b):
    return a | b


@triton.jit
def has_nan(x_ptr, out_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr):
    """A reduction of booleans, which a function of the user combines."""
    r = tl.program_id(0) * R + tl.arange(0, R)[:, None]
    c = tl.arange(0, C)[None, :]
    x = tl.load(x_ptr + r * columns + c, mask=(r < rows) & (c < columns), other=0.0)
    found = tl.reduce(x != x, 1, _any)
    r = tl.program_id(0) * R + tl.arange(0, R)
    tl.store(out_ptr + r, found, mask=r < rows)


@triton.jit
def kl_divergence(p_ptr, q_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    """A loop over blocks of columns with a vector of sums, added to one number atomically."""
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for i in range(0, columns, BLOCK):
        offsets = i + tl.arange(0, BLOCK)
        mask = offsets < columns
        p = tl.load(p_ptr + row * columns + offsets, mask=mask, other=0.0)
        q = tl.load(q_ptr + row * columns + offsets, mask=mask, other=1.0)
        total += tl.where(p > 0, p * (tl.log(tl.maximum(p, 1e-10)) - tl.log(q)), 0.0)
    tl.atomic_add(out_ptr, tl.sum(total) / rows)


@triton.jit
def inductor_persistent_reduction(
    in_ptr0, in_ptr1, out_ptr0, out_ptr1, xnumel, rnumel, XBLOCK: tl.constexpr, RBLOCK: tl.constexpr
):
    """As a compiler of graphs writes a residual and an RMS norm, whose rows fit into a block."""
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    rindex = tl.arange(0, RBLOCK)[None, :]
    rmask = rindex < rnumel
    r1 = rindex
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + (r1 + 20 * x0), rmask & xmask, other=0.0).to(tl.float32)
    tmp1 = tl.load(in_ptr1 + (r1), rmask, eviction_policy="evict_last", other=0.0).to(tl.float32)
    tmp2 = tmp0 + tmp1
    tmp3 = tmp2 * tmp2
    tmp4 = tl.broadcast_to(tmp3, [XBLOCK, RBLOCK])
    tmp6 = tl.where(rmask & xmask, tmp4, 0)
    tmp7 = tl.sum(tmp6, 1)[:, None]
    tmp8 = 20.0
    tmp9 = tmp7 / tmp8
    tmp10 = 1e-05
    tmp11 = tmp9 + tmp10
    tmp12 = tl.rsqrt(tmp11)
    tmp13 = tmp2 * tmp12
    tl.store(out_ptr0 + (r1 + 20 * x0), tmp13, rmask & xmask)
    tl.store(out_ptr1 + (x0), tmp12, xmask)


@triton.jit
def inductor_reduction(
    in_ptr0, out_ptr0, out_ptr1, xnumel, rnumel, XBLOCK: tl.constexpr, RBLOCK: tl.constexpr
):
    """As a compiler of graphs writes a softmax whose rows need a loop."""
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    rbase = tl.arange(0, RBLOCK)[None, :]
    x0 = xindex
    _tmp2 = tl.full([XBLOCK, RBLOCK], float("-inf"), tl.float32)
    for roffset in range(0, rnumel, RBLOCK):
        rindex = roffset + rbase
        rmask = rindex < rnumel
        r1 = rindex
        tmp0 = tl.load(
            in_ptr0 + (r1 + rnumel * x0), rmask & xmask, eviction_policy="evict_last", other=0.0
        )
        tmp1 = tl.broadcast_to(tmp0, [XBLOCK, RBLOCK])
        tmp3 = tl.maximum(_tmp2, tmp1)
        _tmp2 = tl.where(rmask & xmask, tmp3, _tmp2)
    tmp2 = tl.max(_tmp2, 1)[:, None]
    tl.store(out_ptr0 + (x0), tmp2, xmask)
    _tmp8 = tl.full([XBLOCK, RBLOCK], 0, tl.float32)
    for roffset in range(0, rnumel, RBLOCK):
        rindex = roffset + rbase
        rmask = rindex < rnumel
        r1 = rindex
        tmp4 = tl.load(
            in_ptr0 + (r1 + rnumel * x0), rmask & xmask, eviction_policy="evict_first", other=0.0
        )
        tmp5 = tmp4 - tmp2
        tmp6 = tl.exp(tmp5)
        tmp7 = tl.broadcast_to(tmp6, [XBLOCK, RBLOCK])
        tmp9 = _tmp8 + tmp7
        _tmp8 = tl.where(rmask & xmask, tmp9, _tmp8)
    tmp8 = tl.sum(_tmp8, 1)[:, None]
    tl.store(out_ptr1 + (x0), tmp8, xmask)


@triton.jit
def inductor_outer_reduction(
    in_ptr0, out_ptr0, xnumel, rnumel, XBLOCK: tl.constexpr, RBLOCK: tl.constexpr
):
    """As a compiler of graphs writes a mean over rows, without a mask along columns."""
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = tl.full([XBLOCK, RBLOCK], True, tl.int1)
    rindex = tl.arange(0, RBLOCK)[None, :]
    rmask = rindex < rnumel
    tmp0 = tl.load(in_ptr0 + (xindex + xnumel * rindex), rmask & xmask, other=0.0)
    tmp1 = tl.broadcast_to(tmp0, [XBLOCK, RBLOCK])
    tmp3 = tl.where(rmask, tmp1, 0)
    tmp4 = tl.sum(tmp3, 1)[:, None]
    tmp5 = tmp4 / rnumel.to(tl.float32)
    tl.debug_barrier()
    tl.store(out_ptr0 + (xindex), tmp5, None)


@triton.jit
def slices_of_a_cube(
    x_ptr, sums_ptr, rest_ptr, least_ptr, at_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr
):
    """Along the middle of three axes sums and what is left of them, along the first the least."""
    a, b, c = tl.arange(0, A), tl.arange(0, B), tl.arange(0, C)
    at = a[:, None, None] * (B * C) + b[None, :, None] * C + c[None, None, :]
    x = tl.load(x_ptr + at)
    tl.store(sums_ptr + a[:, None] * C + c[None, :], tl.sum(x, 1))
    tl.store(rest_ptr + at, tl.cumsum(x, 1, reverse=True))
    least, first = tl.min(x, 0, return_indices=True)
    tl.store(least_ptr + b[:, None] * C + c[None, :], least)
    tl.store(at_ptr + b[:, None] * C + c[None, :], first)
