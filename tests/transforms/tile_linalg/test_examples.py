"""Every example without code of subgroups computes the same as tiles."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transforms.tile_linalg.from_source import Shape, check
from xtile.semantics.configuration import Size3

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[3] / "examples"

SHAPES: dict[str, tuple[Size3, dict[str, list[Shape]]]] = {
    "axpby": ((3, 1, 1), {"axpby": [(37, 84), (37, 84)]}),
    "batched_gemm": (
        (4, 1, 1),
        {
            "batched_gemm": [(9, 20, 4), (20, 35, 4), (9, 35, 4)],
            "grouped_gemm": [(9, 20), (20, 35), (9, 35)],
        },
    ),
    "coopmatrix_gemm": ((2, 2, 1), {"coopmatrix_gemm": [(150, 45), (45, 70), (150, 70)]}),
    "fused_kernel": ((2, 1, 1), {"fused_kernel": [(16, 8), (8, 8), (8, 16), (16, 16, 2)]}),
    "gemm": ((2, 2, 1), {"gemm": [(300, 45), (45, 270), (300, 270)]}),
    "matrix_chain": (
        (2, 1, 1),
        {
            "matrix_chain": [
                *((56, 9), (35, 56), (20, 35), (10, 20), (4, 10)),
                *((9, 9, 2), (56, 9)),
            ]
        },
    ),
    "matrix_unit": ((1, 1, 1), {"product": [(32, 64), (64, 8), (32, 8)]}),
    "older_syntax": (
        (2, 1, 1),
        {"grouped_gemv": [(20, 9), (9,), (20, 2)], "mark": [(5000,)]},
    ),
    "old_syntax": (
        (1, 1, 1),
        {
            "fused_kernel": [(16, 8), (8, 8), (8, 16), (16, 16, 2)],
            "clamp": [(5000,)],
            "views": [(48, 10), (48,)],
        },
    ),
    "reductions": (
        (1, 1, 1),
        {
            "row_sums": [(35, 100), (35,)],
            "column_sums": [(35, 100), (100,)],
            "sum_of_squares": [(30, 21), ()],
            "cumulative_sums": [(9, 20, 35)] * 3,
        },
    ),
    "tall_and_skinny": ((2, 1, 1), {"tall_and_skinny": [(200, 48), (48, 20), (200, 20)]}),
}
"""The launch, and the shapes of each function's memrefs."""

LIFTED = ("flash_attention", "softmax", "subgroup_gemm", "whole_softmax", "wide_softmax")
"""Examples with code of subgroups, which are in tests/transforms/lift."""


@pytest.mark.parametrize("chip", ["sm_80", "sm_90"])
@pytest.mark.parametrize("name", SHAPES)
def test_example(name: str, chip: str) -> None:
    text = (EXAMPLES / f"{name}.ir").read_text()
    grid, shapes = SHAPES[name]
    check(text, 1, grid, shapes=shapes, chip=chip)


def test_every_example_is_there() -> None:
    files = {path.stem for path in EXAMPLES.glob("*.ir")}
    assert files == {*SHAPES, *LIFTED}
