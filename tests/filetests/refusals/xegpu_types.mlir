// XeGPU's own rules, about operations that each look right.
//
// RUN: xtile-opt %s 2>&1 | filecheck %s
gpu.module @kernels {
  gpu.func @k(%A: memref<64x64xf32>) kernel {
    %a = xegpu.create_nd_tdesc %A : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf16>
    %v = xegpu.load_nd %a[0, 0] : !xegpu.tensor_desc<8x16xf16> -> vector<7xf16>
    gpu.return
  }
}

// CHECK: error: 'xegpu.create_nd_tdesc': the source has elements of type f32, but the result of type f16; they must be the same
// CHECK: error: 'xegpu.load_nd': the result has 7 elements; the 128 elements of the block must be a multiple of them
