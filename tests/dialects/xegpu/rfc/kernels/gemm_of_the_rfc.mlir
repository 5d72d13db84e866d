// C += A * B in VC mode, as the first revision of the RFC spells it.
gpu.module @kernels {
  gpu.func @gemm(%a: memref<96x160xbf16>, %b: memref<160x80xbf16>, %c: memref<96x80xf32>) kernel {
    %zero = arith.constant 0 : index
    %m_step = arith.constant 8 : index
    %k_step = arith.constant 16 : index
    %k_end = arith.constant 160 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %row = arith.muli %x, %m_step : index
    %column = arith.muli %y, %k_step : index
    %tile_a = XeGPU.create_nd_tdesc %a, %row, %zero {mode = vc}
        : memref<96x160xbf16>, index, index into tensor_desc<8x16xbf16>
    %tile_b = XeGPU.create_nd_tdesc %b, %zero, %column {mode = vc}
        : memref<160x80xbf16>, index, index into tensor_desc<16x16xbf16>
    %tile_c = XeGPU.create_nd_tdesc %c, %row, %column {mode = vc}
        : memref<96x80xf32>, index, index into tensor_desc<8x16xfloat>
    %start = XeGPU.load_nd %tile_c {L1_hint = uncached, L3_hint = uncached, mode = vc}
        : tensor_desc<8x16xfloat> into vector<8x16xfloat>
    %sum:3 = scf.for %k = %zero to %k_end step %k_step
        iter_args(%acc = %start, %ta = %tile_a, %tb = %tile_b)
        -> (vector<8x16xf32>, !XeGPU.tensor_desc<8x16xbf16>, !XeGPU.tensor_desc<16x16xbf16>) {
      XeGPU.prefetch_nd %tb {L1_hint = cached, mode = vc} : tensor_desc<16x16xbf16>
      %va = XeGPU.load_nd %ta {vnni_axis = 1, mode = vc}
          : tile<8x16xbf16> into vector<8x8x2xbf16>
      %vb = XeGPU.load_nd %tb {vnni_axis = 0, mode = vc}
          : tile<16x16xbf16> into vector<8x16x2xbf16>
      %next = XeGPU.dpas %acc, %va, %vb {mode = vc}
          : vector<8x16xfloat>, vector<8x8x2xbf16>, vector<8x16x2xbf16> -> vector<8x16xfloat>
      %next_a = XeGpu.update_nd_offset %ta, %zero, %k_step {mode = vc}
          : tensor_desc<8x16xbf16>, index, index into tensor_desc<8x16xbf16>
      %next_b = XeGpu.update_nd_offset %tb, %k_step, %zero {mode = vc}
          : tensor_desc<16x16xbf16>, index, index into tensor_desc<16x16xbf16>
      scf.yield %next, %next_a, %next_b
          : vector<8x16xf32>, !XeGPU.tensor_desc<8x16xbf16>, !XeGPU.tensor_desc<16x16xbf16>
    }
    XeGPU.store_nd %sum#0, %tile_c {L1_hint = write_back, mode = vc}
        : vector<8x16xfloat>, tensor_desc<8x16xfloat>
    gpu.return
  }
}
