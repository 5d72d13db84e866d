// Whole blocks make this XeGPU at level subgroup: a descriptor becomes memory and indices, a load of a block
// a transfer, which pads what lies outside of the matrix, and a product a contraction, for which nothing needs
// to be packed. On a CPU one work-item then does the work of a subgroup, so that the work-group has 2.
//
// RUN: xtile-opt %s --translate xegpu-to-core | filecheck %s
// RUN: xtile-opt %s --translate xegpu-to-subgroup | filecheck %s
// RUN: xtile-opt %s --translate xegpu-to-lane --chip cpu | filecheck %s --check-prefix=LANE
// RUN: xtile-opt %s --translate xegpu-to-lane --chip pvc | filecheck %s --check-prefix=PVC
// RUN: xtile-opt %s --translate xegpu-to-spirv --chip cpu -t spirv-asm | filecheck %s --check-prefix=CPU
// RUN: xtile-opt %s --translate xegpu-to-tensorlang -t tensorlang | filecheck %s --check-prefix=TENSORS
// RUN: xtile-opt %s --translate xegpu-to-xegpu | filecheck %s --check-prefix=PVC
// RUN: xtile-opt %s --translate xegpu-to-tile | filecheck %s --check-prefix=TILE
// RUN: xtile-opt %s --translate xegpu-to-cuda_tile | filecheck %s --check-prefix=CUDA
// RUN: xtile-opt %s --translate xegpu-to-triton | filecheck %s --check-prefix=TRITON
// RUN: xtile-opt %s --translate xegpu-to-amdg --chip gfx942 | filecheck %s --check-prefix=AMDG
gpu.module @kernels {
  gpu.func @product(%A: memref<16x64xf16>, %B: memref<64x32xf16>, %C: memref<16x16xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : vector<8x16xf32>
    %subgroup = gpu.subgroup_id : index
    %row = arith.muli %subgroup, %c8 : index
    %a = xegpu.create_nd_tdesc %A : memref<16x64xf16> -> !xegpu.tensor_desc<8x16xf16>
    %b = xegpu.create_nd_tdesc %B : memref<64x32xf16> -> !xegpu.tensor_desc<16x16xf16>
    %c = xegpu.create_nd_tdesc %C : memref<16x16xf32> -> !xegpu.tensor_desc<8x16xf32>
    %sum = scf.for %k = %c0 to %c64 step %c16 iter_args(%before = %zero) -> (vector<8x16xf32>) {
      %left = xegpu.load_nd %a[%row, %k] : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
      %right = xegpu.load_nd %b[%k, 0] <{packed}> : !xegpu.tensor_desc<16x16xf16> -> vector<8x16x2xf16>
      %after = xegpu.dpas %left, %right, %before
          : vector<8x16xf16>, vector<8x16x2xf16>, vector<8x16xf32> -> vector<8x16xf32>
      scf.yield %after : vector<8x16xf32>
    }
    xegpu.store_nd %sum, %c[%row, 0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}

// CHECK:      core.level = "subgroup"
// CHECK-SAME: intel_reqd_sub_group_size = 16 : i32, known_block_size = array<i32: 32, 1, 1>
// CHECK:      %[[LEFT:.*]] = vector.transfer_read %A[%row, %k], %{{.*}} : memref<16x64xf16>, vector<8x16xf16>
// CHECK-NEXT: %[[RIGHT:.*]] = vector.transfer_read %B[%k, %c0], %{{.*}} : memref<64x32xf16>, vector<16x16xf16>
// CHECK-NEXT: vector.contract {{.*}} %[[LEFT]], %[[RIGHT]], %before
// CHECK:      vector.transfer_write %{{.*}}, %C[%row, %c0]

// LANE:     known_block_size = array<i32: 1, 2, 1>
// LANE-NOT: intel_reqd_sub_group_size
// LANE:     vector.load %B[%{{.*}}, %{{.*}}] : memref<64x32xf16>, vector<16xf16>

// PVC: xegpu.load_nd %{{.*}} : !xegpu.tensor_desc<8x16xf16> -> vector<8xf16>
// PVC: xegpu.load_nd %{{.*}} <{packed}> : !xegpu.tensor_desc<16x16xf16> -> vector<16xf16>
// PVC: xegpu.dpas

// CPU: OpExecutionMode %product LocalSize 1 2 1

// TENSORS: cooperative_matrix_load.both_checked %A{{.*}} : coopmatrix<f16x16x8,matrix_b>
// TENSORS: cooperative_matrix_mul_add

// TILE: vector.contract {{.*}} : vector<16x16xf16>, vector<16x16xf16> into vector<16x16xf32>

// CUDA: mmaf %{{.*}} : tile<16x64xf16>, tile<64x16xf16>, tile<16x16xf32>

// TRITON: tt.dot %{{.*}} : tensor<16x64xf16> * tensor<64x16xf16> -> tensor<16x16xf32>

// AMDG: tt.dot
