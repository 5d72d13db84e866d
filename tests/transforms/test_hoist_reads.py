"""Tiles that every iteration of a loop reads are read before it, if nothing can change them."""

from __future__ import annotations

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from xtile.transforms.hoist_reads import hoist_reads

_KERNEL = """
gpu.module @kernels {{
  gpu.func @k(%x: memref<?x16xf32> {x}, %y: memref<8x16xf32> {y}, %n: index, %m: index,
      %lock: memref<1xindex> {{core.noalias}}) kernel
      attributes {{core.level = "tile"}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0.0 : f32
    %first = arith.constant dense<0.0> : vector<8x16xf32>
    scf.for %i = %c0 to %n step %c1 {{
      %r = scf.for %j = %c0 to %n step %c1 iter_args(%sum = %first) -> (vector<8x16xf32>) {{
        %a = vector.transfer_read {read}
        %next = arith.addf %sum, %a : vector<8x16xf32>
        {more}
        scf.yield %next : vector<8x16xf32>
      }}
      vector.transfer_write %r, {write}
    }}
    gpu.return
  }}
}}
"""

_NOALIAS = "{core.noalias}"
_READ = """%x[%m, %c0], %zero {in_bounds = [false, true]} : memref<?x16xf32>, vector<8x16xf32>"""
_UNCHECKED = _READ.replace("false", "true")
_BEYOND = _READ.replace("%c0]", "%c1]")
_MOVING = _READ.replace("%m", "%j")
_WRITE = "%y[%c0, %c0] {in_bounds = [true, true]} : vector<8x16xf32>, memref<8x16xf32>"
_WRITE_X = "%x[%c0, %c0] {in_bounds = [false, true]} : vector<8x16xf32>, memref<?x16xf32>"
_ADD = "memref.atomic_rmw addf %zero, %x[%c0, %c0] : (f32, memref<?x16xf32>) -> f32"
_ATOMIC = """%true = arith.constant true
        %old = core.atomic_rmw addi ORDER device %c1, %lock[%c0], %true
            : index, memref<1xindex>[index], i1"""


def _kernel(
    read: str = _READ, write: str = _WRITE, x: str = "", y: str = _NOALIAS, more: str = ""
) -> str:
    return _KERNEL.format(read=read, write=write, x=x, y=y, more=more)


def loops_around_the_read(text: str) -> int:
    """How deep the read stands in loops."""
    hoisted = xtile.to_text(hoist_reads(xtile.parse(text, language="mlir")), "mlir")
    before = hoisted[: hoisted.index("transfer_read")]
    return before.count("scf.for")


@pytest.mark.parametrize(
    ("kernel", "depth"),
    [
        (_kernel(), 0),
        (_kernel(x=_NOALIAS, y=""), 0),
        (_kernel(x="", y=""), 1),
        (_kernel(write=_WRITE_X), 1),
        (_kernel(more=_ADD), 2),
        (_kernel(read=_UNCHECKED), 2),
        (_kernel(read=_BEYOND), 2),
        (_kernel(read=_MOVING), 2),
    ],
)
def test_where_it_is_read(kernel: str, depth: int) -> None:
    assert loops_around_the_read(kernel) == depth


def test_behind_an_acquire_it_is_read_again() -> None:
    """Another block may have changed what the atomic access waits for."""
    for order, depth in (("relaxed", 0), ("acquire", 2), ("release", 2)):
        assert loops_around_the_read(_kernel(more=_ATOMIC.replace("ORDER", order))) == depth


@pytest.mark.parametrize("iterations", [0, 1, 3])
def test_values(iterations: int) -> None:
    module = hoist_reads(xtile.parse(_kernel(), language="mlir"))
    x = fresh_generator().standard_normal((11, 16), np.float32)
    y = np.full((8, 16), np.nan, np.float32)
    xtile.run(module, (x, y, iterations, 5, np.zeros(1, np.int64)), 1)
    expected = np.zeros((8, 16), np.float32)
    for _ in range(iterations):
        expected[:6] += x[5:]
    if iterations:
        np.testing.assert_array_equal(y, expected)
    else:
        assert np.isnan(y).all()


def test_without_such_a_read_it_is_the_module_itself() -> None:
    module = xtile.parse(_kernel(read=_MOVING), language="mlir")
    assert hoist_reads(module) is module
