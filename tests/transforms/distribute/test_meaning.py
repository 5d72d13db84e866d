"""Distributed linear algebra computes what the language says, on random numbers."""

from __future__ import annotations

from functools import partial
from zlib import crc32

import numpy as np
import pytest

from tests.samples import one_of
from tests.transforms.distribute.kernels import BLOCK_SIZE, distributed
from tests.transforms.linear_algebra import Case, Target, cases, transposed

TARGETS = {
    "pvc": Target(partial(distributed, chip="pvc"), BLOCK_SIZE, "?"),
    "cpu-one-work-item": Target(partial(distributed, chip="cpu"), "", "1"),
    "cpu-many-work-items": Target(partial(distributed, chip="cpu"), BLOCK_SIZE, "?"),
}


@pytest.fixture
def target(request: pytest.FixtureRequest) -> Target:
    """One of the targets, always the same for a test."""
    name: str = request.node.name
    return list(TARGETS.values())[crc32(name.encode()) % len(TARGETS)]


@pytest.mark.parametrize(
    ("name", "flags", "type", "beta", "is_dynamic"),
    cases(
        {
            "axpby": ("", "transpose_a", "atomic"),
            "hadamard": ("", "atomic"),
            "ger": ("", "atomic"),
        }
    ),
)
def test_elementwise(
    target: Target, name: str, flags: str, type: str, beta: str, is_dynamic: bool
) -> None:
    case = Case(target, name, flags, type, beta, is_dynamic)
    rows, columns = 5, 37
    if name == "axpby":
        shape = (columns, rows) if flags else (rows, columns)
        is_flipped = "transpose_a" in flags
        a = shape[::-1] if is_flipped else shape
        case.check(shape, lambda a: transposed(a, flags, "transpose_a"), a)
    elif name == "hadamard":
        case.check((rows, columns), lambda a, b: a * b, (rows, columns), (rows, columns))
    else:
        case.check((rows, columns), lambda a, b: a[:, None] * b[None, :], (rows,), (columns,))


@pytest.mark.parametrize(
    ("name", "flags", "type", "beta", "is_dynamic"),
    one_of(2, cases({"sum": ("", "transpose_a", "atomic"), "gemv": ("", "transpose_a", "atomic")})),
)
@pytest.mark.parametrize("depth", [5, 39])
def test_reductions(
    target: Target, name: str, flags: str, type: str, beta: str, is_dynamic: bool, depth: int
) -> None:
    case = Case(target, name, flags, type, beta, is_dynamic)
    shape = (depth, 19) if "transpose_a" in flags else (19, depth)
    if name == "sum":
        case.check(
            (19,),
            lambda a: np.sum(transposed(a, flags, "transpose_a"), axis=1, dtype=a.dtype),
            shape,
        )
    else:
        case.check((19,), lambda a, b: transposed(a, flags, "transpose_a") @ b, shape, (depth,))


@pytest.mark.parametrize(
    ("name", "flags", "type", "beta", "is_dynamic"),
    one_of(2, cases({"axpby": ("", "atomic"), "hadamard": ("",), "sum": ("", "atomic")})),
)
@pytest.mark.parametrize("size", [0, 1, 40])
def test_scalars_and_vectors(
    target: Target, name: str, flags: str, type: str, beta: str, is_dynamic: bool, size: int
) -> None:
    case = Case(target, name, flags, type, beta, is_dynamic)
    shape = (size,) if size else ()
    if name == "sum":
        size = size or 33
        case.check((), lambda a: np.sum(a, dtype=a.dtype), (size,))
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
@pytest.mark.parametrize("shape", [(4, 16, 8), (7, 35, 5)])
def test_products(
    target: Target,
    name: str,
    flags: str,
    type: str,
    beta: str,
    is_dynamic: bool,
    shape: tuple[int, int, int],
) -> None:
    case = Case(target, name, flags, type, beta, is_dynamic)
    rows, columns, depth = shape
    a = (depth, rows) if "transpose_a" in flags else (rows, depth)
    b = (columns, depth) if "transpose_b" in flags else (depth, columns)
    case.check(
        (rows, columns),
        lambda a, b: transposed(a, flags, "transpose_a") @ transposed(b, flags, "transpose_b"),
        a,
        b,
    )
