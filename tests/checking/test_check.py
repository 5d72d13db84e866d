"""`xtile.check` calls right what is right, and finds mistakes that one kind of input shows."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import xtile
from tests.checking.kernels import rows
from xtile.arguments.copies import arrays_of, copied
from xtile.checking import CheckResult, Verdict, agreement, launches
from xtile.checking.fixture import xtile_check  # noqa: F401
from xtile.checking.outcomes import Outcomes
from xtile.launch import ArgumentError

ROOT = Path(__file__).parents[2]


SMALL: Any = {"sizes": {"x": (5, 16), "y": (5,)}, "grid": 6}
"""One launch of the kernels, instead of those that are found."""


def checked(source: Any, port: Any, **options: Any) -> CheckResult:
    return xtile.check(source, port, devices=[], **options)


@pytest.mark.parametrize("to", ["xegpu", "cuda_tile", "triton"])
def test_ports_of_a_product_agree(to: str) -> None:
    source = ROOT / "examples" / "matrix_unit.ir"
    result = checked(source, xtile.translate(source, to))
    result.assert_agrees()
    assert len(result.comparisons) == 3
    assert result.comparisons[0].was_sanitized


@pytest.mark.slow
def test_a_port_of_a_softmax_agrees() -> None:
    source = ROOT / "examples" / "softmax.ir"
    sizes = {"X": (13, 9), "Y": (13, 9)}
    checked(source, xtile.translate(source, "xegpu"), sizes=sizes, grid=2).assert_agrees()


@pytest.mark.slow
def test_sizes_and_the_grid_are_found() -> None:
    """33 rows are no multiple of a tile, and a work-group has one of them."""
    found = checked(rows(), rows())
    first, last = found.comparisons[0], found.comparisons[-1]
    assert (first.grid, first.sizes) == ((34, 1, 1), "x: (33, 16), y: (33,)")
    assert (last.inputs, last.sizes) == ("no elements", "x: (0, 16), y: (0,)")


@pytest.mark.slow
def test_other_work_on_the_machine_makes_no_launch_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hours pass between two looks at the clock, and the kernel takes no more of the processor."""
    hours = itertools.count(0, 10_000)
    clocks = SimpleNamespace(monotonic=lambda: next(hours), process_time=time.process_time)
    monkeypatch.setattr(launches, "time", clocks)
    found = checked(rows(), rows())
    assert next(each.grid for each in found.comparisons if each.inputs == "random") == (34, 1, 1)


@pytest.mark.parametrize(
    ("port", "inputs"),
    [
        (rows(change="math.exp2"), "random"),
        (rows(start="0.001"), "random"),
        (rows(change="math.absf"), "random"),
        (rows(compare="sle"), "random"),
    ],
)
def test_mistakes_are_found(port: str, inputs: str) -> None:
    found = checked(rows(), port, **SMALL)
    assert found.verdict is Verdict.DIFFERS
    wrong = [each.inputs for each in found.comparisons if each.verdict is Verdict.DIFFERS]
    assert inputs in wrong


@pytest.mark.slow
def test_a_mistake_that_only_nan_shows() -> None:
    source = rows(change="math.absf", kind="maximumf")
    port = rows(change="math.absf", kind="maxnumf")
    found = checked(source, port, **SMALL)
    wrong = [each.inputs for each in found.comparisons if each.verdict is Verdict.DIFFERS]
    assert wrong == ["NaN, infinities"]


@pytest.mark.slow
def test_a_port_that_rounds_more_than_its_source_differs() -> None:
    """The source rounds once, to f32; the port rounds the product to bf16 before."""
    source = rows(change="math.absf")
    rounded = source.replace("%sum = ", "%exact = ").replace(
        "memref.store",
        "%narrow = arith.truncf %exact : f32 to bf16\n"
        "%sum = arith.extf %narrow : bf16 to f32\n"
        "memref.store",
    )
    assert checked(source, source, **SMALL).agrees
    assert checked(source, rounded, **SMALL).verdict is Verdict.DIFFERS


@pytest.mark.slow
def test_a_port_that_sums_in_another_order_agrees() -> None:
    source = rows(change="math.absf")
    halves = source.replace(
        "%sum = vector.reduction <add>, %changed, %start : vector<16xf32> into f32",
        "%lower = vector.extract_strided_slice %changed {offsets = [0], sizes = [8], strides = [1]}"
        " : vector<16xf32> to vector<8xf32>\n"
        "%upper = vector.extract_strided_slice %changed {offsets = [8], sizes = [8], strides = [1]}"
        " : vector<16xf32> to vector<8xf32>\n"
        "%some = vector.reduction <add>, %upper, %start : vector<8xf32> into f32\n"
        "%sum = vector.reduction <add>, %lower, %some : vector<8xf32> into f32",
    )
    assert halves != source
    checked(source, halves, **SMALL).assert_agrees()


@pytest.mark.slow
def test_the_limit_follows_from_the_length_of_a_sum() -> None:
    """16 terms of size 1: between one unit of roundoff and, with safety, 4 for each term."""
    source = rows(change="math.absf")
    result = checked(source, rows(change="math.absf", start="1.0"), **SMALL)
    difference = result.comparisons[0].difference
    assert difference is not None
    total = float(difference.expected)
    # An element may be as many units away as others, and a unit is up to twice another's part.
    assert 2.0**-24 * total < difference.limit < 2 * 4 * (16 + 4) * 2.0**-24 * total


def test_a_reproducer_shows_the_first_wrong_element(tmp_path: Path) -> None:
    script = tmp_path / "reproducer.py"
    result = checked(rows(), rows(change="math.exp2"), reproducer=script)
    assert result.reproducer == str(script)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    first, source, port, limit = done.stdout.splitlines()
    # One row, and one work-group, are enough.
    assert first == "y[0], with inputs: random"
    values = [float(line.split(":")[1]) for line in (source, port)]
    assert abs(values[0] - values[1]) > float(limit.rpartition(" ")[2])
    assert np.load(tmp_path / "reproducer.npz")["a0"].shape == (1, 16)


@pytest.mark.slow
def test_what_cannot_be_guessed_is_asked_for() -> None:
    source = rows().replace("%i, %c0", "%c1000000, %c0")
    source = source.replace("%i = ", "%c1000000 = arith.constant 1000000 : index\n%i = ")
    with pytest.raises(ArgumentError, match=r"give --grid and --size x=\.\.\. --size y=\.\.\."):
        checked(source, source)


@pytest.mark.slow
def test_arguments_are_taken_as_they_are_given() -> None:
    x = np.ones((5, 16), np.float32)
    found = checked(rows(), rows(), args={"x": x}, sizes={"y": (5,)}, grid=5)
    assert {each.sizes for each in found.comparisons} == {"x: (5, 16), y: (5,)"}


@pytest.mark.slow
def test_the_fixture_fails_a_test(xtile_check: Any) -> None:  # noqa: F811
    assert xtile_check(rows(), rows(), devices=[], **SMALL).agrees
    with pytest.raises(AssertionError, match=re.escape("@k: y[")):
        xtile_check(rows(), rows(start="1.0"), devices=[], **SMALL)


def test_on_opencl() -> None:
    result = xtile.check(rows(), rows(), devices=["opencl"], **SMALL)
    ran = [(each.kernel, each.device) for each in result.comparisons if each.inputs == "random"]
    assert ("source", "opencl") in ran
    assert ("port", "opencl") in ran
    result.assert_agrees()


def test_memory_without_dimensions() -> None:
    """It is copied before a launch like any other."""
    kernel = "func @k(%x: memref<f32x8>, %s: memref<f32>) {\n %zero = constant 0.0 : f32\n"
    kernel += " %one = constant 1.0 : f32\n sum.n %one, %x, %zero, %s\n}\n"
    source = xtile.parse(kernel, language="tensorlang")
    checked(source, source).assert_agrees()
    before = np.array(1.0, np.float32)
    (after,) = copied([before])
    after[()] = 2
    assert (before, arrays_of(before)) == (1, [before])


@pytest.mark.slow
def test_a_port_that_is_slow_to_run_is_checked_in_small_launches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As one of lanes is, whose scalars the reference device runs one after the other."""
    monkeypatch.setattr(agreement, "_LONG", -1.0)
    found = checked(rows(), rows(), field=True)
    of_floats = [each for each in found.comparisons if each.device == "reference"]
    first, *others = [(each.grid[0] <= 2, each.inputs) for each in of_floats]
    assert first == (False, "random")
    inputs = ("random", "wide range", "NaN, infinities", "no elements")
    assert others == [(True, each) for each in inputs]
    assert (found.verdict, found.exact) == (Verdict.AGREES, "agrees")
    assert found.comparisons[-1].grid[0] <= 2
    wrong = checked(rows(), rows(compare="sle"), field=True)
    assert [each.grid[0] for each in wrong.comparisons if each.verdict is Verdict.DIFFERS]


_UNENDING = """
func @k(%x: memref<f32x?>, %y: memref<f32x?>) {
    %c0 = constant 0 : index
    %c1 = constant 1 : index
    %most = constant 1000000000 : index
    %start = constant 0.0 : f32
    %sum = for %i=%c0,%most init(%s=%start) -> (f32) {
        %v = load %x[%c0] : f32
        %t = add %s, %v : f32
        yield (%t)
    }
    store %sum, %y[%c0]
}
"""


@pytest.mark.slow
def test_the_search_for_launches_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A launch that is not done in time is tried with no larger arrays, and few smaller ones."""
    monkeypatch.setattr(launches, "_SECONDS", 0.05)
    tried: list[int] = []
    made = launches.make_arguments

    def counted(signature: Any, launch: Any, *others: Any) -> Any:
        tried.append(launch.size)
        return made(signature, launch, *others)

    monkeypatch.setattr(launches, "make_arguments", counted)
    monkeypatch.setattr(launches, "_LONGEST_SEARCH", 0.2)
    # Launches end by the clock on the wall, so that other work must not lengthen the search.
    clock = SimpleNamespace(process_time=time.monotonic)
    monkeypatch.setattr(launches, "time", clock)
    with pytest.raises(ArgumentError, match="not done after"):
        checked(_UNENDING, _UNENDING)
    assert 1 <= len(tried) <= 5
    assert tried == sorted(set(tried), reverse=True)


COMPLEX = """
gpu.module @m {
  gpu.func @k(%x: memref<4xcomplex<f32>>, %y: memref<4xcomplex<f32>>) kernel
      attributes {known_block_size = array<i32: 1, 1, 1>} {
    %i = gpu.block_id x
    %a = memref.load %x[%i] : memref<4xcomplex<f32>>
    %p = complex.mul %a, %a : complex<f32>
    CHANGED
    memref.store %q, %y[%i] : memref<4xcomplex<f32>>
    gpu.return
  }
}
"""
"""The squares of complex numbers."""

SQUARE = COMPLEX.replace("%p", "%q").replace("CHANGED", "")

PARTS = """
    %re = complex.re %p : complex<f32>
    %im = complex.im %p : complex<f32>
    %zero = arith.constant 0.0 : f32
    %large = arith.constant LARGE : f32
    %u = arith.mulf %re, %zero : f32
    %v = arith.mulf %im, %zero : f32
    %w = arith.addf %u, %v : f32
    %is_finite = arith.cmpf oeq, %w, %w : f32
    %r = arith.select %is_finite, %re, %IF_NOT : f32
    %s = arith.select %is_finite, %OTHER, %zero : f32
    %q = complex.create %r, %s : complex<f32>
"""
"""Another number for a product that is not finite: of parts, times 0, only NaN is no number."""


def squares(large: str = "0x7F800000", other: str = "im") -> str:
    """A port that gives a number for what is not finite, and `other` for imaginary parts."""
    parts = PARTS.replace("LARGE", large).replace("IF_NOT", "large").replace("OTHER", other)
    return COMPLEX.replace("CHANGED", parts)


LARGE_SQUARES = (1 + 2j, 3e30 + 3e30j, 1e30 + 1j, complex(np.inf, np.nan))
"""One that is finite, and three with an infinity or NaN: in the imaginary part, or in both."""


def checked_square(port: str, source: str = SQUARE) -> CheckResult:
    x, y = np.array(LARGE_SQUARES, np.complex64), np.full(4, np.nan, np.complex64)
    return checked(source, port, args={"x": x, "y": y}, grid=4)


def test_complex_numbers_that_are_not_finite_agree() -> None:
    """Infinity with imaginary part 0, as a language may have it that recovers infinities."""
    checked_square(SQUARE).assert_agrees()
    checked_square(squares()).assert_agrees()
    checked_square(squares("0x7FC00000")).assert_agrees()


def test_a_finite_complex_number_differs_from_one_that_is_not() -> None:
    found = checked_square(squares("3.0e+38"))
    assert found.verdict is Verdict.DIFFERS
    difference = found.comparisons[0].difference
    assert difference is not None
    assert (difference.wrong, difference.first) == (3, (1,))
    # And the reverse, and a wrong part of a finite one.
    first = checked_square(SQUARE, squares("3.0e+38"))
    assert first.verdict is Verdict.DIFFERS
    wrong = checked_square(squares(other="re")).comparisons[0].difference
    assert wrong is not None
    assert (wrong.wrong, wrong.first) == (1, (0,))


def test_runs_of_which_no_complex_number_is_finite_allow_no_finite_one() -> None:
    outcomes = Outcomes(np.array([complex(np.inf, np.nan), 1], np.complex64), has_orders=False)
    outcomes.add(np.array([complex(np.inf, np.inf), 1], np.complex64))
    for other in (complex(np.nan, 0), complex(0, -np.inf), complex(np.nan, np.nan)):
        assert outcomes.allows(np.array([other, 1], np.complex64)).tolist() == [True, True]
    finite = np.array([5, complex(0, np.inf)], np.complex64)
    assert outcomes.allows(finite).tolist() == [False, False]
