"""What loops carry without need goes, and nothing else."""

from __future__ import annotations

import xtile
from xtile.rewrite.kernels import kernels_of
from xtile.transforms.cleanup.carried import drop_unused

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
