"""Named barriers, fences and hints."""

from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.upstream.kernels import kernel, run
from tests.semantics.xegpu.kernels import LANES
from xtile.semantics.errors import ExecutionError

EXCHANGE = """xegpu.alloc_nbarrier 2
  %m = memref.alloca() : memref<4xf32, 3>
  %one = arith.constant 1 : i8
  %n = arith.constant {threads} : i8
  %b = xegpu.init_nbarrier %one, %n : i8, i8 -> !xegpu.nbarrier
  %id = gpu.subgroup_id : index
  %c3 = arith.constant 3 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %other = arith.subi %c3, %id : index
  %v = memref.load %a[%id] : memref<4xf32>
  scf.for %i = %c0 to %c2 step %c1 {{
    memref.store %v, %m[%id] : memref<4xf32, 3>
    xegpu.fence memory_kind = slm, fence_scope = workgroup
    xegpu.compile_hint {{hint = "schedule_barrier"}}
    xegpu.nbarrier_arrive %b : !xegpu.nbarrier
    xegpu.nbarrier_wait %b : !xegpu.nbarrier
    %w = memref.load %m[%other] : memref<4xf32, 3>
    memref.store %w, %a[%id] : memref<4xf32>
    xegpu.nbarrier_arrive %b : !xegpu.nbarrier
    xegpu.nbarrier_wait %b : !xegpu.nbarrier
  }}"""


def exchange(threads: int) -> np.ndarray:
    values = np.arange(4, dtype=np.float32)
    text = kernel("%a: memref<4xf32>", EXCHANGE.format(threads=threads))
    run(text, values, block=(4 * LANES, 1, 1))
    return values


def test_threads_exchange_numbers() -> None:
    np.testing.assert_array_equal(exchange(4), [3, 2, 1, 0])


@pytest.mark.parametrize("threads", [3, 8])
def test_another_number_of_threads_arrives(threads: int) -> None:
    message = rf"wait for named barrier 1 would not end: {4 % threads} of {threads} threads have"
    with pytest.raises(ExecutionError, match=message):
        exchange(threads)


def test_nobody_has_arrived() -> None:
    text = kernel(
        "",
        """%c = arith.constant 1 : i8
        %b = xegpu.init_nbarrier %c, %c : i8, i8 -> !xegpu.nbarrier
        xegpu.nbarrier_wait %b : !xegpu.nbarrier""",
    )
    with pytest.raises(ExecutionError, match=r"barrier 1 would not end: 0 of 1 threads"):
        run(text, block=(LANES, 1, 1))


def test_a_barrier_that_is_not_allocated() -> None:
    text = kernel(
        "",
        """xegpu.alloc_nbarrier 8
        %c = arith.constant 8 : i8
        %b = xegpu.init_nbarrier %c, %c : i8, i8 -> !xegpu.nbarrier""",
    )
    message = r"there is no named barrier 8: alloc_nbarrier allocates 8, which are counted from 0"
    with pytest.raises(ExecutionError, match=message):
        run(text, block=(LANES, 1, 1))


def test_a_barrier_for_nobody() -> None:
    text = kernel(
        "",
        """%c = arith.constant 0 : i8
        %b = xegpu.init_nbarrier %c, %c : i8, i8 -> !xegpu.nbarrier""",
    )
    with pytest.raises(ExecutionError, match=r"a named barrier for 0 threads"):
        run(text, block=(LANES, 1, 1))
