"""Kernels that compute each element by itself."""

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Adds vectors of any length."""
    offsets = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def add_strided(
    x_ptr, out_ptr, rows, columns, x_row, x_column, alpha, R: tl.constexpr, C: tl.constexpr
):
    """out = x + alpha on a matrix with strides, stored row by row."""
    r = tl.program_id(0) * R + tl.arange(0, R)[:, None]
    c = tl.program_id(1) * C + tl.arange(0, C)[None, :]
    mask = (r < rows) & (c < columns)
    x = tl.load(x_ptr + r * x_row + c * x_column, mask=mask, other=0.0, cache_modifier=".cg")
    tl.store(out_ptr + r * columns + c, x + alpha, mask=mask, eviction_policy="evict_first")


@triton.jit
def saxpy_loop(x_ptr, y_ptr, alpha, n, BLOCK: tl.constexpr):
    """Each program takes every num_programs-th block."""
    block = tl.program_id(0)
    while block * BLOCK < n:
        offsets = block * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < n
        x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
        y = tl.load(y_ptr + offsets, mask=mask, other=0.0)
        tl.store(y_ptr + offsets, alpha * x + y, mask=mask)
        block += tl.num_programs(0)


@triton.jit
def _silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def swiglu(gate_ptr, up_ptr, out_ptr, stride, columns, BLOCK: tl.constexpr):
    """One row a program, in f32, rounded back."""
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    gate = tl.load(gate_ptr + row * stride + offsets, mask=mask, other=0).to(tl.float32)
    up = tl.load(up_ptr + row * stride + offsets, mask=mask, other=0)
    tl.store(out_ptr + row * stride + offsets, _silu(gate).cast(up.dtype) * up, mask=mask)


@triton.jit
def geglu(gate_ptr, up_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """The approximation of gelu by tanh, which is written with exp."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    a = tl.load(gate_ptr + offsets, mask=mask, other=0).to(tl.float32)
    b = tl.load(up_ptr + offsets, mask=mask, other=0)
    inner = 0.7978845608028654 * (a + 0.044715 * a * a * a)
    tanh = 2.0 / (1.0 + tl.exp(-2.0 * inner)) - 1.0
    tl.store(out_ptr + offsets, (0.5 * a * (1 + tanh)).to(b.dtype) * b, mask=mask)


@triton.jit
def swiglu_backward(dout_ptr, gate_ptr, up_ptr, n, BLOCK: tl.constexpr):
    """Gradients take the memory of what they are gradients of."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    dout = tl.load(dout_ptr + offsets, mask=mask, other=0)
    a = tl.load(gate_ptr + offsets, mask=mask, other=0)
    b = tl.load(up_ptr + offsets, mask=mask, other=0)
    sig = tl.sigmoid(a)
    silu = a * sig
    tl.store(gate_ptr + offsets, dout * (silu * (1 - sig) + sig) * b, mask=mask)
    tl.store(up_ptr + offsets, dout * silu, mask=mask)


@triton.jit
def dropout(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    """Philox says which elements stay."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    keep = tl.rand(seed, offsets) > p
    tl.store(out_ptr + offsets, tl.where(keep, x / (1 - p), 0.0), mask=mask)


@triton.jit
def random_integers(out_ptr, seed, BLOCK: tl.constexpr):
    """Four random integers for each offset."""
    offsets = tl.arange(0, BLOCK)
    a, b, c, d = tl.randint4x(seed, offsets)
    tl.store(out_ptr + offsets, a)
    tl.store(out_ptr + BLOCK + offsets, b)
    tl.store(out_ptr + 2 * BLOCK + offsets, c)
    tl.store(out_ptr + 3 * BLOCK + offsets, d)


@triton.jit
def math_functions(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """A row of the output for each function."""
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=1.0)
    positive = tl.abs(x) + 0.5
    tl.store(out_ptr + offsets, tl.exp(x), mask=mask)
    tl.store(out_ptr + n + offsets, tl.exp2(x), mask=mask)
    tl.store(out_ptr + 2 * n + offsets, tl.log(positive), mask=mask)
    tl.store(out_ptr + 3 * n + offsets, tl.log2(positive), mask=mask)
    tl.store(out_ptr + 4 * n + offsets, tl.sin(x), mask=mask)
    tl.store(out_ptr + 5 * n + offsets, tl.cos(x), mask=mask)
    tl.store(out_ptr + 6 * n + offsets, tl.sqrt(positive), mask=mask)
    tl.store(out_ptr + 7 * n + offsets, tl.rsqrt(positive), mask=mask)
    tl.store(out_ptr + 8 * n + offsets, tl.floor(x), mask=mask)
    tl.store(out_ptr + 9 * n + offsets, tl.ceil(x), mask=mask)
    tl.store(out_ptr + 10 * n + offsets, tl.math.erf(x), mask=mask)
    tl.store(out_ptr + 11 * n + offsets, tl.fma(x, positive, x), mask=mask)
    tl.store(out_ptr + 12 * n + offsets, tl.math.div_rn(x, positive), mask=mask)
    tl.store(out_ptr + 13 * n + offsets, tl.math.sqrt_rn(positive), mask=mask)


@triton.jit
def extremes(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    """What becomes of NaN in minimum, maximum and clamp."""
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    y = tl.load(y_ptr + offsets)
    tl.store(out_ptr + offsets, tl.minimum(x, y))
    tl.store(out_ptr + BLOCK + offsets, tl.maximum(x, y))
    tl.store(out_ptr + 2 * BLOCK + offsets, tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out_ptr + 3 * BLOCK + offsets, tl.clamp(x, -0.5, 0.5))
    tl.store(
        out_ptr + 4 * BLOCK + offsets, tl.clamp(x, -0.5, 0.5, propagate_nan=tl.PropagateNan.ALL)
    )


@triton.jit
def comparisons(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Comparisons of floats as bits of a number, and booleans as bytes."""
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    y = tl.load(y_ptr + offsets, mask=mask, other=0.0)
    bits = (x < y).to(tl.int32) | ((x <= y).to(tl.int32) << 1) | ((x == y).to(tl.int32) << 2)
    bits |= (x != y).to(tl.int32) << 3
    bits |= ((x > y) & ~(x >= 2 * y)).to(tl.int32) << 4
    bits |= ((x > 0) ^ (y > 0)).to(tl.int32) << 5
    tl.store(out_ptr + offsets, bits, mask=mask)


@triton.jit
def select_by_flags(flags_ptr, x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Flags are booleans in memory."""
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    flag = tl.load(flags_ptr + offsets, mask=mask, other=0) != 0
    x = tl.load(x_ptr + offsets, mask=mask & flag, other=-1.0)
    tl.store(out_ptr + offsets, tl.where(flag, x, -x), mask=mask)


@triton.jit
def integer_division(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    """Quotients are rounded to zero, and remainders have the dividend's sign."""
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    y = tl.load(y_ptr + offsets)
    tl.store(out_ptr + offsets, x // y)
    tl.store(out_ptr + BLOCK + offsets, x % y)
    tl.store(out_ptr + 2 * BLOCK + offsets, tl.cdiv(tl.abs(x), tl.abs(y)))
    tl.store(out_ptr + 3 * BLOCK + offsets, (x >> 3) ^ (x << 2) & ~y)


@triton.jit
def unsigned(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    """Unsigned division, shifts, comparisons, extremes and the upper half of products."""
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    y = tl.load(y_ptr + offsets)
    tl.store(out_ptr + offsets, x // y)
    tl.store(out_ptr + BLOCK + offsets, x % y)
    tl.store(out_ptr + 2 * BLOCK + offsets, x >> 5)
    tl.store(out_ptr + 3 * BLOCK + offsets, tl.where(x < y, x, y))
    tl.store(out_ptr + 4 * BLOCK + offsets, tl.maximum(x, y))
    tl.store(out_ptr + 5 * BLOCK + offsets, tl.umulhi(x, y))


@triton.jit
def narrow_integers(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    """Bytes and halves wrap around, and widen by their sign or without one."""
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    y = tl.load(y_ptr + offsets)
    wide = x.to(tl.int32) * 1000 + y.to(tl.int32)
    tl.store(out_ptr + offsets, wide + (x + 100).to(tl.int32) + (y + 200).to(tl.int32))


@triton.jit
def wide_integers(x_ptr, out_ptr, factor, n, BLOCK: tl.constexpr):
    """A 64-bit hash, by a factor that is an argument."""
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0)
    x = (x ^ (x >> 30)) * factor
    x = (x ^ (x >> 27)) * -7723592293110705685
    tl.store(out_ptr + offsets, x ^ (x >> 31), mask=mask)


@triton.jit
def collatz(x_ptr, out_ptr):
    """A loop that ends when a number is 1; leaves early for numbers below 1."""
    pid = tl.program_id(0)
    x = tl.load(x_ptr + pid)
    if x < 1:
        tl.store(out_ptr + pid, -1)
        return
    steps = 0
    while x != 1:
        if x % 2 == 0:  # noqa: SIM108
            x = x // 2
        else:
            x = 3 * x + 1
        steps += 1
    tl.store(out_ptr + pid, steps)


@triton.jit
def newton(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Iterates a whole block until the largest error is small."""
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=1.0)
    y = x
    error = tl.max(tl.abs(y * y - x), axis=0)
    while error > 1e-3:
        y = 0.5 * (y + x / y)
        error = tl.max(tl.abs(y * y - x), axis=0)
    tl.store(out_ptr + offsets, y, mask=mask)


@triton.jit(noinline=True)
def _polynomial(x, a, b):
    """Is called, not inlined, with scalars."""
    return (x * a + b) * x


@triton.jit
def calls(x_ptr, out_ptr, a, b):
    """Calls a function twice."""
    pid = tl.program_id(0)
    x = tl.load(x_ptr + pid)
    tl.store(out_ptr + pid, _polynomial(x, a, b) + _polynomial(x + 1, b, a))


@triton.jit
def libdevice_functions(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Functions of the vendor's library."""
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    y = tl.load(y_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, libdevice.tanh(x), mask=mask)
    tl.store(out_ptr + n + offsets, libdevice.pow(tl.abs(x), y), mask=mask)
    tl.store(out_ptr + 2 * n + offsets, libdevice.atan2(x, y), mask=mask)
    tl.store(out_ptr + 3 * n + offsets, libdevice.log1p(tl.abs(x)), mask=mask)


@triton.jit
def inline_assembly(x_ptr, out_ptr, BLOCK: tl.constexpr):
    """An instruction of AMD's chips."""
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    y = tl.inline_asm_elementwise(
        "v_lshlrev_b32 $0, 3, $1", "=v,v", [x], dtype=tl.int32, is_pure=True, pack=1
    )
    tl.store(out_ptr + offsets, y)


@triton.jit
def checked(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Says what it reads, and asserts that it is positive."""
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=1)
    tl.device_print("x: ", x)
    tl.device_print("n and hexadecimal: ", n, offsets, hex=True)
    tl.device_assert(x > 0, "x must be positive")
    tl.assume(n > 0)
    tl.store(out_ptr + offsets, 10 // x, mask=mask)


@triton.jit
def inductor_pointwise(in_ptr0, in_ptr1, in_ptr2, out_ptr0, xnumel, XBLOCK: tl.constexpr):
    """As a compiler of graphs writes a fused bias, gelu and residual."""
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x2 = xindex
    x0 = xindex % 24
    tmp0 = tl.load(in_ptr0 + (x2), xmask)
    tmp1 = tl.load(in_ptr1 + (x0), xmask, eviction_policy="evict_last")
    tmp9 = tl.load(in_ptr2 + (x2), xmask)
    tmp2 = tmp0 + tmp1
    tmp3 = 0.5
    tmp4 = tmp2 * tmp3
    tmp5 = 0.7071067811865476
    tmp6 = tmp2 * tmp5
    tmp7 = libdevice.erf(tmp6)
    tmp8 = 1.0
    tmp10 = tmp7 + tmp8
    tmp11 = tmp4 * tmp10
    tmp12 = tmp11 + tmp9
    tl.store(out_ptr0 + (x2), tmp12, xmask)


@triton.jit
def inductor_cat(in_ptr0, in_ptr1, out_ptr0, xnumel, XBLOCK: tl.constexpr):
    """As a compiler of graphs writes a concatenation along columns, 5 and 3 of 8."""
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex % 8
    x1 = xindex // 8
    tmp0 = x0
    tmp3 = tl.full([1], 5, tl.int64)
    tmp4 = tmp0 < tmp3
    tmp5 = tl.load(in_ptr0 + (5 * x1 + (x0)), tmp4 & xmask, eviction_policy="evict_last", other=0.0)
    tmp6 = tmp0 >= tmp3
    tmp9 = tl.load(
        in_ptr1 + (3 * x1 + ((-5) + x0)), tmp6 & xmask, eviction_policy="evict_last", other=0.0
    )
    tmp10 = tl.where(tmp4, tmp5, tmp9)
    tl.store(out_ptr0 + (xindex), tmp10, xmask)


@triton.jit
def early_returns(x_ptr, out_ptr, n, flag, BLOCK: tl.constexpr):
    """Programs that end in different places, some of them inside of branches."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if tl.program_id(0) * BLOCK >= n:
        return
    x = tl.load(x_ptr + at, mask=at < n, other=0)
    total = tl.sum(x, 0)
    if total > 0:
        if flag == 1:
            tl.store(out_ptr + at, x * 2, mask=at < n)
            return
        tl.store(out_ptr + at, x * 3, mask=at < n)
    else:
        tl.store(out_ptr + at, -x, mask=at < n)
    tl.store(out_ptr + at, total, mask=(at < n) & (x == 1))


@triton.jit
def nested_loops(x_ptr, out_ptr, n):
    """Loops that run until something holds, one of them in the other."""
    i = tl.program_id(0)
    value = tl.load(x_ptr + i)
    steps = 0
    total = 0
    while value > 0 and steps < n:
        lower = value
        while lower % 3 != 0:
            lower -= 1
            total += 1
        value = value // 2 - lower // 7
        steps += 1
    tl.store(out_ptr + i * 2, steps)
    tl.store(out_ptr + i * 2 + 1, total)
