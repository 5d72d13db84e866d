"""Kernels that cuTile exports compute the same on a CPU, and raised and lowered again."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import cuda.tile as ct
import ml_dtypes
import numpy as np
import pytest

import xtile
from tests.samples import one_of
from tests.translate.cuda_tile_to_core.cutile import (
    attention,
    elementwise,
    normalizations,
    products,
    rearrangements,
    reductions,
)
from tests.translate.cuda_tile_to_core.cutile.case import CONSTANT, Case
from tests.translate.cuda_tile_to_core.raised import WAYS

FAMILIES = (attention, elementwise, normalizations, products, rearrangements, reductions)
CASES: dict[str, Callable[[], Case]] = {
    make.__name__: make for family in FAMILIES for make in family.CASES
}

RAISED = (
    *(
        "attention",
        "collatz",
        "compensated",
        "extremes",
        "gather_scatter",
        "histogram",
        "layer_norm",
    ),
    *("matmul_f16", "persistent_matmul", "prefix_sums", "quantize", "rotated", "softmax"),
    *("split_k_matmul", "compensated"),
)
"""The kernels that numpy runs in the core form, too, which takes longer than on a CPU."""


@cache
def _text(name: str) -> str:
    """A kernel; what its arguments hold is drawn anew each time, which it does not depend on."""
    with TemporaryDirectory() as directory:
        return xtile.to_text(xtile.parse(_exported(CASES[name](), Path(directory))), "mlir")


def _exported(case: Case, directory: Path) -> Path:
    file = directory / "kernel.tileirbc"
    file.write_bytes(case.exported())
    return file


@pytest.mark.parametrize("name", CASES)
def test_kernels_on_opencl(name: str) -> None:
    case = CASES[name]()
    arguments = case.copied_arguments()
    xtile.run(_text(name), arguments, case.grid, device="opencl")
    case.check(arguments)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "way"), one_of(2, product(RAISED, WAYS)))
def test_raised_kernels(name: str, way: str) -> None:
    case = CASES[name]()
    arguments = case.copied_arguments()
    xtile.run(WAYS[way](_text(name)), arguments, case.grid)
    case.check(arguments)


@ct.kernel
def _printing(x, y, size: CONSTANT):
    """Prints numbers and tiles, and goes on where an assertion does not hold."""
    tile = ct.load(x, (0, 0), (2, size))
    halves = ct.load(y, (0,), (size,))
    ct.printf("block %d of %x: %5.2f\n", ct.bid(0), ct.num_blocks(0), tile)
    print(f"100% {halves} {ct.sum(halves):.1f}")
    ct.assert_(tile > 0, "100% positive")  # noqa: PT009
    ct.assert_(halves < 3)  # noqa: PT009
    ct.store(x, (0, 0), tile + 1)


def test_what_is_printed_on_opencl(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    x, y = np.ones((2, 4), np.float32), np.arange(4).astype(ml_dtypes.bfloat16)
    case = Case(_printing, [x, y], {0: x + 1}, constants=(4,))
    arguments = case.copied_arguments()
    xtile.run(_exported(case, tmp_path), arguments, device="opencl")
    case.check(arguments)
    row = "[ 1.00,  1.00,  1.00,  1.00]"
    assert capfd.readouterr().out.splitlines() == [
        f"block 0 of 1: [{row}, {row}]",
        "100% [0.000000, 1.000000, 2.000000, 3.000000] 6.0",
        "assertion failed",
    ]
