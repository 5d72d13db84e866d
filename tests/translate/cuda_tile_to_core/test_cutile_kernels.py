"""Kernels that cuTile exports compute the same on a CPU, and raised and lowered again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import xtile
from tests.translate.cuda_tile_to_core.cutile import (
    attention,
    elementwise,
    normalizations,
    products,
    rearrangements,
    reductions,
)
from tests.translate.cuda_tile_to_core.cutile.case import Case
from tests.translate.cuda_tile_to_core.raised import WAYS

FAMILIES = (attention, elementwise, normalizations, products, rearrangements, reductions)
CASES: dict[str, Callable[[], Case]] = {
    make.__name__: make for family in FAMILIES for make in family.CASES
}

RAISED = (
    *("attention", "collatz", "extremes", "gather_scatter", "histogram", "layer_norm"),
    *("matmul_f16", "persistent_matmul", "prefix_sums", "quantize", "rotated", "softmax"),
    "split_k_matmul",
)
"""The kernels that numpy runs in the core form, too, which takes longer than on a CPU."""


def _exported(case: Case, directory: Path) -> Path:
    file = directory / "kernel.tileirbc"
    file.write_bytes(case.exported())
    return file


@pytest.mark.parametrize("name", CASES)
def test_kernels_on_opencl(name: str, tmp_path: Path) -> None:
    case = CASES[name]()
    arguments = case.copied_arguments()
    xtile.run(_exported(case, tmp_path), arguments, case.grid, device="opencl")
    case.check(arguments)


@pytest.mark.parametrize("name", RAISED)
def test_raised_kernels(name: str, tmp_path: Path) -> None:
    case = CASES[name]()
    text = xtile.to_text(xtile.parse(_exported(case, tmp_path)), "mlir")
    for way in WAYS.values():
        arguments = case.copied_arguments()
        xtile.run(way(text), arguments, case.grid)
        case.check(arguments)
