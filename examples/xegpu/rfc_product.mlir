// One product in the spelling of XeGPU's first RFC: names with a prefix, `into`, packed operands.
gpu.module @kernels {
  gpu.func @product(%A: memref<8x16xf16>, %B: memref<16x16xf16>, %C: memref<8x16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = XeGPU.create_nd_tdesc %A, %c0, %c0 {mode = vc} : memref<8x16xf16>, index, index into tensor_desc<8x16xf16>
    %b = XeGPU.create_nd_tdesc %B, %c0, %c0 {mode = vc} : memref<16x16xf16>, index, index into tensor_desc<16x16xf16>
    %c = XeGPU.create_nd_tdesc %C, %c0, %c0 {mode = vc} : memref<8x16xf32>, index, index into tensor_desc<8x16xf32>
    %left = XeGPU.load_nd %a {L1_hint = cached, mode = vc} : tensor_desc<8x16xf16> into vector<8x16xf16>
    %right = XeGPU.load_nd %b {vnni_axis = 0, mode = vc} : tensor_desc<16x16xf16> into vector<8x16x2xf16>
    %product = XeGPU.dpas %left, %right {mode = vc} : vector<8x16xf16>, vector<8x16x2xf16> into vector<8x16xf32>
    XeGPU.store_nd %product, %c {mode = vc} : vector<8x16xf32>, tensor_desc<8x16xf32>
    gpu.return
  }
}
