// The text that LLVM's pipeline takes: two products in each step, one for each half of C, in which
// a lane holds 8 of the 128 sums. A prefetch fetches two blocks side by side.
//
// RUN: xtile-opt %s --translate core-to-xegpu --chip pvc | filecheck %s
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

// CHECK-NOT:      core.
// CHECK:          scf.for %k = %c0 to %c32 step %c16
// CHECK-SAME:     -> (vector<8xf32>, vector<8xf32>)
// CHECK:          xegpu.prefetch_nd {{.*}}<8x16xf16>
// CHECK:          xegpu.prefetch_nd {{.*}}<16x16xf16, #xegpu.block_tdesc_attr<array_length = 2 : i64>>
// CHECK-COUNT-3:  xegpu.load_nd
// CHECK-COUNT-2:  xegpu.dpas
// CHECK:          scf.yield
// CHECK-COUNT-2:  xegpu.store_nd
