// Blocks are loaded in the layout of the matrix unit, which `xegpu.dpas` is.
//
// RUN: xtile-opt %s --translate linalg-to-xegpu | filecheck %s
gpu.module @kernels {
  gpu.func @product(%A: memref<8x32xf16>, %B: memref<32x32xf16>, %C: memref<8x32xf32>) kernel {
    linalg.matmul ins(%A, %B : memref<8x32xf16>, memref<32x32xf16>) outs(%C : memref<8x32xf32>)
    gpu.return
  }
}

// CHECK:      xegpu.load_nd
// CHECK:      xegpu.dpas
// CHECK:      xegpu.store_nd
