"""Kernels in NVIDIA's cuTile, which compile to all kinds of CUDA Tile IR.

They need no GPU: `exported` in `launching.py` writes their bytecode.
"""

# pyright: basic

from __future__ import annotations

import cuda.tile as ct

Int = ct.Constant[int]


@ct.kernel
def fused(a, b, out, alpha: float, block: Int):
    """out = tanh(alpha a + b) where a > 0, else |b|: element-wise, with 2 dimensions."""
    at = (ct.bid(0), ct.bid(1))
    x = ct.load(a, index=at, shape=(block, 2 * block))
    y = ct.load(b, index=at, shape=(block, 2 * block))
    z = ct.where(x > 0, ct.tanh(alpha * x + y), ct.abs(y))
    ct.store(out, index=at, tile=z)


@ct.kernel
def softmax(x, out, width: Int):
    """Row-wise softmax of rows that need not fill a tile; one block does several rows."""
    for row in range(ct.bid(0), x.shape[0], ct.num_blocks(0)):
        tile = ct.load(x, (row, 0), (1, width), padding_mode=ct.PaddingMode.NEG_INF)
        tile = ct.astype(tile, ct.float32)
        top = ct.max(tile, axis=1, keepdims=True)
        power = ct.exp(tile - top)
        ct.store(out, (row, 0), ct.astype(power / ct.sum(power, axis=1, keepdims=True), out.dtype))


@ct.kernel
def layer_norm(x, weight, bias, out, mean, rstd, eps: float, block: Int):
    """Normalizes each row, which it reads in parts, and keeps mean and deviation."""
    row = ct.bid(0)
    size = x.shape[1]
    total = ct.zeros((1, block), dtype=ct.float32)
    squares = ct.zeros((1, block), dtype=ct.float32)
    for part in range(ct.cdiv(size, block)):
        tile = ct.load(x, (row, part), (1, block), padding_mode=ct.PaddingMode.ZERO)
        total += tile
        squares += tile * tile
    average = ct.sum(total, axis=1) / size
    deviation = ct.rsqrt(ct.sum(squares, axis=1) / size - average * average + eps)
    ct.store(mean, (row,), average)
    ct.store(rstd, (row,), deviation)
    for part in range(ct.cdiv(size, block)):
        tile = ct.load(x, (row, part), (1, block), padding_mode=ct.PaddingMode.ZERO)
        w = ct.load(weight, (part,), (block,), padding_mode=ct.PaddingMode.ZERO)
        b = ct.load(bias, (part,), (block,), padding_mode=ct.PaddingMode.ZERO)
        ct.store(out, (row, part), (tile - average) * deviation * w + b)


@ct.kernel
def matmul(a, b, c, tile_m: Int, tile_n: Int, tile_k: Int):
    """C = A B with an accumulator in f32; f32 is multiplied as tf32."""
    dtype = ct.tfloat32 if a.dtype == ct.float32 else a.dtype
    acc = ct.zeros((tile_m, tile_n), dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tile_m, tile_k))):
        x = ct.load(a, (ct.bid(0), k), (tile_m, tile_k), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, (k, ct.bid(1)), (tile_k, tile_n), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(x.astype(dtype), y.astype(dtype), acc)
    ct.store(c, (ct.bid(0), ct.bid(1)), acc.astype(c.dtype))


@ct.kernel
def batched_matmul(a, b, c, tile_m: Int, tile_n: Int, tile_k: Int):
    """C_i = A_i B_i^T: B is loaded with its dimensions exchanged."""
    i, row, column = ct.bid(2), ct.bid(0), ct.bid(1)
    acc = ct.zeros((tile_m, tile_n), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[2], tile_k)):
        x = ct.load(a, (i, row, k), (1, tile_m, tile_k), padding_mode=ct.PaddingMode.ZERO).reshape(
            (tile_m, tile_k)
        )
        y = ct.load(
            b,
            (i, k, column),
            (1, tile_k, tile_n),
            order=(0, 2, 1),
            padding_mode=ct.PaddingMode.ZERO,
        ).reshape((tile_k, tile_n))
        acc = ct.mma(x, y, acc)
    ct.store(c, (i, row, column), acc.reshape((1, tile_m, tile_n)).astype(c.dtype))


@ct.kernel
def attention(q, k, v, out, scale: float, tile_m: Int, tile_n: Int, tile_d: Int):
    """Causal attention with a running maximum, one head for each block of the second dimension."""
    head = ct.bid(1)
    queries = ct.load(q, (head, ct.bid(0), 0), (1, tile_m, tile_d)).reshape((tile_m, tile_d))
    rows = (ct.bid(0) * tile_m + ct.arange(tile_m, dtype=ct.int32))[:, None]
    top = ct.full((tile_m, 1), float("-inf"), dtype=ct.float32)
    total = ct.zeros((tile_m, 1), dtype=ct.float32)
    acc = ct.zeros((tile_m, tile_d), dtype=ct.float32)
    for part in range(ct.cdiv((ct.bid(0) + 1) * tile_m, tile_n)):
        keys = ct.load(k, (head, 0, part), (1, tile_d, tile_n), order=(0, 2, 1)).reshape(
            (tile_d, tile_n)
        )
        scores = ct.mma(queries, keys, ct.zeros((tile_m, tile_n), dtype=ct.float32)) * scale
        columns = part * tile_n + ct.arange(tile_n, dtype=ct.int32)[None, :]
        scores = ct.where(rows >= columns, scores, float("-inf"))
        new_top = ct.maximum(top, ct.max(scores, axis=1, keepdims=True))
        weights = ct.exp2((scores - new_top) * 1.4426950408889634)
        shrink = ct.exp2((top - new_top) * 1.4426950408889634)
        total = total * shrink + ct.sum(weights, axis=1, keepdims=True)
        values = ct.load(v, (head, part, 0), (1, tile_n, tile_d)).reshape((tile_n, tile_d))
        acc = ct.mma(weights.astype(v.dtype), values, acc * shrink)
        top = new_top
    ct.store(
        out, (head, ct.bid(0), 0), (acc / total).reshape((1, tile_m, tile_d)).astype(out.dtype)
    )


@ct.kernel
def running_sums(x, forward, backward, largest, block: Int):
    """Sums of all elements up to each, from each on, and a scan with a region of its own."""
    tile = ct.load(x, (ct.bid(0), 0), (4, block))
    ct.store(forward, (ct.bid(0), 0), ct.cumsum(tile, axis=1))
    ct.store(backward, (ct.bid(0), 0), ct.cumsum(tile, axis=1, reverse=True))
    scanned = ct.scan(tile, 1, lambda a, b: max(a, b), float("-inf"))
    ct.store(largest, (ct.bid(0), 0), scanned)


@ct.kernel
def histogram(values, counts, order, block: Int):
    """Counts values with atomic updates, and remembers how many there were before each."""
    at = ct.bid(0) * block + ct.arange(block, dtype=ct.int32)
    found = ct.gather(values, at, padding_value=-1)
    before = ct.atomic_add(counts, found, 1)
    ct.scatter(order, at, before)


@ct.kernel
def gather_rows(table, indices, out, scale: float, height: Int, width: Int):
    """Takes rows of a table by their numbers, which may be outside of it, and scatters them."""
    rows = ct.bid(0) * height + ct.arange(height, dtype=ct.int32)
    columns = ct.arange(width, dtype=ct.int32)[None, :]
    chosen = ct.gather(indices, rows)
    found = ct.gather(table, (chosen[:, None], columns), padding_value=-1.0)
    ct.scatter(out, (columns, rows[:, None]), found * scale)


@ct.kernel
def transpose(a, out, block: Int):
    """out = a^T in blocks that go past the edges."""
    tile = ct.load(a, (ct.bid(0), ct.bid(1)), (block, 2 * block))
    ct.store(out, (ct.bid(1), ct.bid(0)), ct.transpose(tile))


@ct.kernel
def extremes(x, least_at, product, block: Int):
    """Where a row is least, and a reduction of two tiles with a region of its own."""
    tile = ct.load(x, (ct.bid(0), 0), (2, block))
    ct.store(least_at, (ct.bid(0),), ct.argmin(tile, axis=1))
    ones = ct.ones((2, block), dtype=ct.int32)
    total, count = ct.reduce((tile, ones), 1, lambda a, n, b, m: (a * b, n + m), (1.0, 0))
    ct.store(product, (ct.bid(0),), total + ct.astype(count, ct.float32))


@ct.kernel
def first_above(x, out, limit: float, block: Int):
    """The first part of x with an element above a limit: a loop that ends early."""
    part = 0
    while True:
        if part >= ct.cdiv(x.shape[0], block):
            part = -1
            break
        tile = ct.load(x, (part,), (block,), padding_mode=ct.PaddingMode.NEG_INF)
        if ct.max(tile) > limit:
            break
        part += 1
    ct.scatter(out, ct.bid(0), part)


@ct.kernel
def locked_sum(x, total, lock, block: Int):
    """Adds up all of x under a lock that blocks take in turn."""
    tile = ct.load(x, (ct.bid(0),), (block,))
    while ct.atomic_cas(lock, 0, 0, 1, memory_order=ct.MemoryOrder.ACQUIRE) == 1:
        pass
    ct.store(total, (0,), ct.load(total, (0,), (block,)) + tile)
    ct.atomic_xchg(lock, 0, 0, memory_order=ct.MemoryOrder.RELEASE)


@ct.kernel
def quantize(x, out, scale: float, block: Int):
    """Rounds to f8, and back with integers in between."""
    at = (ct.bid(0),)
    tile = ct.load(x, at, (block,)) * scale
    small = ct.astype(tile, ct.float8_e4m3fn)
    whole = ct.astype(ct.astype(small, ct.float32), ct.int8)
    ct.store(out, at, (whole * 3) // 2 % 7)


@ct.kernel
def sum_of_list(arrays, out, block: Int):
    """Adds up arrays of which a list is given."""
    total = ct.zeros((block,), dtype=ct.float32)
    for number in range(len(arrays)):
        total += ct.load(arrays[number], (ct.bid(0),), (block,))
    ct.store(out, (ct.bid(0),), total)


@ct.kernel
def windows(x, smooth, counts, width: Int):
    """Means of overlapping parts of x, and how many of them each element is in."""
    parts = x.tiled_view((width,), padding_mode=ct.PaddingMode.ZERO, traversal_steps=(2,))
    tile = parts.load(ct.bid(0))
    ct.scatter(smooth, ct.bid(0), ct.sum(tile) / width)
    covered = counts.tiled_view((width,), traversal_steps=(2,))
    covered.atomic_store_add(ct.bid(0), ct.ones((width,), dtype=ct.int32))


@ct.kernel
def permute_rows(table, order, out, height: Int, width: Int):
    """Takes rows of a table and puts them elsewhere, through views."""
    rows = ct.load(order, (ct.bid(0),), (height,))
    start = ct.bid(1) * width
    found = ct.load_advanced_indexing(
        table, (rows, ct.Slice(start, width)), padding_mode=ct.PaddingMode.NAN
    )
    targets = ct.bid(0) * height + ct.arange(height, dtype=ct.int32)
    ct.store_advanced_indexing(out, (targets, ct.Slice(start, width)), found)


@ct.kernel
def scaled_product(a, b, scales, out, size: Int):
    """A product of f4 numbers, which are read as bytes, with a scale for each 32 of them."""
    x = ct.load(a, (0, 0), (size, 32)).reshape((size * 32,))
    y = ct.load(b, (0, 0), (64, size // 2)).reshape((size * 32,))
    x = ct.unpack_from_bytes(x, ct.float4_e2m1fn).reshape((size, 64))
    y = ct.unpack_from_bytes(y, ct.float4_e2m1fn).reshape((64, size))
    rows = ct.bitcast(ct.load(scales, (0, 0), (size, 2)), ct.float8_e8m0fnu)
    columns = ct.full((2, size), 2.0, ct.float8_e8m0fnu)
    ct.store(out, (0, 0), ct.mma_scaled(x, rows, y, columns, ct.zeros((size, size), ct.float32)))


@ct.kernel
def printed(x, block: Int):
    """Prints a tile and a number."""
    tile = ct.load(x, (ct.bid(0),), (block,))
    ct.printf("block %d: %.1f\n", ct.bid(0), tile)
