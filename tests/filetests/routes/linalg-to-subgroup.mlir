// The matrix units multiply f16 and add up in f32.
//
// RUN: xtile-opt %s --translate linalg-to-subgroup | filecheck %s
gpu.module @kernels {
  gpu.func @product(%A: memref<8x32xf16>, %B: memref<32x32xf16>, %C: memref<8x32xf32>) kernel {
    linalg.matmul ins(%A, %B : memref<8x32xf16>, memref<32x32xf16>) outs(%C : memref<8x32xf32>)
    gpu.return
  }
}

// CHECK:      core.level = "subgroup"
// CHECK:      vector.contract
