"""Which kernels become vectors of one work-item, and what is told of the others."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import DenseArrayBase, i32

from tests.seeds import fresh_random
from tests.transforms.distribute.kernels import read
from tests.translate.core_to_vectors.vectorized import (
    is_spread,
    of_subgroups,
    source_of,
    vectorize,
    vectors_agree,
)
from tests.translate.core_to_xegpu.lowered import kernel
from tests.translate.ported import agrees
from xtile.dialects.gpu.functions import FuncOp
from xtile.targets.intel import CPU
from xtile.targets.lanes import for_spirv
from xtile.text.diagnostics import Diagnostics
from xtile.translate.core_to_vectors import translate_module

_MATRIX = "coopmatrix<f32x16x4,matrix_acc>"

_LOAD = f"%m = cooperative_matrix_load %A[%c0,%c0] : {_MATRIX}"


def _remarks(body: str, parameters: str = "%A: memref<f32x16x4>") -> list[str]:
    """Why a kernel with a matrix is spread over lanes."""
    diagnostics = Diagnostics()
    text = of_subgroups(parameters, f"{_LOAD}\n{body}\ncooperative_matrix_store %m, %A[%c0,%c0]")
    function = source_of(text)
    assert is_spread(vectorize(function, diagnostics))
    prefix = "spreads matrices over the lanes of subgroups: "
    found = [remark.message for remark in diagnostics]
    return [text.removeprefix(prefix) for text in found if text.startswith(prefix)]


LANES = {
    "subgroup_local_id": "%l = subgroup_local_id : i32\n%x = cast %l : index\n"
    "%v = constant 1.0 : f32\nstore %v, %A[%x,%c0]",
    "cooperative_matrix_extract": "%e = cooperative_matrix_extract %m[1] : f32\n"
    "store %e, %A[%c0,%c0]",
    "subgroup_reduce_add": "%z = load %A[%c0,%c0] : f32\n"
    "%s = subgroup_reduce_add %z : f32\nstore %s, %A[%c0,%c0]",
    "subgroup_inclusive_scan_add": "%z = load %A[%c0,%c0] : f32\n"
    "%s = subgroup_inclusive_scan_add %z : f32\nstore %s, %A[%c0,%c0]",
}


@pytest.mark.parametrize("name", LANES)
def test_lanes_that_differ(name: str) -> None:
    assert _remarks(LANES[name]) == [f"lanes differ by {name}"]


def test_updates_whose_results_differ() -> None:
    body = """
        %one = constant 1.0 : f32
        %old = atomic_add %one, %s[] : f32
        store %old, %A[%c0,%c0]"""
    expected = ["each lane gets another number from the memory that it updates"]
    assert _remarks(body, "%A: memref<f32x16x4>, %s: memref<f32>") == expected


@pytest.mark.parametrize(
    "update",
    [
        "%old = atomic_add %three, %s[] : i32",
        "%old = atomic_max %three, %s[] : i32",
        "atomic_store %three, %s[]",
        "%old = atomic_load %s[] : i32\nstore %old, %t[]",
    ],
)
def test_updates_that_each_lane_does(update: str) -> None:
    text = of_subgroups(
        "%A: memref<f32x16x4>, %s: memref<i32>, %t: memref<i32>",
        f"""
        {_LOAD}
        %three = constant 3 : i32
        {update}
        %n = add %m, %m : {_MATRIX}
        cooperative_matrix_store %n, %A[%c0,%c0]""",
    )
    assert vectors_agree(text)


@pytest.mark.parametrize(
    ("size", "work_group_size", "expected"),
    [(16, (16, 1), (1, 1, 1)), (16, (32, 2), (1, 4, 1)), (8, (8, 3), (1, 3, 1))],
)
def test_a_work_item_for_each_subgroup(
    size: int, work_group_size: tuple[int, int], expected: tuple[int, int, int]
) -> None:
    text = of_subgroups(
        "%A: memref<f32x16x4>",
        f"{_LOAD}\ncooperative_matrix_store %m, %A[%c0,%c0]",
        size,
        work_group_size,
    )
    sizes = vectorize(source_of(text)).known_block_size
    assert sizes is not None
    assert tuple(sizes.get_values()) == expected


def test_one_work_item_waits_for_nobody() -> None:
    body = f"{_LOAD}\nbarrier.local\ncooperative_matrix_store %m, %A[%c0,%c0]"
    for size, waits in (((16, 1), False), ((32, 1), True)):
        text = of_subgroups("%A: memref<f32x16x4>", body, 16, size)
        names = [operation.name for operation in vectorize(source_of(text)).walk()]
        assert ("gpu.barrier" in names) == waits


def _core_problem(body: str, attributes: str) -> list[str]:
    diagnostics = Diagnostics()
    module = read(kernel("%A: memref<8x16xf32>, %i: index", body, attributes))
    translate_module(module, for_spirv(CPU), diagnostics)
    prefix = "spreads matrices over the lanes of subgroups: "
    return [d.message.removeprefix(prefix) for d in diagnostics if d.message.startswith(prefix)]


_ADD_UP = """
    %zero = arith.constant 0.0 : f32
    %m = vector.transfer_read %A[%i, %i], %zero {in_bounds = [true, true]}
        : memref<8x16xf32>, vector<8x16xf32>
    %n = arith.addf %m, %m : vector<8x16xf32>
    vector.transfer_write %n, %A[%i, %i] {in_bounds = [true, true]}
        : vector<8x16xf32>, memref<8x16xf32>"""

_SIZES = "known_block_size = array<i32: 16, 1, 1>"


def test_a_kernel_without_sizes() -> None:
    assert _core_problem(_ADD_UP, "") == ["the kernel names no known_block_size"]
    assert _core_problem(_ADD_UP, _SIZES) == []


# --- vectors of work-items ---

_LINEAR_ALGEBRA = """
    gemm.n.n %one, %A, %B, %one, %C
    axpby.n %one, %C, %one, %C
    parallel {{
        %m = cooperative_matrix_load %C[%c0,%c0] : coopmatrix<f32x16x8,matrix_acc>
        %n = add %m, %m : coopmatrix<f32x16x8,matrix_acc>
        %r = cooperative_matrix_reduce_add.column %n : coopmatrix<f32x1x8,matrix_acc>
        barrier.local
        cooperative_matrix_store %r, %C[%c0,%c0]
        {own}
    }}
    axpby.n %one, %C, %one, %C
"""

_OF_A_LANE = """%e = cooperative_matrix_extract %n[1] : f32
        %l = subgroup_local_id : i32
        %z = cast %l : index
        %c7 = constant 7 : index
        store %e, %C[%z,%c7]"""


@pytest.mark.parametrize("own", ["", _OF_A_LANE], ids=["equal lanes", "lanes"])
def test_matrices_next_to_linear_algebra(own: str) -> None:
    """Linear algebra is vectors of one work-item, whatever the matrices become."""
    text = (
        "func @f(%A: memref<f32x16x20>, %B: memref<f32x20x8>, %C: memref<f32x16x8>)\n"
        "        attributes {subgroup_size=16, work_group_size=[16,2]} {\n"
        "    %c0 = constant 0 : index\n    %one = constant 1.0 : f32\n"
        f"{_LINEAR_ALGEBRA.format(own=own)}}}\n"
    )
    function = source_of(text)
    kernel = vectorize(function)
    assert is_spread(kernel) == bool(own)
    assert agrees(function, kernel, fresh_random())


def test_vectors_of_a_work_item_stay_what_they_are() -> None:
    body = """
    %c0 = arith.constant 0 : index
    %two = arith.constant dense<2.0> : vector<4xf32>
    %sum = scf.for %k = %c0 to %i step %i iter_args(%s = %two) -> (vector<4xf32>) {
      %v = vector.load %A[%k, %c0] : memref<8x16xf32>, vector<4xf32>
      %t = arith.mulf %v, %s : vector<4xf32>
      scf.yield %t : vector<4xf32>
    }
    vector.store %sum, %A[%i, %c0] : memref<8x16xf32>, vector<4xf32>"""
    attributes = "known_block_size = array<i32: 1, 1, 1>"
    module = translate_module(
        read(kernel("%A: memref<8x16xf32>, %i: index", body, attributes)), for_spirv(CPU)
    )
    (function,) = (operation for operation in module.walk() if isinstance(operation, FuncOp))
    assert not is_spread(function)
    assert function.known_block_size == DenseArrayBase.from_list(i32, [1, 1, 1])
    names = [operation.name for operation in function.walk()]
    for name in ("vector.load", "arith.mulf", "vector.store", "scf.for"):
        assert names.count(name) == 1


def test_lanes_of_a_kernel_without_matrices_stay_what_they_are() -> None:
    body = """
    %lane = gpu.lane_id
    %c0 = arith.constant 0 : index
    %v = vector.load %A[%lane, %c0] : memref<8x16xf32>, vector<4xf32>
    vector.store %v, %A[%c0, %c0] : memref<8x16xf32>, vector<4xf32>"""
    attributes = f"intel_reqd_sub_group_size = 16 : i32, {_SIZES}"
    module = translate_module(
        read(kernel("%A: memref<8x16xf32>, %i: index", body, attributes)), for_spirv(CPU)
    )
    (function,) = (operation for operation in module.walk() if isinstance(operation, FuncOp))
    assert is_spread(function)
    assert "gpu.lane_id" in [operation.name for operation in function.walk()]
