"""Launches of every shape do the same on OpenCL's device as on the reference device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xtile
from tests.seeds import fresh_generator
from xtile.dialects.tensorlang.types import NUMBER_TYPES
from xtile.launch import Group
from xtile.semantics.numeric_types import NUMPY_TYPES

Array = npt.NDArray[Any]


def _both(text: str, arguments: Sequence[Any], grid: Any = 1) -> None:
    """Launches a kernel on both devices; all memory must agree in every bit."""
    expected, found = _copied(arguments), _copied(arguments)
    xtile.run(text, expected, grid, "reference")
    xtile.run(text, found, grid, "opencl")
    for first, second in zip(_arrays(expected), _arrays(found), strict=True):
        np.testing.assert_array_equal(second, first)


def _copied(arguments: Sequence[Any]) -> list[Any]:
    return [_copy(argument) for argument in arguments]


def _copy(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        return _copied_view(cast(Array, argument))
    if isinstance(argument, list):
        return _copied(cast("list[Any]", argument))
    if isinstance(argument, Group):
        return Group(_copied(argument.entries), argument.offset, argument.shapes)
    return argument


def _copied_view(array: Array) -> Array:
    """A copy of an array with the memory between its elements, and so with its strides."""
    if array.base is None:
        return array.copy(order="K")
    assert isinstance(array.base, np.ndarray)
    base = array.base.copy(order="K")
    start = array.__array_interface__["data"][0] - array.base.__array_interface__["data"][0]
    return np.ndarray(array.shape, array.dtype, base.data, start, array.strides)


def _arrays(arguments: Sequence[Any]) -> list[Array]:
    """The arrays among arguments, with the memory that they are views of."""
    found: list[Array] = []
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            array = cast(Array, argument)
            found.append(array if array.base is None else array.base)
        elif isinstance(argument, Group):
            found += _arrays(argument.entries)
        elif isinstance(argument, list):
            found += _arrays(cast("list[Any]", argument))
    return found


def _noise(*shape: int) -> Array:
    """Multiples of 1/4 in column-major order, whose sums and products are exact in f32."""
    numbers = fresh_generator().integers(-40, 41, shape) / 4
    return np.asfortranarray(numbers.astype(np.float32))


# --- grids ---

_GRID = """
func @f(%A: memref<i32x?x?x?>) attributes {subgroup_size=16, work_group_size=[32,2]} {
    parallel {
        %x = group_id.x : index
        %y = group_id.y : index
        %z = group_id.z : index
        %nx = num_groups.x : index
        %ny = num_groups.y : index
        %nz = num_groups.z : index
        %lane = subgroup_local_id : i32
        %subgroup = subgroup_linear_id : i32
        %nxy = mul %nx, %ny : index
        %n = mul %nxy, %nz : index
        %row = mul %y, %nx : index
        %plane = mul %z, %nxy : index
        %in_plane = add %row, %x : index
        %number = add %plane, %in_plane : index
        %all = mul %number, %n : index
        %wide = cast %all : i32
        %zero = constant 0 : i32
        %last = constant 3 : i32
        %is_last = equal %subgroup, %last : bool
        if %is_last {
            %is_first = equal %lane, %zero : bool
            if %is_first {
                %value = add %wide, %subgroup : i32
                store %value, %A[%x,%y,%z]
            }
        }
    }
}
"""

_MODES = st.integers(1, 6)


@settings(max_examples=30)
@given(st.tuples(_MODES, _MODES, _MODES))
def test_grids_of_three_modes(grid: tuple[int, int, int]) -> None:
    """Each work-group writes how many there are, times its number, to its own element."""
    _both(_GRID, [np.full(grid, -1, np.int32, order="F")], grid)


@pytest.mark.parametrize("grid", [7, (7,), (7, 3), (1, 1, 7), (1, 500, 1)])
def test_grids_with_missing_modes(grid: Any) -> None:
    modes = (grid,) if isinstance(grid, int) else grid
    shape = (*modes, 1, 1)[:3]
    _both(_GRID, [np.full(shape, -1, np.int32, order="F")], grid)


# --- views ---

_VIEWS = """
func @f(%a: f32, %A: memref<f32x?x?,strided<?,?>>, %B: memref<f32x?x?,strided<?,?>>) {
    axpby.n %a, %A, %a, %B
    %zero = constant 0 : index
    %m = size %A[0] : index
    %n = size %A[1] : index
    foreach (%i,%j)=(%zero,%zero),(%m,%n) {
        %x = load %A[%i,%j] : f32
        %y = load %B[%i,%j] : f32
        %sum = add %x, %y : f32
        store %sum, %B[%i,%j]
    }
}
"""

_SLICES = st.tuples(st.integers(0, 3), st.integers(1, 4))
"""The first element of a slice, and its step."""


@settings(max_examples=40)
@given(st.lists(_SLICES, min_size=4, max_size=4), st.integers(0, 5), st.integers(0, 5))
def test_strided_views(slices: list[tuple[int, int]], rows: int, columns: int) -> None:
    views: list[Array] = []
    for (row, row_step), (column, column_step) in (slices[:2], slices[2:]):
        # A copy owns its memory, of which the view is a part.
        base = _noise(24, 24).copy(order="F")
        views.append(base[row::row_step, column::column_step][:rows, :columns])
    _both(_VIEWS, [2.0, *views])


def test_one_array_in_two_views() -> None:
    base = _noise(20, 6)
    expected, found = base.copy(order="F"), base.copy(order="F")
    xtile.run(_VIEWS, [0.5, expected[:10], expected[10:]])
    xtile.run(_VIEWS, [0.5, found[:10], found[10:]], device="opencl")
    np.testing.assert_array_equal(found, expected)


# --- groups ---

_GROUPS = """
func @f(%A: group<memref<f32x?x?> x ?, offset: ?>, %B: group<memref<f32x?> x ?>,
        %seen: memref<i32x?>) {
    %i = group_id.x : index
    %n = size %A[0] : index
    %zero = constant 0 : index
    %A_i = load %A[%i] : memref<f32x?x?>
    %B_i = load %B[%i] : memref<f32x?>
    %is_there = associated %A_i : bool
    %count = cast %n : i32
    %none = constant 0 : i32
    %found = if %is_there -> (i32) {
        yield (%count)
    } else {
        yield (%none)
    }
    store %found, %seen[%i]
    if %is_there {
        %half = constant 0.5 : f32
        %one = constant 1.0 : f32
        sum.n %half, %A_i, %one, %B_i
    }
}
"""


@settings(max_examples=25)
@given(
    st.lists(st.none() | st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=7),
    st.integers(0, 5),
)
def test_groups_with_null_entries(shapes: list[tuple[int, int] | None], offset: int) -> None:
    """Entries have sizes of their own, and lie behind an offset."""
    matrices: list[Any] = []
    vectors: list[Any] = []
    for shape in shapes:
        m, n = (1, 1) if shape is None else shape
        matrices.append(None if shape is None else _noise(offset + m * n))
        vectors.append(None if shape is None else _noise(m))
    group = Group(matrices, offset, shapes)
    _both(_GROUPS, [group, vectors, np.full(len(shapes), -1, np.int32)], len(shapes))


@pytest.mark.parametrize("name", NUMBER_TYPES)
@pytest.mark.parametrize("shape", ["x4x3", "x?x?"])
def test_products_of_matrices_in_groups(name: str, shape: str) -> None:
    one = {"c": "[1.0, 0.0]", "i": "1"}.get(name[0], "1.0")
    zero = one.replace("1", "0")
    memref = f"memref<{name}{shape}>"
    text = f"""
    func @f(%A: group<{memref} x ?, offset: ?>, %B: group<memref<{name}x4x4> x ?>) {{
        %g = group_id.x : index
        %one = constant {one} : {name}
        %zero = constant {zero} : {name}
        %a = load %A[%g] : {memref}
        %b = load %B[%g] : memref<{name}x4x4>
        gemm.n.t %one, %a, %a, %zero, %b
    }}
    """
    random = fresh_generator()
    dtype = NUMPY_TYPES[NUMBER_TYPES[name]]
    factors = [random.integers(-2, 3, 14).astype(dtype) for _ in range(5)]
    products = [np.zeros((4, 4), dtype, order="F") for _ in range(5)]
    _both(text, [Group(factors, 2, [(4, 3)] * 5), products], 5)


_ASSOCIATED = """
func @f(%A: memref<f32x?>, %G: group<memref<f32x?> x ?>, %out: memref<indexx4>) {
    %c0 = constant 0 : index
    %c1 = constant 1 : index
    %c2 = constant 2 : index
    %c3 = constant 3 : index
    %a = associated %A : bool
    %g = associated %G : bool
    %x = if %a -> (index) {
        yield (%c1)
    } else {
        yield (%c0)
    }
    %y = if %g -> (index) {
        yield (%c1)
    } else {
        yield (%c0)
    }
    %m = size %A[0] : index
    %n = size %G[0] : index
    store %x, %out[%c0]
    store %y, %out[%c1]
    store %m, %out[%c2]
    store %n, %out[%c3]
}
"""


@pytest.mark.parametrize("memref", [None, np.zeros(3, np.float32), np.zeros(0, np.float32)])
@pytest.mark.parametrize("group", [None, [], [None], [np.zeros(2, np.float32), None]])
def test_null_pointers(memref: Any, group: Any) -> None:
    _both(_ASSOCIATED, [memref, group, np.full(4, -1)])


# --- sizes of 0 ---

_EMPTY = {
    "gemm.n.n": "%A: memref<f32x?x?>, %B: memref<f32x?x?>, %C: memref<f32x?x?>",
    "gemv.n": "%A: memref<f32x?x?>, %B: memref<f32x?>, %C: memref<f32x?>",
    "ger": "%A: memref<f32x?>, %B: memref<f32x?>, %C: memref<f32x?x?>",
    "hadamard": "%A: memref<f32x?x?>, %B: memref<f32x?x?>, %C: memref<f32x?x?>",
    "axpby.t": "%A: memref<f32x?x?>, %C: memref<f32x?x?>",
    "sum.n": "%A: memref<f32x?x?>, %C: memref<f32x?>",
    "cumsum": "%A: memref<f32x?x?>, %C: memref<f32x?x?>",
}
"""Instructions and their operands."""


def _of_any_size(instruction: str) -> str:
    parameters = _EMPTY[instruction]
    inputs = "%A, %B" if "%B" in parameters else "%A, 1" if instruction == "cumsum" else "%A"
    return (
        f"func @f(%alpha: f32, %beta: f32, {parameters}) {{\n"
        f"    {instruction} %alpha, {inputs}, %beta, %C\n}}\n"
    )


@pytest.mark.parametrize("m", [0, 1, 5])
@pytest.mark.parametrize("n", [0, 1, 4])
@pytest.mark.parametrize("k", [0, 3])
def test_empty_matrices(m: int, n: int, k: int) -> None:
    """Sums over nothing are 0, and nothing is written where there is nothing."""
    shapes = {
        "gemm.n.n": [(m, k), (k, n), (m, n)],
        "gemv.n": [(m, k), (k,), (m,)],
        "ger": [(m,), (n,), (m, n)],
        "hadamard": [(m, n), (m, n), (m, n)],
        "axpby.t": [(n, m), (m, n)],
        "sum.n": [(m, k), (m,)],
        "cumsum": [(m, n), (m, n)],
    }
    for instruction, sizes in shapes.items():
        _both(_of_any_size(instruction), [2.0, 0.5, *(_noise(*shape) for shape in sizes)])


# --- repetition ---

_SUMS = """
func @f(%A: memref<f32x?x?>, %B: memref<f32x?x?>, %C: memref<f32x?x?>, %x: memref<f32x?>) {
    %one = constant 1.0 : f32
    %third = constant 0.3333 : f32
    gemm.n.n %one, %A, %B, %third, %C
    sum.n %third, %A, %one, %x
}
"""


@settings(max_examples=10)
@given(st.integers(1, 70), st.integers(1, 70), st.integers(1, 70))
def test_twice_is_the_same(m: int, n: int, k: int) -> None:
    """Sums that are rounded come out equal each time, whichever thread computes them."""
    random = fresh_generator()
    arrays = [
        np.asfortranarray(random.normal(size=shape).astype(np.float32))
        for shape in ((m, k), (k, n), (m, n), (m,))
    ]
    first, second = _copied(arrays), _copied(arrays)
    xtile.run(_SUMS, first, device="opencl")
    xtile.run(_SUMS, second, device="opencl")
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)
