"""Conversions between types, quantization, and routing to experts."""

import triton
import triton.language as tl


@triton.jit
def convert(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """From the one's type to the other's, rounded to the nearest."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x.to(out_ptr.dtype.element_ty), mask=offsets < n)


@triton.jit
def convert_to_zero(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Rounds to zero."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    y = x.to(out_ptr.dtype.element_ty, fp_downcast_rounding="rtz")
    tl.store(out_ptr + offsets, y, mask=offsets < n)


@triton.jit
def quantize_rows(x_ptr, out_ptr, scales_ptr, columns, BLOCK: tl.constexpr):
    """Rows of bytes with a scale each, rounded half up."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * columns + offsets, mask=mask, other=0.0)
    scale = tl.max(tl.abs(x), axis=0) / 127.0
    quantized = tl.floor(x / scale + 0.5).to(tl.int8)
    tl.store(out_ptr + row * columns + offsets, quantized, mask=mask)
    tl.store(scales_ptr + row, scale)


@triton.jit
def quantize_fp8(x_ptr, out_ptr, scales_ptr, columns, GROUP: tl.constexpr):
    """Groups of columns in fp8 with a scale each."""
    row = tl.program_id(0)
    group = tl.program_id(1)
    offsets = group * GROUP + tl.arange(0, GROUP)
    x = tl.load(x_ptr + row * columns + offsets).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(x)), 1e-10) / 448.0
    quantized = tl.clamp(x / scale, -448.0, 448.0).to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + row * columns + offsets, quantized)
    tl.store(scales_ptr + row * tl.num_programs(1) + group, scale)


@triton.jit
def quantize_mx(x_ptr, out_ptr, scales_ptr, blocks, BLOCK: tl.constexpr):
    """Blocks of 32 in fp8 with a power of two each, from the exponent of the largest."""
    b = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    at = b * 32 + tl.arange(0, 32)[None, :]
    x = tl.load(x_ptr + at, mask=b < blocks, other=0.0)
    largest = tl.max(tl.abs(x), axis=1, keep_dims=True)
    exponent = ((largest.to(tl.int32, bitcast=True) >> 23) & 0xFF) - 8
    exponent = tl.maximum(exponent, 1)
    inverse = ((254 - exponent) << 23).to(tl.float32, bitcast=True)
    y = tl.clamp(x * inverse, -448.0, 448.0).to(tl.float8e4nv)
    tl.store(out_ptr + at, y, mask=b < blocks)
    tl.store(scales_ptr + b, exponent.to(tl.uint8), mask=b < blocks)


@triton.jit
def dequantize_int4(words_ptr, scales_ptr, out_ptr, n, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    """Two signed numbers of 4 bits in each byte."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    byte = tl.load(words_ptr + offsets, mask=mask, other=0)
    low = (byte << 4).to(tl.int8) >> 4
    high = byte >> 4
    pair = tl.interleave(low, high)
    at = tl.program_id(0) * 2 * BLOCK + tl.arange(0, 2 * BLOCK)
    scale = tl.load(scales_ptr + at // GROUP, mask=at < 2 * n, other=0.0)
    tl.store(out_ptr + at, pair.to(tl.float32) * scale, mask=at < 2 * n)


@triton.jit
def route(
    logits_ptr, weights_ptr, experts_ptr, rows, E: tl.constexpr, K: tl.constexpr, R: tl.constexpr
):
    """The K largest of a softmax over experts for each token, normalized to sum to one."""
    r = tl.program_id(0) * R + tl.arange(0, R)
    e = tl.arange(0, E)
    mask = r < rows
    logits = tl.load(logits_ptr + r[:, None] * E + e[None, :], mask=mask[:, None], other=0.0)
    p = tl.exp(logits - tl.max(logits, axis=1)[:, None])
    p = p / tl.sum(p, axis=1)[:, None]
    total = tl.zeros([R], tl.float32)
    for k in tl.static_range(K):
        best, at = tl.max(p, axis=1, return_indices=True)
        total += best
        tl.store(weights_ptr + r * K + k, best, mask=mask)
        tl.store(experts_ptr + r * K + k, at, mask=mask)
        p = tl.where(e[None, :] == at[:, None], -1.0, p)
    tl.debug_barrier()
    for k in tl.static_range(K):
        weight = tl.load(weights_ptr + r * K + k, mask=mask, other=0.0)
        tl.store(weights_ptr + r * K + k, weight / total, mask=mask)


@triton.jit
def count_experts(experts_ptr, counts_ptr, ranks_ptr, n, E: tl.constexpr, BLOCK: tl.constexpr):
    """How many tokens each expert has, and each token's number among them."""
    offsets = tl.arange(0, BLOCK)
    experts = tl.load(experts_ptr + offsets, mask=offsets < n, other=-1)
    chosen = (experts[:, None] == tl.arange(0, E)[None, :]).to(tl.int32)
    before = tl.cumsum(chosen, axis=0) - chosen
    tl.store(ranks_ptr + offsets, tl.sum(before * chosen, axis=1), mask=offsets < n)
    tl.store(counts_ptr + tl.arange(0, E), tl.sum(chosen, axis=0))


@triton.jit
def adamw(
    p_ptr, grad_ptr, m_ptr, v_ptr, lr, beta1, beta2, eps, decay, step, n, BLOCK: tl.constexpr
):
    """A step of an optimizer, whose parameters are halves and whose moments are not."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    p = tl.load(p_ptr + offsets, mask=mask).to(tl.float32)
    g = tl.load(grad_ptr + offsets, mask=mask).to(tl.float32)
    m = tl.load(m_ptr + offsets, mask=mask)
    v = tl.load(v_ptr + offsets, mask=mask)
    p = p * (1 - lr * decay)
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    correction1 = 1 - tl.exp2(step * tl.log2(beta1))
    correction2 = 1 - tl.exp2(step * tl.log2(beta2))
    p -= lr * (m / correction1) / (tl.sqrt(v / correction2) + eps)
    tl.store(p_ptr + offsets, p.to(tl.bfloat16), mask=mask)
    tl.store(m_ptr + offsets, m, mask=mask)
    tl.store(v_ptr + offsets, v, mask=mask)
