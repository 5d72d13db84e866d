// Linear algebra on tensors has no memory that a kernel could write. mlir-opt's own pass gives it one.
//
// RUN: xtile-opt %s --translate linalg-to-core 2>&1 | filecheck %s
gpu.module @kernels {
  gpu.func @exponential(%A: memref<4xf32>, %t: tensor<4xf32>) kernel {
    %r = linalg.exp ins(%t : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
    gpu.return
  }
}

// CHECK: tensors.mlir:6.{{.*}}: error: linalg.exp works on tensors, which have no memory
// CHECK-SAME: make them memrefs first, with mlir-opt's -one-shot-bufferize
