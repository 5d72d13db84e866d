"""Kernels that cuTile exports compute the same when raised, lowered again, and on a CPU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from tests.translate.cuda_tile_to_core.cutile_kernels import KERNELS, exported
from tests.translate.cuda_tile_to_core.raised import WAYS
from xtile.semantics.configuration import Size3

Array = Any
Case = tuple[list[Any], Size3, dict[int, Array]]
"""Arguments, a grid, and for the numbers of outputs what is in them afterwards."""


def _normal(*shape: int, dtype: Any = np.float32) -> Array:
    return fresh_generator().standard_normal(shape).astype(dtype)


def _integers(low: int, high: int, count: int) -> Array:
    return fresh_generator().integers(low, high, count).astype(np.int32)


def _blank(*shape: int, dtype: Any = np.float32) -> Array:
    return np.full(shape, -77 if np.issubdtype(dtype, np.integer) else np.nan, dtype)


def _attention() -> Case:
    q, k, v = (_normal(n, 16, dtype=np.float16) for n in (30, 50, 50))
    scores = q.astype(np.float64) @ k.astype(np.float64).T * 0.25
    weights = np.exp2(scores - scores.max(axis=1, keepdims=True))
    wanted = weights @ v.astype(np.float64) / weights.sum(axis=1, keepdims=True)
    return [q, k, v, _blank(30, 16), 0.25], (2, 1, 1), {3: wanted}


def _layer_norm() -> Case:
    x, w, b = _normal(3, 75), _normal(75), _normal(75)
    wide = x.astype(np.float64)
    centered = wide - wide.mean(axis=1, keepdims=True)
    scale = 1 / np.sqrt((centered**2).mean(axis=1, keepdims=True) + 1e-5)
    return [x, w, b, _blank(3, 75), 1e-5], (3, 1, 1), {3: centered * scale * w + b}


def _softmax() -> Case:
    x = _normal(5, 50)
    e = np.exp(x.astype(np.float64))
    return [x, _blank(5, 50)], (5, 1, 1), {1: e / e.sum(axis=1, keepdims=True)}


def _product(grid: Size3, start: float = np.nan) -> Callable[[], Case]:
    def case() -> Case:
        a, b = _normal(40, 32, dtype=np.float16), _normal(32, 16, dtype=np.float16)
        c = np.full((40, 16), start, np.float32)
        return [a, b, c], grid, {2: a.astype(np.float64) @ b.astype(np.float64)}

    return case


def _gather_scatter() -> Case:
    x, places = _normal(40), _integers(-5, 60, 70)
    inside = (places >= 0) & (places < 40)
    wanted = np.where(inside, x[np.clip(places, 0, 39)], 7)
    return [x, places, _blank(70)], (3, 1, 1), {2: wanted}


def _histogram() -> Case:
    x = _integers(0, 10, 128)
    return [x, np.zeros(10, np.int32)], (2, 1, 1), {1: np.bincount(x, minlength=10)}


def _prefix_sums() -> Case:
    x = _normal(3, 60)
    wide = x.astype(np.float64)
    wanted = wide.cumsum(axis=1) - wide[:, ::-1].cumsum(axis=1)[:, ::-1]
    return [x, _blank(3, 60)], (3, 1, 1), {1: wanted}


def _places_of_largest() -> Case:
    x = _normal(6, 60)
    return [x, _blank(6, dtype=np.int32)], (6, 1, 1), {1: x.argmax(axis=1)}


def _collatz() -> Case:
    def steps(n: int) -> int:
        count = 0
        while n != 1 and count < 20:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        return count

    x = _integers(1, 40, 12)
    wanted = np.array([steps(int(n)) for n in x])
    return [x, _blank(12, dtype=np.int32), 20], (12, 1, 1), {1: wanted}


def _quantize() -> Case:
    x = _normal(4, 64)
    scale = np.abs(x).max(axis=1, keepdims=True) / np.float32(127)
    wanted = np.floor(x / scale + np.float32(0.5)).astype(np.int8)
    outputs = [_blank(4, 64, dtype=np.int8), _blank(4)]
    return [x, *outputs], (4, 1, 1), {1: wanted, 2: scale[:, 0]}


def _rotated() -> Case:
    x = _normal(3, 64)
    wanted = np.concatenate([-x[:, 32:], x[:, :32]], axis=1).T
    return [x, _blank(64, 3)], (3, 1, 1), {1: wanted}


CASES: dict[str, Callable[[], Case]] = {
    "attention": _attention,
    "collatz": _collatz,
    "gather_scatter": _gather_scatter,
    "histogram": _histogram,
    "layer_norm": _layer_norm,
    "matmul": _product((2, 1, 1)),
    "persistent_matmul": _product((2, 1, 1)),
    "places_of_largest": _places_of_largest,
    "prefix_sums": _prefix_sums,
    "quantize": _quantize,
    "rotated": _rotated,
    "softmax": _softmax,
    "split_k_matmul": _product((3, 2, 1), start=0),
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name: str, tmp_path: Path) -> None:
    file = tmp_path / f"{name}.tileirbc"
    file.write_bytes(exported(name))
    text = xtile.to_text(xtile.parse(file), "mlir")
    case = CASES[name]()
    for way in WAYS.values():
        _check(way(text), case)


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_on_opencl(name: str, tmp_path: Path) -> None:
    file = tmp_path / f"{name}.tileirbc"
    file.write_bytes(exported(name))
    _check(file, CASES[name](), "opencl")


def _check(kernel: Any, case: Case, device: str = "reference") -> None:
    """Runs a kernel on copies of the arguments, and compares the outputs."""
    arguments, grid, wanted = case
    given = [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]
    xtile.run(kernel, given, grid, device=device)
    for number, expected in wanted.items():
        found = given[number]
        if found.dtype.kind == "i":
            np.testing.assert_array_equal(found, expected)
        else:
            # Weights of attention are rounded to f16 between two products.
            np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-3)
