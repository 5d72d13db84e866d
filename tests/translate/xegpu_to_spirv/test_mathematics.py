"""Functions on OpenCL's CPU device are as near to the reference device's as OpenCL demands."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

from tests.precision.distances import unit_in_last_place
from tests.seeds import SEED_VARIABLE, fresh_seed
from tests.semantics.upstream.kernels import DTYPES
from tests.translate.xegpu_to_spirv.elementwise_kernels import (
    BLOCK,
    COUNT,
    FLOATS,
    INTEGERS,
    LENGTH,
    VECTORS,
    on_numbers,
    on_vectors,
    operands,
)
from tests.translate.xegpu_to_spirv.lane_kernels import (
    Array,
    LaneKernel,
    LaneKernels,
    same,
    spirv_text,
    unwritten,
    validate,
)
from xtile.dialects.tensorlang.types import BF16, F16, F32, F64

_ULPS: dict[str, tuple[float, float]] = {
    "acos": (4, 4),
    "acosh": (4, 4),
    "asin": (4, 4),
    "asinh": (4, 4),
    "atan": (5, 5),
    "atan2": (6, 6),
    "atanh": (5, 5),
    "cbrt": (2, 2),
    "cos": (4, 4),
    "cosh": (4, 4),
    "erf": (16, 16),
    "erfc": (16, 16),
    "exp": (3, 3),
    "exp2": (3, 3),
    "expm1": (3, 3),
    "log": (3, 3),
    "log10": (3, 3),
    "log1p": (2, 2),
    "log2": (3, 3),
    "powf": (16, 16),
    "rsqrt": (2, 2),
    "sin": (4, 4),
    "sinh": (4, 4),
    "sqrt": (3, 1),
    "tan": (5, 5),
    "tanh": (5, 5),
}
"""Units in the last place of f32 and of f64 that a device may be off (OpenCL C 3.0, 7.4)."""

_REFERENCE = 1.0
"""What the reference device may be off: f64 is within an ulp or so, everything else is rounded."""

_EXACT = ("absf", "ceil", "copysign", "floor", "round", "roundeven", "trunc")

_BINARY = frozenset({"atan2", "copysign", "powf"})

_TYPES = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}

_TESTS = ("isfinite", "isinf", "isnan", "isnormal")

_BITS = ("absi", "ctlz", "ctpop", "cttz")


def _operations() -> Iterator[tuple[str, str, tuple[str, ...], str]]:
    for name, type in product((*_ULPS, *_EXACT), FLOATS):
        types = (type, type) if name in _BINARY else (type,)
        values = ", ".join(f"{{{i}}}" for i in range(len(types)))
        yield f"{name}_{type}", f"math.{name} {values} : <<{type}>>", types, type
    for name, type in product(_TESTS, FLOATS):
        yield f"{name}_{type}", f"math.{name} {{0}} : <<{type}>>", (type,), "i1"
    for name, type in product(_BITS, INTEGERS):
        yield f"{name}_{type}", f"math.{name} {{0}} : <<{type}>>", (type,), type
    for type in FLOATS:
        text = f"math.clampf {{0}} to [{{1}}, {{2}}] : <<{type}>>"
        yield f"clampf_{type}", text, (type, type, type), type
        text = f"math.fma {{0}}, {{1}}, {{2}} : <<{type}>>"
        yield f"fma_{type}", text, (type, type, type), type


_KERNELS = {name: (text, types, result) for name, text, types, result in _operations()}


ON_NUMBERS = {name: on_numbers(*rest) for name, rest in _KERNELS.items()}


@pytest.fixture(scope="module")
def numbers() -> LaneKernels:
    return LaneKernels(ON_NUMBERS)


@pytest.fixture(scope="module")
def vectors() -> LaneKernels:
    return LaneKernels({name: on_vectors(*rest) for name, rest in _KERNELS.items()})


@pytest.mark.parametrize("name", _KERNELS)
def test_numbers(name: str, numbers: LaneKernels) -> None:
    _check(name, numbers, COUNT, COUNT // BLOCK[0])


@pytest.mark.parametrize("name", _KERNELS)
def test_vectors(name: str, vectors: LaneKernels) -> None:
    _check(name, vectors, VECTORS * LENGTH, VECTORS)


def _check(name: str, kernels: LaneKernels, count: int, groups: int) -> None:
    seed = fresh_seed()
    _, types, result = _KERNELS[name]
    given = operands(np.random.default_rng(seed), types, count)
    if name.startswith("clampf"):
        with np.errstate(invalid="ignore"):
            given[1:] = [np.minimum(*given[1:]), np.maximum(*given[1:])]
    *_, (expected, found) = kernels.on_both(
        name, *given, unwritten(count, result), grid=(groups, 1, 1)
    )
    function = name.partition("_")[0]
    wrong = ~_near(expected, found, _limit(function, result, expected))
    locations = np.flatnonzero(wrong)[:5]
    assert not wrong.any(), f"{SEED_VARIABLE}={seed}: " + "; ".join(
        f"{[array[i] for array in given]}: {found[i]} instead of {expected[i]}" for i in locations
    )


def _limit(function: str, type: str, expected: Array) -> npt.NDArray[np.float64]:
    """How far a result may be off."""
    if function == "fma" and type in ("f16", "bf16"):
        # f32 is rounded once more, which moves a number in the middle of two to one of them.
        return unit_in_last_place(expected, _TYPES[type])
    if function not in _ULPS:
        return np.zeros(len(expected))
    single, double = _ULPS[function]
    # f16 and bf16 are computed in f32, whose error moves them to the next number at most.
    units = {"f32": single, "f64": double}.get(type, 0.0) + _REFERENCE
    units_in_last_place: npt.NDArray[np.float64] = unit_in_last_place(expected, _TYPES[type])
    return units * units_in_last_place


def _near(expected: Array, found: Array, limit: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    equal = same(expected, found)
    if expected.dtype.kind in "iub":
        return equal
    with np.errstate(all="ignore"):
        distance = np.abs(expected.astype(np.float64) - found.astype(np.float64))
    return equal | ((distance <= limit) & (limit > 0))


def test_modules_are_valid(numbers: LaneKernels, vectors: LaneKernels) -> None:
    validate(numbers.program.spirv)
    validate(vectors.program.spirv)


# --- powers, and two results ---

_POWERS = {
    **{
        f"fpowi_{a}_{b}": on_numbers(f"math.fpowi {{0}}, {{1}} : {a}, {b}", (a, b), a)
        for a, b in product(FLOATS, ("i16", "i32", "i64"))
    },
    **{
        f"ipowi_{type}": on_numbers(f"math.ipowi {{0}}, {{1}} : {type}", (type, type), type)
        for type in INTEGERS
        if type != "index"
    },
    **{
        f"sincos_{type}": LaneKernel(
            f"%a: memref<{COUNT}x{type}>, %s: memref<{COUNT}x{type}>, %c: memref<{COUNT}x{type}>",
            f"""
            %x = gpu.global_id x
            %0 = memref.load %a[%x] : memref<{COUNT}x{type}>
            %1, %2 = math.sincos %0 : {type}
            memref.store %1, %s[%x] : memref<{COUNT}x{type}>
            memref.store %2, %c[%x] : memref<{COUNT}x{type}>
            """,
            BLOCK,
        )
        for type in FLOATS
    },
}

_GRID = (COUNT // BLOCK[0], 1, 1)


@pytest.fixture(scope="module")
def powers() -> LaneKernels:
    return LaneKernels(_POWERS)


@pytest.mark.parametrize("name", [name for name in _POWERS if name.startswith("fpowi")])
def test_powers_of_integers(name: str, powers: LaneKernels) -> None:
    random = np.random.default_rng(fresh_seed())
    _, a, b = name.split("_")
    base = random.normal(0.0, 1.5, COUNT).astype(DTYPES[a])
    exponent = random.integers(-12, 13, COUNT).astype(DTYPES[b])
    *_, (expected, found) = powers.on_both(name, base, exponent, unwritten(COUNT, a), grid=_GRID)
    units = {"f32": 16.0, "f64": 16.0}.get(a, 0.0) + _REFERENCE
    assert _near(expected, found, units * unit_in_last_place(expected, _TYPES[a])).all()


@pytest.mark.parametrize("name", [name for name in _POWERS if name.startswith("ipowi")])
def test_integer_powers(name: str, powers: LaneKernels) -> None:
    random = np.random.default_rng(fresh_seed())
    type_ = name.removeprefix("ipowi_")
    base, exponent = operands(random, (type_, type_), COUNT)
    # Zero to a negative power is a division by zero.
    exponent[(base == 0) & (exponent < 0)] = 3
    if type_ == "i1":
        exponent[~base] = False
    *_, (expected, found) = powers.on_both(
        name, base, exponent, unwritten(COUNT, type_), grid=_GRID
    )
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("type", FLOATS)
def test_sine_and_cosine(type: str, powers: LaneKernels) -> None:
    random = np.random.default_rng(fresh_seed())
    (angle,) = operands(random, (type,), COUNT)
    outputs = unwritten(COUNT, type), unwritten(COUNT, type)
    _, *results = powers.on_both(f"sincos_{type}", angle, *outputs, grid=_GRID)
    for expected, found in results:
        assert _near(expected, found, _limit("sin", type, expected)).all()


# --- what is written ---

_BODY = """
    %c0 = arith.constant 0 : index
    %x = memref.load %a[%c0] : memref<4xf32>
    %r = math.log %x {flags}: f32
    memref.store %r, %a[%c0] : memref<4xf32>
"""


def test_approximate_functions_are_native() -> None:
    exact = spirv_text(_BODY.format(flags=""), "%a: memref<4xf32>")
    approximate = spirv_text(_BODY.format(flags="fastmath<afn> "), "%a: memref<4xf32>")
    assert exact.count(" log ") == 1
    assert "native_log" not in exact
    assert approximate.count(" native_log ") == 1


def test_functions_of_half_are_computed_in_single_precision() -> None:
    body = _BODY.format(flags="").replace("f32", "f16")
    text = spirv_text(body, "%a: memref<4xf16>")
    assert text.count("OpFConvert %float") == 1
    assert text.count("OpFConvert %half") == 1
