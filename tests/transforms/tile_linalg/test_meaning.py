"""Linear algebra on tiles computes what the language says, on random numbers.

Sizes are the ones that kernels have: hardly any is a power of two. Memory around what the
operations use holds NaN, and so do outputs that are not read.
"""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from tests.samples import one_of
from tests.transforms.linear_algebra import Case, cases, transposed
from tests.transforms.tile_linalg.kernels import TARGETS

SIZES = (1, 9, 10, 16, 20, 35, 56, 84, 100)


def sizes_of(count: int, *key: object) -> list[int]:
    """Sizes that are chosen at random, but the same ones in each run."""
    random = np.random.default_rng(zlib.crc32(repr(key).encode()))
    return [int(size) for size in random.choice(SIZES, count)]


def case_of(name: str, flags: str, type: str, beta: str, is_dynamic: bool) -> Case:
    return Case(TARGETS["sm_90"], name, flags, type, beta, is_dynamic)


@pytest.mark.parametrize(
    ("name", "flags", "type", "beta", "is_dynamic"),
    one_of(2, cases({"axpby": ("", "transpose_a", "atomic"), "hadamard": ("", "atomic")})),
)
def test_elementwise(name: str, flags: str, type: str, beta: str, is_dynamic: bool) -> None:
    case = case_of(name, flags, type, beta, is_dynamic)
    rows, columns = sizes_of(2, name, flags, type, is_dynamic)
    if name == "hadamard":
        case.check((rows, columns), lambda a, b: a * b, (rows, columns), (rows, columns))
        return
    shape = (columns, rows) if "transpose_a" in flags else (rows, columns)
    case.check((rows, columns), lambda a: transposed(a, flags, "transpose_a"), shape)


@pytest.mark.parametrize(
    ("name", "flags", "type", "beta", "is_dynamic"), cases({"ger": ("", "atomic")})
)
def test_ger(name: str, flags: str, type: str, beta: str, is_dynamic: bool) -> None:
    case = case_of(name, flags, type, beta, is_dynamic)
    rows, columns = sizes_of(2, name, flags, type, is_dynamic)
    case.check((rows, columns), lambda a, b: a[:, None] * b[None, :], (rows,), (columns,))


@pytest.mark.parametrize(
    ("name", "flags", "type", "beta", "is_dynamic"),
    cases(
        {
            "sum": ("", "transpose_a", "atomic", "atomic transpose_a"),
            "gemv": ("", "transpose_a", "atomic"),
        }
    ),
)
def test_reductions(name: str, flags: str, type: str, beta: str, is_dynamic: bool) -> None:
    case = case_of(name, flags, type, beta, is_dynamic)
    rows, depth = sizes_of(2, name, flags, type, is_dynamic)
    shape = (depth, rows) if "transpose_a" in flags else (rows, depth)
    if name == "gemv":
        case.check((rows,), lambda a, b: transposed(a, flags, "transpose_a") @ b, shape, (depth,))
        return
    case.check(
        (rows,), lambda a: np.sum(transposed(a, flags, "transpose_a"), axis=1, dtype=a.dtype), shape
    )


@pytest.mark.parametrize(
    ("name", "flags", "type", "beta", "is_dynamic"),
    one_of(2, cases({"axpby": ("", "atomic"), "hadamard": ("",), "sum": ("", "atomic")})),
)
@pytest.mark.parametrize("rank", [0, 1])
def test_scalars_and_vectors(
    name: str, flags: str, type: str, beta: str, is_dynamic: bool, rank: int
) -> None:
    case = case_of(name, flags, type, beta, is_dynamic)
    shape = tuple(sizes_of(rank, name, flags, type, is_dynamic))
    if name == "sum":
        case.check((), lambda a: np.sum(a, dtype=a.dtype), shape or (5000,))
    elif name == "axpby":
        case.check(shape, lambda a: a, shape)
    else:
        case.check(shape, lambda a, b: a * b, shape, shape)


@pytest.mark.parametrize(
    ("name", "flags", "type", "beta", "is_dynamic"),
    one_of(
        2, cases({"gemm": ("", "transpose_a", "transpose_b", "transpose_a transpose_b", "atomic")})
    ),
)
@pytest.mark.parametrize("chip", TARGETS)
def test_products(name: str, flags: str, type: str, beta: str, is_dynamic: bool, chip: str) -> None:
    case = Case(TARGETS[chip], name, flags, type, beta, is_dynamic)
    rows, columns, depth = sizes_of(3, name, flags, type, is_dynamic, chip)
    a = (depth, rows) if "transpose_a" in flags else (rows, depth)
    b = (columns, depth) if "transpose_b" in flags else (depth, columns)
    case.check(
        (rows, columns),
        lambda a, b: transposed(a, flags, "transpose_a") @ transposed(b, flags, "transpose_b"),
        a,
        b,
    )


@pytest.mark.parametrize(
    ("name", "flags", "type", "beta", "is_dynamic"),
    cases({"cumsum": ("0", "1", "2", "atomic 1")}),
)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_cumsum(name: str, flags: str, type: str, beta: str, is_dynamic: bool, rank: int) -> None:
    dimension = min(int(flags[-1]), rank - 1)
    flags = flags[:-1] + str(dimension)
    case = case_of(name, flags, type, beta, is_dynamic)
    shape = tuple(sizes_of(rank, name, flags, type, is_dynamic))
    if rank == 3:
        shape = tuple(min(size, 20) for size in shape)
    case.check(shape, lambda a: np.cumsum(a, axis=dimension, dtype=a.dtype), shape)
