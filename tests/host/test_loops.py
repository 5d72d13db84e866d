"""Loops give the same whether their iterations run at once or one after another."""

from __future__ import annotations

import time

import pytest
from xdsl.ir import Operation

from tests.host.programs import PRINT_F32, print_f32, printed
from xtile.host import loops
from xtile.semantics.compiler import Body
from xtile.semantics.errors import ExecutionError
from xtile.semantics.state import State

ARRAY = "memref<16xf32>"
MATRIX = "memref<4x4xf32>"

IOTA = """
  %A = memref.alloc() : memref<16xf32>
  %B = memref.alloc() : memref<16xf32>
  scf.for %i = %c0 to %c16 step %c1 {
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    memref.store %f, %A[%i] : memref<16xf32>
    memref.store %f, %B[%i] : memref<16xf32>
  }
  %one = arith.constant 1.0 : f32
"""

RUNS_AT_ONCE = {
    "a step above one": """
      scf.for %i = %c1 to %c16 step %c3 {
        %x = memref.load %A[%i] : memref<16xf32>
        %y = arith.mulf %x, %x : f32
        memref.store %y, %B[%i] : memref<16xf32>
      }""",
    "no iteration": """
      scf.for %i = %c4 to %c3 step %c1 {
        memref.store %one, %B[%i] : memref<16xf32>
      }""",
    "the last store stays": """
      scf.for %i = %c0 to %c16 step %c1 {
        %x = memref.load %A[%i] : memref<16xf32>
        memref.store %x, %B[%c2] : memref<16xf32>
      }""",
    "branches": """
      scf.for %i = %c0 to %c16 step %c1 {
        %x = memref.load %A[%i] : memref<16xf32>
        %low = arith.cmpi ult, %i, %c4 : index
        %r = scf.if %low -> f32 {
          %y = arith.addf %x, %one : f32
          scf.yield %y : f32
        } else {
          memref.store %one, %B[%i] : memref<16xf32>
          scf.yield %x : f32
        }
        memref.store %r, %A[%i] : memref<16xf32>
      }""",
    "two loops with other steps": """
      %M = memref.reinterpret_cast %A to offset: [0], sizes: [4, 4], strides: [4, 1]
        : memref<16xf32> to memref<4x4xf32, strided<[4, 1]>>
      scf.for %i = %c1 to %c4 step %c2 {
        %two = arith.constant 2 : index
        %double = arith.addf %one, %one : f32
        scf.for %k = %c0 to %c4 step %two {
          %d = arith.muli %i, %k : index
          %t = arith.index_cast %d : index to i32
          %f = arith.sitofp %t : i32 to f32
          %q = arith.addf %f, %double : f32
          memref.store %q, %M[%k, %i] : memref<4x4xf32, strided<[4, 1]>>
        }
      }""",
    "a row further on": """
      %M = memref.reinterpret_cast %A to offset: [0], sizes: [4, 4], strides: [4, 1]
        : memref<16xf32> to memref<4x4xf32, strided<[4, 1]>>
      scf.for %i = %c0 to %c3 step %c1 {
        %r = arith.addi %c1, %i : index
        scf.for %k = %c1 to %c4 step %c1 iter_args(%p = %one) -> (f32) {
          %l = arith.subi %k, %c1 : index
          %x = memref.load %M[%r, %l] : memref<4x4xf32, strided<[4, 1]>>
          %q = arith.addf %p, %x : f32
          memref.store %q, %M[%r, %k] : memref<4x4xf32, strided<[4, 1]>>
          scf.yield %q : f32
        }
      }""",
    "an inner loop of a length that differs": """
      scf.for %i = %c0 to %c16 step %c1 {
        %s = scf.for %k = %c0 to %i step %c1 iter_args(%p = %one) -> (f32) {
          %x = memref.load %A[%k] : memref<16xf32>
          %q = arith.addf %p, %x : f32
          scf.yield %q : f32
        }
        memref.store %s, %B[%i] : memref<16xf32>
      }""",
    "an i32": """
      %first = arith.constant -2 : i32
      %last = arith.constant 3 : i32
      %step = arith.constant 2 : i32
      scf.for %i = %first to %last step %step : i32 {
        %p = arith.constant 2 : i32
        %j = arith.addi %i, %p : i32
        %k = arith.index_cast %j : i32 to index
        %f = arith.sitofp %i : i32 to f32
        memref.store %f, %B[%k] : memref<16xf32>
      }""",
}

RUNS_IN_ORDER = {
    "an element needs the one before": """
      scf.for %i = %c1 to %c16 step %c1 {
        %before = arith.subi %i, %c1 : index
        %x = memref.load %A[%before] : memref<16xf32>
        %y = arith.addf %x, %one : f32
        memref.store %y, %A[%i] : memref<16xf32>
      }""",
    "two stores to one memref": """
      scf.for %i = %c0 to %c4 step %c1 {
        %j = arith.addi %i, %c1 : index
        %x = memref.load %B[%i] : memref<16xf32>
        memref.store %x, %A[%j] : memref<16xf32>
        memref.store %one, %A[%i] : memref<16xf32>
      }""",
    "a store that inner iterations repeat": """
      scf.for %i = %c0 to %c4 step %c1 {
        scf.for %k = %c0 to %c4 step %c1 iter_args(%p = %one) -> (f32) {
          %j = arith.addi %i, %k : index
          %q = arith.addf %p, %one : f32
          memref.store %q, %A[%j] : memref<16xf32>
          scf.yield %q : f32
        }
      }""",
    "two names of one memory": """
      %C = memref.cast %A : memref<16xf32> to memref<?xf32>
      scf.for %i = %c0 to %c4 step %c1 {
        %j = arith.addi %i, %c1 : index
        %x = memref.load %C[%i] : memref<?xf32>
        memref.store %x, %A[%j] : memref<16xf32>
      }""",
    "a sum": """
      %s = scf.for %i = %c0 to %c16 step %c1 iter_args(%p = %one) -> (f32) {
        %x = memref.load %A[%i] : memref<16xf32>
        %q = arith.addf %p, %x : f32
        scf.yield %q : f32
      }
      memref.store %s, %B[%c0] : memref<16xf32>""",
    "rows that overlap": """
      %C = memref.reinterpret_cast %A to offset: [0], sizes: [4, 4], strides: [1, 1]
        : memref<16xf32> to memref<4x4xf32, strided<[1, 1]>>
      scf.for %i = %c0 to %c3 step %c1 {
        %x = memref.load %C[%i, %c0] : memref<4x4xf32, strided<[1, 1]>>
        memref.store %x, %C[%i, %c1] : memref<4x4xf32, strided<[1, 1]>>
      }""",
}

BOTH = print_f32("A", ARRAY) + print_f32("B", ARRAY)


def in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(loop: Operation) -> None:
        return None

    monkeypatch.setattr(loops, "_independent_accesses", none)


@pytest.mark.parametrize("name", [*RUNS_AT_ONCE, *RUNS_IN_ORDER])
def test_the_order_does_not_show(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    body = IOTA + {**RUNS_AT_ONCE, **RUNS_IN_ORDER}[name] + "\n" + BOTH
    at_once = printed(body, capsys, PRINT_F32)
    in_order(monkeypatch)
    assert printed(body, capsys, PRINT_F32) == at_once


def counts_at_once(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many iterations run at once each time, from now on to the end of a test."""
    counts: list[int] = []
    run = loops._run_at_once  # pyright: ignore[reportPrivateUsage]

    def counted(state: State, body: Body, count: int) -> None:
        counts.append(count)
        run(state, body, count)

    monkeypatch.setattr(loops, "_run_at_once", counted)
    return counts


@pytest.mark.parametrize("name", [*RUNS_AT_ONCE, *RUNS_IN_ORDER])
def test_which_loops_run_at_once(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = counts_at_once(monkeypatch)
    printed(IOTA + {**RUNS_AT_ONCE, **RUNS_IN_ORDER}[name], capsys)
    others = counts[1:]
    assert counts[0] == 16
    assert bool(others) == (name in RUNS_AT_ONCE and name != "no iteration")


def test_a_product_with_loops(capsys: pytest.CaptureFixture[str]) -> None:
    """Of three loops in each other the two outer ones run at once."""
    body = """
      %A = memref.alloc() : memref<4x4xf32>
      %B = memref.alloc() : memref<4x4xf32>
      %C = memref.alloc() : memref<4x4xf32>
      %zero = arith.constant 0.0 : f32
      scf.for %i = %c0 to %c4 step %c1 {
        scf.for %j = %c0 to %c4 step %c1 {
          %s = arith.addi %i, %j : index
          %d = arith.muli %i, %j : index
          %n = arith.index_cast %s : index to i32
          %m = arith.index_cast %d : index to i32
          %x = arith.sitofp %n : i32 to f32
          %y = arith.sitofp %m : i32 to f32
          memref.store %x, %A[%i, %j] : memref<4x4xf32>
          memref.store %y, %B[%i, %j] : memref<4x4xf32>
          memref.store %zero, %C[%i, %j] : memref<4x4xf32>
        }
      }
      scf.for %i = %c0 to %c4 step %c1 {
        scf.for %j = %c0 to %c4 step %c1 {
          scf.for %k = %c0 to %c4 step %c1 {
            %a = memref.load %A[%i, %k] : memref<4x4xf32>
            %b = memref.load %B[%k, %j] : memref<4x4xf32>
            %c = memref.load %C[%i, %j] : memref<4x4xf32>
            %p = arith.mulf %a, %b : f32
            %q = arith.addf %c, %p : f32
            memref.store %q, %C[%i, %j] : memref<4x4xf32>
          }
        }
      }
    """
    text = printed(body + print_f32("C", MATRIX), capsys, PRINT_F32)
    # sum over k of (i + k) k j = (6 i + 14) j
    rows = [",   ".join(str((6 * i + 14) * j) for j in range(4)) for i in range(4)]
    assert text.endswith("[[" + "], \n [".join(rows) + "]]\n")


def test_filling_256_rows_of_256_is_fast(capsys: pytest.CaptureFixture[str]) -> None:
    body = """
      %n = arith.constant 256 : index
      %A = memref.alloc() : memref<256x256xf32>
      scf.for %i = %c0 to %n step %c1 {
        scf.for %j = %c0 to %n step %c1 {
          %s = arith.addi %i, %j : index
          %t = arith.index_cast %s : index to i32
          %f = arith.sitofp %t : i32 to f32
          memref.store %f, %A[%i, %j] : memref<256x256xf32>
        }
      }
    """
    start = time.process_time()
    printed(body, capsys)
    assert time.process_time() - start < 2


def test_a_long_loop_needs_little_memory(capsys: pytest.CaptureFixture[str]) -> None:
    body = """
      %n = arith.constant 1000000 : index
      %A = memref.alloc() : memref<1xindex>
      scf.for %i = %c0 to %n step %c1 {
        memref.store %i, %A[%c0] : memref<1xindex>
      }
      %u = memref.cast %A : memref<1xindex> to memref<*xindex>
      call @printMemrefInd(%u) : (memref<*xindex>) -> ()
    """
    around = "func.func private @printMemrefInd(memref<*xindex>)"
    assert printed(body, capsys, around).endswith("\n[999999]\n")


def test_a_step_of_zero_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    body = """
      scf.for %i = %c0 to %c4 step %c0 {
        %j = arith.addi %i, %c1 : index
      }
    """
    with pytest.raises(ExecutionError, match="the step of a for loop must be at least 1, but is 0"):
        printed(body, capsys)


ROWS = """
  %n = arith.constant {rows} : index
  %A = memref.alloc() : memref<{rows}x4xf32>
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {{
    scf.for %k = %c0 to %c4 step %c1 {{
      %d = arith.muli %i, %k : index
      %t = arith.index_cast %d : index to i32
      %f = arith.sitofp %t : i32 to f32
      memref.store %f, %A[%i, %k] : memref<{rows}x4xf32>
    }}
  }}
  scf.for %i = %c0 to %n step %c1 {{
    %sum = scf.for %k = %c0 to %c4 step %c1 iter_args(%acc = %zero) -> (f32) {{
      %a = memref.load %A[%i, %k] : memref<{rows}x4xf32>
      %s = arith.addf %acc, %a : f32
      scf.yield %s : f32
    }}
    scf.for %k = %c0 to %c4 step %c1 {{
      %a = memref.load %A[%i, %k] : memref<{rows}x4xf32>
      %d = arith.subf %sum, %a : f32
      memref.store %d, %A[%i, %k] : memref<{rows}x4xf32>
    }}
  }}
"""


@pytest.mark.parametrize(("rows", "expected"), [(40, [160, 40]), (3, [12, 4, 4, 4])])
def test_rows_run_at_once_where_their_sums_run_in_order(
    rows: int,
    expected: list[int],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = counts_at_once(monkeypatch)
    body = ROWS.format(rows=rows) + print_f32("A", f"memref<{rows}x4xf32>")
    text = printed(body, capsys, PRINT_F32)
    assert counts == expected
    # The sum of i k is 6 i.
    found = [",   ".join(str((6 - k) * i) for k in range(4)) for i in range(rows)]
    assert text.endswith("[[" + "], \n [".join(found) + "]]\n")
