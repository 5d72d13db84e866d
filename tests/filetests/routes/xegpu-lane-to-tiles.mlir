// Entries of lanes are rows and lanes are columns, so that the parts of a block are the block, and the dpas of parts
// is a product of tiles.
//
// RUN: xtile-opt %s --translate xegpu-to-tile | filecheck %s
// RUN: xtile-opt %s --translate xegpu-to-subgroup --chip pvc | filecheck %s --check-prefix=SUBGROUPS
// RUN: xtile-opt %s --translate xegpu-to-xegpu --xegpu-level subgroup | filecheck %s --check-prefix=WHOLE
// RUN: xtile-opt %s --translate xegpu-to-cuda_tile --chip sm_90 | filecheck %s --check-prefix=CUDA
// RUN: xtile-opt %s --translate xegpu-to-triton --chip sm_90 | filecheck %s --check-prefix=TRITON
// RUN: xtile-opt %s --translate xegpu-to-amdg --chip gfx942 | filecheck %s --check-prefix=AMDG
gpu.module @kernels {
  gpu.func @product(%A: memref<8x16xf16>, %B: memref<16x16xf16>, %C: memref<8x16xf32>) kernel
      attributes {intel_reqd_sub_group_size = 16 : i32, known_block_size = array<i32: 16, 1, 1>} {
    %at = xegpu.create_nd_tdesc %A : memref<8x16xf16> -> !xegpu.tensor_desc<8x16xf16>
    %bt = xegpu.create_nd_tdesc %B : memref<16x16xf16> -> !xegpu.tensor_desc<16x16xf16>
    %ct = xegpu.create_nd_tdesc %C : memref<8x16xf32> -> !xegpu.tensor_desc<8x16xf32>
    %a = xegpu.load_nd %at[0, 0] : !xegpu.tensor_desc<8x16xf16> -> vector<8xf16>
    %b = xegpu.load_nd %bt[0, 0] <{packed}> : !xegpu.tensor_desc<16x16xf16> -> vector<16xf16>
    %c = xegpu.dpas %a, %b : vector<8xf16>, vector<16xf16> -> vector<8xf32>
    xegpu.store_nd %c, %ct[0, 0] : vector<8xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}

// CHECK:      vector.transfer_read %A{{.*}} vector<8x16xf16>
// CHECK-NEXT: vector.transfer_read %B{{.*}} vector<16x16xf16>
// CHECK:      vector.contract {{.*}} : vector<8x16xf16>, vector<16x16xf16> into vector<8x16xf32>
// CHECK-NEXT: vector.transfer_write %{{.*}}, %C

// SUBGROUPS: core.level = "subgroup"

// CUDA: mmaf %{{.*}} : tile<8x16xf16>, tile<16x16xf16>, tile<8x16xf32>

// TRITON: tt.dot

// AMDG: tt.dot

// WHOLE: xegpu.dpas {{.*}} : vector<8x16xf16>, vector<16x16xf16>, vector<8x16xf32> -> vector<8x16xf32>
