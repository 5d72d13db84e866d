"""Products of cooperative matrices."""

from __future__ import annotations

from tests.translate.tensorlang_to_core.case import Case

# ruff: noqa: E501

CASES = [
    Case(
        "cooperative_matrix_mul_add f16 f16 f32 f32",
        """
%a = constant 1.0 : coopmatrix<f16x16x8,matrix_a>
%b = constant 1.0 : coopmatrix<f16x8x4,matrix_b>
%c = constant 1.0 : coopmatrix<f32x16x4,matrix_acc>
%d = cooperative_matrix_mul_add %a, %b, %c : coopmatrix<f32x16x4,matrix_acc>
""",
        """
%a = arith.constant dense<1.000000e+00> : vector<8x16xf16>
%b = arith.constant dense<1.000000e+00> : vector<4x8xf16>
%c = arith.constant dense<1.000000e+00> : vector<4x16xf32>
%d = vector.contract {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %b, %a, %c : vector<4x8xf16>, vector<8x16xf16> into vector<4x16xf32>
""",
        is_spmd=True,
    ),
    Case(
        "cooperative_matrix_mul_add bf16 bf16 bf16 f16",
        """
%a = constant 1.0 : coopmatrix<bf16x16x8,matrix_a>
%b = constant 1.0 : coopmatrix<bf16x8x4,matrix_b>
%c = constant 1.0 : coopmatrix<bf16x16x4,matrix_acc>
%d = cooperative_matrix_mul_add %a, %b, %c : coopmatrix<f16x16x4,matrix_acc>
""",
        """
%a = arith.constant dense<1.000000e+00> : vector<8x16xbf16>
%b = arith.constant dense<1.000000e+00> : vector<4x8xbf16>
%c = arith.constant dense<1.000000e+00> : vector<4x16xbf16>
%0 = arith.extf %c : vector<4x16xbf16> to vector<4x16xf32>
%1 = vector.contract {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %b, %a, %0 : vector<4x8xbf16>, vector<8x16xbf16> into vector<4x16xf32>
%2 = arith.truncf %1 : vector<4x16xf32> to vector<4x16xbf16>
%3 = arith.extf %2 : vector<4x16xbf16> to vector<4x16xf32>
%d = arith.truncf %3 : vector<4x16xf32> to vector<4x16xf16>
""",
        is_spmd=True,
    ),
    Case(
        "cooperative_matrix_mul_add i8 i8 i32 i32",
        """
%a = constant 1 : coopmatrix<i8x16x8,matrix_a>
%b = constant 1 : coopmatrix<i8x8x4,matrix_b>
%c = constant 1 : coopmatrix<i32x16x4,matrix_acc>
%d = cooperative_matrix_mul_add %a, %b, %c : coopmatrix<i32x16x4,matrix_acc>
""",
        """
%a = arith.constant dense<1> : vector<8x16xi8>
%b = arith.constant dense<1> : vector<4x8xi8>
%c = arith.constant dense<1> : vector<4x16xi32>
%d = vector.contract {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %b, %a, %c : vector<4x8xi8>, vector<8x16xi8> into vector<4x16xi32>
""",
        is_spmd=True,
    ),
    Case(
        "cooperative_matrix_mul_add i8 f16 f32 f32",
        """
%a = constant 1 : coopmatrix<i8x16x8,matrix_a>
%b = constant 1.0 : coopmatrix<f16x8x4,matrix_b>
%c = constant 1.0 : coopmatrix<f32x16x4,matrix_acc>
%d = cooperative_matrix_mul_add %a, %b, %c : coopmatrix<f32x16x4,matrix_acc>
""",
        """
%a = arith.constant dense<1> : vector<8x16xi8>
%b = arith.constant dense<1.000000e+00> : vector<4x8xf16>
%c = arith.constant dense<1.000000e+00> : vector<4x16xf32>
%0 = arith.sitofp %a : vector<8x16xi8> to vector<8x16xf32>
%1 = arith.extf %b : vector<4x8xf16> to vector<4x8xf32>
%d = vector.contract {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %1, %0, %c : vector<4x8xf32>, vector<8x16xf32> into vector<4x16xf32>
""",
        is_spmd=True,
    ),
    Case(
        "cooperative_matrix_mul_add i16 i16 index index",
        """
%a = constant 1 : coopmatrix<i16x16x8,matrix_a>
%b = constant 1 : coopmatrix<i16x8x4,matrix_b>
%c = constant 1 : coopmatrix<indexx16x4,matrix_acc>
%d = cooperative_matrix_mul_add %a, %b, %c : coopmatrix<indexx16x4,matrix_acc>
""",
        """
%a = arith.constant dense<1> : vector<8x16xi16>
%b = arith.constant dense<1> : vector<4x8xi16>
%c = arith.constant dense<1> : vector<4x16xindex>
%0 = arith.index_cast %a : vector<8x16xi16> to vector<8x16xindex>
%1 = arith.index_cast %b : vector<4x8xi16> to vector<4x8xindex>
%d = vector.contract {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %1, %0, %c : vector<4x8xindex>, vector<8x16xindex> into vector<4x16xindex>
""",
        is_spmd=True,
    ),
    Case(
        "cooperative_matrix_mul_add i8 i8 i8 f32",
        """
%a = constant 1 : coopmatrix<i8x16x8,matrix_a>
%b = constant 1 : coopmatrix<i8x8x4,matrix_b>
%c = constant 1 : coopmatrix<i8x16x4,matrix_acc>
%d = cooperative_matrix_mul_add %a, %b, %c : coopmatrix<f32x16x4,matrix_acc>
""",
        """
%a = arith.constant dense<1> : vector<8x16xi8>
%b = arith.constant dense<1> : vector<4x8xi8>
%c = arith.constant dense<1> : vector<4x16xi8>
%0 = arith.extsi %c : vector<4x16xi8> to vector<4x16xi32>
%1 = vector.contract {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %b, %a, %0 : vector<4x8xi8>, vector<8x16xi8> into vector<4x16xi32>
%2 = arith.trunci %1 : vector<4x16xi32> to vector<4x16xi8>
%d = arith.sitofp %2 : vector<4x16xi8> to vector<4x16xf32>
""",
        is_spmd=True,
    ),
]
