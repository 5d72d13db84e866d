"""Cooperative matrices at the positions of tiles become tiles, with the same numbers."""

from __future__ import annotations

from string import Template

import numpy as np
import pytest

import xtile
from tests.backends.intel.random_arguments import any_numbers, plain_numbers
from tests.transforms.distribute.kernels import printed
from tests.transforms.tile_linalg.from_source import Shape, check, tiled

COPY = """
func @k(%x: memref<f32x?x?>, %y: memref<f32x?x?>) {
    %zero = constant 0 : index
    %rows = size %x[0] : index
    %columns = size %x[1] : index
    foreach_tile (%i,%j)=(%zero,%zero),(%rows,%columns) as (%h,%w)<=(16,8) {
        %m = cooperative_matrix_load.n.both_checked %x[%i,%j] : coopmatrix<f32x16x8,matrix_acc>
        %n = add %m, %m : coopmatrix<f32x16x8,matrix_acc>
        cooperative_matrix_store.n.both_checked %n, %y[%i,%j]
    }
}
"""

ODD_SIZES = """
$c = coopmatrix<f32x16x9,matrix_acc>
$a = coopmatrix<f32x16x5,matrix_a>
$b = coopmatrix<f32x5x9,matrix_b>
$row = coopmatrix<f32x16x1,matrix_acc>
$column = coopmatrix<f32x1x9,matrix_acc>

func @k(%a: memref<f32x32x5>, %b: memref<f32x5x9>, %c: memref<f32x32x9>,
        %r: memref<f32x32x1>, %s: memref<f32x1x9>, %f: f32) {
    %zero = constant 0 : index
    %one = constant 1 : index
    %rows = constant 32 : index
    foreach_tile (%i,%j)=(%zero,%zero),(%rows,%one) as (%h,%w)<=(16,1) {
        %x = cooperative_matrix_load %a[%i,%zero] : $a
        %y = cooperative_matrix_load %b[%zero,%zero] : $b
        %z = constant 0.0 : $c
        %g = cooperative_matrix_apply (%row,%column,%value)=%x -> $a {
            %n = cast %column : f32
            %m = cast %row : f32
            %o = add %n, %m : f32
            %p = exp %value : f32
            %q = mul %o, %p : f32
            yield (%q)
        }
        %product = cooperative_matrix_mul_add %g, %y, %z : $c
        %scaled = cooperative_matrix_scale %f, %product : $c
        cooperative_matrix_store %scaled, %c[%i,%zero]
        %largest = cooperative_matrix_reduce_max.row %scaled : $row
        %smallest = cooperative_matrix_reduce_min.row %scaled : $row
        %sum = cooperative_matrix_reduce_add.row %scaled : $row
        %t = add %largest, %smallest : $row
        %u = add %t, %sum : $row
        cooperative_matrix_store %u, %r[%i,%zero]
        %is_first = equal %i, %zero : bool
        if %is_first {
            %v = cooperative_matrix_reduce_add.column %scaled : $column
            cooperative_matrix_store %v, %s[%zero,%zero]
        }
    }
}
"""

CHECKED_ODD_SIZES = """
func @k(%x: memref<f32x?x?>, %y: memref<f32x?x?>) {
    %zero = constant 0 : index
    %rows = size %x[0] : index
    %columns = size %x[1] : index
    foreach_tile (%i,%j)=(%zero,%zero),(%rows,%columns) as (%h,%w)<=(16,9) {
        %m = cooperative_matrix_load.n.both_checked %x[%i,%j] : coopmatrix<f32x16x9,matrix_acc>
        %n = neg %m : coopmatrix<f32x16x9,matrix_acc>
        cooperative_matrix_store.t.both_checked %n, %y[%j,%i]
    }
}
"""

INTEGERS = """
$c = coopmatrix<i32x16x9,matrix_acc>
$a = coopmatrix<i8x16x5,matrix_a>
$b = coopmatrix<i8x5x9,matrix_b>

func @k(%a: memref<i8x16x5>, %b: memref<i8x5x9>, %c: memref<i32x16x9>, %d: memref<i32x16x9>) {
    %zero = constant 0 : index
    %one = constant 1 : index
    foreach_tile (%i,%j)=(%zero,%zero),(%one,%one) as (%h,%w)<=(16,16) {
        %x = cooperative_matrix_load %a[%i,%zero] : $a
        %y = cooperative_matrix_load %b[%zero,%j] : $b
        %z = cooperative_matrix_load %c[%zero,%zero] : $c
        %p = cooperative_matrix_mul_add %x, %y, %z : $c
        %ones = constant 7 : $c
        %q = div %p, %ones : $c
        %r = rem %p, %ones : $c
        %s = mul %q, %r : $c
        cooperative_matrix_store %s, %c[%i,%zero]
        %old = cooperative_matrix_atomic_add.n.device %s, %d[%i,%zero] : $c
    }
}
"""

SOFTMAX = """
$$column = coopmatrix<f32x${rows}x1,matrix_acc>
$$ones = coopmatrix<f32x${rows}x1,matrix_a>
$$value = coopmatrix<f32x1x1,matrix_acc>
$$value_b = coopmatrix<f32x1x1,matrix_b>

func @k(%X: memref<f32x${rows}x?>, %Y: memref<f32x${rows}x?>) {
    %zero = constant 0 : index
    %one = constant 1 : index
    %rows = constant ${rows} : index
    %column = group_id.x : index
    %next = add %column, %one : index
    foreach_tile (%i,%j)=(%zero,%column),(%rows,%next) as (%ti,%tj)<=(${rows},1) {
        %ones = constant 1.0 : $$ones
        %nothing = constant 0.0 : $$column
        %x = cooperative_matrix_load %X[%i,%j] : $$column
        %maximum = cooperative_matrix_reduce_max.column %x : $$value
        %maximum_b = cast %maximum : $$value_b
        %maxima = cooperative_matrix_mul_add %ones, %maximum_b, %nothing : $$column
        %shifted = sub %x, %maxima : $$column
        %y = cooperative_matrix_apply (%r,%c,%value)=%shifted -> $$column {
            %power = exp %value : f32
            yield (%power)
        }
        %sum = cooperative_matrix_reduce_add.column %y : $$value
        %sum_b = cast %sum : $$value_b
        %sums = cooperative_matrix_mul_add %ones, %sum_b, %nothing : $$column
        %result = div %y, %sums : $$column
        cooperative_matrix_store %result, %Y[%i,%j]
    }
}
"""

CASES: dict[str, tuple[str, list[Shape]]] = {
    "checked odd sizes": (CHECKED_ODD_SIZES, [(35, 20), (20, 35)]),
    "copy": (COPY, [(35, 20), (35, 20)]),
    "integers": (INTEGERS, [(16, 5), (5, 9), (16, 9), (16, 9)]),
    "odd sizes": (ODD_SIZES, [(32, 5), (5, 9), (32, 9), (32, 1), (1, 9)]),
    "softmax": (Template(SOFTMAX).substitute(rows=96), [(96, 3), (96, 3)]),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", CASES)
def test_values(name: str, seed: int) -> None:
    text, shapes = CASES[name]
    numbers = plain_numbers if name == "integers" else any_numbers
    grid = (3, 1, 1) if name == "softmax" else (1, 1, 1)
    check(text, seed, grid, numbers=numbers, shapes={"k": shapes})


def test_a_matrix_that_is_no_tile_ends_with_the_memory() -> None:
    lines = printed(tiled(xtile.parse(ODD_SIZES, language="tensorlang"))).splitlines()
    reads = [line.strip() for line in lines if "transfer_read" in line]
    assert reads == [
        (
            "%x = vector.transfer_read %a[%zero, %i], %0 {in_bounds = [false, true]} : "
            "memref<5x32xf32>, vector<8x16xf32>"
        ),
        "%y = vector.transfer_read %b[%zero, %zero], %0 : memref<9x5xf32>, vector<16x8xf32>",
    ]


UPDATE = """
func @k(%x: memref<f32x?x?>, %f: f32) {
    %z = constant 0 : index
    %n = constant 9 : index
    foreach_tile (%i,%j)=(%z,%z),(%n,%n) as (%h,%w)<=(16,1) {
        %o = atomic_add.device.relaxed %f, %x[%i,%j] : f32
    }
}
"""


@pytest.mark.parametrize("language", [None, "cuda_tile", "triton"])
def test_every_work_item_updates(language: str | None) -> None:
    """A tile has one subgroup of 16."""
    module = xtile.parse(UPDATE, language="tensorlang")
    if language is not None:
        module = xtile.translate(module, language, chip="sm_90")
    x = np.zeros((9, 9), np.float32, order="F")
    xtile.run(module, [x, 2.0])
    assert [*x[0]] == [32.0] * 9
    assert not x[1:].any()
