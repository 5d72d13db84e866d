// What each work-item does, as xtile's own way to SPIR-V takes it.
//
// RUN: xtile-opt %s --translate linalg-to-lane | filecheck %s
gpu.module @kernels {
  gpu.func @product(%A: memref<8x32xf16>, %B: memref<32x32xf16>, %C: memref<8x32xf32>) kernel {
    linalg.matmul ins(%A, %B : memref<8x32xf16>, memref<32x32xf16>) outs(%C : memref<8x32xf32>)
    gpu.return
  }
}

// CHECK:      gpu.func @product
// CHECK:      xegpu.dpas
