// The older spelling of XeGPU's RFC is read without being asked for. It comes out as LLVM 22's,
// with brackets around offsets and without modes; `--xegpu-syntax rfc` keeps it.
//
// RUN: xtile-opt %s -p xegpu-rfc-to-llvm22 | filecheck %s
// RUN: xtile-opt %s --xegpu-syntax rfc | filecheck %s --check-prefix=RFC
gpu.module @kernels {
  gpu.func @copy(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %i: index) kernel {
    %c0 = arith.constant 0 : index
    %a = XeGPU.create_nd_tdesc %A, %i, %c0 {mode = vc} : memref<64x64xf32>, index, index into tensor_desc<8x16xf32>
    %b = XeGPU.create_nd_tdesc %B, %i, %c0 {mode = vc} : memref<64x64xf32>, index, index into tensor_desc<8x16xf32>
    %v = XeGPU.load_nd %a {L1_hint = cached, mode = vc} : tensor_desc<8x16xf32> into vector<8x16xf32>
    XeGPU.store_nd %v, %b {mode = vc} : vector<8x16xf32>, tensor_desc<8x16xf32>
    gpu.return
  }
}

// CHECK:      xegpu.create_nd_tdesc %A[%i, %c0] : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf32>
// CHECK:      xegpu.load_nd %a <{l1_hint = #xegpu.cache_hint<cached>}>
// CHECK:      xegpu.store_nd %v, %b

// RFC:        XeGPU.create_nd_tdesc %A, %i, %c0 {mode = vc}
// RFC:        XeGPU.load_nd %a {L1_hint = cached, mode = vc}
