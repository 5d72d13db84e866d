// A kernel without a level means what it means in MLIR; with operations of the core form it must
// say its level.
//
// RUN: xtile-opt %s --translate core-to-spirv 2>&1 | filecheck %s
gpu.module @kernels {
  gpu.func @k(%x: memref<64xf32>) kernel {
    core.parallel {
      %i = gpu.thread_id x
    }
    gpu.return
  }
}

// CHECK:      error: core.parallel makes @k a kernel with operations of core and without core.level
// CHECK-NEXT:     core.parallel {
