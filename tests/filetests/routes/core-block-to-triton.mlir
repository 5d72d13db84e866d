// Block-level linear algebra becomes tiles, and those become tiles of pointers; the size of a tile is
// one that the chip has a policy for.
//
// RUN: xtile-opt %s --translate core-to-triton --chip gfx942 | filecheck %s
// RUN: xtile-opt %s --translate core-to-amdg --chip gfx942 | filecheck %s --check-prefix=AMDG
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

// CHECK:      tt.func public @product(%A: !tt.ptr<f16>
// CHECK:        tt.dot
// CHECK:        tt.store

// AMDG:      ttg.target = "hip:gfx942"
// AMDG:        amdg.buffer_load
// AMDG:        amdg.buffer_store
