"""What loops carry without need goes, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

import xtile
from xtile.rewrite.kernels import kernels_of
from xtile.transforms.cleanup.carried import count_with_variables, drop_unused

LOOP = """gpu.module @m {{
  gpu.func @k(%c: i1, %r: memref<i32>) kernel attributes {{core.level = "tile"}} {{
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %three = arith.constant 3 : i32
    %x, %y = scf.for %i = %zero to %three step %one iter_args(%a = %zero, %b = %one)
        -> (i32, i32) : i32 {{
{body}
    }}
    memref.store %x, %r[] : memref<i32>
    gpu.return
  }}
}}
"""


def _cleaned(body: str) -> str:
    module = xtile.parse(LOOP.format(body=body), language="mlir")
    for kernel in kernels_of(module):
        drop_unused(kernel)
    xtile.verify(module)
    return xtile.to_text(module, "mlir")


def test_what_only_computes_itself_goes() -> None:
    text = _cleaned(
        "%p = arith.addi %a, %i : i32\n%q = arith.muli %b, %three : i32\n"
        "scf.yield %p, %q : i32, i32"
    )
    assert "iter_args(%a = %zero) -> (i32)" in text
    assert "arith.muli" not in text


def test_what_a_branch_hands_on_stays() -> None:
    text = _cleaned(
        "%p, %q = scf.if %c -> (i32, i32) {\n"
        "  %n = arith.addi %b, %i : i32\n  scf.yield %n, %n : i32, i32\n"
        "} else {\n  scf.yield %a, %b : i32, i32\n}\n"
        "scf.yield %p, %q : i32, i32"
    )
    assert "iter_args(%a = %zero, %b = %one) -> (i32, i32)" in text
    assert "arith.addi %b, %i" in text
    assert "scf.yield %a, %b" in text


COUNTED = """gpu.module @m {{
  gpu.func @k(%from: {type}, %to: {type}, %other: {type}, %r: memref<?x{type}>,
              %last: memref<{type}>)
      kernel attributes {{core.level = "tile"}} {{
    %step = arith.constant 3 : {type}
    %four = arith.constant 4 : {type}
    %low = arith.constant -2147483646 : {type}
    %zero = arith.constant 0 : index
    %first = {first}
    %x = scf.for %i = %from to %to step %step iter_args(%a = %first) -> ({type}) : {type} {{
      %p = {next}
      %place = arith.index_cast %i : {type} to index
      memref.store %{stored}, %r[%place] : memref<?x{type}>
      scf.yield %p : {type}
    }}
    memref.store %x, %last[] : memref<{type}>
    gpu.return
  }}
}}
"""


def _counted(first: str, next: str, stored: str, *, type: str = "i32") -> tuple[str, bool]:
    """A kernel, and whether numbers that it carries become a loop's variable."""
    text = COUNTED.format(first=first, next=next, stored=stored, type=type)
    module = xtile.parse(text, language="mlir")
    found = count_with_variables(kernels_of(module))
    xtile.verify(module)
    after = xtile.to_text(module, "mlir")
    for begin, end in ((0, 7), (1, 1), (2, 9)):
        results: list[list[np.ndarray]] = []
        for each in (text, after):
            arrays = [np.full(9, -1, np.int32), np.full((), -1, np.int32)]
            xtile.run(each, [begin, end, 5, *arrays], 1)
            results.append(arrays)
        for one, other in zip(*results, strict=True):
            np.testing.assert_array_equal(other, one)
    return after, found


@pytest.mark.parametrize("stored", ["a", "p"])
@pytest.mark.parametrize(
    "first",
    [
        "arith.subi %from, %step : i32",
        "arith.addi %low, %from : i32",
        "arith.addi %from, %four : i32",
    ],
)
def test_numbers_as_far_from_the_variable_as_they_begin(first: str, stored: str) -> None:
    text, found = _counted(first, "arith.addi %a, %step : i32", stored)
    assert found
    assert ("memref.store %i," in text) == (stored == "p" and "subi" in first)


@pytest.mark.parametrize(
    ("first", "next"),
    [
        ("arith.subi %from, %other : i32", "arith.addi %a, %step : i32"),
        ("arith.subi %step, %from : i32", "arith.addi %a, %step : i32"),
        ("arith.subi %from, %step : i32", "arith.addi %a, %four : i32"),
        ("arith.subi %from, %step : i32", "arith.muli %a, %step : i32"),
        ("arith.subi %from, %step : i32", "arith.subi %step, %a : i32"),
    ],
)
def test_numbers_that_go_their_own_way(first: str, next: str) -> None:
    assert not _counted(first, next, "a")[1]
