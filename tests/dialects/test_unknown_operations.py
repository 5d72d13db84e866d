"""What only LLVM's own passes make or read is an error at the operation, as anything unknown is."""

from __future__ import annotations

import pytest

import xtile
from xtile.text.diagnostics import DiagnosticError

UNKNOWN = {
    "gpu.warp_execute_on_lane_0": "gpu.warp_execute_on_lane_0(%i)[32] {\n}",
    "gpu.subgroup_mma_constant_matrix": (
        'gpu.subgroup_mma_constant_matrix %x : !gpu.mma_matrix<16x16xf16, "COp">'
    ),
    "scf.forall": "scf.forall (%n) in (4) {\n} {mapping = [#gpu.thread<x>]}",
    "transform.xegpu.get_desc_op": (
        "transform.xegpu.get_desc_op %i : (index) -> !transform.any_op"
    ),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown_operations_are_errors_at_the_operation(name: str) -> None:
    text = f"func.func @f(%i: index, %x: f16) {{\n{UNKNOWN[name]}\nreturn\n}}\n"
    with pytest.raises(DiagnosticError, match=f":2.1-.*error: Operation {name} is not registered"):
        xtile.parse(text, language="mlir")


def test_of_xegpu_the_error_names_the_release_that_is_read() -> None:
    text = "func.func @f(%x: vector<8xf16>) {\n%y = xegpu.truncf %x\nreturn\n}"
    message = r"2.6-17: error: Operation xegpu.truncf is not registered; .* XeGPU has in LLVM 22"
    with pytest.raises(DiagnosticError, match=message):
        xtile.parse(text, language="mlir")
