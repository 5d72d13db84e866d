// Two subgroups whose tiles lie below each other compute one product of the tile that these are together, and
// go on as tiles do.
//
// RUN: xtile-opt %s --translate core-to-tile | filecheck %s
// RUN: xtile-opt %s --translate core-to-cuda_tile --chip sm_90 | filecheck %s --check-prefix=CUDA
// RUN: xtile-opt %s --translate core-to-triton --chip sm_90 | filecheck %s --check-prefix=TRITON
// RUN: xtile-opt %s --translate core-to-amdg --chip gfx942 | filecheck %s --check-prefix=AMDG
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#sum = affine_map<(m, n, k) -> (m, n)>
gpu.module @kernels {
  gpu.func @product(%A: memref<32x16xf16>, %B: memref<16x16xf16>, %C: memref<32x16xf32>) kernel
      attributes {core.level = "subgroup", intel_reqd_sub_group_size = 16 : i32,
                  known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %none = arith.constant 0.0 : f16
    %subgroup = gpu.subgroup_id : index
    %row = arith.muli %subgroup, %c16 : index
    %a = vector.transfer_read %A[%row, %c0], %none {in_bounds = [true, true]}
        : memref<32x16xf16>, vector<16x16xf16>
    %b = vector.transfer_read %B[%c0, %c0], %none {in_bounds = [true, true]}
        : memref<16x16xf16>, vector<16x16xf16>
    %start = arith.constant dense<0.0> : vector<16x16xf32>
    %c = vector.contract {indexing_maps = [#lhs, #rhs, #sum],
        iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
        %a, %b, %start : vector<16x16xf16>, vector<16x16xf16> into vector<16x16xf32>
    vector.transfer_write %c, %C[%row, %c0] {in_bounds = [true, true]}
        : vector<16x16xf32>, memref<32x16xf32>
    gpu.return
  }
}

// CHECK: core.level = "tile"
// CHECK: vector.transfer_read %A{{.*}} vector<32x16xf16>
// CHECK: vector.contract {{.*}} : vector<32x16xf16>, vector<16x16xf16> into vector<32x16xf32>
// CHECK: vector.transfer_write %{{.*}}, %C{{.*}} : vector<32x16xf32>

// CUDA: mmaf %{{.*}} : tile<32x16xf16>, tile<16x16xf16>, tile<32x16xf32>

// TRITON: tt.dot %{{.*}} : tensor<32x16xf16> * tensor<16x16xf16> -> tensor<32x16xf32>

// AMDG: tt.dot
