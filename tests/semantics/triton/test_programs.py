"""Programs: the grid, calls, early returns, assertions, what is printed, and the sanitizer."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from xtile.launch import SanitizerError
from xtile.text.diagnostics import DiagnosticError, SourceWarning


def _module(text: str) -> Any:
    return xtile.parse(text, language="mlir")


def _kernel(parameters: str, body: str) -> Any:
    return _module(f"tt.func public @kernel({parameters}) {{\n{body}\ntt.return\n}}\n")


_GRID = """
tt.func public @grid(%out: !tt.ptr<i32>) {
  %x = tt.get_program_id x : i32
  %y = tt.get_program_id y : i32
  %z = tt.get_program_id z : i32
  %nx = tt.get_num_programs x : i32
  %ny = tt.get_num_programs y : i32
  %a = arith.muli %z, %ny : i32
  %b = arith.addi %a, %y : i32
  %c = arith.muli %b, %nx : i32
  %d = arith.addi %c, %x : i32
  %p = tt.addptr %out, %d : !tt.ptr<i32>, i32
  tt.store %p, %d : !tt.ptr<i32>
  tt.return
}
"""


@pytest.mark.parametrize("grid", [(2, 3, 4), (5, 2), (7,)])
def test_grid(grid: tuple[int, ...]) -> None:
    count = int(np.prod(grid))
    out = np.full(count, -1, np.int32)
    xtile.run(_module(_GRID), [out], grid=grid, sanitize=True)
    np.testing.assert_array_equal(out, np.arange(count))


def test_arguments_by_name_and_of_every_type() -> None:
    names = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
    parameters = ", ".join(f"%{name}: {name}, %p{name}: !tt.ptr<{name}>" for name in names)
    parameters += ", %n: i64, %pn: !tt.ptr<i64>"
    body = "\n".join(f"tt.store %p{name}, %{name} : !tt.ptr<{name}>" for name in names)
    body += "\ntt.store %pn, %n : !tt.ptr<i64>"
    arguments: dict[str, Any] = dict.fromkeys(names, 1.5)
    arguments |= {f"p{name}": np.full(1, np.nan, dtype) for name, dtype in names.items()}
    arguments |= {"n": -(2**62), "pn": np.zeros(1, np.int64)}
    xtile.run(_kernel(parameters, body), arguments)
    assert all(float(arguments[f"p{name}"][0]) == 1.5 for name in names)
    assert arguments["pn"][0] == -(2**62)


_CALLS = """
tt.func public @kernel(%x: !tt.ptr<f32>, %n: i32) {
  %v = tt.load %x : !tt.ptr<f32>
  %a, %b = tt.call @both(%v, %n) : (f32, i32) -> (f32, f32)
  %c = tt.call @twice(%b) : (f32) -> f32
  %d = arith.addf %a, %c : f32
  tt.call @put(%x, %d) : (!tt.ptr<f32>, f32) -> ()
  tt.return
}
tt.func private @both(%v: f32, %n: i32) -> (f32, f32) attributes {noinline = true} {
  %zero = arith.constant 0 : i32
  %is = arith.cmpi sgt, %n, %zero : i32
  cf.cond_br %is, ^bb1, ^bb2
^bb1:
  %t = tt.call @twice(%v) : (f32) -> f32
  tt.return %t, %v : f32, f32
^bb2:
  tt.return %v, %v : f32, f32
}
tt.func private @twice(%v: f32) -> f32 {
  %t = arith.addf %v, %v : f32
  tt.return %t : f32
}
tt.func private @put(%p: !tt.ptr<f32>, %v: f32) {
  tt.store %p, %v : !tt.ptr<f32>
  tt.return
}
"""


@pytest.mark.parametrize("sanitize", [False, True])
def test_calls_and_returns_from_branches(sanitize: bool) -> None:
    for n, expected in ((1, 4.0), (0, 3.0)):
        x = np.ones(1, np.float32)
        xtile.run(_module(_CALLS), [x, n], sanitize=sanitize)
        assert x[0] == expected


def test_function_that_calls_itself() -> None:
    text = """
    tt.func public @kernel() {
      tt.call @again() : () -> ()
      tt.return
    }
    tt.func private @again() {
      tt.call @again() : () -> ()
      tt.return
    }
    """
    with pytest.raises(DiagnosticError, match="@again calls itself: recursion"):
        xtile.run(_module(text), [])


def test_loop_of_branches() -> None:
    """The steps of Collatz's sequence, counted by blocks that branch back."""
    body = """
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %three = arith.constant 3 : i32
    cf.br ^head(%n, %zero : i32, i32)
  ^head(%m: i32, %steps: i32):
    %done = arith.cmpi sle, %m, %one : i32
    cf.cond_br %done, ^end, ^next
  ^next:
    %odd = arith.andi %m, %one : i32
    %is = arith.trunci %odd : i32 to i1
    %half = arith.divsi %m, %two : i32
    %triple = arith.muli %m, %three : i32
    %more = arith.addi %triple, %one : i32
    %k = arith.select %is, %more, %half : i32
    %s = arith.addi %steps, %one : i32
    cf.br ^head(%k, %s : i32, i32)
  ^end:
    tt.store %out, %steps : !tt.ptr<i32>
    """
    out = np.full(1, -1, np.int32)
    xtile.run(_kernel("%n: i32, %out: !tt.ptr<i32>", body), [27, out], sanitize=True)
    assert out[0] == 111


def test_assertion() -> None:
    body = """
    %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %l = tt.splat %n : i32 -> tensor<8xi32>
    %c = arith.cmpi slt, %r, %l : tensor<8xi32>
    tt.assert %c, "too many" : tensor<8xi1>
    """
    module = _kernel("%n: i32", body)
    xtile.run(module, [8])
    with pytest.raises(DiagnosticError, match=r"does not hold for element \[5\]: too many"):
        xtile.run(module, [5])


def test_print(capsys: pytest.CaptureFixture[str]) -> None:
    body = """
    %x = arith.constant dense<[1.5, -2.0]> : tensor<2xf32>
    %n = arith.constant 255 : i8
    tt.print " x: " {hex = false, isSigned = array<i32: 0>} : %x : tensor<2xf32>
    tt.print " n: " {hex = true, isSigned = array<i32: 0, 1>} : %n, %n : i8, i8
    tt.print " n: " {hex = false, isSigned = array<i32: 0, 1>} : %n, %n : i8, i8
    """
    xtile.run(_kernel("", body), [], grid=(1,))
    assert capsys.readouterr().out.splitlines() == [
        "pid (0, 0, 0) idx (0) x: 1.500000",
        "pid (0, 0, 0) idx (1) x: -2.000000",
        "pid (0, 0, 0) idx () n: (operand 0) 0xff",
        "pid (0, 0, 0) idx () n: (operand 1) 0xff",
        "pid (0, 0, 0) idx () n: (operand 0) 255",
        "pid (0, 0, 0) idx () n: (operand 1) -1",
    ]


# The sanitizer

_ADD_ONE = """
%v = tt.load %x : !tt.ptr<i32>
%pid = tt.get_program_id x : i32
%w = arith.addi %v, %pid : i32
tt.store %x, %w : !tt.ptr<i32>
"""


def test_race_between_programs() -> None:
    module = _kernel("%x: !tt.ptr<i32>", _ADD_ONE)
    xtile.run(module, [np.zeros(1, np.int32)], sanitize=True)
    with pytest.raises(SanitizerError, match="while another program accesses it with store"):
        xtile.run(module, [np.zeros(1, np.int32)], grid=(2,), sanitize=True)


def test_two_values_written_to_one_element() -> None:
    body = """
    %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %p = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    tt.store %p, %r : tensor<8x!tt.ptr<i32>>
    """
    with pytest.raises(SanitizerError, match="two accesses of one program that nothing orders"):
        xtile.run(_kernel("%x: !tt.ptr<i32>", body), [np.zeros(1, np.int32)], sanitize=True)


def _locked(release: str) -> Any:
    body = f"""
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    scf.while : () -> () {{
      %old = tt.atomic_cas acquire, gpu, %lock, %zero, %one : (!tt.ptr<i32>, i32, i32) -> i32
      %busy = arith.cmpi eq, %old, %one : i32
      scf.condition(%busy)
    }} do {{
      scf.yield
    }}
    {_ADD_ONE}
    %free = tt.atomic_rmw exch, {release}, gpu, %lock, %zero : (!tt.ptr<i32>, i32) -> i32
    """
    return _kernel("%x: !tt.ptr<i32>, %lock: !tt.ptr<i32>", body)


def test_lock_orders_programs() -> None:
    x, lock = np.zeros(1, np.int32), np.zeros(1, np.int32)
    xtile.run(_locked("release"), [x, lock], grid=(4,), sanitize=True)
    assert x[0] == 6
    with pytest.raises(SanitizerError, match="while another program accesses it"):
        xtile.run(_locked("relaxed"), [x, lock], grid=(4,), sanitize=True)


def test_masked_elements_that_are_stored() -> None:
    body = """
    %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %l = arith.constant dense<4> : tensor<8xi32>
    %m = arith.cmpi slt, %r, %l : tensor<8xi32>
    %s = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %p = tt.addptr %s, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %v = tt.load %p, %m : tensor<8x!tt.ptr<f32>>
    tt.store %p, %v : tensor<8x!tt.ptr<f32>>
    """
    x = fresh_generator().standard_normal(8).astype(np.float32)
    module = _kernel("%x: !tt.ptr<f32>", body)
    with pytest.warns(SourceWarning, match="depends on an element that is unspecified"):
        xtile.run(module, [x], sanitize=True)


def test_promises_of_parameters() -> None:
    module = _kernel(
        "%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}", ""
    )
    whole = np.zeros(64, np.float32)
    xtile.run(module, [whole[4:], 32], sanitize=True)
    with pytest.raises(SanitizerError, match=r"%n is 24, which is no multiple of the promised 16"):
        xtile.run(module, [whole, 24], sanitize=True)
    with pytest.raises(SanitizerError, match=r"no multiple of the promised tt.divisibility = 16"):
        xtile.run(module, [whole[1:], 32], sanitize=True)


@pytest.mark.parametrize(
    ("attribute", "start", "holds"),
    [
        ("tt.contiguity = dense<8> : tensor<1xi32>", 3, True),
        ("tt.constancy = dense<2> : tensor<1xi32>", 3, False),
        ("tt.divisibility = dense<4> : tensor<1xi32>", 4, True),
        ("tt.divisibility = dense<4> : tensor<1xi32>", 3, False),
    ],
)
def test_promises_of_numbers(attribute: str, start: int, holds: bool) -> None:
    body = f"""
    %r = tt.make_range {{end = 8 : i32, start = 0 : i32}} : tensor<8xi32>
    %s = tt.splat %n : i32 -> tensor<8xi32>
    %o = arith.addi %r, %s {{{attribute}}} : tensor<8xi32>
    """
    module = _kernel("%n: i32", body)
    if holds:
        xtile.run(module, [start], sanitize=True)
        return
    with pytest.raises(SanitizerError, match="is promised in dimension 0, but does not hold"):
        xtile.run(module, [start], sanitize=True)


@pytest.mark.parametrize(("factor", "holds"), [(1, True), (2, False)])
def test_promises_of_pointers(factor: int, holds: bool) -> None:
    """Pointers count up by elements, and what divides them is of bytes."""
    body = f"""
    %r = tt.make_range {{end = 8 : i32, start = 0 : i32}} : tensor<8xi32>
    %f = arith.constant dense<{factor}> : tensor<8xi32>
    %o = arith.muli %r, %f : tensor<8xi32>
    %s = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %p = tt.addptr %s, %o {{tt.contiguity = dense<8> : tensor<1xi32>,
      tt.divisibility = dense<16> : tensor<1xi32>}} : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    """
    module, x = _kernel("%x: !tt.ptr<f32>", body), np.zeros(16, np.float32)
    if holds:
        xtile.run(module, [x], sanitize=True)
        return
    with pytest.raises(SanitizerError, match="contiguity = 8 is promised in dimension 0"):
        xtile.run(module, [x], sanitize=True)


def test_assumption() -> None:
    body = """
    %zero = arith.constant 0 : i32
    %c = arith.cmpi sge, %n, %zero : i32
    llvm.intr.assume %c : i1
    """
    module = _kernel("%n: i32", body)
    xtile.run(module, [0], sanitize=True)
    with pytest.raises(SanitizerError, match="what is assumed does not hold"):
        xtile.run(module, [-1], sanitize=True)


_LOW = """
  %id = rocdl.workitem.id.x : i32
  %two = arith.constant 128 : i32
  %low = arith.cmpi slt, %id, %two : i32
  %high = arith.cmpi sge, %id, %two : i32
"""


def _in_parts(body: str) -> str:
    attributes = (
        '"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", '
        '"ttg.threads-per-warp" = 64 : i32'
    )
    return (
        f"module attributes {{{attributes}}} {{\ntt.func public @k(%x: !tt.ptr<i32>) {{"
        f"{_LOW}{body}\ntt.return\n}}\n}}"
    )


def _reported(body: str) -> str:
    module = xtile.parse(_in_parts(body), language="mlir")
    with pytest.raises(DiagnosticError) as error:
        xtile.run(module, [np.zeros(1, np.int32)], sanitize=True)
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.source is not None
    assert diagnostic.span is not None
    assert diagnostic.source.text[diagnostic.span.start :].startswith("amdg.cond_barrier")
    return diagnostic.message


def test_warps_that_wait_in_parts_must_meet_again() -> None:
    both = "amdg.cond_barrier %high\nttg.barrier local\namdg.cond_barrier %low"
    xtile.run(xtile.parse(_in_parts(both), language="mlir"), [np.zeros(1, np.int32)], sanitize=True)
    assert (
        "the program ends, and warps 0 to 1 waited 0 times at barriers for some warps, others 1 "
        "times; the warps that one of them leaves out must wait at another"
    ) in _reported("amdg.cond_barrier %high\nttg.barrier local")
    again = "amdg.cond_barrier %low\namdg.cond_barrier %high\namdg.cond_barrier %high"
    assert "warps 0 to 1 waited 1 times at barriers for some warps, others 2" in _reported(again)


def test_threads_of_a_warp_wait_together() -> None:
    some = """%few = arith.constant 100 : i32
    %is_few = arith.cmpi slt, %id, %few : i32
    amdg.cond_barrier %is_few
    %others = arith.cmpi sge, %id, %few : i32
    """
    assert "36 of 64 threads of warp 1 reach the barrier" in _first(some)


def _first(body: str) -> str:
    module = xtile.parse(_in_parts(body), language="mlir")
    with pytest.raises(DiagnosticError) as error:
        xtile.run(module, [np.zeros(1, np.int32)], sanitize=True)
    return error.value.diagnostics[0].message
