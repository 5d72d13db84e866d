// A program multiplies whole tiles; a memref is a pointer.
//
// RUN: xtile-opt %s --translate linalg-to-triton | filecheck %s
// RUN: xtile-opt %s --translate linalg-to-amdg --chip gfx942 | filecheck %s --check-prefix=AMDG
gpu.module @kernels {
  gpu.func @product(%A: memref<8x32xf16>, %B: memref<32x32xf16>, %C: memref<8x32xf32>) kernel {
    linalg.matmul ins(%A, %B : memref<8x32xf16>, memref<32x32xf16>) outs(%C : memref<8x32xf32>)
    gpu.return
  }
}

// CHECK:      tt.func public @product(
// CHECK:      tt.dot

// AMDG:      ttg.target = "hip:gfx942"
// AMDG:        amdg.buffer_load
// AMDG:        amdg.buffer_store
