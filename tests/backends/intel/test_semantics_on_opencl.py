"""What docs/semantics.md says of orders, barriers and edges holds on OpenCL's device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xtile
from tests.backends.intel.agreement import check_agreement
from tests.backends.intel.opencl_kernels import Kernels
from tests.backends.intel.random_arguments import Arguments
from tests.seeds import fresh_generator, fresh_seed
from tests.translate.tensorlang_to_core.test_values import PROGRAMS
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.types import NUMBER_TYPES
from xtile.semantics.numeric_types import NUMPY_TYPES


def _run(text: str, *arguments: Any, grid: Any = 1) -> None:
    xtile.run(text, arguments, grid, device="opencl")


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    """Loops to the end of their type, empty ones, tiles, subgroups in two dimensions and others."""
    (function,) = xtile.parse(PROGRAMS[name], language="tensorlang").body.block.ops
    assert isinstance(function, FuncOp)
    function.detach()
    kernels, seed = Kernels([function]), fresh_seed()
    arguments = Arguments(function, np.random.default_rng(seed)).values
    assert check_agreement(function, arguments, kernels.launch(0), seed=seed)


# --- numbers ---

_QUOTIENTS = """
func @f(%a: {type}, %b: {type}, %C: memref<{type}x2>) {{
    %zero = constant 0 : index
    %one = constant 1 : index
    %q = div %a, %b : {type}
    %r = rem %a, %b : {type}
    store %q, %C[%zero]
    store %r, %C[%one]
}}
"""


@pytest.mark.parametrize("type_", ["i8", "i16", "i32", "i64", "index"])
def test_division_by_zero_ends(type_: str) -> None:
    """A CPU's own division would end the process; here the dividend is the quotient."""
    dtype = NUMPY_TYPES[NUMBER_TYPES[type_]]
    for dividend in (7, -7, 0, np.iinfo(dtype).min, np.iinfo(dtype).max):
        found = np.full(2, 55, dtype)
        _run(_QUOTIENTS.format(type=type_), dividend, 0, found)
        assert found.tolist() == [dividend, 0]


_SCAN = """
func @f(%A: memref<f32x16>, %B: memref<f32x16>, %C: memref<f32x16>)
        attributes {subgroup_size=16, work_group_size=[16,1]} {
    parallel {
        %lane = subgroup_local_id : i32
        %i = cast %lane : index
        %x = load %A[%i] : f32
        %exclusive = subgroup_exclusive_scan_max %x : f32
        %inclusive = subgroup_inclusive_scan_max %x : f32
        store %exclusive, %B[%i]
        store %inclusive, %C[%i]
    }
}
"""


def test_a_maximum_of_one_number_may_be_nan() -> None:
    numbers = np.array([np.nan, -2.0, np.nan, 3.0] + 12 * [1.0], np.float32)
    exclusive, inclusive = np.zeros_like(numbers), np.zeros_like(numbers)
    _run(_SCAN, numbers, exclusive, inclusive)
    expected = [np.nan, -2.0, -2.0] + 13 * [3.0]
    np.testing.assert_array_equal(inclusive, np.array(expected, np.float32))
    np.testing.assert_array_equal(exclusive, np.array([-np.inf, *expected[:-1]], np.float32))


# --- atomic updates ---

_TICKETS = """
func @f(%counter: memref<{type}x1>, %old: memref<{type}x32x2x?>)
        attributes {{subgroup_size=16, work_group_size=[32,2]}} {{
    parallel {{
        %x = subgroup_id.x : i32
        %y = subgroup_id.y : i32
        %lane = subgroup_local_id : i32
        %sixteen = constant 16 : i32
        %start = mul %x, %sixteen : i32
        %row = add %start, %lane : i32
        %i = cast %row : index
        %j = cast %y : index
        %k = group_id.x : index
        %zero = constant 0 : index
        %one = constant 1{fraction} : {type}
        %ticket = atomic_add.device.relaxed %one, %counter[%zero] : {type}
        store %ticket, %old[%i,%j,%k]
    }}
}}
"""


@pytest.mark.parametrize("type_", ["i16", "i32", "i64", "index", "f16", "f32", "f64"])
def test_each_atomic_update_sees_another_number(type_: str) -> None:
    """Work-items of several work-groups draw tickets, of which none comes twice."""
    groups = 20
    dtype = NUMPY_TYPES[NUMBER_TYPES[type_]]
    counter, old = np.zeros(1, dtype), np.full((32, 2, groups), -1, dtype, order="F")
    fraction = ".0" if type_.startswith("f") else ""
    _run(_TICKETS.format(type=type_, fraction=fraction), counter, old, grid=groups)
    np.testing.assert_array_equal(np.sort(old, axis=None), np.arange(64 * groups))
    assert counter[0] == 64 * groups


_COLLECTIVE = """
func @f(%counter: memref<i32x4>, %C: memref<i32x1>)
        attributes {subgroup_size=16, work_group_size=[32,2]} {
    %c0 = constant 0 : index
    %c1 = constant 1 : index
    %c2 = constant 2 : index
    %one = constant 1 : i32
    %old = atomic_add %one, %counter[%c0] : i32
    %low = atomic_min %one, %counter[%c1] : i32
    %high = atomic_max %one, %counter[%c2] : i32
    %sum = load %counter[%c0] : i32
    store %sum, %C[%c0]
}
"""


def test_each_work_item_does_a_collective_update() -> None:
    counter, sums = np.array([0, 9, -9, 5], np.int32), np.zeros(1, np.int32)
    _run(_COLLECTIVE, counter, sums)
    assert counter.tolist() == [64, 1, 1, 5]
    assert sums.tolist() == [64]


# --- local memory and barriers ---

_REVERSE = """
func @f(%A: memref<f32x64x?>) attributes {subgroup_size=16, work_group_size=[32,2]} {
    %local = alloca : memref<f32x64,local>
    %group = group_id.x : index
    %rounds = constant 5 : i32
    %first = constant 0 : i32
    parallel {
        %subgroup = subgroup_linear_id : i32
        %lane = subgroup_local_id : i32
        %sixteen = constant 16 : i32
        %start = mul %subgroup, %sixteen : i32
        %number = add %start, %lane : i32
        %i = cast %number : index
        %last = constant 63 : index
        %other = sub %last, %i : index
        for %round=%first,%rounds {
            %x = load %A[%i,%group] : f32
            store %x, %local[%i]
            barrier.local
            %y = load %local[%other] : f32
            %one = constant 1.0 : f32
            %z = add %y, %one : f32
            store %z, %A[%i,%group]
            barrier.global.local
        }
    }
}
"""


def test_barriers_separate_what_subgroups_write_and_read() -> None:
    """Each work-group reverses its column five times, through local memory of its own."""
    columns = np.asfortranarray(fresh_generator().normal(size=(64, 30)).astype(np.float32))
    found = columns.copy(order="F")
    _run(_REVERSE, found, grid=30)
    expected = columns[::-1]
    for _ in range(5):
        expected = expected + np.float32(1.0)
    np.testing.assert_array_equal(found, expected)


_AUTOMATIC = """
func @f(%A: memref<f32x16x16>, %B: memref<f32x16x16>, %C: memref<f32x16x16>) {
    %zero = constant 0.0 : f32
    %one = constant 1.0 : f32
    %T = alloca : memref<f32x16x16,local>
    %U = alloca : memref<f32x16x16,local>
    gemm.n.n %one, %A, %B, %zero, %T
    axpby.t %one, %T, %zero, %U
    gemm.n.n %one, %U, %T, %zero, %C
}
"""


def test_collective_instructions_see_what_those_before_wrote() -> None:
    random = fresh_generator()
    a, b = (np.asfortranarray(random.integers(-3, 4, (16, 16)).astype(np.float32)) for _ in "ab")
    found = np.full((16, 16), np.nan, np.float32, order="F")
    _run(_AUTOMATIC, a, b, found)
    np.testing.assert_array_equal(found, (a @ b).T @ (a @ b))


# --- drivers ---

_EDGE = """
func @f(%z: c32, %A: memref<i8x8x16>, %B: memref<i16x?x8,strided<2,?>>, %C: memref<i32x16x?>,
        %a: i16, %Z: memref<c32x64>, %L: memref<i64x64>, %M: memref<i64x64>, %H: memref<f16x64>,
        %E: memref<f16x64>, %N: memref<i8x64>, %F: memref<f32x1x2x1x1>)
        attributes {subgroup_size=16, work_group_size=[32,2]} {
    %power = native_exp2 %z : c32
    %c0 = constant 0 : index
    store %power, %Z[%c0]
    %c1 = constant 1 : index
    %c2 = constant 2 : index
    foreach (%i,%j,%k,%l)=(%c0,%c0,%c0,%c0),(%c1,%c2,%c1,%c1) {
        %x = load %F[%i,%j,%k,%l] : f32
    }
    %local = alloca : memref<i64x3x4x1x8x8,local>
    %one = constant 1 : i64
    store %one, %local[%c0,%c0,%c0,%c0,%c0]
    %loaded = load %local[%c0,%c0,%c0,%c0,%c0] : i64
    store %loaded, %L[%c0]
    %most = constant 9223372036854775807 : i64
    store %most, %M[%c0]
    gemm.t.t %a, %A, %B, %a, %C
    %h = constant -4.2610686316576657e+83 : f16
    store %h, %H[%c0]
    %e = native_exp %h : f16
    store %e, %E[%c0]
    %nothing = constant 0 : i8
    store %nothing, %N[%c0]
}
"""


def test_the_last_row_of_a_product_of_one_work_item() -> None:
    """Intel's CPU runtime 2026.2 computes it wrong with OpenCL's own minimum of integers."""
    random = fresh_generator()
    a = np.asfortranarray(random.integers(0, 5, (8, 16)).astype(np.int8))
    b = np.asfortranarray(random.integers(0, 5, (4, 8)).astype(np.int16))[::2]
    c = np.asfortranarray(random.integers(0, 5, (16, 2)).astype(np.int32))
    expected = 3 * a.T.astype(int) @ b.T + 3 * c
    outputs = [np.zeros(64, dtype) for dtype in ("c8", "i8", "i8", "f2", "f2", "i1")]
    numbers = np.zeros((1, 2, 1, 1), np.float32, order="F")
    _run(_EDGE, 1.0 + 2.0j, a, b, c, 3, *outputs, numbers)
    np.testing.assert_array_equal(c, expected)


_VIEW = """
func @view(%A: memref<f32x?x4x?x3x?>, %x: f32, %i: index, %j: index, %k: index) {
    %one = constant 1 : index
    %two = constant 2 : index
    %three = constant 3 : index
    %view = subview %A[%one,3:1,%one:3,%one,%three:%two] : memref<f32x1x3x?,strided<?,?,?>>
    store %x, %view[%i,%j,%k]
}
"""


def test_a_view_with_a_size_that_is_a_constant_keeps_its_modes() -> None:
    a = np.zeros((6, 4, 5, 3, 6), np.float32, order="F")
    expected = a.copy(order="F")
    expected[1, 3, 1 + 2, 1, 3 + 1] = 3.5
    _run(_VIEW, a, 3.5, 0, 2, 1)
    np.testing.assert_array_equal(a, expected)
