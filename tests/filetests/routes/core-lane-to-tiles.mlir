// The lanes of two subgroups are the elements of a tile; so go on what others are that lanes compute.
//
// RUN: xtile-opt %s --translate core-to-tile | filecheck %s
// RUN: xtile-opt %s --translate core-to-subgroup --chip pvc | filecheck %s --check-prefix=SUBGROUPS
// RUN: xtile-opt %s --translate core-to-cuda_tile --chip sm_90 | filecheck %s --check-prefix=CUDA
// RUN: xtile-opt %s --translate core-to-triton --chip sm_90 | filecheck %s --check-prefix=TRITON
// RUN: xtile-opt %s --translate core-to-amdg --chip gfx942 | filecheck %s --check-prefix=AMDG
gpu.module @kernels {
  gpu.func @twice(%x: memref<2x16xf32>) kernel
      attributes {core.level = "lane", intel_reqd_sub_group_size = 16 : i32,
                  known_block_size = array<i32: 32, 1, 1>} {
    %lane = gpu.lane_id
    %subgroup = gpu.subgroup_id : index
    %a = memref.load %x[%subgroup, %lane] : memref<2x16xf32>
    %b = arith.addf %a, %a : f32
    memref.store %b, %x[%subgroup, %lane] : memref<2x16xf32>
    gpu.return
  }
}

// CHECK: core.level = "tile"
// CHECK: core.gather_load %x{{.*}} -> vector<2x16xf32>
// CHECK: arith.addf %a, %a : vector<2x16xf32>
// CHECK: core.scatter_store %b, %x

// SUBGROUPS: core.level = "subgroup"

// CUDA: addf %{{.*}} : tile<2x16xf32>

// TRITON: arith.addf %a, %a : tensor<2x16xf32>

// AMDG: amdg.buffer_load
