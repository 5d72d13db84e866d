"""Elements chosen or counted by integers: composed in CUDA Tile IR, they are what they are here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_generator
from tests.transforms.distribute.kernels import DTYPES, read, run
from tests.translate.core_to_cuda_tile.entries import (
    assemble_for_all,
    lowered,
    run_entry,
    tile_kernel,
)

Shape = tuple[int, ...]


def vector(shape: Shape, element: str) -> str:
    return f"vector<{'x'.join(map(str, shape))}x{element}>"


def memory(shape: Shape, element: str) -> str:
    return f"memref<{'x'.join(map(str, shape))}x{element}>"


def load(name: str, source: str, shape: Shape, element: str) -> str:
    indices = ", ".join(["%c0"] * len(shape))
    types = f"{memory(shape, element)}, {vector(shape, element)}"
    return f"{name} = vector.load {source}[{indices}] : {types}\n"


def store(value: str, target: str, shape: Shape, element: str) -> str:
    indices = ", ".join(["%c0"] * len(shape))
    types = f"{memory(shape, element)}, {vector(shape, element)}"
    return f"vector.store {value}, {target}[{indices}] : {types}\n"


def gather(source: Shape, positions: Shape, axis: int, element: str, position: str) -> str:
    parameters = (
        f"%v: {memory(source, element)}, %p: {memory(positions, position)}, "
        f"%o: {memory(positions, element)}"
    )
    body = (
        "%c0 = arith.constant 0 : index\n"
        + load("%x", "%v", source, element)
        + load("%n", "%p", positions, position)
        + f"%r = core.gather %x[%n] axis {axis} : {vector(source, element)}, "
        + f"{vector(positions, position)} -> {vector(positions, element)}\n"
        + store("%r", "%o", positions, element)
    )
    return tile_kernel(parameters, body)


GATHERS: list[tuple[Shape, Shape, int, str, str]] = [
    ((8,), (16,), 0, "f32", "i32"),
    ((1,), (4,), 0, "f32", "i32"),
    ((4, 8), (2, 16), 1, "f64", "index"),
    ((4, 8), (16, 4), 0, "i8", "i64"),
    ((4, 8), (4, 1), 1, "f16", "i8"),
    ((2, 4, 8), (2, 2, 8), 1, "bf16", "i16"),
    # What these become is padded to powers of two.
    ((5, 9), (3, 7), 1, "i32", "i32"),
    ((3, 6), (5, 6), 0, "i64", "i32"),
]


@pytest.mark.parametrize("case", GATHERS, ids=str)
def test_gathers(case: tuple[Shape, Shape, int, str, str]) -> None:
    source, positions, axis, element, position = case
    rng = fresh_generator()
    x = rng.integers(-9, 9, source).astype(DTYPES[element])
    chosen = rng.integers(0, source[axis], positions).astype(DTYPES[position])
    here, there = (np.full(positions, 77).astype(x.dtype) for _ in range(2))
    text = gather(*case)
    run(read(text), x, chosen, here)
    run_entry(text, lowered(text), x, chosen, there)
    part = tuple(slice(None) if i == axis else slice(n) for i, n in enumerate(positions))
    np.testing.assert_array_equal(here, np.take_along_axis(x[part], chosen.astype(int), axis))
    np.testing.assert_array_equal(there, here)


def histogram(source: Shape, bins: int, element: str, result: str, mask: bool) -> str:
    parameters = (
        f"%v: {memory(source, element)}, %k: {memory(source, 'i8')}, %o: {memory((bins,), result)}"
    )
    body = (
        "%c0 = arith.constant 0 : index\n"
        + load("%x", "%v", source, element)
        + load("%b", "%k", source, "i8")
        + f"%m = arith.trunci %b : {vector(source, 'i8')} to {vector(source, 'i1')}\n"
        + f"%r = core.histogram %x{', %m' if mask else ''} : {vector(source, element)}"
        + (f", {vector(source, 'i1')}" if mask else "")
        + f" -> {vector((bins,), result)}\n"
        + store("%r", "%o", (bins,), result)
    )
    return tile_kernel(parameters, body)


HISTOGRAMS: list[tuple[Shape, int, str, str, bool]] = [
    ((64,), 16, "i32", "i32", False),
    ((4, 16), 8, "i64", "index", True),
    ((512,), 256, "i8", "i16", True),
    ((512,), 64, "i8", "i8", False),
    ((8,), 1, "i32", "i64", False),
    ((1,), 4, "i16", "i32", True),
    ((16,), 8192, "index", "i32", True),
    # What these become is padded to powers of two.
    ((5, 7), 11, "i32", "i32", True),
    ((23,), 6, "i16", "i32", False),
]


@pytest.mark.parametrize("case", HISTOGRAMS, ids=str)
def test_histograms(case: tuple[Shape, int, str, str, bool]) -> None:
    source, bins, element, result, is_masked = case
    rng = fresh_generator()
    x: Any = rng.integers(0, bins, source)
    mask = rng.integers(0, 2, source)
    if is_masked:
        # What does not count may be any number.
        x = np.where(mask == 1, x, rng.integers(-(2**40), 2**40, source))
    given = x.astype(DTYPES[element])
    here, there = (np.full(bins, 77).astype(DTYPES[result]) for _ in range(2))
    text = histogram(*case)
    run(read(text), given, mask.astype(np.int8), here)
    run_entry(text, lowered(text), given, mask.astype(np.int8), there)
    counted = x[mask == 1] if is_masked else x.ravel()
    np.testing.assert_array_equal(here, np.bincount(counted, minlength=bins).astype(here.dtype))
    np.testing.assert_array_equal(there, here)


def test_nvidia_compiles_them() -> None:
    for text in (gather(*GATHERS[2]), gather(*GATHERS[5]), histogram(*HISTOGRAMS[2])):
        assemble_for_all(lowered(text), ["sm_90"])


def test_pointers_are_gathered() -> None:
    body = """
      %c0 = arith.constant 0 : index
      %n = vector.load %p[%c0] : memref<4xi32>, vector<4xi32>
      %t = vector.load %table[%c0] : memref<2x!core.ptr<f32>>, vector<2x!core.ptr<f32>>
      %q = core.gather %t[%n] axis 0
          : vector<2x!core.ptr<f32>>, vector<4xi32> -> vector<4x!core.ptr<f32>>
      %v = core.gather_load %q : vector<4x!core.ptr<f32>> -> vector<4xf32>
      vector.store %v, %o[%c0] : memref<4xf32>, vector<4xf32>
    """
    text = tile_kernel(
        "%table: memref<2x!core.ptr<f32>>, %p: memref<4xi32>, %o: memref<4xf32>", body
    )
    rows: Any = fresh_generator().standard_normal((2, 3)).astype(np.float32)
    chosen = np.array([1, 0, 0, 1], np.int32)
    here, there = (np.full(4, np.nan, np.float32) for _ in range(2))
    run(read(text), list(rows), chosen, here)
    run_entry(text, lowered(text), list(rows), chosen, there)
    np.testing.assert_array_equal(here, rows[chosen, 0])
    np.testing.assert_array_equal(there, here)
