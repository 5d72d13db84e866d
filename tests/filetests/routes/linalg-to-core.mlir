// A product of linear algebra is one of the whole work-group; the parameters stay what they are.
//
// RUN: xtile-opt %s --translate linalg-to-core | filecheck %s
gpu.module @kernels {
  gpu.func @product(%A: memref<8x32xf16>, %B: memref<32x32xf16>, %C: memref<8x32xf32>) kernel {
    linalg.matmul ins(%A, %B : memref<8x32xf16>, memref<32x32xf16>) outs(%C : memref<8x32xf32>)
    gpu.return
  }
}

// CHECK:      core.level = "block"
// CHECK-SAME: core.signature = {language = "linalg"
// CHECK:      core.gemm %{{.*}}, %A, %B, %{{.*}}, %C
