"""Complex arithmetic on OpenCL's CPU device is near to exact arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.precision.distances import unit_in_last_place
from tests.seeds import SEED_VARIABLE, fresh_seed
from tests.semantics.upstream.kernels import DTYPES
from tests.translate.xegpu_to_spirv.elementwise_kernels import BLOCK, COUNT, on_numbers
from tests.translate.xegpu_to_spirv.lane_kernels import (
    Array,
    LaneKernel,
    LaneKernels,
    spirv_text,
    unwritten,
    validate,
)
from xtile.dialects.tensorlang.types import C32, C64

_UNITS = {
    **dict.fromkeys(("add", "sub"), 1.0),
    "abs": 5.0,
    "angle": 6.0,
    "mul": 5.0,
    "div": 16.0,
    "sign": 8.0,
    "sqrt": 8.0,
    "rsqrt": 24.0,
    "exp": 20.0,
    "expm1": 20.0,
    "log": 8.0,
    "log1p": 8.0,
    "sin": 16.0,
    "cos": 16.0,
    "tan": 48.0,
    "tanh": 48.0,
    "atan2": 48.0,
}
"""Units in the last place of the modulus that a result may be off: about 4 for each function of a
real number and 1 for each operation that the rule of a function has one after the other."""

_POWER_UNITS = 400.0
"""e^(b log a) multiplies the error of the logarithm by |b log a|, which is at most 16 here."""

_TYPES: dict[str, tuple[str, Any]] = {"c32": ("f32", C32), "c64": ("f64", C64)}

_BINARY = ("add", "atan2", "div", "mul", "pow", "sub")

_REAL = ("abs", "angle", "im", "re")


def _log1p(a: Array) -> Array:
    """numpy's own adds 1 first, and so loses digits near 0; the other sum loses them near -1."""
    x, y = a.real, a.imag
    near_0 = 0.5 * np.log1p(2 * x + x * x + y * y) + 1j * np.arctan2(y, 1 + x)
    return np.where(np.abs(a) < 0.5, near_0, np.log(1 + a))


def _atan2(a: Array, b: Array) -> Array:
    return -1j * np.log((b + 1j * a) / np.sqrt(a * a + b * b))


def _rsqrt(a: Array) -> Array:
    return 1 / np.sqrt(a)


def _sign(a: Array) -> Array:
    return a / np.abs(a)


_EXACT: dict[str, Callable[..., Any]] = {
    "abs": np.abs,
    "add": np.add,
    "angle": np.angle,
    "atan2": _atan2,
    "conj": np.conj,
    "cos": np.cos,
    "div": np.divide,
    "exp": np.exp,
    "expm1": np.expm1,
    "im": np.imag,
    "log": np.log,
    "log1p": _log1p,
    "mul": np.multiply,
    "neg": np.negative,
    "pow": np.power,
    "re": np.real,
    "rsqrt": _rsqrt,
    "sign": _sign,
    "sin": np.sin,
    "sqrt": np.sqrt,
    "sub": np.subtract,
    "tan": np.tan,
    "tanh": np.tanh,
}
"""Each function on numpy's numbers of twice the precision."""


def _kernel(name: str, type: str) -> LaneKernel:
    part = _TYPES[type][0]
    whole = f"complex<{part}>"
    types = (whole,) * (2 if name in _BINARY else 1)
    values = ", ".join(f"{{{i}}}" for i in range(len(types)))
    text = f"complex.{name} {values} : {whole}"
    return on_numbers(text, types, part if name in _REAL else whole)


KERNELS = {f"{name}_{type}": _kernel(name, type) for name, type in product(_EXACT, _TYPES)}

_OTHERS = (
    {
        f"{name}_{type}": on_numbers(
            f"complex.{name} {{0}}, {{1}} : complex<{part}>", (f"complex<{part}>",) * 2, "i1"
        )
        for name, (type, (part, _)) in product(("eq", "neq"), _TYPES.items())
    }
    | {
        f"create_{type}": on_numbers(
            f"complex.create {{0}}, {{1}} : complex<{part}>", (part, part), f"complex<{part}>"
        )
        for type, (part, _) in _TYPES.items()
    }
    | {
        f"powi_{type}": on_numbers(
            f"complex.powi {{0}}, {{1}} : complex<{part}>, i32",
            (f"complex<{part}>", "i32"),
            f"complex<{part}>",
        )
        for type, (part, _) in _TYPES.items()
    }
    | {
        "bitcast_from": on_numbers(
            "complex.bitcast {0} : complex<f32> to i64", ("complex<f32>",), "i64"
        ),
        "bitcast_to": on_numbers(
            "complex.bitcast {0} : i64 to complex<f32>", ("i64",), "complex<f32>"
        ),
    }
)

_GRID = (COUNT // BLOCK[0], 1, 1)


@pytest.fixture(scope="module")
def kernels() -> LaneKernels:
    return LaneKernels({**KERNELS, **_OTHERS})


def _numbers(random: np.random.Generator, dtype: Any, spread: float = 1.0) -> Array:
    """Complex numbers of different sizes; some on the axes, some near 0."""
    parts = random.normal(0.0, spread, (2, COUNT)) * 10.0 ** random.uniform(-2.0, 0.5, COUNT)
    parts[0, :20] = 0.0
    parts[1, 20:40] = 0.0
    parts[0, 40:60] = np.abs(parts[0, 40:60]) * 1e-6
    parts[1, 40:60] *= 1e-6
    return (parts[0] + 1j * parts[1]).astype(dtype)


@pytest.mark.parametrize("name", KERNELS)
def test_functions(name: str, kernels: LaneKernels) -> None:
    seed = fresh_seed()
    random = np.random.default_rng(seed)
    function, type_ = name.split("_")
    part, whole = _TYPES[type_]
    dtype = DTYPES[f"complex<{part}>"]
    given = [_numbers(random, dtype) for _ in range(2 if function in _BINARY else 1)]
    output = unwritten(COUNT, part if function in _REAL else f"complex<{part}>")
    *_, (_, found) = kernels.on_both(name, *given, output, grid=_GRID)
    wide = np.clongdouble
    exact = _EXACT[function](*(array.astype(wide) for array in given))
    units = _POWER_UNITS if function == "pow" else _UNITS.get(function, 0.0)
    limit = (units + 0.5) * unit_in_last_place(exact, whole)
    if function == "atan2":
        # The formula takes the logarithm of a number near 1, which it does not know exactly.
        limit = np.maximum(limit, units * unit_in_last_place(np.ones(1), whole))
    wrong = ~(np.abs(found - exact) <= limit)
    locations = np.flatnonzero(wrong)[:5]
    assert not wrong.any(), f"{SEED_VARIABLE}={seed}: " + "; ".join(
        f"{[array[i] for array in given]}: {found[i]} instead of {exact[i]}" for i in locations
    )


@pytest.mark.parametrize("type", _TYPES)
@pytest.mark.parametrize("name", ["eq", "neq"])
def test_comparisons(name: str, type: str, kernels: LaneKernels) -> None:
    random = np.random.default_rng(fresh_seed())
    part, _ = _TYPES[type]
    parts = random.choice([0.0, -0.0, 1.0, np.nan], (4, COUNT)).astype(DTYPES[part])
    a, b = parts[0] + 1j * parts[1], parts[2] + 1j * parts[3]
    a[:9] = b[:9] = 2 + 3j
    *_, (expected, found) = kernels.on_both(
        f"{name}_{type}", a, b, unwritten(COUNT, "i1"), grid=_GRID
    )
    np.testing.assert_array_equal(found, expected)
    assert 0 < expected.sum() < COUNT


@pytest.mark.parametrize("type", _TYPES)
def test_parts_make_a_number(type: str, kernels: LaneKernels) -> None:
    random = np.random.default_rng(fresh_seed())
    part, _ = _TYPES[type]
    parts = random.choice([0.0, -0.0, 1.5, np.inf, np.nan], (2, COUNT)).astype(DTYPES[part])
    *_, (_, found) = kernels.on_both(
        f"create_{type}", *parts, unwritten(COUNT, f"complex<{part}>"), grid=_GRID
    )
    np.testing.assert_array_equal(found.real, parts[0])
    np.testing.assert_array_equal(found.imag, parts[1])
    np.testing.assert_array_equal(np.signbit(found.imag), np.signbit(parts[1]))


@pytest.mark.parametrize("type", _TYPES)
def test_powers_of_integers(type: str, kernels: LaneKernels) -> None:
    random = np.random.default_rng(fresh_seed())
    part, whole = _TYPES[type]
    base = _numbers(random, DTYPES[f"complex<{part}>"])
    exponent = random.integers(-4, 5, COUNT).astype(np.int32)
    output = unwritten(COUNT, f"complex<{part}>")
    *_, (_, found) = kernels.on_both(f"powi_{type}", base, exponent, output, grid=_GRID)
    exact = np.power(base.astype(np.clongdouble), exponent)
    limit = _POWER_UNITS * unit_in_last_place(exact, whole)
    assert (np.abs(found - exact) <= limit).all()


def test_bits(kernels: LaneKernels) -> None:
    random = np.random.default_rng(fresh_seed())
    bits = random.integers(-(2**62), 2**62, COUNT)
    *_, (expected, found) = kernels.on_both(
        "bitcast_to", bits, unwritten(COUNT, "complex<f32>"), grid=_GRID
    )
    np.testing.assert_array_equal(found.view(np.int64), expected.view(np.int64))
    numbers = bits.view(np.complex64)
    *_, (_, back) = kernels.on_both("bitcast_from", numbers, unwritten(COUNT, "i64"), grid=_GRID)
    np.testing.assert_array_equal(back, bits)


def test_quotients_do_not_overflow(kernels: LaneKernels) -> None:
    """|b|^2 would be infinite, or 0."""
    a = np.full(COUNT, 3e30 + 4e30j, np.complex64)
    b = np.full(COUNT, 1e30 - 2e30j, np.complex64)
    a[1::2], b[1::2] = 3e-30 + 4e-30j, 1e-30 - 2e-30j
    *_, (_, found) = kernels.on_both("div_c32", a, b, unwritten(COUNT, "complex<f32>"), grid=_GRID)
    np.testing.assert_allclose(found, np.full(COUNT, -1 + 2j), rtol=1e-6)


@pytest.mark.parametrize("angle", [0.0, 0.7, 1.5, 3.0])
@pytest.mark.parametrize("size", [30.0, 89.0, 1000.0])
def test_hyperbolic_tangents_of_large_numbers(
    size: float, angle: float, kernels: LaneKernels
) -> None:
    z = np.full(COUNT, size + angle * 1j, np.complex64)
    z[1::2] = -z[1::2]
    *_, (_, found) = kernels.on_both("tanh_c32", z, unwritten(COUNT, "complex<f32>"), grid=_GRID)
    np.testing.assert_allclose(found[::2], np.ones(COUNT // 2), atol=1e-6)
    np.testing.assert_allclose(found[1::2], -np.ones(COUNT // 2), atol=1e-6)


def test_module_is_valid(kernels: LaneKernels) -> None:
    validate(kernels.program.spirv)


def test_accesses_are_vectors_of_the_parts() -> None:
    body = """
        %c0 = arith.constant 0 : index
        %c = complex.constant [1.5 : f32, -2.0 : f32] : complex<f32>
        %a = memref.load %m[%c0] : memref<4xcomplex<f32>>
        %r = complex.add %a, %c : complex<f32>
        memref.store %r, %m[%c0] : memref<4xcomplex<f32>>
    """
    text = spirv_text(body, "%m: memref<4xcomplex<f32>>")
    assert "OpLoad %v2float %m Aligned 4" in text
    assert text.count("OpCompositeExtract") == 2
    assert "OpFAdd %float %a_re %float_1_5" in text
    assert "OpFAdd %float %a_im %float_n2" in text
    assert "OpCompositeConstruct %v2float %r_re %r_im" in text
    assert text.count("OpStore %m") == 1
