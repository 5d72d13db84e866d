"""Numbers with few bits: bytes that hold several, casts, arithmetic, products, launches."""

from __future__ import annotations

from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xtile
from tests.transforms.distribute.kernels import printed, read, run
from tests.translate.core_to_cuda_tile.entries import (
    assemble_for_all,
    lowered,
    run_entry,
    tile_kernel,
)
from xtile.text.diagnostics import DiagnosticError
from xtile.transforms.pad import pad
from xtile.translate.route import Options, translate

Array = np.ndarray[Any, Any]

DTYPES: dict[str, Any] = {
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
    "f6E2M3FN": ml_dtypes.float6_e2m3fn,
    "f6E3M2FN": ml_dtypes.float6_e3m2fn,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
}

E2M1 = (0, 0.5, 1, 1.5, 2, 3, 4, 6)
"""The sizes of the numbers of f4E2M1FN, by their lower three bits."""


# --- packing ---

UNPACK = """
%c0 = arith.constant 0 : index
%x = vector.load %a[%c0, %c0] : memref<{rows}x{columns}xi8>, vector<{rows}x{columns}xi8>
%y = core.unpack %x axis {axis} : vector<{rows}x{columns}xi8> -> vector<{many}x{type}>
%z = {widen} %y : vector<{many}x{type}> to vector<{many}x{wide}>
vector.store %z, %o[%c0, %c0] : memref<{many}x{wide}>, vector<{many}x{wide}>
%w = core.pack %y axis {axis} : vector<{many}x{type}> -> vector<{rows}x{columns}xi8>
vector.store %w, %p[%c0, %c0] : memref<{rows}x{columns}xi8>, vector<{rows}x{columns}xi8>
"""


def packing(type: str, axis: int, rows: int, columns: int) -> tuple[str, int]:
    """A kernel that unpacks bytes and packs them again, and how many elements are in a byte."""
    count = {"f4E2M1FN": 2, "i4": 2, "i1": 8}[type]
    sizes = [rows, columns]
    sizes[axis] *= count
    is_float = type.startswith("f")
    text = UNPACK.format(
        rows=rows,
        columns=columns,
        axis=axis,
        many=f"{sizes[0]}x{sizes[1]}",
        type=type,
        wide="f32" if is_float else "i8",
        widen="arith.extf" if is_float else "arith.extsi",
    )
    wide = "f32" if is_float else "i8"
    parameters = (
        f"%a: memref<{rows}x{columns}xi8>, %o: memref<{sizes[0]}x{sizes[1]}x{wide}>, "
        f"%p: memref<{rows}x{columns}xi8>"
    )
    return tile_kernel(parameters, text), count


def elements_of(a: Array, type: str, axis: int, count: int) -> Array:
    """The elements of bytes, one after the other; those in the lowest bits first."""
    bits = 8 // count
    shape = list(a.shape)
    shape[axis] *= count
    made = np.zeros(shape, np.float32 if type.startswith("f") else np.int8)
    for position in np.ndindex(*shape):
        index = list(position)
        index[axis] //= count
        byte = int(a[tuple(index)]) % 256
        field = byte >> (position[axis] % count * bits) & (2**bits - 1)
        if type.startswith("f"):
            made[position] = E2M1[field & 7] * (-1 if field & 8 else 1)
        else:
            made[position] = field - 2**bits if field >> (bits - 1) else field
    return made


@pytest.mark.slow
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("type", ["f4E2M1FN", "i4", "i1"])
def test_packing(type: str, axis: int, rng: np.random.Generator) -> None:
    text, count = packing(type, axis, 4, 8)
    a = rng.integers(-128, 128, (4, 8)).astype(np.int8)
    expected = elements_of(a, type, axis, count)
    module = lowered(text)
    for execute in (partial(run, read(text)), partial(run_entry, text, module)):
        out, back = np.full(expected.shape, 99, expected.dtype), np.zeros_like(a)
        execute(a, out, back)
        np.testing.assert_array_equal(out, expected)
        np.testing.assert_array_equal(back, a)


def test_the_assembler_takes_packing() -> None:
    assemble_for_all(lowered(packing("f4E2M1FN", 0, 4, 8)[0]), ["sm_100"])


@pytest.mark.parametrize("axis", [0, 1])
def test_packing_in_sizes_that_are_no_powers_of_two(axis: int, rng: np.random.Generator) -> None:
    text, count = packing("f4E2M1FN", axis, 3, 5)
    a = rng.integers(-128, 128, (3, 5)).astype(np.int8)
    expected = elements_of(a, "f4E2M1FN", axis, count)
    module = pad(read(text))
    assert "vector<3x5xi8>" not in printed(module)
    out, back = np.full(expected.shape, np.nan, np.float32), np.zeros_like(a)
    run(module, a, out, back)
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(back, a)


# --- casts and arithmetic ---

CAST = """
%c0 = arith.constant 0 : index
%x = vector.load %a[%c0] : memref<64xf32>, vector<64xf32>
%y = arith.truncf %x {mode} : vector<64xf32> to vector<64x{type}>
%z = arith.extf %y : vector<64x{type}> to vector<64xf32>
vector.store %z, %o[%c0] : memref<64xf32>, vector<64xf32>
"""

SPECIAL = [0, -0.0, np.inf, -np.inf, np.nan, 1e6, -1e6, 449, 465, 57345, 61440, 7, 7.6, 29, 1e-9]


def casting(type: str, mode: str) -> str:
    body = CAST.replace("{type}", type).replace("{mode}", mode)
    return tile_kernel("%a: memref<64xf32>, %o: memref<64xf32>", body)


def numbers(rng: np.random.Generator) -> Array:
    a = (rng.standard_normal(64) * np.exp2(rng.integers(-12, 12, 64))).astype(np.float32)
    a[: len(SPECIAL)] = SPECIAL
    return a


LARGEST = {"f4E2M1FN": 6, "f6E2M3FN": 7.5, "f6E3M2FN": 28, "f8E4M3FN": 448, "f8E5M2": 57344}


@pytest.mark.parametrize("type", DTYPES)
def test_saturation(type: str, rng: np.random.Generator) -> None:
    """What is too large becomes the largest number; of f8E8M0FNU sizes are rounded up."""
    a, out, text = numbers(rng), np.full(64, 99, np.float32), casting(type, "{core.saturate}")
    run(read(text), a, out)
    if type == "f8E8M0FNU":
        with np.errstate(divide="ignore"):
            power = np.ceil(np.log2(np.abs(a.astype(np.float64))))
        expected = np.exp2(np.clip(power, -127, 127))
    else:
        largest = LARGEST[type]
        with np.errstate(over="ignore"):
            expected = np.clip(a, -largest, largest).astype(DTYPES[type]).astype(np.float64)
        if not type.startswith("f8"):
            expected[np.isnan(a)] = largest
    np.testing.assert_array_equal(out, expected.astype(np.float32))
    if type.startswith("f6"):
        return
    made = np.full(64, 99, np.float32)
    run_entry(text, lowered(text), a, made)
    np.testing.assert_array_equal(made, out)


@pytest.mark.parametrize("type", ["f4E2M1FN", "f8E4M3FN", "f8E5M2"])
def test_without_saturation(type: str, rng: np.random.Generator) -> None:
    """What is too large is infinite, or NaN where there is no infinity; f4 has neither."""
    a, out, made = numbers(rng), np.full(64, 99, np.float32), np.full(64, 99, np.float32)
    text = casting(type, "")
    run(read(text), a, out)
    run_entry(text, lowered(text), a, made)
    is_given = ~np.isnan(a) if type == "f4E2M1FN" else np.ones(64, np.bool_)
    np.testing.assert_array_equal(made[is_given], out[is_given])
    too_large = {"f4E2M1FN": 6, "f8E4M3FN": np.nan, "f8E5M2": np.inf}[type]
    np.testing.assert_array_equal(out[2], np.float32(too_large))


def test_saturation_is_refused_where_nobody_knows_it() -> None:
    body = """%y = arith.truncf %x {core.saturate} : f32 to f8E5M2
    memref.store %y, %o[] : memref<f8E5M2>"""
    text = tile_kernel("%x: f32, %o: memref<f8E5M2>", body).replace('"tile"', '"subgroup"')
    with pytest.raises(
        DiagnosticError, match="lanes have no numbers of 4 to 8 bits; use f16 or bf16"
    ):
        translate(read(text), "core-to-xegpu", Options("pvc"))


def test_what_cuda_tile_refuses() -> None:
    with pytest.raises(DiagnosticError, match=r"upwards; write core\.saturate"):
        lowered(casting("f8E8M0FNU", ""))
    with pytest.raises(DiagnosticError, match="there are no tiles of f6E2M3FN"):
        lowered(casting("f6E2M3FN", ""))
    with pytest.raises(DiagnosticError, match=r"holds two in a byte .* use core\.unpack"):
        lowered(tile_kernel("%a: memref<8xf4E2M1FN>", ""))


ARITHMETIC = """
%c0 = arith.constant 0 : index
%x = vector.load %a[%c0] : memref<64x{type}>, vector<64x{type}>
%y = vector.load %b[%c0] : memref<64x{type}>, vector<64x{type}>
%s = arith.addf %x, %y : vector<64x{type}>
%p = arith.mulf %s, %y : vector<64x{type}>
%c = arith.cmpf olt, %x, %p : vector<64x{type}>
%r = arith.select %c, %p, %x : vector<64xi1>, vector<64x{type}>
vector.store %r, %o[%c0] : memref<64x{type}>, vector<64x{type}>
"""


@pytest.mark.slow
@pytest.mark.parametrize("type", ["f8E4M3FN", "f8E5M2"])
def test_arithmetic_in_memory_of_f8(type: str, rng: np.random.Generator) -> None:
    """Each result is rounded once."""
    parameters = ", ".join(f"%{name}: memref<64x{type}>" for name in "abo")
    text = tile_kernel(parameters, ARITHMETIC.replace("{type}", type))
    dtype = DTYPES[type]
    a, b = (rng.standard_normal(64).astype(dtype) for _ in range(2))
    out, made = np.zeros(64, dtype), np.zeros(64, dtype)
    xtile.run(text, (a, b, out))
    run_entry(text, lowered(text), a, b, made)
    wide = [each.astype(np.float32) for each in (a, b)]
    total = (wide[0] + wide[1]).astype(dtype).astype(np.float32)
    product = (total * wide[1]).astype(dtype)
    expected = np.where(wide[0] < product.astype(np.float32), product, a)
    np.testing.assert_array_equal(out.view(np.uint8), expected.view(np.uint8))
    np.testing.assert_array_equal(made.view(np.uint8), expected.view(np.uint8))


@pytest.mark.parametrize("type", DTYPES)
def test_launches_take_arrays_of_ml_dtypes(type: str, rng: np.random.Generator) -> None:
    """One element is one byte, also of those with fewer bits."""
    text = tile_kernel(
        f"%a: memref<4x8x{type}>, %o: memref<8x4x{type}>",
        f"""%c0 = arith.constant 0 : index
        %x = vector.load %a[%c0, %c0] : memref<4x8x{type}>, vector<4x8x{type}>
        %t = vector.transpose %x, [1, 0] : vector<4x8x{type}> to vector<8x4x{type}>
        vector.store %t, %o[%c0, %c0] : memref<8x4x{type}>, vector<8x4x{type}>""",
    )
    a = np.abs(rng.standard_normal((4, 8))).astype(DTYPES[type])
    out = np.zeros((8, 4), DTYPES[type])
    xtile.run(text, (a, out))
    np.testing.assert_array_equal(out.view(np.uint8), a.T.view(np.uint8))


# --- products ---

PRODUCT = """
%c0 = arith.constant 0 : index
%x = vector.load %a[%c0, %c0] : memref<{m}x{k}x{type}>, vector<{m}x{k}x{type}>
%y = vector.load %b[%c0, %c0] : memref<{k}x{n}x{type}>, vector<{k}x{n}x{type}>
%z = vector.load %c[%c0, %c0] : memref<{m}x{n}xf32>, vector<{m}x{n}xf32>
%s = vector.contract {{
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
                     affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}}
    %x, %y, %z : vector<{m}x{k}x{type}>, vector<{k}x{n}x{type}> into vector<{m}x{n}xf32>
vector.store %s, %o[%c0, %c0] : memref<{m}x{n}xf32>, vector<{m}x{n}xf32>
"""


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(16, 16, 32), (5, 9, 7)])
@pytest.mark.parametrize("type", ["f8E4M3FN", "f8E5M2"])
def test_products_of_f8(type: str, sizes: tuple[int, int, int], rng: np.random.Generator) -> None:
    m, n, k = sizes
    text = tile_kernel(
        f"%a: memref<{m}x{k}x{type}>, %b: memref<{k}x{n}x{type}>, %c: memref<{m}x{n}xf32>, "
        f"%o: memref<{m}x{n}xf32>",
        PRODUCT.format(m=m, n=n, k=k, type=type),
    )
    a, b = (rng.standard_normal(shape).astype(DTYPES[type]) for shape in ((m, k), (k, n)))
    c, out = rng.standard_normal((m, n), np.float32), np.full((m, n), np.nan, np.float32)
    wide = [each.astype(np.float64) for each in (a, b)]
    expected, scale = wide[0] @ wide[1] + c, np.abs(wide[0]) @ np.abs(wide[1]) + np.abs(c)
    run(read(text), a, b, c, out)
    assert (np.abs(out - expected) <= 2**-20 * scale).all()
    module = pad(read(text))
    out[:] = np.nan
    run(module, a, b, c, out)
    assert (np.abs(out - expected) <= 2**-20 * scale).all()
    made = lowered(printed(module))
    (line,) = [each for each in printed(made).splitlines() if "mmaf" in each]
    assert line.count(type) == 2
    out[:] = np.nan
    run_entry(text, made, a, b, c, out)
    assert (np.abs(out - expected) <= 2**-20 * scale).all()
