"""Checks also launch with one array for two parameters, where the source is for that."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import xtile
from xtile.checking import CheckResult, Verdict

TWICE = """
gpu.module @m {{
  gpu.func @twice(%x: memref<?xf32>{promise}, %y: memref<?xf32>{promise}) kernel
      attributes {{known_block_size = array<i32: 1, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %n = memref.dim %y, %c0 : memref<?xf32>
    %i = gpu.block_id x
    %step = arith.constant {step} : index
    %from = arith.addi %i, %step : index
    %is_inside = arith.cmpi slt, %from, %n : index
    scf.if %is_inside {{
      {before}
      %a = memref.load %x[%from] : memref<?xf32>
      %b = arith.addf %a, %a : f32
      memref.store %b, %y[%i] : memref<?xf32>
    }}
    gpu.return
  }}
}}
"""

CLEARING = "%zero = arith.constant 0.0 : f32 memref.store %zero, %y[%i] : memref<?xf32>"
"""What is wrong only where both parameters are one array."""


def twice(before: str = "", promise: str = "", step: int = 0) -> str:
    return TWICE.format(before=before, promise=promise, step=step)


def of_one_array(result: CheckResult) -> dict[str, Verdict]:
    return {
        each.inputs: each.verdict for each in result.comparisons if each.inputs.endswith("is x")
    }


@pytest.mark.slow
def test_a_port_that_is_wrong_for_one_array(tmp_path: Path) -> None:
    script = tmp_path / "wrong.py"
    result = xtile.check(twice(), twice(CLEARING), devices=[], reproducer=script)
    assert of_one_array(result) == {"random, y is x": Verdict.DIFFERS}
    others = {each.verdict for each in result.comparisons if not each.inputs.endswith("is x")}
    assert others == {Verdict.AGREES}
    text = script.read_text()
    assert text.count("array('a0', 'float32')") == 2
    assert "with inputs: random, y is x" in text


@pytest.mark.slow
def test_the_reproducer_has_one_array(tmp_path: Path) -> None:
    script = tmp_path / "wrong.py"
    xtile.check(twice(), twice(CLEARING), devices=[], reproducer=script)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    source, port = (line.split()[1] for line in done.stdout.splitlines()[1:3])
    assert float(source) != 0
    assert float(port) == 0


@pytest.mark.slow
def test_a_port_that_is_right() -> None:
    result = xtile.check(twice(), xtile.translate(twice(), "tensorlang"), devices=["opencl"])
    (verdicts,) = ([each.verdict for each in result.comparisons if each.inputs.endswith("is x")],)
    assert verdicts == [Verdict.AGREES] * 3


@pytest.mark.slow
def test_promises_are_kept() -> None:
    result = xtile.check(twice(promise=" {core.noalias}"), twice(CLEARING), devices=[])
    assert (of_one_array(result), result.agrees) == ({}, True)


@pytest.mark.slow
def test_a_source_with_races_on_one_array_is_not_for_that() -> None:
    result = xtile.check(twice(step=1), twice(CLEARING, step=1), devices=[])
    assert (of_one_array(result), result.agrees) == ({}, True)


@pytest.mark.slow
def test_the_tensor_language_has_disjoint_arrays() -> None:
    source = Path(__file__).parents[2] / "examples" / "axpby.ir"
    result = xtile.check(source, source, devices=[])
    assert {each.inputs for each in result.comparisons} <= {
        *("random", "wide range", "NaN, infinities", "no elements"),
    }
