"""What is done with each number of a tile gives the reference device's numbers, in all types."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np
import pytest

from tests.precision.distances import unit_in_last_place
from tests.samples import one_of
from tests.transforms.distribute.kernels import printed
from tests.translate.core_to_cuda_tile.entries import lowered, tile_kernel
from tests.translate.core_to_cuda_tile.tile_functions import (
    TileKernels,
    on_scalar,
    on_tile,
    same,
    unwritten,
)
from tests.translate.xegpu_to_spirv.elementwise_kernels import FLOATS, INTEGERS, operands
from xtile.dialects.tensorlang.types import BF16, F16, F32, F64
from xtile.text.diagnostics import DiagnosticError

Case = tuple[str, tuple[str, ...], str]
"""An operation, the types of its operands and that of its result."""

_INTEGER_NAMES = (
    *("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "maxui", "minsi", "minui"),
    *("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui"),
)
_FLOAT_NAMES = (
    *("addf", "subf", "mulf", "divf", "remf"),
    *("maxnumf", "minnumf", "maximumf", "minimumf"),
)
_INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_FLOAT_PREDICATES = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)
_WIDTHS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}
_FLOAT_WIDTHS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
_MODES = ("to_nearest_even", "downward", "upward", "toward_zero")

_ANY_ZERO = ("maxnumf", "minnumf")
"""Where the sign of a zero is not specified (docs/semantics.md, 1.6)."""


def _arithmetic() -> Iterator[tuple[str, Case]]:
    for name, type in product(_INTEGER_NAMES, INTEGERS):
        yield f"{name}_{type}", (f"arith.{name} {{0}}, {{1}} : <<{type}>>", (type, type), type)
    for name, type in product(_FLOAT_NAMES, FLOATS):
        yield f"{name}_{type}", (f"arith.{name} {{0}}, {{1}} : <<{type}>>", (type, type), type)
    for predicate, type in product(_INTEGER_PREDICATES, INTEGERS):
        text = f"arith.cmpi {predicate}, {{0}}, {{1}} : <<{type}>>"
        yield f"cmpi_{predicate}_{type}", (text, (type, type), "i1")
    for predicate, type in product(_FLOAT_PREDICATES, FLOATS):
        text = f"arith.cmpf {predicate}, {{0}}, {{1}} : <<{type}>>"
        yield f"cmpf_{predicate}_{type}", (text, (type, type), "i1")
    for type in FLOATS:
        yield f"negf_{type}", (f"arith.negf {{0}} : <<{type}>>", (type,), type)
    for type in (*INTEGERS, *FLOATS):
        text = f"arith.select {{0}}, {{1}}, {{2}} : <<i1>>, <<{type}>>"
        yield f"select_{type}", (text, ("i1", type, type), type)


def _conversions() -> Iterator[tuple[str, Case]]:
    for name, text, a, b in (*_of_integers(), *_of_both(), *_of_floats()):
        yield name, (f"{text} : <<{a}>> to <<{b}>>", (a,), b)


Conversion = tuple[str, str, str, str]


def _of_integers() -> Iterator[Conversion]:
    for a, b in product(_WIDTHS, _WIDTHS):
        if _WIDTHS[a] < _WIDTHS[b]:
            yield f"extsi_{a}_{b}", "arith.extsi {0}", a, b
            yield f"extui_{a}_{b}", "arith.extui {0}", a, b
        if _WIDTHS[a] > _WIDTHS[b]:
            yield f"trunci_{a}_{b}", "arith.trunci {0}", a, b
    for type, name in product(_WIDTHS, ("index_cast", "index_castui")):
        yield f"{name}_{type}_index", f"arith.{name} {{0}}", type, "index"
        yield f"{name}_index_{type}", f"arith.{name} {{0}}", "index", type


def _of_both() -> Iterator[Conversion]:
    for integer, float_ in product(_WIDTHS, FLOATS):
        for name in ("sitofp", "uitofp"):
            yield f"{name}_{integer}_{float_}", f"arith.{name} {{0}}", integer, float_
        for name in ("fptosi", "fptoui"):
            yield f"{name}_{float_}_{integer}", f"arith.{name} {{0}}", float_, integer
    for integer, float_ in (("i16", "f16"), ("i16", "bf16"), ("i32", "f32"), ("i64", "f64")):
        yield f"bitcast_{integer}_{float_}", "arith.bitcast {0}", integer, float_
        yield f"bitcast_{float_}_{integer}", "arith.bitcast {0}", float_, integer


def _of_floats() -> Iterator[Conversion]:
    for a, b in product(FLOATS, FLOATS):
        if _FLOAT_WIDTHS[a] < _FLOAT_WIDTHS[b]:
            yield f"extf_{a}_{b}", "arith.extf {0}", a, b
        if _FLOAT_WIDTHS[a] > _FLOAT_WIDTHS[b]:
            yield f"truncf_{a}_{b}", "arith.truncf {0}", a, b
            for mode in _MODES:
                yield f"truncf_{mode}_{a}_{b}", f"arith.truncf {{0}} {mode}", a, b


_ULPS = {
    **dict.fromkeys(("cos", "exp", "exp2", "log", "log2", "rsqrt", "sin", "sqrt", "tan"), 2.0),
    **dict.fromkeys(("atan2", "cosh", "powf", "sinh", "tanh", "sincos"), 2.0),
    **dict.fromkeys(("acos", "asin", "atan", "cbrt", "expm1", "log10", "log1p"), 4.0),
    **dict.fromkeys(("acosh", "asinh", "atanh"), 6.0),
    "erf": 4.0,
}
"""Units in the last place that a result may be off on the reference device.

Functions of CUDA Tile IR are off by the reference device's own error, in both runs; composed ones
by a few roundings more.
"""

_EXACT = ("absf", "ceil", "copysign", "floor", "round", "roundeven", "trunc")
_BINARY = frozenset({"atan2", "copysign", "powf"})
_TESTS = ("isfinite", "isinf", "isnan", "isnormal")
_BITS = ("absi", "ctlz", "ctpop", "cttz")
_TYPES = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}


def _mathematics() -> Iterator[tuple[str, Case]]:
    for name, type in product((*_ULPS, *_EXACT), FLOATS):
        if name == "sincos" or (name, type) == ("erf", "f64"):
            continue
        types = (type, type) if name in _BINARY else (type,)
        values = ", ".join(f"{{{i}}}" for i in range(len(types)))
        yield f"{name}_{type}", (f"math.{name} {values} : <<{type}>>", types, type)
    for name, type in product(_TESTS, FLOATS):
        yield f"{name}_{type}", (f"math.{name} {{0}} : <<{type}>>", (type,), "i1")
    for name, type in product(_BITS, INTEGERS):
        yield f"{name}_{type}", (f"math.{name} {{0}} : <<{type}>>", (type,), type)
    for type in FLOATS:
        text = f"math.clampf {{0}} to [{{1}}, {{2}}] : <<{type}>>"
        yield f"clampf_{type}", (text, (type, type, type), type)
        text = f"math.fma {{0}}, {{1}}, {{2}} : <<{type}>>"
        yield f"fma_{type}", (text, (type, type, type), type)


CASES: Mapping[str, Mapping[str, Case]] = {
    "arithmetic": dict(_arithmetic()),
    "conversions": dict(_conversions()),
    "mathematics": dict(_mathematics()),
}


@pytest.fixture(scope="module")
def kernels() -> dict[str, TileKernels]:
    return {
        family: TileKernels({name: on_tile(*case) for name, case in cases.items()})
        for family, cases in CASES.items()
    }


@pytest.mark.parametrize(
    ("family", "name"),
    one_of(2, ((family, name) for family, cases in CASES.items() for name in cases)),
)
def test_numbers(family: str, name: str, kernels: dict[str, TileKernels]) -> None:
    _check(name, CASES[family][name], kernels[family])


def _check(name: str, case: Case, kernels: TileKernels) -> None:
    _, types, result = case
    random = np.random.default_rng(zlib.crc32(name.encode()))
    given = operands(random, types, len(unwritten(result)))
    function = name.partition("_")[0]
    if types[0] == "i1" and ("div" in function or "rem" in function):
        given[1][:] = True
    if function == "clampf":
        with np.errstate(invalid="ignore"):
            given[1:] = [np.minimum(*given[1:]), np.maximum(*given[1:])]
    if "bf16" in result or "f16" in result:
        _add_middles(given[0])
    *_, (expected, found) = kernels.on_both(name, *given, unwritten(result))
    wrong = ~same(expected, found)
    if function in _ANY_ZERO:
        wrong &= expected != found
    if function in _ULPS:
        wrong &= ~_near(expected, found, result, _ULPS[function])
    positions = np.flatnonzero(wrong)[:5]
    assert not wrong.any(), "; ".join(
        f"{[array[i] for array in given]}: {found[i]} instead of {expected[i]}" for i in positions
    )


def _near(expected: np.ndarray, found: np.ndarray, type: str, units: float) -> np.ndarray:
    """Where results are off by as many units in the last place at most."""
    limit = units * unit_in_last_place(expected, _TYPES[type])
    with np.errstate(all="ignore"):
        distance = np.abs(expected.astype(np.float64) - found.astype(np.float64))
    return distance <= limit


def _add_middles(numbers: np.ndarray) -> None:
    """Puts in integers that lie in the middle of two bf16 numbers, or just beside it."""
    if numbers.dtype.kind != "i" or numbers.itemsize < 4:
        return
    shifts = range(8, 8 * numbers.itemsize - 9)
    middles = [(257 << shift) + offset for shift in shifts for offset in (-1, 0, 1)]
    numbers[: len(middles)] = middles
    numbers[len(middles) : 2 * len(middles)] = [-middle for middle in middles]


_ON_SCALARS = ("addi_index", "muli_i8", "divsi_index", "remsi_i64", "cmpi_ult_i1", "select_index")


@pytest.mark.parametrize("name", _ON_SCALARS)
def test_scalars(name: str) -> None:
    text, types, result = CASES["arithmetic"][name]
    kernel = on_scalar(text, types, result)
    _check(name, (text, types, result), TileKernels({name: kernel}))


@pytest.mark.parametrize("family", CASES)
def test_assembler(family: str, kernels: dict[str, TileKernels]) -> None:
    kernels[family].assemble()


# --- several results, and powers ---


@pytest.mark.parametrize("type", ["i8", "i32", "i64"])
@pytest.mark.parametrize("name", ["addui_extended", "mului_extended", "mulsi_extended"])
def test_extended(name: str, type: str) -> None:
    second = "i1" if name.startswith("add") else type
    types = f"<<{type}>>, <<{second}>>" if second == "i1" else f"<<{type}>>"
    for position, result in enumerate((type, second)):
        text = f"arith.{name} {{0}}, {{1}} : {types}"
        parameters, body = on_tile(text, (type, type), result)
        body = body.replace("%r = ", "%r:2 = ").replace("store %r,", f"store %r#{position},")
        case = (text, (type, type), result)
        _check(f"{name}_{type}", case, TileKernels({f"{name}_{type}": (parameters, body)}))


@pytest.mark.parametrize("type", FLOATS)
def test_sine_and_cosine(type: str) -> None:
    for position in (0, 1):
        text = f"math.sincos {{0}} : <<{type}>>"
        parameters, body = on_tile(text, (type,), type)
        body = body.replace("%r = ", "%r:2 = ").replace("store %r,", f"store %r#{position},")
        name = f"sincos_{type}"
        _check(name, (text, (type,), type), TileKernels({name: (parameters, body)}))


@pytest.mark.parametrize("type", ["i8", "i16", "i32", "i64"])
def test_integer_powers(type: str) -> None:
    case = (f"math.ipowi {{0}}, {{1}} : <<{type}>>", (type, type), type)
    kernels = TileKernels({"ipowi": on_tile(*case)})
    random = np.random.default_rng(7)
    base = random.integers(-9, 10, 512).astype(np.dtype(type.replace("i", "int")))
    exponent = random.integers(-3, 70, 512).astype(base.dtype)
    base[(base == 0) & (exponent < 0)] = 1
    *_, (expected, found) = kernels.on_both("ipowi", base, exponent, unwritten(type))
    assert np.array_equal(expected, found)
    kernels.assemble()


@pytest.mark.parametrize("type", FLOATS)
def test_powers_of_integers(type: str) -> None:
    case = (f"math.fpowi {{0}}, {{1}} : <<{type}>>, <<i32>>", (type, "i32"), type)
    kernels = TileKernels({"fpowi": on_tile(*case)})
    random = np.random.default_rng(8)
    (base,) = operands(random, (type,), 512)
    exponent = random.integers(-9, 10, 512).astype(np.int32)
    *_, (expected, found) = kernels.on_both("fpowi", base, exponent, unwritten(type))
    assert (same(expected, found) | _near(expected, found, type, 2.0)).all()


# --- what flags allow ---


@pytest.mark.parametrize(
    ("operation", "type", "mode"),
    [
        ("arith.divf {0}, {0} fastmath<arcp> : <<f32>>", "f32", "approx"),
        ("arith.divf {0}, {0} fastmath<afn> : <<f32>>", "f32", "full"),
        ("arith.divf {0}, {0} fastmath<arcp,afn> : <<f32>>", "f32", "approx"),
        ("arith.divf {0}, {0} fastmath<contract> : <<f32>>", "f32", None),
        ("arith.divf {0}, {0} fastmath<arcp,afn> : <<f64>>", "f64", None),
        ("math.tanh {0} fastmath<afn> : <<f32>>", "f32", "approx"),
        ("math.tanh {0} fastmath<arcp> : <<f32>>", "f32", None),
        ("math.sqrt {0} fastmath<afn> : <<f64>>", "f64", None),
    ],
)
def test_flags(operation: str, type: str, mode: str | None) -> None:
    kernels = TileKernels({"k": on_tile(operation, (type,), type)})
    name = operation.partition(".")[2].partition(" ")[0]
    (line,) = [each for each in printed(kernels.module).splitlines() if f" = {name} " in each]
    found = re.search(r"rounding<(\w+)>", line)
    assert (found and found[1]) == mode
    kernels.assemble()


# --- types that are stored only ---


@pytest.mark.parametrize("type", ["f8E4M3FN", "f8E5M2"])
@pytest.mark.parametrize("source", ["f16", "f32", "f64"])
def test_narrow_floats(type: str, source: str) -> None:
    case = (f"arith.truncf {{0}} : <<{source}>> to <<{type}>>", (source,), type)
    kernels = TileKernels({"k": on_tile(*case)})
    (numbers,) = operands(np.random.default_rng(9), (source,), 512)
    numbers[:8] = [448, 464, 465, 480, 57344, 61439, 61440, 65504]
    *_, (expected, found) = kernels.on_both("k", numbers, unwritten(type))
    assert same(expected, found).all()


@pytest.mark.parametrize(
    ("operation", "types", "message"),
    [
        ("arith.truncf {0} to_nearest_away : <<f32>> to <<f16>>", ("f32", "f16"), "ties away"),
        ("arith.addi {0}, {0} : <<i24>>", ("i24", "i24"), "there are no tiles of i24"),
    ],
)
def test_refused(operation: str, types: Sequence[str], message: str) -> None:
    source, result = types
    with pytest.raises(DiagnosticError, match=message):
        lowered(tile_kernel(*on_tile(operation, (source,), result)))


def test_functions_of_spirv_are_refused_at_their_place() -> None:
    body = """
      %c0 = arith.constant 0 : index
      %a = memref.load %o[%c0] : memref<16xf32>
      %r = spirv.CL.fmax %a, %a : f32
      memref.store %r, %o[%c0] : memref<16xf32>
    """
    with pytest.raises(DiagnosticError) as caught:
        lowered(tile_kernel("%o: memref<16xf32>", body))
    (diagnostic,) = caught.value.diagnostics
    assert "spirv.CL.fmax cannot be translated to CUDA Tile IR" in diagnostic.message
    assert diagnostic.span is not None


def test_directed_casts_of_tf32() -> None:
    """They are compared as f32: CUDA Tile IR does not compare tf32."""
    body = """%c0 = arith.constant 0 : index
    %x = vector.load %a[%c0] : memref<4xf32>, vector<4xf32>
    %y = arith.truncf %x : vector<4xf32> to vector<4xtf32>
    %z = arith.truncf %y toward_zero : vector<4xtf32> to vector<4xf16>
    vector.store %z, %b[%c0] : memref<4xf16>, vector<4xf16>"""
    text = printed(lowered(tile_kernel("%a: memref<4xf32>, %b: memref<4xf16>", body)))
    compared = re.findall(r"cmpf \S+ \S+ .* : (\S+) ->", text)
    assert set(compared) == {"tile<4xf32>"}
