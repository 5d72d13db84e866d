"""Conversions on OpenCL's CPU device give the reference device's numbers, for all operands."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.seeds import SEED_VARIABLE, fresh_seed
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
from tests.translate.xegpu_to_spirv.lane_kernels import LaneKernels, same, unwritten, validate
from xtile.text.diagnostics import DiagnosticError

_WIDTHS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}

_FLOAT_WIDTHS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}

_MODES = ("to_nearest_even", "downward", "upward", "toward_zero")


Conversion = tuple[str, str, str, str]
"""The name of a kernel, the operation with its attributes, and the two types."""


def _of_integers() -> Iterator[Conversion]:
    for a, b in product(_WIDTHS, _WIDTHS):
        if _WIDTHS[a] < _WIDTHS[b]:
            yield f"extsi_{a}_{b}", "arith.extsi {0}", a, b
            yield f"extui_{a}_{b}", "arith.extui {0}", a, b
        if _WIDTHS[a] > _WIDTHS[b]:
            yield f"trunci_{a}_{b}", "arith.trunci {0}", a, b
    for type in _WIDTHS:
        for name, (a, b) in product(("index_cast", "index_castui"), _both(type, "index")):
            yield f"{name}_{a}_{b}", f"arith.{name} {{0}}", a, b


def _between_integers_and_floats() -> Iterator[Conversion]:
    for integer, float_ in product(_WIDTHS, FLOATS):
        for name in ("sitofp", "uitofp"):
            yield f"{name}_{integer}_{float_}", f"arith.{name} {{0}}", integer, float_
        for name in ("fptosi", "fptoui"):
            yield f"{name}_{float_}_{integer}", f"arith.{name} {{0}}", float_, integer
    for integer, float_ in (("i16", "f16"), ("i16", "bf16"), ("i32", "f32"), ("i64", "f64")):
        for a, b in _both(integer, float_):
            yield f"bitcast_{a}_{b}", "arith.bitcast {0}", a, b


def _of_floats() -> Iterator[Conversion]:
    for a, b in product(FLOATS, FLOATS):
        if _FLOAT_WIDTHS[a] < _FLOAT_WIDTHS[b]:
            yield f"extf_{a}_{b}", "arith.extf {0}", a, b
        if _FLOAT_WIDTHS[a] > _FLOAT_WIDTHS[b]:
            yield f"truncf_{a}_{b}", "arith.truncf {0}", a, b
            for mode in _MODES if b != "bf16" else ():
                yield f"truncf_{mode}_{a}_{b}", f"arith.truncf {{0}} {mode}", a, b


def _both(a: str, b: str) -> tuple[tuple[str, str], tuple[str, str]]:
    return (a, b), (b, a)


_KERNELS: dict[str, tuple[str, tuple[str, ...], str]] = {
    name: (f"{text} : <<{a}>> to <<{b}>>", (a,), b)
    for name, text, a, b in (*_of_integers(), *_between_integers_and_floats(), *_of_floats())
}


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
    _add_middles(given[0], result)
    *_, (expected, found) = kernels.on_both(
        name, *given, unwritten(count, result), grid=(groups, 1, 1)
    )
    wrong = ~same(expected, found)
    locations = np.flatnonzero(wrong)[:5]
    assert not wrong.any(), f"{SEED_VARIABLE}={seed}: " + "; ".join(
        f"{given[0][i]!r}: {found[i]!r} instead of {expected[i]!r}" for i in locations
    )


def _add_middles(numbers: np.ndarray[Any, Any], result: str) -> None:
    """Puts in integers that lie in the middle of two bf16 numbers, or just beside it."""
    if result != "bf16" or numbers.dtype.kind != "i" or numbers.itemsize < 4:
        return
    shifts = range(8, 8 * numbers.itemsize - 9)
    middles = [(257 << shift) + offset for shift in shifts for offset in (-1, 0, 1)]
    numbers[: len(middles)] = middles
    numbers[len(middles) : 2 * len(middles)] = [-middle for middle in middles]


def test_modules_are_valid(numbers: LaneKernels, vectors: LaneKernels) -> None:
    validate(numbers.program.spirv)
    validate(vectors.program.spirv)


_INDEX = {
    "casts_i32": ("index.casts {0} : i32 to index", ("i32",), "index"),
    "casts_index": ("index.casts {0} : index to i32", ("index",), "i32"),
    "castu_i32": ("index.castu {0} : i32 to index", ("i32",), "index"),
    "castu_index": ("index.castu {0} : index to i32", ("index",), "i32"),
}


def test_casts_of_the_index_dialect() -> None:
    kernels = LaneKernels({name: on_numbers(*rest) for name, rest in _INDEX.items()})
    random = np.random.default_rng(fresh_seed())
    for name, (_, types, result) in _INDEX.items():
        given = operands(random, types, COUNT)
        *_, (expected, found) = kernels.on_both(
            name, *given, unwritten(COUNT, result), grid=(COUNT // BLOCK[0], 1, 1)
        )
        np.testing.assert_array_equal(found, expected, err_msg=name)


# --- what is refused ---


@pytest.mark.parametrize(
    ("operation", "types", "message"),
    [
        (
            "arith.truncf {0} to_nearest_away : f32 to f16",
            ("f32", "f16"),
            "SPIR-V does not round to nearest with ties away from zero",
        ),
        (
            "arith.truncf {0} upward : f32 to bf16",
            ("f32", "bf16"),
            "bf16 is rounded to nearest, ties to even, only",
        ),
        (
            "arith.extsi {0} : i4 to i32",
            ("i4", "i32"),
            "kernels of OpenCL have no numbers of type i4",
        ),
    ],
)
def test_refused(operation: str, types: tuple[str, str], message: str) -> None:
    kernels = LaneKernels({"k": on_numbers(operation, types[:1], types[1])})
    with pytest.raises(DiagnosticError) as caught:
        _ = kernels.program
    assert message in str(caught.value)


def test_all_integers_are_tested() -> None:
    assert set(INTEGERS) == {*_WIDTHS, "index"}
