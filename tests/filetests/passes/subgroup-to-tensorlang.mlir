// All that stands at level subgroup is one SPMD region. A subgroup's vector is the cooperative matrix of its
// transpose; factors of products are loaded as such.
//
// RUN: xtile-opt %s -p subgroup-to-tensorlang -t tensorlang | filecheck %s
#rk = affine_map<(r, c, k) -> (r, k)>
#kc = affine_map<(r, c, k) -> (k, c)>
#rc = affine_map<(r, c, k) -> (r, c)>
gpu.module @kernels {
  gpu.func @product(%A: memref<8x16xf16>, %B: memref<16x16xf16>, %C: memref<?x16xf32>) kernel
      attributes {core.level = "subgroup", intel_reqd_sub_group_size = 16 : i32,
                  known_block_size = array<i32: 16, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f16
    %none = arith.constant dense<0.0> : vector<8x16xf32>
    %a = vector.transfer_read %A[%c0, %c0], %zero {in_bounds = [true, true]}
        : memref<8x16xf16>, vector<8x16xf16>
    %b = vector.transfer_read %B[%c0, %c0], %zero {in_bounds = [true, true]}
        : memref<16x16xf16>, vector<16x16xf16>
    %d = vector.contract {indexing_maps = [#rk, #kc, #rc], iterator_types = ["parallel", "parallel",
        "reduction"], kind = #vector.kind<add>} %a, %b, %none
        : vector<8x16xf16>, vector<16x16xf16> into vector<8x16xf32>
    vector.transfer_write %d, %C[%c0, %c0] {in_bounds = [false, true]} : vector<8x16xf32>, memref<?x16xf32>
    gpu.return
  }
}

// CHECK: attributes {subgroup_size=16, work_group_size=[16,1]
// CHECK: parallel {
// CHECK: %[[A:.*]] = cooperative_matrix_load %A[%{{.*}}] : coopmatrix<f16x16x8,matrix_b>
// CHECK: %[[B:.*]] = cooperative_matrix_load %B[%{{.*}}] : coopmatrix<f16x16x16,matrix_a>
// CHECK: %[[D:.*]] = cooperative_matrix_mul_add %[[B]], %[[A]], %{{.*}} : coopmatrix<f32x16x8,matrix_acc>
// CHECK: cooperative_matrix_store.cols_checked %[[D]], %C[%{{.*}}]
