// What a work-group does together is an instruction of the tensor language, with the modes of memory
// reversed: `C := A B` of row-major matrices is `C^T := B^T A^T` of column-major ones, and no data moves.
//
// RUN: xtile-opt %s --translate core-to-tensorlang -t tensorlang | filecheck %s
gpu.module @kernels {
  gpu.func @product(%A: memref<8x16xf32>, %B: memref<16x4xf32>, %C: memref<8x4xf32>, %x: f32) kernel
      attributes {core.level = "block"} {
    %one = arith.constant 1.0 : f32
    core.gemm %one, %A, %B, %x, %C : f32, memref<8x16xf32>, memref<16x4xf32>, f32, memref<8x4xf32>
    gpu.return
  }
}

// CHECK:      func @product(%A: memref<f32x16x8>, %B: memref<f32x4x16>, %C: memref<f32x4x8>, %x: f32)
// CHECK-NEXT:   %one = constant 1.0 : f32
// CHECK-NEXT:   gemm %one, %B, %A, %x, %C
// CHECK-NEXT: }
