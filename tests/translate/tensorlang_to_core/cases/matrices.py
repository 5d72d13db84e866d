"""Cooperative matrix instructions that compute."""

from __future__ import annotations

from tests.translate.tensorlang_to_core.case import Case

CASES = [
    Case(
        "constant",
        """
%r = constant -inf : coopmatrix<f16x16x8,matrix_a>
%s = constant 3 : coopmatrix<i8x16x8,matrix_b>
""",
        """
%r = arith.constant dense<0xFC00> : vector<8x16xf16>
%s = arith.constant dense<3> : vector<8x16xi8>
""",
        is_spmd=True,
    ),
    Case(
        "arithmetic",
        """
%a = cooperative_matrix_construct %x : coopmatrix<f32x16x8,matrix_acc>
%b = add %a, %a : coopmatrix<f32x16x8,matrix_acc>
%c = neg %b : coopmatrix<f32x16x8,matrix_acc>
%d = cooperative_matrix_construct %y : coopmatrix<i32x16x8,matrix_acc>
%e = shl %d, %d : coopmatrix<i32x16x8,matrix_acc>
%f = neg %e : coopmatrix<i32x16x8,matrix_acc>
%g = not %f : coopmatrix<i32x16x8,matrix_acc>
""",
        """
%0 = arith.constant dense<31> : vector<8x16xi32>
%1 = arith.constant dense<0> : vector<8x16xi32>
%2 = arith.constant dense<-1> : vector<8x16xi32>
%a = vector.broadcast %x : f32 to vector<8x16xf32>
%b = arith.addf %a, %a : vector<8x16xf32>
%c = arith.negf %b : vector<8x16xf32>
%d = vector.broadcast %y : i32 to vector<8x16xi32>
%3 = arith.andi %d, %0 : vector<8x16xi32>
%e = arith.shli %d, %3 : vector<8x16xi32>
%f = arith.subi %1, %e : vector<8x16xi32>
%g = arith.xori %f, %2 : vector<8x16xi32>
""",
        parameters="%x: f32, %y: i32",
        is_spmd=True,
    ),
    Case(
        "cast",
        """
%a = cooperative_matrix_construct %x : coopmatrix<f32x16x8,matrix_acc>
%b = cast %a : coopmatrix<bf16x16x8,matrix_a>
%c = cast %b : coopmatrix<f16x16x8,matrix_a>
%d = cast %a : coopmatrix<indexx16x8,matrix_acc>
""",
        """
%a = vector.broadcast %x : f32 to vector<8x16xf32>
%b = arith.truncf %a : vector<8x16xf32> to vector<8x16xbf16>
%0 = arith.extf %b : vector<8x16xbf16> to vector<8x16xf32>
%c = arith.truncf %0 : vector<8x16xf32> to vector<8x16xf16>
%1 = arith.fptosi %a : vector<8x16xf32> to vector<8x16xi64>
%d = arith.index_cast %1 : vector<8x16xi64> to vector<8x16xindex>
""",
        parameters="%x: f32",
        is_spmd=True,
    ),
    Case(
        "cooperative_matrix_scale",
        """
%a = constant 2.0 : coopmatrix<f32x16x8,matrix_acc>
%b = cooperative_matrix_scale %x, %a : coopmatrix<f32x16x8,matrix_acc>
%i = subgroup_local_id : i32
%f = cast %i : f32
%c = cooperative_matrix_scale %f, %b : coopmatrix<f32x16x8,matrix_acc>
""",
        """
%a = arith.constant dense<2.000000e+00> : vector<8x16xf32>
%0 = vector.broadcast %x : f32 to vector<8x16xf32>
%b = arith.mulf %0, %a : vector<8x16xf32>
%1 = gpu.lane_id
%i = arith.index_cast %1 : index to i32
%f = arith.sitofp %i : i32 to f32
%c = core.map %b : vector<8x16xf32> -> vector<8x16xf32> {
^bb0(%row: index, %column: index, %value: f32):
  %2 = arith.mulf %f, %value : f32
  core.yield %2 : f32
}
""",
        parameters="%x: f32",
        is_spmd=True,
    ),
    Case(
        "cooperative_matrix_apply",
        """
%a = constant 2.0 : coopmatrix<f32x16x8,matrix_acc>
%b = cooperative_matrix_apply (%i,%j,%v)=%a -> coopmatrix<f32x16x8,matrix_acc> {
    %d = sub %i, %j : i32
    %f = cast %d : f32
    %w = add %v, %f : f32
    yield (%w)
}
""",
        """
%a = arith.constant dense<2.000000e+00> : vector<8x16xf32>
%b = core.map %a : vector<8x16xf32> -> vector<8x16xf32> {
^bb0(%row: index, %column: index, %value: f32):
  %i = arith.index_cast %column : index to i32
  %j = arith.index_cast %row : index to i32
  %d = arith.subi %i, %j : i32
  %f = arith.sitofp %d : i32 to f32
  %w = arith.addf %value, %f : f32
  core.yield %w : f32
}
""",
        is_spmd=True,
    ),
    Case(
        "cooperative_matrix_extract and insert",
        """
%a = constant 2.0 : coopmatrix<f32x32x4,matrix_b>
%x = cooperative_matrix_extract %a[5] : f32
%b = cooperative_matrix_insert %x, %a[6] : coopmatrix<f32x32x4,matrix_b>
""",
        """
%a = arith.constant dense<2.000000e+00> : vector<4x32xf32>
%x = core.fragment_extract %a[5] : vector<4x32xf32> -> f32
%b = core.fragment_insert %x, %a[6] : f32, vector<4x32xf32> -> vector<4x32xf32>
""",
        is_spmd=True,
        attributes="{subgroup_size=16}",
    ),
    Case(
        "entries of 8-bit matrix_b",
        """
%a = constant 2 : coopmatrix<i8x64x2,matrix_b>
%x0 = cooperative_matrix_extract %a[0] : i8
%x1 = cooperative_matrix_extract %a[1] : i8
%x2 = cooperative_matrix_extract %a[2] : i8
%x3 = cooperative_matrix_extract %a[3] : i8
%x4 = cooperative_matrix_extract %a[4] : i8
%x7 = cooperative_matrix_extract %a[7] : i8
""",
        """
%a = arith.constant dense<2> : vector<2x64xi8>
%x0 = core.fragment_extract %a[0] : vector<2x64xi8> -> i8
%x1 = core.fragment_extract %a[2] : vector<2x64xi8> -> i8
%x2 = core.fragment_extract %a[1] : vector<2x64xi8> -> i8
%x3 = core.fragment_extract %a[3] : vector<2x64xi8> -> i8
%x4 = core.fragment_extract %a[4] : vector<2x64xi8> -> i8
%x7 = core.fragment_extract %a[7] : vector<2x64xi8> -> i8
""",
        is_spmd=True,
        attributes="{subgroup_size=16}",
    ),
    Case(
        "cooperative_matrix_reduce_add.row",
        """
%a = cooperative_matrix_construct %x : coopmatrix<f32x16x8,matrix_acc>
%r = cooperative_matrix_reduce_add.row %a : coopmatrix<f32x16x1,matrix_acc>
""",
        """
%0 = arith.constant dense<0.000000e+00> : vector<16xf32>
%a = vector.broadcast %x : f32 to vector<8x16xf32>
%1 = vector.multi_reduction <add>, %a, %0 [0] : vector<8x16xf32> to vector<16xf32>
%r = vector.shape_cast %1 : vector<16xf32> to vector<1x16xf32>
""",
        parameters="%x: f32",
        is_spmd=True,
    ),
    Case(
        "cooperative_matrix_reduce_max.row",
        """
%a = cooperative_matrix_construct %x : coopmatrix<f32x16x8,matrix_acc>
%r = cooperative_matrix_reduce_max.row %a : coopmatrix<f32x16x1,matrix_acc>
""",
        """
%0 = arith.constant dense<0x7FC00000> : vector<16xf32>
%a = vector.broadcast %x : f32 to vector<8x16xf32>
%1 = vector.multi_reduction <maxnumf>, %a, %0 [0] : vector<8x16xf32> to vector<16xf32>
%r = vector.shape_cast %1 : vector<16xf32> to vector<1x16xf32>
""",
        parameters="%x: f32",
        is_spmd=True,
    ),
    Case(
        "cooperative_matrix_reduce_min.row",
        """
%a = cooperative_matrix_construct %x : coopmatrix<f32x16x8,matrix_acc>
%r = cooperative_matrix_reduce_min.row %a : coopmatrix<f32x16x1,matrix_acc>
""",
        """
%0 = arith.constant dense<0x7FC00000> : vector<16xf32>
%a = vector.broadcast %x : f32 to vector<8x16xf32>
%1 = vector.multi_reduction <minnumf>, %a, %0 [0] : vector<8x16xf32> to vector<16xf32>
%r = vector.shape_cast %1 : vector<16xf32> to vector<1x16xf32>
""",
        parameters="%x: f32",
        is_spmd=True,
    ),
    Case(
        "cooperative_matrix_reduce_add.column",
        """
%a = cooperative_matrix_construct %x : coopmatrix<f32x16x8,matrix_acc>
%r = cooperative_matrix_reduce_add.column %a : coopmatrix<f32x1x8,matrix_acc>
""",
        """
%0 = arith.constant dense<0.000000e+00> : vector<8xf32>
%a = vector.broadcast %x : f32 to vector<8x16xf32>
%1 = vector.multi_reduction <add>, %a, %0 [1] : vector<8x16xf32> to vector<8xf32>
%r = vector.shape_cast %1 : vector<8xf32> to vector<8x1xf32>
""",
        parameters="%x: f32",
        is_spmd=True,
    ),
    Case(
        "cooperative_matrix_reduce_max.column",
        """
%a = cooperative_matrix_construct %x : coopmatrix<f32x16x8,matrix_acc>
%r = cooperative_matrix_reduce_max.column %a : coopmatrix<f32x1x8,matrix_acc>
""",
        """
%0 = arith.constant dense<0x7FC00000> : vector<8xf32>
%a = vector.broadcast %x : f32 to vector<8x16xf32>
%1 = vector.multi_reduction <maxnumf>, %a, %0 [1] : vector<8x16xf32> to vector<8xf32>
%r = vector.shape_cast %1 : vector<8xf32> to vector<8x1xf32>
""",
        parameters="%x: f32",
        is_spmd=True,
    ),
    Case(
        "cooperative_matrix_reduce_min.column",
        """
%a = cooperative_matrix_construct %x : coopmatrix<f32x16x8,matrix_acc>
%r = cooperative_matrix_reduce_min.column %a : coopmatrix<f32x1x8,matrix_acc>
""",
        """
%0 = arith.constant dense<0x7FC00000> : vector<8xf32>
%a = vector.broadcast %x : f32 to vector<8x16xf32>
%1 = vector.multi_reduction <minnumf>, %a, %0 [1] : vector<8x16xf32> to vector<8xf32>
%r = vector.shape_cast %1 : vector<8xf32> to vector<8x1xf32>
""",
        parameters="%x: f32",
        is_spmd=True,
    ),
    Case(
        "sum of a narrow type",
        """
%a = cooperative_matrix_construct %x : coopmatrix<f16x16x8,matrix_acc>
%r = cooperative_matrix_reduce_add.row %a : coopmatrix<f16x16x1,matrix_acc>
""",
        """
%0 = arith.constant dense<0.000000e+00> : vector<16xf32>
%a = vector.broadcast %x : f16 to vector<8x16xf16>
%1 = arith.extf %a : vector<8x16xf16> to vector<8x16xf32>
%2 = vector.multi_reduction <add>, %1, %0 [0] : vector<8x16xf32> to vector<16xf32>
%3 = arith.truncf %2 : vector<16xf32> to vector<16xf16>
%r = vector.shape_cast %3 : vector<16xf16> to vector<1x16xf16>
""",
        parameters="%x: f16",
        is_spmd=True,
    ),
    Case(
        "minimum of an integer type",
        """
%a = cooperative_matrix_construct %x : coopmatrix<i8x16x8,matrix_acc>
%r = cooperative_matrix_reduce_min.row %a : coopmatrix<i8x16x1,matrix_acc>
""",
        """
%0 = arith.constant dense<127> : vector<16xi8>
%a = vector.broadcast %x : i8 to vector<8x16xi8>
%1 = vector.multi_reduction <minsi>, %a, %0 [0] : vector<8x16xi8> to vector<16xi8>
%r = vector.shape_cast %1 : vector<16xi8> to vector<1x16xi8>
""",
        parameters="%x: i8",
        is_spmd=True,
    ),
]
