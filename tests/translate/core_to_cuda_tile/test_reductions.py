"""Reductions and scans of tiles, in all types and kinds."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tests.samples import one_of
from tests.transforms.distribute.kernels import read, run
from tests.translate.core_to_cuda_tile.entries import (
    assemble_for_all,
    lowered,
    run_entry,
    tile_function,
    tile_kernel,
)
from xtile.targets import NVIDIA
from xtile.text.diagnostics import DiagnosticError
from xtile.translate.core_to_cuda_tile import translate_module

pytestmark = pytest.mark.slow

_FLOAT_KINDS = ("add", "mul", "maxnumf", "minnumf", "maximumf", "minimumf")
_INTEGER_KINDS = ("add", "mul", "and", "or", "xor", "maxsi", "maxui", "minsi", "minui")
_FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
_INTEGERS = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "i1": np.bool_}
_CASES = [
    *product(_FLOAT_KINDS, (*_FLOATS, "bf16")),
    *product(_INTEGER_KINDS, _INTEGERS),
]
_TOLERANCES = {"f16": 2e-3, "bf16": 2e-2, "f32": 1e-5, "f64": 1e-13}
"""The order of sums and products is not specified."""


def _dtype(type: str) -> type:
    import ml_dtypes

    return {**_FLOATS, **_INTEGERS}.get(type, ml_dtypes.bfloat16)


def _numbers(type: str, *shape: int) -> np.ndarray:
    random = np.random.default_rng(11)
    if type in _INTEGERS:
        return random.integers(0, 2 if type == "i1" else 100, shape).astype(_dtype(type))
    return random.uniform(0.5, 1.5, shape).astype(_dtype(type))


def _parameters(type: str, kept: str) -> str:
    return f"%a: memref<8x16x{type}>, %b: memref<{kept}{type}>, %out: memref<{kept}{type}>"


def _reduction(kind: str, type: str, axes: str) -> tuple[str, str]:
    """The parameters and the body of a kernel that reduces some dimensions."""
    kept = {"0": "16x", "1": "8x", "0, 1": ""}[axes]
    at = "%c0" if kept else ""
    result = f"vector<{kept}{type}>" if kept else type
    load, store = ("vector", "vector") if kept else ("memref", "memref")
    with_type = f", {result}" if kept else ""
    body = f"""
        %c0 = arith.constant 0 : index
        %v = vector.load %a[%c0, %c0] : memref<8x16x{type}>, vector<8x16x{type}>
        %s = {load}.load %b[{at}] : memref<{kept}{type}>{with_type}
        %r = vector.multi_reduction <{kind}>, %v, %s [{axes}] : vector<8x16x{type}> to {result}
        {store}.store %r, %out[{at}] : memref<{kept}{type}>{with_type}"""
    return _parameters(type, kept), body


@pytest.mark.parametrize(("case", "axes"), one_of(2, product(_CASES, ["0", "1", "0, 1"])), ids=str)
def test_reductions(case: tuple[str, str], axes: str) -> None:
    kind, type = case
    text = tile_kernel(*_reduction(kind, type, axes))
    shape = {"0": (16,), "1": (8,), "0, 1": ()}[axes]
    _check(text, type, _numbers(type, 8, 16), _numbers(type, *shape))


def _check(text: str, type: str, a: np.ndarray, start: np.ndarray) -> None:
    expected, found = (np.full_like(start, 77 if type != "i1" else False) for _ in range(2))
    run(read(text), a, start, expected)
    run_entry(text, lowered(text), a, start, found)
    if type in _TOLERANCES:
        wide = np.float64
        assert np.allclose(expected.astype(wide), found.astype(wide), rtol=_TOLERANCES[type])
    else:
        assert np.array_equal(expected, found)


@pytest.mark.parametrize("kind", ["maxnumf", "minnumf", "maximumf", "minimumf"])
def test_nan(kind: str) -> None:
    """maxnumf ignores a NaN unless there is nothing else; maximumf keeps it."""
    text = tile_kernel(*_reduction(kind, "f32", "1"))
    a = np.full((8, 16), np.nan, np.float32)
    a[1:3, 4:6] = [[1, 2], [-np.inf, 3]]
    start = np.array([np.nan, 7, 1, np.nan, 0, -1, np.inf, -np.inf], np.float32)
    expected, found = (np.zeros(8, np.float32) for _ in range(2))
    run(read(text), a, start, expected)
    run_entry(text, lowered(text), a, start, found)
    assert np.array_equal(expected, found, equal_nan=True)


@pytest.mark.parametrize("type", ["f16", "bf16", "f32", "f64", "i8", "i32", "i64"])
@pytest.mark.parametrize("axis", [0, 1])
def test_scans(type: str, axis: int) -> None:
    text = tile_kernel(*_scan(type, axis))
    kept = (16, 8)[axis]
    a = _numbers(type, 8, 16)
    expected, found = ((np.zeros_like(a), np.zeros(kept, a.dtype)) for _ in range(2))
    run(read(text), a, *expected)
    run_entry(text, lowered(text), a, *found)
    for one, other in zip(expected, found, strict=True):
        assert np.allclose(
            one.astype(np.float64), other.astype(np.float64), rtol=_TOLERANCES.get(type, 0)
        )


def _scan(type: str, axis: int, inclusive: str = "true") -> tuple[str, str]:
    kept = (16, 8)[axis]
    zero = "0" if type in _INTEGERS else "0.0"
    parameters = f"%a: memref<8x16x{type}>, %b: memref<8x16x{type}>, %c: memref<{kept}x{type}>"
    body = f"""
        %c0 = arith.constant 0 : index
        %z = arith.constant dense<{zero}> : vector<{kept}x{type}>
        %v = vector.load %a[%c0, %c0] : memref<8x16x{type}>, vector<8x16x{type}>
        %r, %last = vector.scan <add>, %v, %z {{inclusive = {inclusive},
            reduction_dim = {axis} : i64}} : vector<8x16x{type}>, vector<{kept}x{type}>
        vector.store %r, %b[%c0, %c0] : memref<8x16x{type}>, vector<8x16x{type}>
        vector.store %last, %c[%c0] : memref<{kept}x{type}>, vector<{kept}x{type}>"""
    return parameters, body


def test_exclusive_scans_are_refused() -> None:
    with pytest.raises(DiagnosticError, match="an exclusive scan cannot be translated"):
        lowered(tile_kernel(*_scan("f32", 0, "false")))


def test_assembler() -> None:
    kernels = [
        *(_reduction(kind, type, "1") for kind, type in _CASES),
        *(_reduction("add", "f32", axes) for axes in ("0", "0, 1")),
        *(_scan(type, axis) for type in ("f16", "bf16", "f32", "f64", "i8") for axis in (0, 1)),
    ]
    functions = [tile_function(*kernel, name=f"k{i}") for i, kernel in enumerate(kernels)]
    text = "gpu.module @m {\n" + "\n".join(functions) + "\n}"
    assemble_for_all(translate_module(read(text), NVIDIA.chips["sm_90"]))


@pytest.mark.parametrize("start", [-0.0, 0.0])
def test_sums_of_negative_zeros(start: float) -> None:
    """They are negative unless a positive zero is among them."""
    text = tile_kernel(
        "%a: memref<4x8xf32>, %o: memref<4xf32>",
        f"""%c0 = arith.constant 0 : index
        %s = arith.constant dense<{start}> : vector<4xf32>
        %x = vector.load %a[%c0, %c0] : memref<4x8xf32>, vector<4x8xf32>
        %r = vector.multi_reduction <add>, %x, %s [1] : vector<4x8xf32> to vector<4xf32>
        vector.store %r, %o[%c0] : memref<4xf32>, vector<4xf32>""",
    )
    a = np.full((4, 8), -0.0, np.float32)
    a[2, 3] = 0
    expected, made = (np.full(4, np.nan, np.float32) for _ in range(2))
    run(read(text), a, expected)
    run_entry(text, lowered(text), a, made)
    assert np.signbit(expected).tolist() == [bool(np.signbit(start)) and i != 2 for i in range(4)]
    np.testing.assert_array_equal(made.view(np.int32), expected.view(np.int32))
