"""Kernels and their ports agree on exact numbers, and ports with mistakes do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xtile
from tests.checking.kernels import rows
from tests.seeds import fresh_seed
from xtile.checking import Verdict, agreement
from xtile.checking.field import Agreement, agree
from xtile.checking.outcomes import Outcomes
from xtile.cli import main
from xtile.launch import ArgumentError
from xtile.text.diagnostics import DiagnosticError

EXAMPLES = Path(__file__).parents[2] / "examples"


def _compared(source: Any, port: Any, arguments: Any, grid: Any = 1, **options: Any) -> Agreement:
    return agree(source, port, arguments, grid, seed=fresh_seed(), **options)


def _product() -> dict[str, Any]:
    return {
        "A": np.ones((32, 64), np.float16, order="F"),
        "B": np.ones((64, 8), np.float16, order="F"),
        "C": np.full((32, 8), np.nan, np.float32, order="F"),
    }


def _rows() -> list[Any]:
    return [np.ones((5, 16), np.float32), np.full(5, np.nan, np.float32)]


@pytest.mark.slow
@pytest.mark.parametrize("to", ["xegpu", "cuda_tile", "triton"])
def test_ports_of_a_product(to: str) -> None:
    source = EXAMPLES / "matrix_unit.ir"
    result = _compared(source, xtile.translate(source, to), _product())
    assert (result.verdict, result.reason) == ("agree", None)
    assert result.elements == result.unknown == 32 * 64 + 64 * 8 + 32 * 8


ATOMIC_SUM = """
func @k(%A: memref<f32x5>, %B: memref<f32x5>) {
    %one = constant 1.0 : f32
    axpby.atomic %one, %A, %one, %B
}
"""


def test_an_atomic_sum_by_comparing_and_swapping_bits() -> None:
    """XeGPU has no atomic sum of floats in memory: their bits are swapped as integers."""
    port = xtile.translate(xtile.parse(ATOMIC_SUM, language="tensorlang"), "xegpu")
    assert "memref.generic_atomic_rmw" in xtile.to_text(port, "mlir")
    arguments = [np.ones(5, np.float32), np.ones(5, np.float32)]
    result = _compared(ATOMIC_SUM, port, arguments)
    assert (result.verdict, result.reason) == ("agree", None)
    assert result.elements == result.unknown == 10


@pytest.mark.slow
def test_exponentials_that_underflow_on_floats() -> None:
    """A port that flushes them to zero is right: the field knows no underflow."""
    text = rows(change="math.exp2").replace(
        "%changed = ",
        "%far = arith.constant dense<-1.0e3> : vector<16xf32>\n"
        "%square = arith.mulf %row, %row : vector<16xf32>\n"
        "%low = arith.mulf %square, %far : vector<16xf32>\n"
        "%changed = ",
    )
    source = text.replace("math.exp2 %row", "math.exp2 %low")
    flushing = source.replace("%low :", "%low {core.flush_to_zero} :")
    assert flushing != source
    assert _compared(source, flushing, _rows(), 5).verdict == "agree"


@pytest.mark.slow
def test_a_softmax_with_lanes() -> None:
    source = EXAMPLES / "softmax.ir"
    arguments = {name: np.ones((13, 9), np.float32, order="F") for name in ("X", "Y")}
    assert _compared(source, xtile.translate(source, "xegpu"), arguments, 2).verdict == "agree"


@pytest.mark.parametrize(
    "change", [{"change": "math.exp2"}, {"start": "0.001"}, {"compare": "eq"}, {"kind": "mul"}]
)
def test_mistakes_are_found(change: dict[str, str]) -> None:
    result = _compared(rows(), rows(**change), _rows(), 5)
    assert result.verdict == "differ"
    assert result.reason is not None
    assert result.reason.startswith("argument 1[")


@pytest.mark.slow
def test_a_function_that_only_one_kernel_has_is_no_difference() -> None:
    """Such as a port that approximates it."""
    result = _compared(rows(change="math.erf"), rows(change="math.tanh"), _rows(), 5)
    assert (result.verdict, result.unknown) == ("refused", 0)
    assert result.reason is not None
    assert result.reason.endswith("has no laws in the field, and only the source has it")
    assert (
        _compared(rows(change="math.erf"), rows(change="math.erf"), _rows(), 5).verdict == "agree"
    )


def test_what_is_not_followed_is_no_agreement() -> None:
    source = rows(change="math.absf").replace(
        "memref.store",
        "%bits = arith.bitcast %sum : f32 to i32\n"
        "%one = arith.constant 1 : i32\n"
        "%next = arith.addi %bits, %one : i32\n"
        "%after = arith.bitcast %next : i32 to f32\n"
        "memref.store",
    )
    result = _compared(source, source, _rows(), 5)
    assert result.verdict == "refused"
    assert result.reason is not None
    assert "arithmetic on the bits of a number is not followed in the field" in result.reason
    assert "arith.addi" in result.reason


def test_a_mistake_that_has_nothing_to_do_with_the_field_is_an_error() -> None:
    with pytest.raises(DiagnosticError, match="lies outside of the memory"):
        _compared(
            rows(),
            rows()
            .replace("%i, %c0", "%c1000, %c0")
            .replace("%i = ", "%c1000 = arith.constant 1000 : index\n%i = "),
            _rows(),
            5,
        )


@pytest.mark.slow
def test_the_device() -> None:
    first, again = _product(), _product()
    source = EXAMPLES / "matrix_unit.ir"
    assert xtile.run(source, first, device="field").device == "field"
    xtile.run(xtile.translate(source, "cuda_tile"), again, device="field")
    np.testing.assert_array_equal(first["C"], again["C"])
    assert 0.2 < (first["C"] < 0).mean() < 0.8
    assert (abs(first["C"]) < 4).all()


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--arg", "A=ones", "--arg", "B=ones", "--arg", "C=nan", "--device", "field"]
    assert main(["run", str(EXAMPLES / "matrix_unit.ir"), *arguments]) == 0
    assert "@product" in capsys.readouterr().out


@pytest.mark.slow
def test_a_check_with_exact_numbers() -> None:
    sizes: Any = {"sizes": {"x": (5, 16), "y": (5,)}, "grid": 6}
    right = xtile.check(rows(), rows(), devices=[], field=True, **sizes)
    (drawn,) = [each for each in right.comparisons if each.device == "field"]
    assert drawn.verdict is Verdict.AGREES
    assert drawn.message == "85 of 85 elements depend on floats, and are equal"
    assert (right.exact, xtile.check(rows(), rows(), devices=[], **sizes).exact) == ("agrees", None)
    # A millionth in a sum of 16 exponentials is below every tolerance.
    wrong = xtile.check(rows(), rows(start="1.0e-6"), devices=[], field=True, **sizes)
    verdicts = {each.device: each.verdict for each in wrong.comparisons if each.inputs != "random"}
    assert verdicts["field"] is Verdict.DIFFERS
    assert not wrong.agrees


def test_binaries_do_not_run() -> None:
    with pytest.raises(ArgumentError, match="'field' runs no binaries"):
        xtile.run(EXAMPLES / "matrix_unit.ir", _product(), device="field", binary="k.spv")


_WITH_EXP2 = rows().replace(
    "%changed = math.exp %row",
    "%l = arith.constant dense<1.44269504> : vector<16xf32>\n"
    "%scaled = arith.mulf %row, %l : vector<16xf32>\n"
    "%changed = math.exp2 %scaled",
)


@pytest.mark.slow
def test_floats_may_be_farther_apart_where_exact_numbers_agree() -> None:
    """What is computed is right then; where it is wrong, the limits stay what they are."""
    sizes: Any = {"sizes": {"x": (5, 16), "y": (5,)}, "grid": 6, "seed": 1}

    def limit(port: str, field: bool) -> float:
        found = xtile.check(rows(), port, devices=[], **sizes, field=field).comparisons[0]
        assert found.difference is not None
        return found.difference.limit

    assert limit(_WITH_EXP2, True) == 4 * limit(_WITH_EXP2, False) > 0
    wrong = rows(start="1.0e-6")
    assert limit(wrong, True) == limit(wrong, False) > 0


@pytest.mark.slow
def test_so_they_may_on_devices_where_the_reference_device_is_slow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first launches of devices come before the small ones of the reference device."""
    monkeypatch.setattr(agreement, "_LONG", -1.0)

    def limits(field: bool) -> list[float]:
        found = xtile.check(rows(), _WITH_EXP2, devices=["opencl"], field=field, seed=1)
        assert (found.exact, found.agrees) == ("agrees" if field else None, True)
        differences = [each.difference for each in found.comparisons if each.device != "field"]
        assert "opencl" in {each.device for each in found.comparisons}
        return [each.limit for each in differences if each is not None and each.limit > 0]

    wide, usual = limits(True), limits(False)
    assert len(wide) == len(usual) > 3
    assert wide == [4 * limit for limit in usual]


def test_the_slack_of_outcomes() -> None:
    outcomes = Outcomes(np.ones(3, np.float32), has_orders=False, safety=2.0)
    outcomes.allow(np.full(3, 0.25))
    found = np.array([1.5, 2.5, 3.5], np.float32)
    assert outcomes.allows(found).tolist() == [True, False, False]
    assert outcomes.allows(found, 4.0).tolist() == [True, True, False]
    assert outcomes.limits(4.0).tolist() == [2.0] * 3


OF_INTEGERS = """
func @k(%A: memref<i16x4x50>, %B: memref<i16x50x3>, %D: memref<i16x4x50>, %x: memref<i16x50>,
        %y: memref<i16x4>, %C: memref<f32x4x3>, %E: memref<f32x4x50>, %z: memref<f32x4>) {{
    %alpha = constant 32749 : i16
    %beta = constant 0.25 : f32
    {}
}}
"""


@pytest.mark.slow
@pytest.mark.parametrize("to", ["xegpu", "cuda_tile", "triton"])
@pytest.mark.parametrize(
    "statement",
    [
        "axpby %alpha, %A, %beta, %E",
        "cumsum %alpha, %A, 1, %beta, %E",
        "gemm %alpha, %A, %B, %beta, %C",
        "gemv %alpha, %A, %x, %beta, %z",
        "ger %alpha, %y, %x, %beta, %E",
        "hadamard %alpha, %A, %D, %beta, %E",
        "sum %alpha, %A, %beta, %z",
    ],
)
def test_integers_are_not_rounded(statement: str, to: str) -> None:
    """Ports multiply and add in another order, so that roundings would differ."""
    source = OF_INTEGERS.format(statement)
    port = xtile.translate(xtile.parse(source, language="tensorlang"), to)
    random = np.random.default_rng(fresh_seed())
    integers = [
        np.asfortranarray(random.integers(2**13, 2**15, shape, np.int16) | 1)
        for shape in ((4, 50), (50, 3), (4, 50), (50,), (4,))
    ]
    floats = [np.ones(shape, np.float32, order="F") for shape in ((4, 3), (4, 50), (4,))]
    result = _compared(source, port, [*integers, *floats])
    assert (result.verdict, result.reason) == ("agree", None)
    assert result.unknown == sum(array.size for array in floats)


CONVERTED = """
gpu.module @m {{
  gpu.func @k(%n: memref<4x{integer}>, %y: memref<4xf32>) kernel
      attributes {{known_block_size = array<i32: 1, 1, 1>}} {{
    %i = gpu.block_id x
    %a = memref.load %n[%i] : memref<4x{integer}>
    {statements}
    memref.store %f, %y[%i] : memref<4xf32>
    gpu.return
  }}
}}
"""


def _converted(integer: str, sign: str, less: int, is_wide: bool) -> str:
    """An integer as f32, or the same in f64, of which something is subtracted."""
    wide = f"""%less = arith.constant {float(less)} : f64
    %b = arith.{sign}itofp %a : {integer} to f64
    %c = arith.subf %b, %less : f64
    %f = arith.truncf %c : f64 to f32"""
    narrow = f"%f = arith.{sign}itofp %a : {integer} to f32"
    return CONVERTED.format(integer=integer, statements=wide if is_wide else narrow)


@pytest.mark.parametrize(("integer", "sign"), [("i32", "s"), ("i32", "u"), ("i64", "u")])
def test_converted_integers_are_not_rounded(integer: str, sign: str) -> None:
    """They differ by 1, which f32 does not tell for integers above 2^24."""
    dtype = np.dtype(np.int32 if integer == "i32" else np.int64)
    integers = np.array([2**24 + 1, 2**31 - 1, -1, -(2**24) - 1], dtype)
    arguments = [integers, np.zeros(4, np.float32)]
    source = _converted(integer, sign, 0, is_wide=False)
    same, other = (_converted(integer, sign, less, is_wide=True) for less in (0, 1))
    assert _compared(source, same, arguments, 4).verdict == "agree"
    assert _compared(source, other, arguments, 4).reason == "argument 1[0]"


def test_sums_of_integers_are_not_rounded_by_the_way_of_their_bits() -> None:
    """What is known passes through integers, and through memory, as what is drawn does."""
    sum_ = """%large = arith.constant 16777216.0 : f32
    %number = arith.sitofp %a : i32 to f32
    %f = arith.addf %number, %large : f32"""
    moved = f"""{sum_.replace("%f", "%g")}
    %bits = arith.bitcast %g : f32 to i32
    %none = arith.constant 0 : i32
    %joined = arith.ori %bits, %none : i32
    %f = arith.bitcast %joined : i32 to f32"""
    source, port = (CONVERTED.format(integer="i32", statements=each) for each in (sum_, moved))
    arguments = [np.array([1, 3, 5, 7], np.int32), np.zeros(4, np.float32)]
    result = _compared(source, port, arguments, 4)
    assert (result.verdict, result.reason) == ("agree", None)
    next_ = port.replace("constant 16777216.0", "constant 16777218.0")
    assert _compared(source, next_, arguments, 4).reason == "argument 1[0]"
