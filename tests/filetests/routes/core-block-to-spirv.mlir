// Products and accesses of blocks are instructions of Intel's extensions here; `--matrix-spelling`
// chooses between them, functions of the driver, and inline assembly.
//
// RUN: xtile-opt %s --translate core-to-spirv --chip bmg --matrix-spelling extensions -t spirv-asm | filecheck %s
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

// CHECK:      OpCapability Subgroup2DBlockIOINTEL
// CHECK:      OpCapability SubgroupMatrixMultiplyAccumulateINTEL
// CHECK:      OpExtension "SPV_INTEL_subgroup_matrix_multiply_accumulate"
// CHECK:      OpExecutionMode %product SubgroupSize 16
// CHECK:      OpSubgroup2DBlockPrefetchINTEL
// CHECK:      OpSubgroup2DBlockLoadINTEL
// CHECK:      OpSubgroup2DBlockLoadTransformINTEL
// CHECK:      OpSubgroupMatrixMultiplyAccumulateINTEL %v8float
// CHECK-SAME: MatrixAPackedFloat16INTEL|MatrixBPackedFloat16INTEL
// CHECK:      OpSubgroup2DBlockStoreINTEL
