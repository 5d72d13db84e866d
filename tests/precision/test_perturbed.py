"""Kernels with the errors that another device may make."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import xtile
from tests.precision.distances import unit_in_last_place
from tests.precision.perturbed import Overflow, has_orders, is_determined, launch_perturbed
from tests.seeds import fresh_generator
from xtile.checking.tolerances import TOLERANCES
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.types import F32
from xtile.semantics.arguments import MemrefArgument
from xtile.semantics.engine import launch

ONE_GROUP = (1, 1, 1)


def _function(body: str, parameters: str = "%A: memref<f32x64>, %B: memref<f32x64>") -> FuncOp:
    text = (
        f"func @f({parameters}) attributes {{subgroup_size=16,work_group_size=[16,1]}} {{{body}}}"
    )
    (function,) = xtile.parse(text, language="tensorlang").body.block.ops
    assert isinstance(function, FuncOp)
    return function


def _elementwise(instruction: str) -> FuncOp:
    return _function(f"""
        %zero = constant 0 : index
        %n = constant 64 : index
        foreach (%i)=(%zero),(%n) {{
            %x = load %A[%i] : f32
            %y = {instruction} : f32
            store %y, %B[%i]
        }}
    """)


Array = npt.NDArray[Any]


def _run(
    function: FuncOp, *arrays: Array, is_perturbed: bool, overflow: Overflow = Overflow.ANY
) -> list[Any]:
    copies = [array.copy() for array in arrays]
    arguments = [MemrefArgument(a.reshape(-1, order="F"), a.shape, _strides(a)) for a in copies]
    if is_perturbed:
        launch_perturbed(function, arguments, ONE_GROUP, fresh_generator(), overflow)
    else:
        launch(function, arguments, ONE_GROUP)
    return [argument.base for argument in arguments]


def _strides(array: Array) -> tuple[int, ...]:
    return tuple(math.prod(array.shape[:mode]) for mode in range(array.ndim))


@pytest.mark.parametrize("name", ["exp", "cos", "native_log2"])
def test_functions_are_off_by_the_tables_number(name: str) -> None:
    function = _elementwise(f"{name} %x")
    assert not is_determined(function)
    numbers = fresh_generator().uniform(0.5, 3.0, 64).astype(np.float32)
    _, exact = _run(function, numbers, np.zeros_like(numbers), is_perturbed=False)
    _, moved = _run(function, numbers, np.zeros_like(numbers), is_perturbed=True)
    units = np.abs(moved.astype(float) - exact) / unit_in_last_place(exact, F32)
    # Moving a number may lead to where units are half as large.
    ulps = TOLERANCES[name].ulps[F32]
    assert ((units >= ulps - 1) & (units <= ulps + 1)).all()


@pytest.mark.parametrize("instruction", ["add %x, %x", "div %x, %x", "max %x, %x"])
def test_what_is_rounded_once_is_exact(instruction: str) -> None:
    function = _elementwise(instruction)
    assert is_determined(function)
    numbers = fresh_generator().normal(size=64).astype(np.float32)
    _, exact = _run(function, numbers, np.zeros_like(numbers), is_perturbed=False)
    _, moved = _run(function, numbers, np.zeros_like(numbers), is_perturbed=True)
    np.testing.assert_array_equal(moved, exact)


PRODUCT = "%A: memref<f32x5x40>, %B: memref<f32x40x6>, %C: memref<f32x5x6>"


def test_sums_are_off_by_what_their_magnitudes_allow() -> None:
    function = _function("%a = constant 2.0 : f32\n gemm.n.n %a, %A, %B, %a, %C", PRODUCT)
    random = fresh_generator()
    a, b, c = (random.normal(size=shape).astype("f4") for shape in ((5, 40), (40, 6), (5, 6)))
    exact = _run(function, a, b, c, is_perturbed=False)
    moved = _run(function, a, b, c, is_perturbed=True)
    magnitudes = 2 * np.abs(a.astype(float)) @ np.abs(b.astype(float)) + 2 * np.abs(c)
    # 40 products and C are 41 terms, and two roundings more are for the factors.
    limit = 2 * (41 + 2) * 2.0**-24 * magnitudes
    error = np.abs(moved[2].astype(float) - exact[2]).reshape((5, 6), order="F")
    assert (error > 0.5 * limit).all()
    assert (error < 1.5 * limit).all()
    for before, after in zip(exact[:2], moved[:2], strict=True):
        np.testing.assert_array_equal(after, before)


def test_sums_of_matrices_are_as_inexact_as_the_type_that_is_added_to() -> None:
    """They are rounded to the type of C before they become of the result's, which may be wider."""
    function = _function(
        """
        %zero = constant 0 : index
        parallel {
            %a = cooperative_matrix_load %A[%zero,%zero] : coopmatrix<f32x16x8,matrix_a>
            %b = cooperative_matrix_load %B[%zero,%zero] : coopmatrix<f32x8x4,matrix_b>
            %c = cooperative_matrix_load %C[%zero,%zero] : coopmatrix<f32x16x4,matrix_acc>
            %d = cooperative_matrix_mul_add %a, %b, %c : coopmatrix<f64x16x4,matrix_acc>
            cooperative_matrix_store %d, %D[%zero,%zero]
        }
        """,
        "%A: memref<f32x16x8>, %B: memref<f32x8x4>, %C: memref<f32x16x4>, %D: memref<f64x16x4>",
    )
    random = fresh_generator()
    a, b, c = (random.normal(size=shape).astype("f4") for shape in ((16, 8), (8, 4), (16, 4)))
    d = np.full((16, 4), np.nan)
    exact = _run(function, a, b, c, d, is_perturbed=False)[3]
    moved = _run(function, a, b, c, d, is_perturbed=True)[3]
    magnitudes = np.abs(a.astype(float)) @ np.abs(b.astype(float)) + np.abs(c)
    limit = (2 * (9 + 2) * 2.0**-24 * magnitudes).reshape(-1, order="F")
    error = np.abs(moved - exact)
    assert (error > 0.5 * limit).all()
    assert (error < 1.5 * limit).all()


def test_sums_of_integers_are_exact_in_a_wider_type_as_well() -> None:
    function = _function(
        """
        %zero = constant 0 : index
        parallel {
            %a = cooperative_matrix_load %A[%zero,%zero] : coopmatrix<i8x16x8,matrix_a>
            %b = cooperative_matrix_load %B[%zero,%zero] : coopmatrix<i8x8x4,matrix_b>
            %c = cooperative_matrix_load %C[%zero,%zero] : coopmatrix<i32x16x4,matrix_acc>
            %d = cooperative_matrix_mul_add %a, %b, %c : coopmatrix<i64x16x4,matrix_acc>
            cooperative_matrix_store %d, %D[%zero,%zero]
        }
        """,
        "%A: memref<i8x16x8>, %B: memref<i8x8x4>, %C: memref<i32x16x4>, %D: memref<i64x16x4>",
    )
    random = fresh_generator()
    a, b = (random.integers(-9, 9, shape, np.int8) for shape in ((16, 8), (8, 4)))
    c, d = random.integers(-9, 9, (16, 4), np.int32), np.full((16, 4), -1, np.int64)
    moved = _run(function, a, b, c, d, is_perturbed=True)[3]
    wanted = a.astype(np.int64) @ b.astype(np.int64) + c
    np.testing.assert_array_equal(moved, wanted.reshape(-1, order="F"))


LARGE = float(np.finfo(np.float32).max)

OVERFLOWING = {
    "the sum of the first two": [LARGE, LARGE, -LARGE, 0.0],
    "a product that is scaled": [LARGE, 0.0, 0.0, 0.0],
    "finite terms beside an infinity": [LARGE, LARGE, -np.inf, 0.0],
}

DETERMINED = {
    "a NaN": ([LARGE, LARGE, np.nan, 0.0], np.nan),
    "infinities with opposite signs": ([LARGE, LARGE, np.inf, -np.inf], np.nan),
    "an infinity": ([1.0, 2.0, -np.inf, 0.0], -np.inf),
    "large numbers": ([LARGE / 8, LARGE / 8, 0.0, 0.0], LARGE / 4),
}


def _sums(numbers: list[float], overflow: Overflow, scale: float = 1.0) -> float:
    function = _function(
        f"%a = constant {scale} : f32\n sum %a, %A, %a, %B", "%A: memref<f32x4>, %B: memref<f32>"
    )
    arrays = np.array(numbers, np.float32), np.zeros((), np.float32)
    _, (found,) = _run(function, *arrays, is_perturbed=True, overflow=overflow)
    return float(found)


@pytest.mark.parametrize("name", OVERFLOWING)
def test_sums_that_overflow_in_some_order_are_not_finite(name: str) -> None:
    given = OVERFLOWING[name]
    assert _sums(given, Overflow.INFINITY, 1.5) == np.inf
    assert _sums(given, Overflow.NEGATIVE_INFINITY, 1.5) == -np.inf
    assert np.isnan(_sums(given, Overflow.NAN, 1.5))
    assert not np.isfinite(_sums(given, Overflow.SUM, 1.5))


def test_sums_that_overflow_in_one_order_are_a_number_in_another() -> None:
    found = _sums([LARGE / 2, LARGE, -LARGE, 0.0], Overflow.SUM)
    assert abs(found - LARGE / 2) < 1e-5 * LARGE


@pytest.mark.parametrize("name", DETERMINED)
@pytest.mark.parametrize("overflow", Overflow)
def test_other_sums_are_what_their_terms_make_them(name: str, overflow: Overflow) -> None:
    given, expected = DETERMINED[name]
    np.testing.assert_allclose(_sums(given, overflow), expected, rtol=1e-5)


def test_sums_in_registers_may_overflow() -> None:
    function = _function(
        """
        parallel {
            %lane = subgroup_local_id : i32
            %i = cast %lane : index
            %x = load %A[%i] : f32
            %y = subgroup_reduce_add %x : f32
            store %y, %B[%i]
        }
        """
    )
    numbers = np.zeros(64, np.float32)
    numbers[:3] = LARGE, LARGE, -LARGE
    _, sums = _run(
        function, numbers, numbers, is_perturbed=True, overflow=Overflow.NEGATIVE_INFINITY
    )
    np.testing.assert_array_equal(sums[:16], np.full(16, -np.inf))


def test_narrow_sums_overflow_as_sums_in_f32_do() -> None:
    """Partial sums of f16 are in f32, so that only the result can be too large."""
    function = _function("%a = constant 1.0 : f16\n sum %a, %A, %a, %B", NARROW)
    for numbers, expected in ((6e4, 6e4, -6e4, 0.0), 6e4), ((6e4, 6e4, 6e4, 0.0), np.inf):
        arrays = np.array(numbers, np.float16), np.zeros((), np.float16)
        _, (found,) = _run(function, *arrays, is_perturbed=True, overflow=Overflow.NAN)
        assert found == pytest.approx(expected, rel=2e-3)


NARROW = "%A: memref<f16x4>, %B: memref<f16>"


def test_atomic_sums_are_rounded_before_they_are_added() -> None:
    function = _function("%a = constant 1.0 : f16\n sum.atomic %a, %A, %a, %B", NARROW)
    arrays = np.array([1000.0, 0.7, 0.0, 0.0], np.float16), np.full((), -1000.0, np.float16)
    _, (exact,) = _run(function, *arrays, is_perturbed=False)
    _, (moved,) = _run(function, *arrays, is_perturbed=True)
    # 1000.7 is between two numbers that are half a unit apart.
    assert 0.5 <= abs(float(moved) - float(exact)) <= 2.5


def test_work_items_draw_tickets_in_any_order() -> None:
    function = _function(
        """
        parallel {
            %lane = subgroup_local_id : i32
            %i = cast %lane : index
            %zero = constant 0 : index
            %one = constant 1 : i32
            %old = atomic_add %one, %A[%zero] : i32
            store %old, %B[%i]
        }
        """,
        "%A: memref<i32x1>, %B: memref<i32x16>",
    )
    assert has_orders(function)
    seen: set[tuple[int, ...]] = set()
    for _ in range(4):
        arrays = np.zeros(1, np.int32), np.zeros(16, np.int32)
        counter, tickets = _run(function, *arrays, is_perturbed=True)
        assert counter.tolist() == [16]
        assert sorted(tickets.tolist()) == list(range(16))
        seen.add(tuple(tickets.tolist()))
    assert len(seen) > 1


def test_complex_numbers_that_are_not_finite_are_any() -> None:
    function = _function(
        """
        %zero = constant 0 : index
        %x = load %A[%zero] : c32
        %y = exp %x : c32
        store %y, %A[%zero]
        """,
        "%A: memref<c32x1>",
    )
    (found,) = _run(function, np.array([complex(-np.inf, 1.0)], "c8"), is_perturbed=True)
    assert np.isnan(found[0])
