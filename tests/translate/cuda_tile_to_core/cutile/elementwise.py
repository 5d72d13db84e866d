"""Activations, quantization, random numbers, and loops of unknown length."""

from __future__ import annotations

import math

import cuda.tile as ct
import ml_dtypes
import numpy as np

from tests.translate.cuda_tile_to_core.cutile.case import (
    CONSTANT,
    ZERO,
    Array,
    Case,
    blank,
    integers,
    normal,
    rounding,
)

BF16, E4M3, E8M0 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x.astype(np.float64)))


@ct.kernel
def _swiglu(both, out, size: CONSTANT):
    """The halves of a row: one through silu, times the other one."""
    row, half = ct.bid(0), both.shape[1] // 2
    at = ct.bid(1) * size + ct.arange(size, dtype=ct.int32)
    mask = at < half
    gate = ct.gather(both, (row, at), mask=mask).astype(ct.float32)
    up = ct.gather(both, (row, half + at), mask=mask).astype(ct.float32)
    silu = gate * ct.truediv(1.0, 1.0 + ct.exp(-gate), rounding_mode=ct.RoundingMode.APPROX)
    ct.scatter(out, (row, at), (silu * up).astype(out.dtype), mask=mask)


def swiglu() -> Case:
    x = normal(3, 90, dtype=BF16)
    gate, up = x[:, :45], x[:, 45:].astype(np.float64)
    wanted, tolerance = gate * _sigmoid(gate) * up, rounding(16, np.float32, BF16)
    return Case(_swiglu, [x, blank(3, 45, dtype=BF16)], {1: wanted}, (3, 2), (32,), tolerance)


@ct.kernel
def _swiglu_backward(gate, up, dout, dgate, dup, m: CONSTANT, n: CONSTANT):
    at, shape = (ct.bid(0), ct.bid(1)), (m, n)
    g = ct.load(gate, at, shape, padding_mode=ZERO)
    u = ct.load(up, at, shape, padding_mode=ZERO)
    d = ct.load(dout, at, shape, padding_mode=ZERO)
    s = 1.0 / (1.0 + ct.exp(-g))
    ct.store(dup, at, d * g * s)
    ct.store(dgate, at, d * u * s * (1.0 + g * (1.0 - s)))


def swiglu_backward() -> Case:
    g, u, d = (normal(7, 19) for _ in range(3))
    s = _sigmoid(g)
    wanted = {3: d * u * s * (1 + g * (1 - s)), 4: d * g * s}
    arguments = [g, u, d, blank(7, 19), blank(7, 19)]
    return Case(_swiglu_backward, arguments, wanted, (2, 2), (4, 16), rounding(16, np.float32))


@ct.kernel
def _gelu(x, bias, exact_, m: CONSTANT, n: CONSTANT):
    """The approximation by tanh, of numbers of 16 bits."""
    at = (ct.bid(0), ct.bid(1))
    tile = ct.load(x, at, (m, n), padding_mode=ZERO).astype(ct.float32)
    tile += ct.load(bias, (ct.bid(1),), (n,), padding_mode=ZERO)
    inner = 0.7978845608028654 * (tile + 0.044715 * tile * tile * tile)
    ct.store(exact_, at, (0.5 * tile * (1.0 + ct.tanh(inner))).astype(exact_.dtype))


def gelu() -> Case:
    x, bias = normal(5, 27, dtype=np.float16), normal(27)
    wide = x.astype(np.float64) + bias
    wanted = 0.5 * wide * (1 + np.tanh(math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3)))
    arguments = [x, bias, blank(5, 27, dtype=np.float16)]
    tolerance = rounding(32, np.float32, np.float16)
    return Case(_gelu, arguments, {2: wanted}, (2, 2), (4, 16), tolerance)


@ct.kernel
def _functions(x, out, size: CONSTANT):
    """Functions of each number, in rows of the result."""
    at = ct.bid(0) * size + ct.arange(size, dtype=ct.int32)
    tile = ct.gather(x, at)
    rows = (
        ct.sin(tile),
        ct.cos(tile),
        ct.exp(tile),
        ct.log(ct.abs(tile) + 1.0),
        ct.tanh(tile),
        ct.sqrt(ct.abs(tile)),
        ct.pow(ct.abs(tile), 1.5),
        ct.atan2(tile, 1.0 - tile),
        ct.ceil(tile),
    )
    for i in ct.static_iter(range(9)):
        ct.scatter(out, (i, at), rows[i])


def functions() -> Case:
    x = normal(45)
    wide = x.astype(np.float64)
    size = np.abs(wide)
    wanted = [np.sin(wide), np.cos(wide), np.exp(wide), np.log1p(size), np.tanh(wide)]
    wanted += [np.sqrt(size), size**1.5, np.arctan2(wide, 1 - wide), np.ceil(wide)]
    return Case(
        _functions, [x, blank(9, 45)], {1: np.stack(wanted)}, (2,), (32,), rounding(8, np.float32)
    )


@ct.kernel
def _dropout(x, out, seed, p, size: CONSTANT):
    """Rounds as in Philox decide which numbers stay; these are made larger."""
    at = ct.bid(0) * size + ct.arange(size, dtype=ct.int32)
    c0 = ct.bitcast(at, ct.uint32)
    c1 = ct.zeros((size,), dtype=ct.uint32)
    k0 = ct.bitcast(ct.full((size,), seed, ct.int32), ct.uint32)
    for _ in range(10):
        product = c0.astype(ct.uint64) * 0xD256D193
        high = (product >> 32).astype(ct.uint32)
        c0, c1 = high ^ k0 ^ c1, product.astype(ct.uint32)
        k0 = k0 + 0x9E3779B9
    uniform = (c0 >> 8).astype(ct.float32) * (1.0 / 16777216.0)
    tile = ct.gather(x, at)
    ct.scatter(out, at, ct.where(uniform > p, tile / (1.0 - p), 0.0))


def dropout() -> Case:
    x, seed = normal(110), int(integers(0, 2**31 - 1, 1)[0])
    c0, c1 = np.arange(128, dtype=np.uint32), np.zeros(128, np.uint32)
    key = seed
    for _ in range(10):
        product = c0.astype(np.uint64) * np.uint64(0xD256D193)
        c0, c1 = (
            (product >> np.uint64(32)).astype(np.uint32) ^ np.uint32(key) ^ c1,
            product.astype(np.uint32),
        )
        key = (key + 0x9E3779B9) % 2**32
    uniform = (c0 >> np.uint32(8))[:110].astype(np.float64) / 2**24
    wanted = np.where(uniform > np.float32(0.3), x / 0.7, 0)
    return Case(
        _dropout, [x, blank(110), seed, 0.3], {1: wanted}, (2,), (64,), rounding(4, np.float32)
    )


@ct.kernel
def _quantize(x, out, scales, size: CONSTANT):
    """A row in eight bits with one scale."""
    i = ct.bid(0)
    tile = ct.load(x, (i, 0), (1, size), padding_mode=ZERO)
    scale = ct.max(ct.abs(tile), axis=1, keepdims=True) / 127.0
    ct.store(scales, (i,), ct.reshape(scale, (1,)))
    ct.store(out, (i, 0), ct.astype(ct.floor(tile / scale + 0.5), ct.int8))


def quantize() -> Case:
    x = normal(4, 50)
    scale = np.abs(x).max(axis=1, keepdims=True) / np.float32(127)
    wanted = np.floor(x / scale + np.float32(0.5)).astype(np.int8)
    outputs = [blank(4, 50, dtype=np.int8), blank(4)]
    return Case(
        _quantize, [x, *outputs], {1: wanted, 2: scale[:, 0]}, (4,), (64,), rounding(1, np.float32)
    )


@ct.kernel
def _dequantize4(packed, scales, zeros, out, rows: CONSTANT, half: CONSTANT):
    """Two weights of four bits in a byte, with a scale and a zero for each row."""
    at = (ct.bid(0), 0)
    both = ct.load(packed, at, (rows, half))
    low, high = both & 0xF, both >> 4
    tile = ct.cat((low.reshape((rows, half, 1)), high.reshape((rows, half, 1))), 2)
    numbers = tile.reshape((rows, 2 * half)).astype(ct.float32)
    zero = ct.load(zeros, (ct.bid(0),), (rows,)).astype(ct.float32)
    scale = ct.load(scales, (ct.bid(0),), (rows,)).astype(ct.float32)
    ct.store(out, at, ((numbers - zero[:, None]) * scale[:, None]).astype(out.dtype))


def dequantize4() -> Case:
    packed = integers(0, 256, 8, 16, dtype=np.uint8)
    scales, zeros = normal(8, dtype=np.float16), integers(0, 16, 8, dtype=np.uint8)
    numbers = np.stack([packed & 15, packed >> 4], axis=-1).reshape(8, 32).astype(np.float64)
    wanted = (numbers - zeros[:, None]) * scales[:, None]
    arguments = [packed, scales, zeros, blank(8, 32, dtype=np.float16)]
    return Case(
        _dequantize4, arguments, {3: wanted}, (2,), (4, 16), rounding(1, np.float32, np.float16)
    )


@ct.kernel
def _quantize_e4m3(x, out, scales, block: CONSTANT):
    """Blocks of a row in e4m3, each with a scale."""
    at = (ct.bid(0), ct.bid(1))
    tile = ct.load(x, at, (1, block), padding_mode=ZERO).astype(ct.float32)
    largest = ct.max(ct.abs(tile), axis=1, keepdims=True)
    scale = ct.maximum(largest, 1e-12) / 448.0
    ct.store(scales, at, scale)
    ct.store(out, at, (tile / scale).astype(ct.float8_e4m3fn))


def quantize_e4m3() -> Case:
    x = normal(3, 75, dtype=BF16)
    wide = np.pad(x.astype(np.float32), ((0, 0), (0, 21))).reshape(3, 3, 32)
    scale = np.abs(wide).max(axis=2, keepdims=True) / np.float32(448)
    wanted = (wide / scale).astype(E4M3).reshape(3, 96)[:, :75]
    outputs = [blank(3, 75, dtype=E4M3), blank(3, 3)]
    # A quotient that is off by a rounding may be one step of e4m3 away.
    return Case(
        _quantize_e4m3,
        [x, *outputs],
        {1: wanted, 2: scale[..., 0]},
        (3, 3),
        (32,),
        rounding(1, np.float32, E4M3),
    )


@ct.kernel
def _quantize_mxfp8(x, out, scales, block: CONSTANT):
    """Blocks of a row in e4m3, whose scales are the powers of two that are large enough."""
    at = (ct.bid(0), ct.bid(1))
    tile = ct.load(x, at, (1, block), padding_mode=ZERO)
    largest = ct.max(ct.abs(tile), axis=1, keepdims=True)
    scale = ct.astype(largest / 448.0, ct.float8_e8m0fnu, rounding_mode=ct.RoundingMode.RP)
    ct.store(scales, at, scale)
    ct.store(out, at, (tile / scale.astype(ct.float32)).astype(ct.float8_e4m3fn))


def quantize_mxfp8() -> Case:
    x = normal(3, 64) * 2.0 ** integers(-20, 20, 3, 1)
    x = x.astype(np.float32)
    blocks = x.reshape(3, 2, 32).astype(np.float64)
    largest = np.abs(blocks).max(axis=2, keepdims=True)
    # A quotient that is rounded to a power of two is none that must be rounded up.
    power = 2.0 ** np.ceil(np.log2((largest / 448).astype(np.float32).astype(np.float64)))
    wanted = {1: (blocks / power).reshape(3, 64).astype(E4M3), 2: power[..., 0]}
    outputs = [blank(3, 64, dtype=E4M3), np.full((3, 2), 2.0**9, E8M0)]
    return Case(_quantize_mxfp8, [x, *outputs], wanted, (3, 2), (32,))


@ct.kernel
def _quantize_e2m1(x, out, scales, rows: CONSTANT, block: CONSTANT):
    """Blocks in 4 bits, two of them in a byte."""
    tile = ct.load(x, (ct.bid(0), 0), (rows, block))
    scale = ct.max(ct.abs(tile), axis=1, keepdims=True) / 6.0
    ct.store(scales, (ct.bid(0),), scale.reshape((rows,)))
    packed = ct.pack_to_bytes((tile / scale).astype(ct.float4_e2m1fn))
    ct.store(out, (ct.bid(0), 0), packed.reshape((rows, block // 2)))


def quantize_e2m1() -> Case:
    x = normal(8, 32)
    scale = np.abs(x).max(axis=1, keepdims=True) / np.float32(6)
    codes = (x / scale).astype(ml_dtypes.float4_e2m1fn).view(np.uint8) & 15
    outputs = [blank(8, 16, dtype=np.uint8), blank(8)]
    wanted = {1: codes[:, ::2] | codes[:, 1::2] << 4, 2: scale[:, 0]}
    return Case(_quantize_e2m1, [x, *outputs], wanted, (2,), (4, 32), rounding(1, np.float32))


@ct.kernel
def _collatz(x, out, limit, size: CONSTANT):
    """A loop that is left early, and one that goes on early."""
    i = ct.bid(0)
    n, steps = ct.gather(x, i), 0
    while n != 1:
        if steps >= limit:
            break
        steps += 1
        if n % 2 == 0:
            n = n // 2
            continue
        n = 3 * n + 1
    ct.scatter(out, i, steps)


def collatz() -> Case:
    def steps(n: int) -> int:
        count = 0
        while n != 1 and count < 20:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        return count

    x = integers(1, 40, 12)
    wanted = np.array([steps(int(n)) for n in x])
    return Case(_collatz, [x, blank(12, dtype=np.int32), 20], {1: wanted}, (12,), (1,))


@ct.kernel
def _mandelbrot(out, left, top, step, limit, rows: CONSTANT, columns: CONSTANT):
    """All points of a tile until none moves any more."""
    y = (
        top
        + (ct.bid(0) * rows + ct.arange(rows, dtype=ct.int32)).astype(ct.float32)[:, None] * step
    )
    x = (
        left
        + (ct.bid(1) * columns + ct.arange(columns, dtype=ct.int32)).astype(ct.float32)[None, :]
        * step
    )
    re = ct.zeros((rows, columns), dtype=ct.float32)
    im = ct.zeros((rows, columns), dtype=ct.float32)
    count = ct.zeros((rows, columns), dtype=ct.int32)
    is_in = ct.full((rows, columns), True, dtype=ct.bool_)
    steps = 0
    while steps < limit and ct.max(is_in.astype(ct.int32)) > 0:
        re, im = re * re - im * im + x, 2.0 * re * im + y
        is_in = is_in & (re * re + im * im <= 4.0)
        re, im = ct.where(is_in, re, 0.0), ct.where(is_in, im, 0.0)
        count += is_in.astype(ct.int32)
        steps += 1
    ct.store(out, (ct.bid(0), ct.bid(1)), count)


def mandelbrot() -> Case:
    # Steps are multiples of 1/8 and few, so that all sums and products are exact.
    y = -1 + np.arange(9, dtype=np.float32)[:, None] / 8
    x = -1.5 + np.arange(17, dtype=np.float32)[None, :] / 8
    re, im = np.zeros((2, 9, 17), np.float32)
    is_in, count = np.ones((9, 17), bool), np.zeros((9, 17), np.int32)
    for _ in range(3):
        re, im = re * re - im * im + x, 2 * re * im + y
        is_in &= re * re + im * im <= 4
        re, im = np.where(is_in, re, 0), np.where(is_in, im, 0)
        count += is_in
    arguments = [blank(9, 17, dtype=np.int32), -1.5, -1.0, 0.125, 3]
    return Case(_mandelbrot, arguments, {0: count}, (3, 2), (4, 16))


@ct.kernel
def _divided(a, b, out, size: CONSTANT):
    """Python's division of integers, which rounds down, and remainders."""
    at = ct.bid(0) * size + ct.arange(size, dtype=ct.int32)
    x, y = ct.gather(a, at), ct.gather(b, at, padding_value=1)
    ct.scatter(out, (0, at), x // y)
    ct.scatter(out, (1, at), x % y)
    ct.scatter(out, (2, at), ct.cdiv(x, y))
    ct.scatter(out, (3, at), (x << 3) ^ (y >> 1) | ~x)


def divided() -> Case:
    a, b = integers(-99, 99, 45), integers(1, 9, 45)
    wanted = np.stack([a // b, a % b, -(-a // b), (a << 3) ^ (b >> 1) | ~a])
    b[::2] *= -1
    wanted[:3, ::2] = np.stack([a // b, a % b, -(-a // b)])[:, ::2]
    wanted[3] = (a << 3) ^ (b >> 1) | ~a
    return Case(_divided, [a, b, blank(4, 45, dtype=np.int32)], {2: wanted}, (2,), (32,))


@ct.kernel
def _adam(p, g, m, v, rate, beta1, beta2, correction1, correction2, size: CONSTANT):
    """A step of an optimizer, in the memory of its arguments."""
    i = ct.bid(0)
    shape = (size,)
    grad = ct.load(g, (i,), shape, padding_mode=ZERO)
    first = beta1 * ct.load(m, (i,), shape, padding_mode=ZERO) + (1.0 - beta1) * grad
    second = beta2 * ct.load(v, (i,), shape, padding_mode=ZERO) + (1.0 - beta2) * grad * grad
    update = (first / correction1) / (ct.sqrt(second / correction2) + 1e-8)
    ct.store(p, (i,), ct.load(p, (i,), shape, padding_mode=ZERO) - rate * update)
    ct.store(m, (i,), first)
    ct.store(v, (i,), second)


def adam() -> Case:
    p, g, m = (normal(75) for _ in range(3))
    v = np.abs(normal(75))
    first, second = (
        0.5 * m.astype(np.float64) + 0.5 * g,
        0.75 * v.astype(np.float64) + 0.25 * g.astype(np.float64) ** 2,
    )
    wanted = {0: p - 0.125 * (first / 0.5) / (np.sqrt(second / 0.25) + 1e-8), 2: first, 3: second}
    arguments = [p, g, m, v, 0.125, 0.5, 0.75, 0.5, 0.25]
    return Case(_adam, arguments, wanted, (3,), (32,), rounding(16, np.float32))


@ct.kernel
def _ticket(counter, out, count, size: CONSTANT):
    """Tile blocks that fetch work from a counter until none is left."""
    ticket = ct.atomic_add(counter, 0, 1)
    while ticket < count:
        own = ticket * size + ct.arange(size, dtype=ct.int32)
        ct.scatter(out, own, own * own)
        ticket = ct.atomic_add(counter, 0, 1)


def tickets() -> Case:
    arguments = [np.zeros(1, np.int32), blank(75, dtype=np.int32), 5]
    wanted = {0: np.array([5 + 3]), 1: np.arange(75) ** 2}
    return Case(_ticket, arguments, wanted, (3,), (16,))


@ct.kernel
def _two_buffers(x, y, count, size: CONSTANT):
    """Steps that go from one array to the other and back."""
    source, target, step = x, y, 0
    while step < count:
        own = ct.arange(size, dtype=ct.int32)
        left = ct.gather(source, own - 1, padding_value=0)
        ct.scatter(target, own, left + ct.gather(source, own))
        source, target, step = target, source, step + 1


def two_buffers() -> Case:
    """A row of Pascal's triangle, and the one before it."""
    x = np.zeros(16, np.int32)
    x[0] = 1
    rows = [np.array([math.comb(n, k) for k in range(16)]) for n in (6, 7)]
    arguments = [x, np.full(16, 77, np.int32), 7]
    return Case(_two_buffers, arguments, {0: rows[0], 1: rows[1]}, (1,), (16,))


CASES = [
    swiglu,
    swiglu_backward,
    gelu,
    functions,
    dropout,
    quantize,
    dequantize4,
    quantize_e4m3,
    quantize_mxfp8,
    quantize_e2m1,
    collatz,
    mandelbrot,
    divided,
    adam,
    tickets,
    two_buffers,
]
"""A case for each kernel."""
