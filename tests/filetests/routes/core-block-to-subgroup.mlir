// Kernels in the core form need not come from the tensor language. The work-group has no size yet:
// distribution chooses it, and gives a subgroup blocks in sizes that the matrix unit of the chip
// multiplies.
//
// RUN: xtile-opt %s --translate core-to-subgroup --chip pvc | filecheck %s
gpu.module @kernels {
  gpu.func @product(%A: memref<8x32xf16>, %B: memref<32x32xf16>, %C: memref<8x32xf32>) kernel
      attributes {core.level = "block"} {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f16
    core.gemm %one, %A, %B, %zero, %C
        : f16, memref<8x32xf16>, memref<32x32xf16>, f32, memref<8x32xf32>
    gpu.return
  }
}

// CHECK:      core.level = "subgroup"
// CHECK-SAME: intel_reqd_sub_group_size = 16 : i32, known_block_size = array<i32: 16, 1, 1>
// CHECK:      scf.for %k = %c0 to %c32 step %c16
// CHECK:        %[[A:.*]] = vector.transfer_read %A[%c0, %k]
// CHECK:        %[[B:.*]] = vector.transfer_read %B[%k, %c0]
// CHECK:        vector.contract
// CHECK-SAME:   %[[A]], %[[B]], %sum : vector<8x16xf16>, vector<16x32xf16> into vector<8x32xf32>
