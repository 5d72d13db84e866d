"""Cases of kernels that compute each element by itself."""

from __future__ import annotations

import math

import numpy as np

from tests.triton_kernels.case import BF16, F16, F32, Array, Case, blank, integers, normal, rounding


def add() -> Case:
    x, y = normal(1000), normal(1000)
    arguments = {"x_ptr": x, "y_ptr": y, "out_ptr": blank(1000), "n": 1000}
    return Case("pointwise.add", arguments, {"out_ptr": x + y}, (4,), {"BLOCK": 256})


def add_bf16() -> Case:
    x, y = normal(1000, dtype=BF16), normal(1000, dtype=BF16)
    arguments = {"x_ptr": x, "y_ptr": y, "out_ptr": blank(1000, dtype=BF16), "n": 1000}
    wanted = x.astype(F32) + y.astype(F32)
    tolerance = rounding(0, F32, BF16)
    return Case(
        "pointwise.add", arguments, {"out_ptr": wanted}, (8,), {"BLOCK": 128}, tolerance, warps=1
    )


def add_f64() -> Case:
    x, y = normal(300, dtype=np.float64), normal(300, dtype=np.float64)
    arguments = {"x_ptr": x, "y_ptr": y, "out_ptr": blank(300, dtype=np.float64), "n": 300}
    return Case("pointwise.add", arguments, {"out_ptr": x + y}, (3,), {"BLOCK": 128})


def add_strided() -> Case:
    x = normal(33, 40)
    arguments = {
        "x_ptr": x,
        "out_ptr": blank(40, 33),
        "rows": 40,
        "columns": 33,
        "x_row": 1,
        "x_column": 40,
        "alpha": 0.5,
    }
    wanted = {"out_ptr": x.T + F32(0.5)}
    return Case("pointwise.add_strided", arguments, wanted, (3, 2), {"R": 16, "C": 32})


def saxpy_loop() -> Case:
    x, y = normal(1234), normal(1234)
    arguments = {"x_ptr": x, "y_ptr": y, "alpha": -1.5, "n": 1234}
    wanted = {"y_ptr": -1.5 * x + y}
    return Case(
        "pointwise.saxpy_loop", arguments, wanted, (3,), {"BLOCK": 128}, rounding(2, F32), warps=2
    )


def _silu(x: Array) -> Array:
    return x / (1 + np.exp(-x))


def swiglu() -> Case:
    gate, up = normal(5, 100, dtype=F16), normal(5, 100, dtype=F16)
    wanted = _silu(gate.astype(np.float64)) * up
    arguments = {
        "gate_ptr": gate,
        "up_ptr": up,
        "out_ptr": blank(5, 100, dtype=F16),
        "stride": 100,
        "columns": 100,
    }
    tolerance = rounding(8, F32, F16, F16)
    return Case("pointwise.swiglu", arguments, {"out_ptr": wanted}, (5,), {"BLOCK": 128}, tolerance)


def geglu() -> Case:
    gate, up = normal(500), normal(500)
    wide = gate.astype(np.float64)
    gelu = 0.5 * wide * (1 + np.tanh(math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3)))
    arguments = {"gate_ptr": gate, "up_ptr": up, "out_ptr": blank(500), "n": 500}
    wanted = {"out_ptr": gelu * up}
    return Case("pointwise.geglu", arguments, wanted, (2,), {"BLOCK": 256}, rounding(32, F32))


def swiglu_backward() -> Case:
    dout, a, b = normal(300), normal(300), normal(300)
    wide = a.astype(np.float64)
    sig = 1 / (1 + np.exp(-wide))
    wanted = {
        "gate_ptr": dout * (wide * sig * (1 - sig) + sig) * b,
        "up_ptr": dout * wide * sig,
    }
    arguments = {"dout_ptr": dout, "gate_ptr": a, "up_ptr": b, "n": 300}
    return Case(
        "pointwise.swiglu_backward", arguments, wanted, (2,), {"BLOCK": 256}, rounding(16, F32)
    )


def philox(seed: int, offset: Array) -> list[Array]:
    """The four results of ten rounds of Philox 4x32 for each offset."""
    mask = np.uint64(0xFFFFFFFF)
    c = [offset.astype(np.uint64), *(np.zeros_like(offset, np.uint64) for _ in range(3))]
    k0, k1 = np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32 & 0xFFFFFFFF)
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [b >> np.uint64(32) ^ c[1] ^ k0, b & mask, a >> np.uint64(32) ^ c[3] ^ k1, a & mask]
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & mask, (k1 + np.uint64(0xBB67AE85)) & mask
    return [each.astype(np.uint32).astype(np.int32) for each in c]


def _uniform(bits: Array) -> Array:
    """Floats from 0 to below 1 of random bits, as Triton makes them."""
    return np.where(bits < 0, -bits - 1, bits).astype(F32) * F32(4.6566127342e-10)


def _fresh_seed() -> int:
    """An odd number above 1, so that the compiler is told the same of each."""
    return 2 * int(integers(1, 2**30)) + 1


def dropout() -> Case:
    x, seed = normal(700), _fresh_seed()
    keep = _uniform(philox(seed, np.arange(700))[0]) > F32(0.3)
    wanted = {"out_ptr": np.where(keep, x / (1 - 0.3), 0)}
    arguments = {"x_ptr": x, "out_ptr": blank(700), "n": 700, "p": 0.3, "seed": seed}
    return Case("pointwise.dropout", arguments, wanted, (3,), {"BLOCK": 256}, rounding(2, F32))


def random_integers() -> Case:
    seed = _fresh_seed()
    wanted = {"out_ptr": np.concatenate(philox(seed, np.arange(64)))}
    arguments = {"out_ptr": blank(256, dtype=np.int32), "seed": seed}
    return Case("pointwise.random_integers", arguments, wanted, (1,), {"BLOCK": 64}, warps=1)


def math_functions() -> Case:
    x = normal(100)
    wide = x.astype(np.float64)
    positive = np.abs(wide) + 0.5
    wanted = np.stack(
        [
            *(np.exp(wide), np.exp2(wide), np.log(positive), np.log2(positive)),
            *(np.sin(wide), np.cos(wide), np.sqrt(positive), 1 / np.sqrt(positive)),
            *(np.floor(wide), np.ceil(wide), np.vectorize(math.erf)(wide)),
            *(wide * positive + wide, wide / positive, np.sqrt(positive)),
        ]
    )
    arguments = {"x_ptr": x, "out_ptr": blank(14, 100), "n": 100}
    tolerance = rounding(4, F32)
    return Case(
        "pointwise.math_functions", arguments, {"out_ptr": wanted}, (1,), {"BLOCK": 128}, tolerance
    )


def extremes() -> Case:
    x, y = normal(64), normal(64)
    x[5], x[9], y[9], y[20] = (math.nan,) * 4
    both = np.isnan(x) | np.isnan(y)
    clamped = np.clip(x, F32(-0.5), F32(0.5))
    wanted = np.concatenate(
        [
            *(np.fmin(x, y), np.fmax(x, y), np.where(both, math.nan, np.fmax(x, y))),
            *(np.where(np.isnan(x), F32(-0.5), clamped), clamped),
        ]
    )
    arguments = {"x_ptr": x, "y_ptr": y, "out_ptr": blank(5 * 64)}
    return Case("pointwise.extremes", arguments, {"out_ptr": wanted}, (1,), {"BLOCK": 64}, warps=1)


def comparisons() -> Case:
    x, y = integers(-2, 3, 100, dtype=F32), integers(-2, 3, 100, dtype=F32)
    flags = [x < y, x <= y, x == y, x != y, (x > y) & ~(x >= 2 * y), (x > 0) ^ (y > 0)]
    wanted = sum(flag.astype(np.int32) << bit for bit, flag in enumerate(flags))
    arguments = {"x_ptr": x, "y_ptr": y, "out_ptr": blank(100, dtype=np.int32), "n": 100}
    return Case("pointwise.comparisons", arguments, {"out_ptr": wanted}, (1,), {"BLOCK": 128})


def select_by_flags() -> Case:
    flags, x = integers(0, 2, 50, dtype=bool), normal(50)
    wanted = {"out_ptr": np.where(flags, x, 1)}
    arguments = {"flags_ptr": flags, "x_ptr": x, "out_ptr": blank(50), "n": 50}
    return Case("pointwise.select_by_flags", arguments, wanted, (1,), {"BLOCK": 64}, warps=1)


def integer_division() -> Case:
    x, y = integers(-100, 100, 128), integers(1, 12, 128) * (1 - 2 * integers(0, 2, 128))
    quotient = np.trunc(x / y).astype(np.int32)
    up = (np.abs(x) + np.abs(y) - 1) // np.abs(y)
    wanted = [quotient, x - quotient * y, up, (x >> 3) ^ ((x << 2) & ~y)]
    arguments = {"x_ptr": x, "y_ptr": y, "out_ptr": blank(4 * 128, dtype=np.int32)}
    return Case(
        "pointwise.integer_division", arguments, {"out_ptr": np.concatenate(wanted)}, (1,),
        {"BLOCK": 128},
    )  # fmt: skip


def unsigned() -> Case:
    x = integers(0, 2**32, 64, dtype=np.uint32)
    y = integers(1, 2**32, 64, dtype=np.uint32) >> integers(0, 32, 64, dtype=np.uint32)
    y = np.maximum(y, np.uint32(1))
    half = (x.astype(np.uint64) * y >> np.uint64(32)).astype(np.uint32)
    wanted = [x // y, x % y, x >> np.uint32(5), np.minimum(x, y), np.maximum(x, y), half]
    arguments = {"x_ptr": x, "y_ptr": y, "out_ptr": blank(6 * 64, dtype=np.uint32)}
    return Case(
        "pointwise.unsigned", arguments, {"out_ptr": np.concatenate(wanted)}, (1,), {"BLOCK": 64}
    )


def narrow_integers() -> Case:
    x, y = integers(-128, 128, 64, dtype=np.int8), integers(0, 256, 64, dtype=np.uint8)
    wide = x.astype(np.int32) * 1000 + y
    wanted = wide + (x + np.int8(100)).astype(np.int32) + (y + np.uint8(200))
    arguments = {"x_ptr": x, "y_ptr": y, "out_ptr": blank(64, dtype=np.int32)}
    return Case("pointwise.narrow_integers", arguments, {"out_ptr": wanted}, (1,), {"BLOCK": 64})


def wide_integers() -> Case:
    x, factor = integers(-(2**62), 2**62, 200, dtype=np.int64), -4658895280553007687
    with np.errstate(over="ignore"):
        y = (x ^ (x >> 30)) * np.int64(factor)
        y = (y ^ (y >> 27)) * np.int64(-7723592293110705685)
    arguments = {"x_ptr": x, "out_ptr": blank(200, dtype=np.int64), "factor": factor, "n": 200}
    wanted = {"out_ptr": y ^ (y >> 31)}
    return Case("pointwise.wide_integers", arguments, wanted, (2,), {"BLOCK": 128})


def _collatz(x: int) -> int:
    return -1 if x < 1 else 0 if x == 1 else 1 + _collatz(3 * x + 1 if x % 2 else x // 2)


def collatz() -> Case:
    x = integers(-1, 50, 10)
    arguments = {"x_ptr": x, "out_ptr": blank(10, dtype=np.int32)}
    wanted = {"out_ptr": np.array([_collatz(int(each)) for each in x])}
    return Case("pointwise.collatz", arguments, wanted, (10,), warps=1)


def newton() -> Case:
    x = np.abs(normal(100)) + F32(0.5)
    arguments = {"x_ptr": x, "out_ptr": blank(100), "n": 100}
    wanted = {"out_ptr": np.sqrt(x.astype(np.float64))}
    # The error of the square is below 1e-3, and roots are above 0.7.
    return Case("pointwise.newton", arguments, wanted, (1,), {"BLOCK": 128}, 1e-3)


def calls() -> Case:
    x = normal(6)
    wanted = {"out_ptr": (x * 0.5 + 2) * x + ((x + 1) * 2 + 0.5) * (x + 1)}
    arguments = {"x_ptr": x, "out_ptr": blank(6), "a": 0.5, "b": 2.0}
    return Case("pointwise.calls", arguments, wanted, (6,), {}, rounding(8, F32), warps=1)


def libdevice_functions() -> Case:
    x, y = normal(90), normal(90)
    a, b = x.astype(np.float64), y.astype(np.float64)
    wanted = np.stack([np.tanh(a), np.abs(a) ** b, np.arctan2(a, b), np.log1p(np.abs(a))])
    arguments = {"x_ptr": x, "y_ptr": y, "out_ptr": blank(4, 90), "n": 90}
    tolerance = rounding(8, F32)
    return Case(
        "pointwise.libdevice_functions", arguments, {"out_ptr": wanted}, (1,), {"BLOCK": 128},
        tolerance,
    )  # fmt: skip


def inline_assembly() -> Case:
    x = integers(-1000, 1000, 64)
    arguments = {"x_ptr": x, "out_ptr": blank(64, dtype=np.int32)}
    return Case("pointwise.inline_assembly", arguments, {"out_ptr": x * 8}, (1,), {"BLOCK": 64})


def checked() -> Case:
    x = integers(1, 11, 20)
    arguments = {"x_ptr": x, "out_ptr": blank(20, dtype=np.int32), "n": 20}
    wanted = {"out_ptr": 10 // x}
    return Case("pointwise.checked", arguments, wanted, (1,), {"BLOCK": 32}, warps=1, debug=True)


def inductor_pointwise() -> Case:
    x, bias, residual = normal(30, 24), normal(24), normal(30, 24)
    wide = x.astype(np.float64) + bias
    wanted = 0.5 * wide * (1 + np.vectorize(math.erf)(wide / math.sqrt(2))) + residual
    arguments = {
        "in_ptr0": x,
        "in_ptr1": bias,
        "in_ptr2": residual,
        "out_ptr0": blank(30, 24),
        "xnumel": 720,
    }
    return Case(
        "pointwise.inductor_pointwise", arguments, {"out_ptr0": wanted}, (3,), {"XBLOCK": 256},
        rounding(8, F32),
    )  # fmt: skip


def inductor_cat() -> Case:
    x, y = normal(25, 5), normal(25, 3)
    arguments = {"in_ptr0": x, "in_ptr1": y, "out_ptr0": blank(25, 8), "xnumel": 200}
    wanted = {"out_ptr0": np.concatenate([x, y], axis=1)}
    return Case("pointwise.inductor_cat", arguments, wanted, (2,), {"XBLOCK": 128})


def early_returns() -> Case:
    return _early_returns(2)


def early_returns_in_branches() -> Case:
    return _early_returns(1)


def _early_returns(flag: int) -> Case:
    x = integers(-3, 4, 100)
    wanted = np.concatenate([_ended(part, flag) for part in np.split(x, [32, 64, 96])])
    arguments = {"x_ptr": x, "out_ptr": blank(100, dtype=np.int32), "n": 100, "flag": flag}
    return Case("pointwise.early_returns", arguments, {"out_ptr": wanted}, (5,), {"BLOCK": 32})


def _ended(x: Array, flag: int) -> Array:
    total = x.sum()
    if total > 0 and flag == 1:
        return 2 * x
    return np.where(x == 1, total, 3 * x if total > 0 else -x)


def nested_loops() -> Case:
    x = integers(0, 10000, 8)
    wanted: list[tuple[int, int]] = []
    for given in x.tolist():
        value, steps, total = given, 0, 0
        while value > 0 and steps < 20:
            lower = value - value % 3
            total += value % 3
            value, steps = value // 2 - lower // 7, steps + 1
        wanted.append((steps, total))
    arguments = {"x_ptr": x, "out_ptr": blank(8, 2, dtype=np.int32), "n": 20}
    return Case("pointwise.nested_loops", arguments, {"out_ptr": np.array(wanted)}, (8,), warps=1)


CASES = [
    *(add, add_bf16, add_f64, add_strided, saxpy_loop, swiglu, geglu, swiglu_backward, dropout),
    *(random_integers, math_functions, extremes, comparisons, select_by_flags, integer_division),
    *(unsigned, narrow_integers, wide_integers, collatz, newton, calls, libdevice_functions),
    *(inline_assembly, checked, inductor_pointwise, inductor_cat, early_returns),
    *(early_returns_in_branches, nested_loops),
]
"""A case for each kernel."""
