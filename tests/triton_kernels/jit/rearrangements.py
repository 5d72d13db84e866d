"""Kernels that move elements: transposes, gathers, tables, joins, pools."""

import triton
import triton.language as tl


@triton.jit
def transpose(x_ptr, out_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr):
    """A matrix by blocks."""
    r = tl.program_id(0) * R + tl.arange(0, R)
    c = tl.program_id(1) * C + tl.arange(0, C)
    x = tl.load(
        x_ptr + r[:, None] * columns + c[None, :],
        mask=(r[:, None] < rows) & (c[None, :] < columns),
    )
    tl.store(
        out_ptr + c[:, None] * rows + r[None, :],
        tl.trans(x),
        mask=(c[:, None] < columns) & (r[None, :] < rows),
    )


@triton.jit
def permute_rank3(x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    """A whole tensor of rank 3, whose axes are rotated."""
    a = tl.arange(0, A)[:, None, None]
    b = tl.arange(0, B)[None, :, None]
    c = tl.arange(0, C)[None, None, :]
    x = tl.load(x_ptr + (a * B + b) * C + c)
    y = tl.permute(x, (2, 0, 1))
    out = tl.arange(0, A * B * C)
    tl.store(out_ptr + out, tl.reshape(y, (A * B * C,)))


@triton.jit
def permute_rank4(
    x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, D: tl.constexpr
):
    """Heads and rows change places, as between projections and attention."""
    x = tl.load(x_ptr + tl.arange(0, A * B * C * D))
    y = tl.reshape(x, (A, B, C, D)).permute(0, 2, 1, 3)
    tl.store(out_ptr + tl.arange(0, A * B * C * D), tl.ravel(y))


@triton.jit
def pixel_shuffle(x_ptr, out_ptr, H: tl.constexpr, W: tl.constexpr):
    """Four channels become a square of pixels."""
    x = tl.load(x_ptr + tl.arange(0, 4 * H * W))
    y = tl.trans(tl.reshape(x, (2, 2, H, W)), (2, 0, 3, 1))
    tl.store(out_ptr + tl.arange(0, 4 * H * W), tl.reshape(y, (4 * H * W,)))


@triton.jit
def join_and_split(x_ptr, y_ptr, out_ptr, sums_ptr, BLOCK: tl.constexpr):
    """Joins two vectors to pairs, splits a vector into its even and odd elements."""
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    y = tl.load(y_ptr + offsets)
    pairs = tl.join(x, y)
    tl.store(out_ptr + offsets[:, None] * 2 + tl.arange(0, 2)[None, :], pairs)
    even, odd = tl.split(tl.reshape(x, (BLOCK // 2, 2)))
    tl.store(sums_ptr + tl.arange(0, BLOCK // 2), even - odd)


@triton.jit
def concatenated(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    """Two vectors after each other, in any order: they are added up."""
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    y = tl.load(y_ptr + tl.arange(0, BLOCK))
    both = tl.cat(x, y, can_reorder=True)
    tl.store(out_ptr, tl.sum(both, axis=0))
    tl.store(out_ptr + 1, tl.max(both, axis=0))


@triton.jit
def flipped(x_ptr, out_ptr, R: tl.constexpr, C: tl.constexpr):
    """Rows backwards."""
    r = tl.arange(0, R)[:, None]
    c = tl.arange(0, C)[None, :]
    x = tl.load(x_ptr + r * C + c)
    tl.store(out_ptr + r * C + c, tl.flip(x, dim=1))


@triton.jit
def embedding(
    table_ptr, ids_ptr, out_ptr, count, width, BLOCK_I: tl.constexpr, BLOCK_W: tl.constexpr
):
    """Rows of a table by numbers in memory."""
    i = tl.program_id(0) * BLOCK_I + tl.arange(0, BLOCK_I)
    w = tl.program_id(1) * BLOCK_W + tl.arange(0, BLOCK_W)
    ids = tl.load(ids_ptr + i, mask=i < count, other=0)
    mask = (i[:, None] < count) & (w[None, :] < width)
    rows = tl.load(table_ptr + ids[:, None] * width + w[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + i[:, None] * width + w[None, :], rows, mask=mask)


@triton.jit
def embedding_backward(grad_ptr, ids_ptr, table_ptr, width, BLOCK: tl.constexpr):
    """Adds rows to those of a table, several of which may be the same."""
    i = tl.program_id(0)
    row = tl.load(ids_ptr + i)
    w = tl.arange(0, BLOCK)
    grad = tl.load(grad_ptr + i * width + w, mask=w < width, other=0.0)
    tl.atomic_add(table_ptr + row * width + w, grad, mask=w < width)


@triton.jit
def scatter(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Stores where an index says; indices below 0 are left out."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(index_ptr + offsets, mask=offsets < n, other=-1)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + index, x, mask=index >= 0)


@triton.jit
def gathered_in_block(x_ptr, index_ptr, out_ptr, R: tl.constexpr, C: tl.constexpr):
    """Gathers within a tensor along an axis, without memory."""
    r = tl.arange(0, R)[:, None]
    c = tl.arange(0, C)[None, :]
    x = tl.load(x_ptr + r * C + c)
    index = tl.load(index_ptr + r * C + c)
    tl.store(out_ptr + r * C + c, tl.gather(x, index, axis=1))
    tl.store(out_ptr + R * C + r * C + c, tl.gather(x, index % R, axis=0))


@triton.jit
def pointers_in_memory(table_ptr, numbers_ptr, out_ptr, BLOCK: tl.constexpr):
    """Bytes of a packed table are read as words, through a pointer of another type."""
    offsets = tl.arange(0, BLOCK)
    words = table_ptr.to(tl.pointer_type(tl.int32))
    number = tl.load(numbers_ptr + tl.program_id(0))
    tl.store(
        out_ptr + tl.program_id(0) * BLOCK + offsets, tl.load(words + number * BLOCK + offsets)
    )


@triton.jit
def max_pool(x_ptr, out_ptr, at_ptr, H, W, OH, OW, KERNEL: tl.constexpr, BLOCK: tl.constexpr):
    """Windows that overlap, and where the largest of each is."""
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    plane = tl.program_id(1)
    h = o // OW * 2 - 1
    w = o % OW * 2 - 1
    mask = o < OH * OW
    best = tl.full([BLOCK], float("-inf"), tl.float32)
    at = tl.zeros([BLOCK], tl.int32)
    for i in range(KERNEL):
        for j in range(KERNEL):
            inside = mask & (h + i >= 0) & (h + i < H) & (w + j >= 0) & (w + j < W)
            index = (h + i) * W + w + j
            x = tl.load(x_ptr + plane * H * W + index, mask=inside, other=float("-inf"))
            larger = x > best
            best = tl.where(larger, x, best)
            at = tl.where(larger, index, at)
    tl.store(out_ptr + plane * OH * OW + o, best, mask=mask)
    tl.store(at_ptr + plane * OH * OW + o, at, mask=mask)


@triton.jit
def depthwise_convolution(
    x_ptr,
    w_ptr,
    out_ptr,
    length,
    channels,
    K: tl.constexpr,
    BLOCK_T: tl.constexpr,
    BLOCK_C: tl.constexpr,
):
    """A causal convolution along time, one filter for each channel."""
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)[:, None]
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)[None, :]
    acc = tl.zeros([BLOCK_T, BLOCK_C], tl.float32)
    for k in tl.static_range(K):
        at = t - (K - 1) + k
        x = tl.load(
            x_ptr + at * channels + c,
            mask=(at >= 0) & (at < length) & (c < channels),
            other=0.0,
        )
        acc += x * tl.load(w_ptr + c * K + k, mask=c < channels, other=0.0)
    tl.store(out_ptr + t * channels + c, acc, mask=(t < length) & (c < channels))


@triton.jit
def gathered_along_both(
    x_ptr, rows_ptr, columns_ptr, out_ptr, counts_ptr, R: tl.constexpr, C: tl.constexpr
):
    """Elements by their rows, then by their columns, beside the same block in another order."""
    at = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    x, rows = tl.load(x_ptr + at), tl.load(rows_ptr + at)
    y = tl.gather(tl.gather(x, rows, 0), tl.load(columns_ptr + at), 1)
    tl.store(out_ptr + at, tl.flip(y, 1) + tl.trans(tl.reshape(tl.ravel(x), [C, R])))
    rows = tl.ravel(rows)
    tl.store(counts_ptr + tl.arange(0, R), tl.histogram(rows, R, mask=rows != 2))


@triton.jit
def transpose_batches(x_ptr, out_ptr, B, M, N, R: tl.constexpr, C: tl.constexpr):
    """Descriptors of three dimensions, whose blocks end outside."""
    x = tl.make_tensor_descriptor(x_ptr, [B, M, N], [M * N, N, 1], [1, R, C])
    out = tl.make_tensor_descriptor(out_ptr, [B, N, M], [N * M, M, 1], [1, C, R])
    m = tl.program_id(0) * R
    for b in range(B):
        for n in range(0, N, C):
            block = tl.reshape(x.load([b, m, n]), [R, C])
            out.store([b, n, m], tl.reshape(block.T, [1, C, R]))
