// Matrices are row-major here and column-major there, so that the factors change places.
//
// RUN: xtile-opt %s --translate linalg-to-tensorlang -t tensorlang | filecheck %s
gpu.module @kernels {
  gpu.func @product(%A: memref<8x32xf16>, %B: memref<32x32xf16>, %C: memref<8x32xf32>) kernel {
    linalg.matmul ins(%A, %B : memref<8x32xf16>, memref<32x32xf16>) outs(%C : memref<8x32xf32>)
    gpu.return
  }
}

// CHECK: func @product(%A: memref<f16x32x8>, %B: memref<f16x32x32>, %C: memref<f32x32x8>)
// CHECK: gemm %{{.*}}, %B, %A, %{{.*}}, %C
