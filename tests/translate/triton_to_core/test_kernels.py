"""Kernels of the corpus compute what their references say when they are tiles of the core form."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.samples import one_of
from tests.triton_kernels.case import Case
from tests.triton_kernels.corpus import CASES
from tests.triton_releases.judges import NEWEST, compiled
from xtile.launch import ArgumentError
from xtile.translate.route import translate

NOT_COMPILED = {"matmul_block_pointers"}
"""What the newest release does not compile."""

NAMES = [name for name in CASES if name not in NOT_COMPILED]

RAISED = (
    *("add", "attention_causal", "calls", "collatz", "cross_entropy", "decode_join", "histogram"),
    *("layer_norm_backward", "libdevice_functions", "linear_recurrence", "matmul_f16", "welford"),
    *("matmul_mxfp8_mxfp4", "quantize_mx", "sort_rows", "spin_lock"),
)
"""The kernels that numpy runs in the core form, too; a CPU runs all of them."""


FORMS = ("ttir", "ttgir")


def _module(name: str, form: str) -> ModuleOp:
    """What Triton makes of a kernel before it chooses layouts, or for AMD's gfx942."""
    verdict = compiled(NEWEST, CASES[name]().source(), "gfx942", form)
    assert verdict.accepted, verdict.said
    return xtile.parse(verdict.text, language="ttir")


def _given(case: Case) -> tuple[dict[str, object], list[object]]:
    """Arguments by name, and those that the compiled kernel takes: no ones."""
    arguments = case.copied_arguments()
    ones = {name for name, each in arguments.items() if type(each) is int and each == 1}
    return arguments, [each for name, each in arguments.items() if name not in ones]


@pytest.mark.parametrize(("name", "form"), one_of(2, product(RAISED, FORMS)))
def test_raised_kernels(name: str, form: str) -> None:
    case = CASES[name]()
    arguments, given = _given(case)
    xtile.run(translate(_module(name, form), "triton-to-core"), given, case.grid)
    case.check(arguments)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "form"), one_of(3, product(NAMES, FORMS)))
def test_kernels_on_opencl(name: str, form: str) -> None:
    case = CASES[name]()
    arguments, given = _given(case)
    xtile.run(_module(name, form), given, case.grid, device="opencl")
    case.check(arguments)


def test_functions_that_others_call_are_no_kernels() -> None:
    text = """
    tt.func public @add(%x: i32) -> i32 {
      %y = arith.addi %x, %x : i32
      tt.return %y : i32
    }
    tt.func public @k(%p: !tt.ptr<i32>, %x: i32) {
      %y = tt.call @add(%x) : (i32) -> i32
      tt.store %p, %y : !tt.ptr<i32>
      tt.return
    }
    """
    module = translate(xtile.parse(text, language="ttir"), "triton-to-core")
    out = np.full(1, 77, np.int32)
    xtile.run(module, [out, 21])
    assert out.tolist() == [42]


@pytest.mark.parametrize("device", ["reference", "opencl"])
@pytest.mark.parametrize("flag", [True, False])
def test_truth_values_are_passed_as_bytes(device: str, flag: bool) -> None:
    text = """
    tt.func public @k(%out: !tt.ptr<i32>, %flag: i1, %n: i32) {
      %seven = arith.constant 7 : i32
      %v = arith.select %flag, %n, %seven : i32
      tt.store %out, %v : !tt.ptr<i32>
      tt.return
    }
    """
    module = xtile.parse(text, language="ttir")
    raised = translate(module, "triton-to-core")
    assert "gpu.func @k(%out: !core.ptr<i32>, %flag: i8, %n: i32)" in xtile.to_text(raised, "mlir")
    for each in (module, raised):
        out = np.full(1, 77, np.int32)
        xtile.run(each, [out, flag, 5], device=device)
        assert out.tolist() == [5 if flag else 7]
    with pytest.raises(ArgumentError, match="expected True or False, given an int"):
        xtile.run(module, [np.zeros(1, np.int32), 1, 5], device=device)
