// XeGPU as LLVM's pipeline takes it becomes SPIR-V without that pipeline.
//
// RUN: xtile-opt %s --translate xegpu-to-spirv --chip bmg --matrix-spelling extensions -t spirv-asm | filecheck %s
gpu.module @kernels {
  gpu.func @product(%A: memref<8x32xf16>, %B: memref<16x32xf16>, %C: memref<8x32xf32>) kernel
      attributes {intel_reqd_sub_group_size = 16 : i32, known_block_size = array<i32: 16, 1, 1>} {
    %a = xegpu.create_nd_tdesc %A : memref<8x32xf16> -> !xegpu.tensor_desc<8x16xf16>
    %b = xegpu.create_nd_tdesc %B : memref<16x32xf16> -> !xegpu.tensor_desc<16x16xf16>
    %c = xegpu.create_nd_tdesc %C : memref<8x32xf32> -> !xegpu.tensor_desc<8x16xf32>
    %left = xegpu.load_nd %a[0, 0] : !xegpu.tensor_desc<8x16xf16> -> vector<8xf16>
    %right = xegpu.load_nd %b[0, 0] <{packed}> : !xegpu.tensor_desc<16x16xf16> -> vector<16xf16>
    %product = xegpu.dpas %left, %right : vector<8xf16>, vector<16xf16> -> vector<8xf32>
    xegpu.store_nd %product, %c[0, 0] : vector<8xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}

// CHECK:      OpExecutionMode %product LocalSize 16 1 1
// CHECK:      OpSubgroup2DBlockLoadINTEL
// CHECK:      OpSubgroup2DBlockLoadTransformINTEL
// CHECK:      OpSubgroupMatrixMultiplyAccumulateINTEL %v8float
// CHECK:      OpSubgroup2DBlockStoreINTEL
