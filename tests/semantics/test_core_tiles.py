"""Kernels at tile level on the reference device: what is new in them."""

from __future__ import annotations

import numpy as np

from tests.seeds import fresh_generator
from tests.transforms.distribute.kernels import read, run

ATTRIBUTES = 'attributes {core.level = "tile"}'


def test_a_work_group_acts_as_one() -> None:
    module = read(
        f"""gpu.module @m {{ gpu.func @k(%m: memref<4xi32>, %x: i32) kernel {ATTRIBUTES} {{
        %c1 = arith.constant 1 : index
        %old = memref.atomic_rmw addi %x, %m[%c1] : (i32, memref<4xi32>) -> i32
        gpu.return
        }} }}"""
    )
    memory = np.zeros(4, np.int32)
    run(module, memory, 3, grid=(2, 1, 1))
    assert memory.tolist() == [0, 6, 0, 0]


def test_parts_of_complex_numbers() -> None:
    module = read(
        f"""gpu.module @m {{ gpu.func @k(%m: memref<3x4xcomplex<f32>>, %o: memref<3x4xf32>) kernel
        {ATTRIBUTES} {{
        %c0 = arith.constant 0 : index
        %zero = arith.constant 0.0 : f32
        %re = core.complex_part real %m : memref<3x4xcomplex<f32>>
            to memref<3x4xf32, strided<[8, 2]>>
        %im = core.complex_part imaginary %m : memref<3x4xcomplex<f32>>
            to memref<3x4xf32, strided<[8, 2], offset: 1>>
        %a = vector.transfer_read %re[%c0, %c0], %zero
            : memref<3x4xf32, strided<[8, 2]>>, vector<4x4xf32>
        %b = vector.transfer_read %im[%c0, %c0], %zero
            : memref<3x4xf32, strided<[8, 2], offset: 1>>, vector<4x4xf32>
        %s = arith.subf %a, %b : vector<4x4xf32>
        vector.transfer_write %s, %o[%c0, %c0] : vector<4x4xf32>, memref<3x4xf32>
        vector.transfer_write %s, %im[%c0, %c0]
            : vector<4x4xf32>, memref<3x4xf32, strided<[8, 2], offset: 1>>
        gpu.return
        }} }}"""
    )
    rng = fresh_generator()
    numbers = (rng.normal(size=(3, 4)) + 1j * rng.normal(size=(3, 4))).astype(np.complex64)
    before, out = numbers.copy(), np.full((3, 4), np.nan, np.float32)
    run(module, numbers, out)
    expected = before.real - before.imag
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(numbers, before.real + 1j * expected)


def test_scattered_updates_see_each_other_and_leave_out_what_is_masked() -> None:
    module = read(
        f"""gpu.module @m {{ gpu.func @k(%m: memref<2x4xi32>, %p: memref<4xindex>,
            %o: memref<4xi32>) kernel {ATTRIBUTES} {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %p4 = vector.transfer_read %p[%c0], %c0 {{in_bounds = [true]}} : memref<4xindex>,
            vector<4xindex>
        %mask = arith.constant dense<[true, true, true, false]> : vector<4xi1>
        %v = arith.constant dense<[1, 10, 100, 1000]> : vector<4xi32>
        %old = core.atomic_rmw addi relaxed device %v, %m[%c1, %p4], %mask
            : vector<4xi32>, memref<2x4xi32>[index, vector<4xindex>], vector<4xi1>
        vector.transfer_write %old, %o[%c0] {{in_bounds = [true]}} : vector<4xi32>, memref<4xi32>
        gpu.return
        }} }}"""
    )
    memory, old = np.zeros((2, 4), np.int32), np.full(4, -1, np.int32)
    run(module, memory, np.array([2, 0, 2, 10**6], np.int64), old)
    assert memory.tolist() == [[0, 0, 0, 0], [10, 0, 101, 0]]
    assert old.tolist() == [0, 0, 1, 0]
