"""Cooperative matrices and memory."""

from __future__ import annotations

from tests.translate.tensorlang_to_core.case import Case

# ruff: noqa: E501

CASES = [
    Case(
        "cooperative_matrix_load",
        "%r = cooperative_matrix_load %A[%x,%y] : coopmatrix<f32x16x8,matrix_acc>",
        """
%0 = arith.constant 0.000000e+00 : f32
%r = vector.transfer_read %A[%y, %x], %0 {in_bounds = [true, true]} : memref<?x?xf32, strided<[?, 1]>>, vector<8x16xf32>
""",
        parameters="%A: memref<f32x?x?>, %x: index, %y: index",
        is_spmd=True,
    ),
    Case(
        "cooperative_matrix_load.n.rows_checked",
        """
%r = cooperative_matrix_load.n.rows_checked %A[%x,%y] : coopmatrix<f32x16x8,matrix_acc>
""",
        """
%0 = arith.constant 0.000000e+00 : f32
%r = vector.transfer_read %A[%y, %x], %0 {in_bounds = [true, false]} : memref<?x?xf32, strided<[?, 1]>>, vector<8x16xf32>
""",
        parameters="%A: memref<f32x?x?>, %x: index, %y: index",
        is_spmd=True,
    ),
    Case(
        "cooperative_matrix_load.n.cols_checked",
        """
%r = cooperative_matrix_load.n.cols_checked %A[%x,%y] : coopmatrix<f32x16x8,matrix_acc>
""",
        """
%0 = arith.constant 0.000000e+00 : f32
%r = vector.transfer_read %A[%y, %x], %0 {in_bounds = [false, true]} : memref<?x?xf32, strided<[?, 1]>>, vector<8x16xf32>
""",
        parameters="%A: memref<f32x?x?>, %x: index, %y: index",
        is_spmd=True,
    ),
    Case(
        "cooperative_matrix_load.t.both_checked",
        """
%r = cooperative_matrix_load.t.both_checked %A[%x,%y] : coopmatrix<f32x16x8,matrix_acc>
""",
        """
%0 = arith.constant 0.000000e+00 : f32
%r = vector.transfer_read %A[%y, %x], %0 {permutation_map = #map} : memref<?x?xf32, strided<[?, 1]>>, vector<8x16xf32>
""",
        parameters="%A: memref<f32x?x?>, %x: index, %y: index",
        is_spmd=True,
    ),
    Case(
        "cooperative_matrix_load.t.rows_checked",
        """
%r = cooperative_matrix_load.t.rows_checked %A[%x,%y] : coopmatrix<f32x16x8,matrix_acc>
""",
        """
%0 = arith.constant 0.000000e+00 : f32
%r = vector.transfer_read %A[%y, %x], %0 {in_bounds = [true, false], permutation_map = #map} : memref<?x?xf32, strided<[?, 1]>>, vector<8x16xf32>
""",
        parameters="%A: memref<f32x?x?>, %x: index, %y: index",
        is_spmd=True,
    ),
    Case(
        "cooperative_matrix_store",
        """
%c = constant 1.0 : coopmatrix<f32x16x8,matrix_acc>
cooperative_matrix_store %c, %A[%x,%y]
""",
        """
%c = arith.constant dense<1.000000e+00> : vector<8x16xf32>
vector.transfer_write %c, %A[%y, %x] {in_bounds = [true, true]} : vector<8x16xf32>, memref<?x?xf32, strided<[?, 1]>>
""",
        parameters="%A: memref<f32x?x?>, %x: index, %y: index",
        is_spmd=True,
    ),
    Case(
        "cooperative_matrix_store.t.cols_checked",
        """
%c = constant 1.0 : coopmatrix<f32x16x8,matrix_acc>
cooperative_matrix_store.t.cols_checked %c, %A[%x,%y]
""",
        """
%c = arith.constant dense<1.000000e+00> : vector<8x16xf32>
vector.transfer_write %c, %A[%y, %x] {in_bounds = [false, true], permutation_map = #map} : vector<8x16xf32>, memref<?x?xf32, strided<[?, 1]>>
""",
        parameters="%A: memref<f32x?x?>, %x: index, %y: index",
        is_spmd=True,
    ),
    Case(
        "cooperative_matrix_atomic_load",
        """
%r = cooperative_matrix_atomic_load.n.rows_checked.device %A[%x,%y] : coopmatrix<f32x16x8,matrix_acc>
""",
        """
%0 = arith.constant dense<-0.000000e+00> : vector<8x16xf32>
%r = core.atomic_update addf %0, %A[%y, %x] checked [1] : vector<8x16xf32>, memref<?x?xf32, strided<[?, 1]>> -> vector<8x16xf32>
""",
        parameters="%A: memref<f32x?x?>, %x: index, %y: index",
        is_spmd=True,
    ),
    Case(
        "cooperative_matrix_atomic_load i32",
        """
%r = cooperative_matrix_atomic_load.t.rows_checked %A[%x,%y] : coopmatrix<i32x16x8,matrix_acc>
""",
        """
%0 = arith.constant dense<0> : vector<8x16xi32>
%r = core.atomic_update ori transpose %0, %A[%y, %x] checked [0] : vector<8x16xi32>, memref<?x?xi32, strided<[?, 1]>> -> vector<8x16xi32>
""",
        parameters="%A: memref<i32x?x?>, %x: index, %y: index",
        is_spmd=True,
    ),
    Case(
        "cooperative_matrix_atomic_store",
        """
%c = constant 1.0 : coopmatrix<f32x16x8,matrix_acc>
cooperative_matrix_atomic_store.t.both_checked %c, %A[%x,%y]
""",
        """
%c = arith.constant dense<1.000000e+00> : vector<8x16xf32>
%0 = core.atomic_update assign transpose %c, %A[%y, %x] checked [0, 1] : vector<8x16xf32>, memref<?x?xf32, strided<[?, 1]>> -> vector<8x16xf32>
""",
        parameters="%A: memref<f32x?x?>, %x: index, %y: index",
        is_spmd=True,
    ),
    Case(
        "cooperative_matrix_atomic_add",
        """
%c = constant 1.0 : coopmatrix<f32x16x8,matrix_acc>
%r = cooperative_matrix_atomic_add %c, %A[%x,%y] : coopmatrix<f32x16x8,matrix_acc>
""",
        """
%c = arith.constant dense<1.000000e+00> : vector<8x16xf32>
%r = core.atomic_update addf %c, %A[%y, %x] checked [] : vector<8x16xf32>, memref<?x?xf32, strided<[?, 1]>> -> vector<8x16xf32>
""",
        parameters="%A: memref<f32x?x?>, %x: index, %y: index",
        is_spmd=True,
    ),
    Case(
        "cooperative_matrix_atomic_max",
        """
%c = constant 1.0 : coopmatrix<f32x16x8,matrix_acc>
%r = cooperative_matrix_atomic_max %c, %A[%x,%y] : coopmatrix<f32x16x8,matrix_acc>
""",
        """
%c = arith.constant dense<1.000000e+00> : vector<8x16xf32>
%r = core.atomic_update maxnumf %c, %A[%y, %x] checked [] : vector<8x16xf32>, memref<?x?xf32, strided<[?, 1]>> -> vector<8x16xf32>
""",
        parameters="%A: memref<f32x?x?>, %x: index, %y: index",
        is_spmd=True,
    ),
    Case(
        "cooperative_matrix_atomic_min",
        """
%c = constant 1.0 : coopmatrix<f32x16x8,matrix_acc>
%r = cooperative_matrix_atomic_min %c, %A[%x,%y] : coopmatrix<f32x16x8,matrix_acc>
""",
        """
%c = arith.constant dense<1.000000e+00> : vector<8x16xf32>
%r = core.atomic_update minnumf %c, %A[%y, %x] checked [] : vector<8x16xf32>, memref<?x?xf32, strided<[?, 1]>> -> vector<8x16xf32>
""",
        parameters="%A: memref<f32x?x?>, %x: index, %y: index",
        is_spmd=True,
    ),
    Case(
        "cooperative_matrix_prefetch",
        "cooperative_matrix_prefetch 1, %A[%x,%y], 32, 16",
        "core.prefetch %A[%y, %x] block [16, 32] level 1 : memref<?x?xf32, strided<[?, 1]>>",
        parameters="%A: memref<f32x?x?>, %x: index, %y: index",
        is_spmd=True,
    ),
]
