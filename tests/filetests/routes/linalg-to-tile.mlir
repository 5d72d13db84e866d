// Each matrix is one tile, because its sizes are known and small.
//
// RUN: xtile-opt %s --translate linalg-to-tile | filecheck %s
gpu.module @kernels {
  gpu.func @product(%A: memref<8x32xf16>, %B: memref<32x32xf16>, %C: memref<8x32xf32>) kernel {
    linalg.matmul ins(%A, %B : memref<8x32xf16>, memref<32x32xf16>) outs(%C : memref<8x32xf32>)
    gpu.return
  }
}

// CHECK:      core.level = "tile"
// CHECK:      vector.contract
// CHECK-SAME: vector<16x32xf16>, vector<32x32xf16> into vector<16x32xf32>
