"""What is assumed of integers: the value stays, the sanitizer checks, CUDA Tile IR is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.transforms.distribute.kernels import arguments_of, function_of, printed, read, run
from tests.translate.core_to_cuda_tile.entries import assemble_for_all, lowered, tile_kernel
from xtile.rewrite.facts import Facts
from xtile.rewrite.ranges import range_of
from xtile.semantics.sanitizer import sanitize

PARAMETERS = "%a: memref<4x8xi32>, %o: memref<4x8xi32>"


def kernel(what: str) -> str:
    return tile_kernel(
        PARAMETERS,
        f"""%c0 = arith.constant 0 : index
        %v = vector.load %a[%c0, %c0] : memref<4x8xi32>, vector<4x8xi32>
        %r = core.assume %v {what} : vector<4x8xi32>
        vector.store %r, %o[%c0, %c0] : memref<4x8xi32>, vector<4x8xi32>""",
    )


def numbers(*changes: tuple[int, int, int]) -> np.ndarray[Any, Any]:
    """Rows 40 i + 8 .. 40 i + 15, with some elements changed."""
    made = (40 * np.arange(4)[:, None] + 8 + np.arange(8)).astype(np.int32)
    for row, column, number in changes:
        made[row, column] = number
    return made


CASES = [
    ("at_least 8", (0, 0, 7), "at_least 8 is assumed, but does not hold, in element [0, 0]"),
    ("at_most 135", (3, 7, 136), "at_most 135 is assumed, but does not hold, in element [3, 7]"),
    ("contiguous 4 along 1", (2, 2, 0), "contiguous 4 along 1 is assumed"),
    ("contiguous 8 along 1 divisible_by 8", (1, 3, 0), "contiguous 8 along 1 is assumed"),
    ("contiguous 8 along 1 divisible_by 8", None, ""),
    ("contiguous 4 along 1 divisible_by 8", None, "divisible_by 8 is assumed, but does not hold"),
    ("divisible_by 2", None, "divisible_by 2 is assumed, but does not hold, in element [0, 1]"),
    ("equal [1, 2]", None, "equal [1, 2] is assumed, but does not hold, in element [0, 1]"),
]


@pytest.mark.parametrize(("what", "change", "message"), CASES)
def test_the_sanitizer_checks(what: str, change: tuple[int, int, int] | None, message: str) -> None:
    module = read(kernel(what))
    a = numbers(*([] if change is None else [change]))
    reports = sanitize(function_of(module), arguments_of([a, np.zeros_like(a)]), (1, 1, 1))
    assert [message in report.message for report in reports] == ([True] if message else [])
    if change is not None:
        reports = sanitize(function_of(module), arguments_of([numbers(), a.copy()]), (1, 1, 1))
        assert reports == []


def test_equal_groups() -> None:
    module = read(kernel("equal [2, 4]"))
    a = np.repeat(np.repeat([[1, 2], [3, 4]], 2, 0), 4, 1).astype(np.int32)
    out = np.zeros_like(a)
    assert sanitize(function_of(module), arguments_of([a, out]), (1, 1, 1)) == []
    run(module, a, out)
    np.testing.assert_array_equal(out, a)
    a[3, 4] = 7
    (report,) = sanitize(function_of(module), arguments_of([a, out]), (1, 1, 1))
    assert "equal [2, 4] is assumed, but does not hold, in element" in report.message


SCALARS = """gpu.module @m { gpu.func @k(%n: index, %m: memref<?xi32>, %x: i32) kernel
attributes {core.level = "tile"} {
  %b = core.assume %n at_least 0 at_most 480 divisible_by 48 : index
  %p = arith.constant true
  scf.if %p {
    %c = core.assume %b divisible_by 64 : index
    memref.store %x, %m[%c] : memref<?xi32>
  }
  gpu.return
} }"""


def test_numbers_are_known() -> None:
    values = {str(result.name_hint): result for op in read(SCALARS).walk() for result in op.results}
    facts = Facts()
    assert facts.divisor(values["b"]) == 48
    assert facts.divisor(values["c"]) == 192
    assert facts.is_not_negative(values["b"])
    assert range_of(values["c"]) == (0, 480)


def test_as_cuda_tile() -> None:
    module = lowered(SCALARS)
    lines = [line.strip() for line in printed(module).splitlines()]
    assert sum("assume bounded<0, 480>" in line for line in lines) == 1
    assert sum("assume div_by<16>" in line for line in lines) == 1
    inside = next(i for i, line in enumerate(lines) if " if " in line or line.startswith("if "))
    assert next(i for i, line in enumerate(lines) if "assume div_by<64>" in line) > inside
    text = kernel("at_most 99 equal [1, 1] contiguous 8 along 1 divisible_by 8")
    told = printed(lowered(text))
    for what in ("bounded<?, 99>", "same_elements<[1, 1]>", "div_by<8, every 8 along 1>"):
        assert f"assume {what}" in told
    assemble_for_all(module)
    assemble_for_all(lowered(text))
