"""What OpenCL's device cannot run is an error before the launch that says limit and need."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import xtile
from tests.backends.intel.opencl_kernels import opencl_device
from xtile.arguments.errors import ArgumentError
from xtile.text.diagnostics import DiagnosticError


def _refusal(text: str, *arguments: Any, **options: Any) -> str:
    """The message with which a launch on OpenCL's CPU is refused; the memory stays as it is."""
    arrays: list[npt.NDArray[Any]] = [a for a in arguments if isinstance(a, np.ndarray)]
    before = [array.copy() for array in arrays]
    with pytest.raises((ArgumentError, DiagnosticError)) as caught:
        xtile.run(text, arguments, device=opencl_device().target.name, **options)
    for array, content in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, content)
    return str(caught.value)


def _empty(attributes: str = "") -> str:
    return f"func @f(%A: memref<f32x4>) {attributes} {{\n}}\n"


ARRAY = np.full(4, np.nan, np.float32)
CPU = opencl_device().target.name


def test_too_much_local_memory() -> None:
    kernel = """
func @f(%A: memref<f32x4>) {
    %first = alloca : memref<f32x4,local>
    %second = alloca : memref<f32x65536,local>
    %i = constant 0 : index
    %x = load %first[%i] : f32
    %y = load %second[%i] : f32
    %z = add %x, %y : f32
    store %z, %A[%i]
}
"""
    assert _refusal(kernel, ARRAY).splitlines()[0] == (
        f"<text>:4.15-46: error: a work-group of {CPU} can have 262144 bytes of local memory, but "
        "with these 262144 the kernel needs 262160"
    )


@pytest.mark.parametrize("size", [2, 12, 24, 128])
def test_subgroup_sizes_that_are_not_there(size: int) -> None:
    text = _empty(f"attributes {{subgroup_size={size}, work_group_size=[{size},1]}}")
    assert _refusal(text, ARRAY).splitlines()[0].partition(" error: ")[2] == (
        f"a subgroup has {size} work-items, but {CPU} has subgroups of 4 or 8 or 16 or 32 or 64"
    )


def test_too_many_work_items() -> None:
    text = _empty("attributes {subgroup_size=16, work_group_size=[16,513]}")
    assert _refusal(text, ARRAY).splitlines()[0].partition(" error: ")[2] == (
        "a work-group has 8208 work-items, but no device allows more than 8192"
    )


@pytest.mark.parametrize(("grid", "mode"), [((2**31, 1, 1), "x"), ((1, 2, 2**31), "z")])
def test_grids_out_of_range(grid: tuple[int, int, int], mode: str) -> None:
    assert _refusal(_empty(), ARRAY, grid=grid) == (
        f"the grid of @f has 2147483648 work-groups in {mode}, but a launch can have 2147483647"
    )


@pytest.mark.parametrize("grid", [0, (1, -1), (1, 1, 1, 1)])
def test_no_grids(grid: Any) -> None:
    assert _refusal(_empty(), ARRAY, grid=grid) == (
        f"expected a grid of up to 3 positive integers, given {grid!r}"
    )


def test_a_truth_value_as_a_parameter() -> None:
    message = _refusal("func @f(%A: memref<i8x4>, %p: bool) {\n}\n", np.zeros(4, np.int8), True)
    assert message.splitlines()[0].partition(" error: ")[2] == (
        "a truth value cannot be passed to a kernel; pass an i8 and compare it"
    )


def test_arguments_that_do_not_fit() -> None:
    assert _refusal(_empty(), np.zeros(5, np.float32)) == (
        "argument 'A' (memref<f32x4>): expected shape (4,), given shape (5,)"
    )
    assert _refusal(_empty(), np.zeros(4, np.float64)) == (
        "argument 'A' (memref<f32x4>): expected elements of type float32, given float64; pass a "
        "converted copy, e.g. array.astype(numpy.float32, order='F')"
    )
