"""Scans, sorts, histograms, and atomic operations."""

import triton
import triton.language as tl


@triton.jit
def prefix_sums(x_ptr, sums_ptr, products_ptr, columns, BLOCK: tl.constexpr):
    """Sums from the left, products from the right."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * columns + offsets, mask=mask, other=0.0)
    tl.store(sums_ptr + row * columns + offsets, tl.cumsum(x, axis=0), mask=mask)
    y = tl.cumprod(tl.where(mask, x, 1.0), axis=0, reverse=True)
    tl.store(products_ptr + row * columns + offsets, y, mask=mask)


@triton.jit
def prefix_sums_2d(x_ptr, out_ptr, R: tl.constexpr, C: tl.constexpr):
    """Integral images: sums along both axes."""
    at = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    x = tl.load(x_ptr + at)
    tl.store(out_ptr + at, tl.cumsum(tl.cumsum(x, axis=1), axis=0))


@triton.jit
def _compose(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def linear_recurrence(a_ptr, b_ptr, out_ptr, length, channels, L: tl.constexpr, C: tl.constexpr):
    """h = a h + b along time, as a scan of two operands."""
    t = tl.arange(0, L)[:, None]
    c = tl.program_id(0) * C + tl.arange(0, C)[None, :]
    mask = (t < length) & (c < channels)
    a = tl.load(a_ptr + t * channels + c, mask=mask, other=1.0)
    b = tl.load(b_ptr + t * channels + c, mask=mask, other=0.0)
    _, h = tl.associative_scan((a, b), axis=0, combine_fn=_compose)
    tl.store(out_ptr + t * channels + c, h, mask=mask)


@triton.jit
def _segmented(value_a, start_a, value_b, start_b):
    return tl.where(start_b != 0, value_b, value_a + value_b), start_a | start_b


@triton.jit
def segmented_sums(x_ptr, starts_ptr, out_ptr, BLOCK: tl.constexpr):
    """Sums that begin again where a flag says so."""
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    starts = tl.load(starts_ptr + offsets).to(tl.int32)
    sums, _ = tl.associative_scan((x, starts), 0, _segmented)
    tl.store(out_ptr + offsets, sums)


@triton.jit
def sort_rows(x_ptr, out_ptr, R: tl.constexpr, C: tl.constexpr, DESCENDING: tl.constexpr):
    """A bitonic network."""
    at = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    tl.store(out_ptr + at, tl.sort(tl.load(x_ptr + at), descending=DESCENDING))


@triton.jit
def top_k(x_ptr, values_ptr, indices_ptr, columns, K: tl.constexpr, BLOCK: tl.constexpr):
    """The largest elements one after another, by their indices."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + offsets, mask=offsets < columns, other=float("-inf"))
    for k in tl.static_range(K):
        value, at = tl.max(x, axis=0, return_indices=True)
        tl.store(values_ptr + row * K + k, value)
        tl.store(indices_ptr + row * K + k, at)
        x = tl.where(offsets == at, float("-inf"), x)


@triton.jit
def top_k_packed(x_ptr, values_ptr, indices_ptr, columns, K: tl.constexpr, BLOCK: tl.constexpr):
    """Value and index in one integer of 64 bits, of which a bitonic network keeps the largest."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * columns + offsets, mask=mask, other=float("-inf"))
    bits = x.to(tl.int32, bitcast=True)
    ordered = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    packed = (ordered.to(tl.int64) << 32) | (BLOCK - 1 - offsets).to(tl.int64)
    best = tl.topk(packed, K)
    high = (best >> 32).to(tl.int32)
    value = tl.where(high < 0, high ^ 0x7FFFFFFF, high).to(tl.float32, bitcast=True)
    at = BLOCK - 1 - (best & 0xFFFFFFFF).to(tl.int32)
    tl.store(values_ptr + row * K + tl.arange(0, K), value)
    tl.store(indices_ptr + row * K + tl.arange(0, K), at)


@triton.jit
def histogram(x_ptr, out_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    """Counts within a block, added up atomically; the last block has a mask."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    counts = tl.histogram(x, BINS, mask=offsets < n)
    tl.atomic_add(out_ptr + tl.arange(0, BINS), counts)


@triton.jit
def histogram_by_atomics(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Adds one for each element."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    tl.atomic_add(out_ptr + x, 1, mask=offsets < n, sem="relaxed", scope="gpu")


@triton.jit
def atomic_integers(x_ptr, out_ptr, unsigned_ptr, BLOCK: tl.constexpr):
    """All atomic operations of integers on a number each."""
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    zeros = tl.zeros([BLOCK], tl.int32)
    tl.atomic_add(out_ptr + zeros, x)
    tl.atomic_max(out_ptr + 1 + zeros, x)
    tl.atomic_min(out_ptr + 2 + zeros, x)
    tl.atomic_and(out_ptr + 3 + zeros, x)
    tl.atomic_or(out_ptr + 4 + zeros, x)
    tl.atomic_xor(out_ptr + 5 + zeros, x)
    tl.atomic_max(unsigned_ptr + zeros, x.to(tl.uint32))
    tl.atomic_min(unsigned_ptr + 1 + zeros, x.to(tl.uint32))


@triton.jit
def atomic_floats(x_ptr, out_ptr, half_ptr, BLOCK: tl.constexpr):
    """Sums of halves, and extremes of floats of either sign."""
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + offsets)
    tl.atomic_max(out_ptr + offsets, x)
    tl.atomic_min(out_ptr + BLOCK + offsets, x)
    tl.atomic_add(half_ptr + offsets, x.to(tl.float16))


@triton.jit
def tickets(order_ptr, counter_ptr, out_ptr):
    """Programs take numbers from a counter; the last one writes how many there were."""
    ticket = tl.atomic_add(counter_ptr, 1, sem="acq_rel")
    tl.store(order_ptr + ticket, 1)
    if ticket == tl.num_programs(0) - 1:
        tl.store(out_ptr, ticket + 1)


@triton.jit
def spin_lock(lock_ptr, total_ptr, x_ptr, BLOCK: tl.constexpr):
    """Adds blocks to a block in memory that only the holder of a lock touches."""
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + offsets)
    while tl.atomic_cas(lock_ptr, 0, 1, sem="acquire") == 1:
        pass
    total = tl.load(total_ptr + offsets, volatile=True)
    tl.store(total_ptr + offsets, total + x)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0, sem="release")


@triton.jit
def maximum_by_cas(x_ptr, out_ptr):
    """A maximum of floats by comparing and exchanging their bits until it succeeds."""
    x = tl.load(x_ptr + tl.program_id(0))
    old = tl.load(out_ptr)
    done = old.to(tl.float32, bitcast=True) >= x
    while not done:
        found = tl.atomic_cas(out_ptr, old, x.to(tl.int32, bitcast=True))
        done = (found == old) | (found.to(tl.float32, bitcast=True) >= x)
        old = found


@triton.jit
def _compose_three(a1, b1, c1, a2, b2, c2):
    return a1 * a2, b1 * a2 + b2, tl.maximum(c1, c2)


@triton.jit
def scan_of_three(a_ptr, b_ptr, c_ptr, h_ptr, top_ptr, R: tl.constexpr, C: tl.constexpr):
    """A recurrence and the largest number so far, in one scan from the last row to the first."""
    at = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    given = (tl.load(a_ptr + at), tl.load(b_ptr + at), tl.load(c_ptr + at))
    _, h, top = tl.associative_scan(given, 0, _compose_three, reverse=True)
    tl.store(h_ptr + at, h)
    tl.store(top_ptr + at, top)
