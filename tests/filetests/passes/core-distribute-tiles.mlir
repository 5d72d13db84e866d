// A grid of 4 x 2 subgroups computes a tile of 64 x 64: each reads the rows of A and the columns of B that
// its 16 x 32 elements of the sums need, and writes these. A number is stored once, by the first work-item.
//
// RUN: xtile-opt %s -p 'core-distribute-tiles{chip=pvc}' | filecheck %s
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#sum = affine_map<(m, n, k) -> (m, n)>
gpu.module @kernels {
  gpu.func @layer(%A: memref<50x32xf16>, %B: memref<32x64xf16>, %C: memref<50x64xf32>,
                  %flag: memref<i32>) kernel attributes {core.level = "tile"} {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %none = arith.constant 0.0 : f16
    %a = vector.transfer_read %A[%c0, %c0], %none : memref<50x32xf16>, vector<64x32xf16>
    %b = vector.transfer_read %B[%c0, %c0], %none : memref<32x64xf16>, vector<32x64xf16>
    %start = arith.constant dense<0.0> : vector<64x64xf32>
    %c = vector.contract {indexing_maps = [#lhs, #rhs, #sum],
        iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
        %a, %b, %start : vector<64x32xf16>, vector<32x64xf16> into vector<64x64xf32>
    vector.transfer_write %c, %C[%c0, %c0] : vector<64x64xf32>, memref<50x64xf32>
    memref.store %one, %flag[] : memref<i32>
    gpu.return
  }
}

// CHECK:      core.level = "subgroup"
// CHECK-SAME: intel_reqd_sub_group_size = 16 : i32
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>
// CHECK:      %subgroup = gpu.subgroup_id
// CHECK:      vector.transfer_read %A[%{{.*}}, %c0], %{{.*}} vector<16x32xf16>
// CHECK:      vector.transfer_read %B[%c0, %{{.*}}], %{{.*}} vector<32x32xf16>
// CHECK:      vector.contract {{.*}} : vector<16x32xf16>, vector<32x32xf16> into vector<16x32xf32>
// CHECK:      vector.transfer_write %{{.*}}, %C[%{{.*}}, %{{.*}}] : vector<16x32xf32>, memref<50x64xf32>
// CHECK:      scf.if
// CHECK-NEXT: memref.store %{{.*}}, %flag[] : memref<i32>
