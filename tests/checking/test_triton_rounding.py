"""Ports from and to Triton may differ by what its text leaves open, and by no more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from xtile.api import parse
from xtile.checking import CheckResult, Verdict
from xtile.checking.rounding_errors import has_exact_quotients, has_rough_quotients

ELEMENTS = 64

Array = np.ndarray[Any, Any]


def kernel(body: str, element: str = "f32", *, is_one: bool = False) -> str:
    """A program that loads %x and %y and stores %z, or one number %z, which `body` makes."""
    pointers = f"tensor<{ELEMENTS}x!tt.ptr<{element}>>"
    place = "%c" if is_one else "%pc"
    return f"""module {{
    tt.func public @k(%a: !tt.ptr<{element}>, %b: !tt.ptr<{element}>, %c: !tt.ptr<{element}>) {{
      %i = tt.make_range {{end = {ELEMENTS} : i32, start = 0 : i32}} : tensor<{ELEMENTS}xi32>
      %sa = tt.splat %a : !tt.ptr<{element}> -> {pointers}
      %sb = tt.splat %b : !tt.ptr<{element}> -> {pointers}
      %sc = tt.splat %c : !tt.ptr<{element}> -> {pointers}
      %pa = tt.addptr %sa, %i : {pointers}, tensor<{ELEMENTS}xi32>
      %pb = tt.addptr %sb, %i : {pointers}, tensor<{ELEMENTS}xi32>
      %pc = tt.addptr %sc, %i : {pointers}, tensor<{ELEMENTS}xi32>
      %x = tt.load %pa : {pointers}
      %y = tt.load %pb : {pointers}
      {body}
      tt.store {place}, %z : {f"!tt.ptr<{element}>" if is_one else pointers}
      tt.return
    }} }}"""


F32, I32 = f"tensor<{ELEMENTS}xf32>", f"tensor<{ELEMENTS}xi32>"

QUOTIENT = f"%q = arith.divf %x, %y : {F32}"
PRECISE_QUOTIENT = f"%q = tt.precise_divf %x, %y : {F32}"
ROOT = f"%q = math.sqrt %x : {F32}"
PRECISE_ROOT = f"%q = tt.precise_sqrt %x : {F32}"


def moved(line: str, units: int = 0) -> str:
    """A program whose quotients are `units` away from what the reference device computes."""
    return kernel(
        f"""{line}
        %bits = tt.bitcast %q : {F32} -> {I32}
        %units = arith.constant dense<{units}> : {I32}
        %other = arith.addi %bits, %units : {I32}
        %z = tt.bitcast %other : {I32} -> {F32}"""
    )


def checked(source: str, port: str, x: Array, y: Array) -> CheckResult:
    arguments = {"a": x, "b": y, "c": np.full(ELEMENTS, np.nan, x.dtype)}
    return xtile.check(source, port, args=arguments, grid=1, devices=[])


def numbers() -> tuple[Array, Array]:
    """Positive numbers whose quotients and roots are between 1 and 2: units have one size."""
    y = fresh_generator().uniform(1.0, 2.0, ELEMENTS).astype(np.float32)
    x = (y * fresh_generator().uniform(1.1, 1.8, ELEMENTS)).astype(np.float32)
    return x, y


@pytest.mark.parametrize(("rough", "precise"), [(QUOTIENT, PRECISE_QUOTIENT), (ROOT, PRECISE_ROOT)])
class TestApproximations:
    @pytest.mark.slow
    def test_of_the_source(self, rough: str, precise: str) -> None:
        source = moved(rough)
        for units in (-2, 1, 2):
            checked(source, moved(precise, units), *numbers()).assert_agrees()
        for units in (-8, 8):
            assert checked(source, moved(precise, units), *numbers()).verdict is Verdict.DIFFERS

    @pytest.mark.slow
    def test_of_the_port(self, rough: str, precise: str) -> None:
        source = moved(precise)
        for units in (-2, 2):
            checked(source, moved(rough, units), *numbers()).assert_agrees()
        for units in (-8, 8):
            assert checked(source, moved(rough, units), *numbers()).verdict is Verdict.DIFFERS

    def test_of_none(self, rough: str, precise: str) -> None:
        assert rough != precise
        source = moved(precise)
        checked(source, source, *numbers()).assert_agrees()
        assert checked(source, moved(precise, 1), *numbers()).verdict is Verdict.DIFFERS


FLUSH = f"""
    %tiny = arith.constant dense<0x00800000> : {F32}
    %zeros = arith.constant dense<0.0> : {F32}
    %OF_size = math.absf %OF : {F32}
    %OF_is_small = arith.cmpf olt, %OF_size, %tiny : {F32}
    %OF_zero = arith.mulf %OF, %zeros : {F32}
    %NAME = arith.select %OF_is_small, %OF_zero, %OF : {I32.replace("i32", "i1")}, {F32}
"""


def flush(name: str, to: str) -> str:
    """`%to` is `%name` with zeros for subnormal numbers."""
    text = FLUSH.replace("OF", name).replace("NAME", to)
    return text.replace("%tiny", f"%{name}_tiny").replace("%zeros", f"%{name}_zeros")


def subnormal_numbers() -> tuple[Array, Array]:
    """Subnormal dividends, divisors and quotients, and quotients of and by zero."""
    x, y = numbers()
    x[:4], y[:4] = (1e-40, 1e-30, 1e-30, -1e-30), (1e-30, 1e-40, 3e9, 3e9)
    x[4:8], y[4:8] = (0.0, 1.0, -1.0, 3e-39), (0.0, 0.0, 0.0, 0.0)
    return x, y


def test_subnormal_numbers_may_be_zeros() -> None:
    precise = PRECISE_QUOTIENT.replace("%x, %y", "%u, %v")
    flushed = kernel(flush("x", "u") + flush("y", "v") + precise + flush("q", "z"))
    x, y = subnormal_numbers()
    source = kernel(QUOTIENT.replace("%q", "%z"))
    checked(source, flushed, x, y).assert_agrees()
    exact = kernel(PRECISE_QUOTIENT.replace("%q", "%z"))
    result = checked(exact, flushed, x, y)
    assert result.verdict is Verdict.DIFFERS
    difference = result.comparisons[0].difference
    assert difference is not None
    assert difference.first == (0,)


def test_many_subnormal_quotients_loosen_no_other() -> None:
    x, y = numbers()
    x[ELEMENTS // 4 :] = np.float32(1e-40)
    source, port = kernel(QUOTIENT.replace("%q", "%z")), moved(PRECISE_QUOTIENT, 8)
    assert checked(source, port, x, y).verdict is Verdict.DIFFERS
    checked(source, moved(PRECISE_QUOTIENT, 2), x, y).assert_agrees()


def test_a_quotient_by_zero_stays_infinite() -> None:
    """A port must not give the largest number for it."""
    x, y = numbers()
    y[3] = 0.0
    limited = kernel(
        f"""{PRECISE_QUOTIENT}
        %largest = arith.constant dense<0x7F7FFFFF> : {F32}
        %z = arith.minnumf %q, %largest : {F32}"""
    )
    result = checked(kernel(QUOTIENT.replace("%q", "%z")), limited, x, y)
    assert result.verdict is Verdict.DIFFERS
    difference = result.comparisons[0].difference
    assert difference is not None
    assert (difference.wrong, difference.first) == (1, (3,))


def summed(addition: str = "%s = arith.addf %p, %q : f16") -> str:
    """A program that adds up %x in f16."""
    return kernel(
        f"""%z = "tt.reduce"(%x) <{{axis = 0 : i32}}> ({{
        ^bb0(%p: f16, %q: f16):
          {addition}
          tt.reduce.return %s : f16
        }}) : (tensor<{ELEMENTS}xf16>) -> f16""",
        "f16",
        is_one=True,
    )


def added_one_by_one(first: int = 0) -> str:
    """A program that adds the elements of %x from one on, one after another."""
    return kernel(
        f"""%from = arith.constant {first} : i32
        %one = arith.constant 1 : i32
        %next = arith.addi %from, %one : i32
        %all = arith.constant {ELEMENTS} : i32
        %start = tt.addptr %a, %from : !tt.ptr<f16>, i32
        %e = tt.load %start : !tt.ptr<f16>
        %z = scf.for %k = %next to %all step %one iter_args(%before = %e) -> (f16) : i32 {{
          %p = tt.addptr %a, %k : !tt.ptr<f16>, i32
          %f = tt.load %p : !tt.ptr<f16>
          %sum = arith.addf %before, %f : f16
          scf.yield %sum : f16
        }}""",
        "f16",
        is_one=True,
    )


WIDENED = """%v = arith.extf %p : f16 to f32
    %w = arith.extf %q : f16 to f32
    %t = arith.addf %v, %w : f32
    %s = arith.truncf %t : f32 to f16"""


@pytest.mark.parametrize("source", [summed(), summed(WIDENED)])
def test_a_sum_of_a_region_may_be_rounded_in_each_step(source: str) -> None:
    """One after another, each 1 is lost in 2048, and in pairs only the first one is."""
    x = np.array([2048] + [1] * (ELEMENTS - 1), np.float16)
    result = checked(source, added_one_by_one(), x, x)
    result.assert_agrees()
    difference = result.comparisons[0].difference
    assert difference is not None
    # 2110 and 2048, as numpy prints numbers of f16.
    assert (difference.expected, difference.found) == ("2.11e+03", "2.048e+03")
    # 64 terms, each of which may round all of them, and 4 units in the last place.
    assert difference.limit == pytest.approx((ELEMENTS + 2) * 2.0**-11 * 2110 + 8, abs=8)
    assert checked(source, added_one_by_one(1), x, x).verdict is Verdict.DIFFERS


DIVIDE = """gpu.module @m {
  gpu.func @k(%a: f32) kernel {
    %q = arith.divf %a, %a FLAGS : f32
    gpu.return
  }
}"""

TILE = """cuda_tile.module @m {
  entry @k() {
    %a = constant <f32: 2.0> : tile<f32>
    %q = DIVIDE : tile<f32>
    return
  }
}"""


@pytest.mark.parametrize(
    ("text", "is_rough"),
    [
        (moved(QUOTIENT), True),
        (moved(ROOT), True),
        (moved(QUOTIENT.replace("arith.divf", "tt.approx_divf")), True),
        (moved(PRECISE_QUOTIENT), False),
        (moved(PRECISE_ROOT), False),
        (DIVIDE.replace("FLAGS", ""), False),
        (DIVIDE.replace("FLAGS", "fastmath<contract>"), False),
        *((DIVIDE.replace("FLAGS", f"fastmath<{each}>"), True) for each in ("afn", "arcp", "fast")),
        (TILE.replace("DIVIDE", "divf %a, %a"), False),
        (TILE.replace("DIVIDE", "divf %a, %a rounding<zero>"), False),
        (TILE.replace("DIVIDE", "divf %a, %a rounding<full>"), True),
        (TILE.replace("DIVIDE", "sqrt %a rounding<approx>"), True),
    ],
)
def test_which_quotients_and_roots_are_approximations(text: str, is_rough: bool) -> None:
    module = parse(text)
    assert has_rough_quotients(module) is is_rough
    assert has_exact_quotients(module) is not is_rough
