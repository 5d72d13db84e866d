"""Linear algebra computes the same in CUDA Tile IR, on the sizes that kernels have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.samples import one_of
from tests.transforms.linear_algebra import Case, Target, cases, transposed
from tests.transforms.tile_linalg.test_meaning import sizes_of
from tests.translate.core_to_cuda_tile.entries import from_block_level, run_entry

pytestmark = pytest.mark.slow


class _Written:
    """Remembers the text of the kernel that is being tested."""

    text = ""

    def rewrite(self, text: str) -> ModuleOp:
        self.text = text
        return from_block_level(text)

    def launch(self, module: ModuleOp, *arguments: Any) -> None:
        run_entry(self.text, module, *arguments)


def _case(name: str, flags: str, type: str, beta: str, is_dynamic: bool) -> Case:
    written = _Written()
    target = Target(written.rewrite, "", "?", has_gaps=True, launch=written.launch)
    return Case(target, name, flags, type, beta, is_dynamic)


def _thinned(names: dict[str, tuple[str, ...]], every: int, first: int = 0) -> list[Any]:
    """A part of all cases, in which each type and each flag still comes."""
    return one_of(2, cases(names)[first::every])


@pytest.mark.parametrize(
    ("name", "flags", "type", "beta", "is_dynamic"),
    _thinned({"axpby": ("", "transpose_a", "atomic"), "hadamard": ("", "atomic")}, 1),
)
def test_elementwise(name: str, flags: str, type: str, beta: str, is_dynamic: bool) -> None:
    case = _case(name, flags, type, beta, is_dynamic)
    rows, columns = sizes_of(2, name, flags, type, is_dynamic)
    if name == "hadamard":
        case.check((rows, columns), lambda a, b: a * b, (rows, columns), (rows, columns))
        return
    shape = (columns, rows) if "transpose_a" in flags else (rows, columns)
    case.check((rows, columns), lambda a: transposed(a, flags, "transpose_a"), shape)


@pytest.mark.parametrize(
    ("name", "flags", "type", "beta", "is_dynamic"), _thinned({"ger": ("", "atomic")}, 3)
)
def test_ger(name: str, flags: str, type: str, beta: str, is_dynamic: bool) -> None:
    case = _case(name, flags, type, beta, is_dynamic)
    rows, columns = sizes_of(2, name, flags, type, is_dynamic)
    case.check((rows, columns), lambda a, b: a[:, None] * b[None, :], (rows,), (columns,))


@pytest.mark.parametrize(
    ("name", "flags", "type", "beta", "is_dynamic"),
    _thinned({"sum": ("", "transpose_a", "atomic"), "gemv": ("", "transpose_a", "atomic")}, 1),
)
def test_reductions(name: str, flags: str, type: str, beta: str, is_dynamic: bool) -> None:
    case = _case(name, flags, type, beta, is_dynamic)
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
    _thinned({"gemm": ("", "transpose_a", "transpose_b", "atomic")}, 1),
)
def test_products(name: str, flags: str, type: str, beta: str, is_dynamic: bool) -> None:
    case = _case(name, flags, type, beta, is_dynamic)
    rows, columns, depth = sizes_of(3, name, flags, type, is_dynamic)
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
    _thinned({"cumsum": ("0", "1", "2", "atomic 1")}, 1),
)
def test_cumsum(name: str, flags: str, type: str, beta: str, is_dynamic: bool) -> None:
    rank = 3 if "2" in flags else 2
    case = _case(name, flags, type, beta, is_dynamic)
    shape = tuple(sizes_of(rank, name, flags, type, is_dynamic))
    dimension = int(flags[-1])
    case.check(shape, lambda a: np.cumsum(a, axis=dimension, dtype=a.dtype), shape)
