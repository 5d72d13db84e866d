// A block that one tile can hold is one product: the whole depth at once, without a loop. Its 8 rows
// become the 16 that matrix units take.
//
// RUN: xtile-opt %s --translate core-to-tile --chip sm_100 | filecheck %s
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

// CHECK:      core.level = "tile"
// CHECK-NOT:  scf.for
// CHECK:      %[[A:.*]] = vector.transfer_read %A[%c0, %c0]
// CHECK:      %[[B:.*]] = vector.transfer_read %B[%c0, %c0]
// CHECK:      vector.contract
// CHECK-SAME: %[[A]], %[[B]], %{{.*}} : vector<16x32xf16>, vector<32x32xf16> into vector<16x32xf32>
