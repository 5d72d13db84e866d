// The same in the dialect that mlir-extensions had in April 2024.
gpu.module @kernels {
  gpu.func @gemm(%a: memref<96x160xf16>, %b: memref<80x160xf16>, %c: memref<96x80xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c160 = arith.constant 160 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %row = arith.muli %x, %c8 : index
    %column = arith.muli %y, %c16 : index
    %ta = xegpu.create_nd_tdesc %a[%row, %c0] {mode = vc} : memref<96x160xf16> -> !xegpu.tensor_desc<8x16xf16, #xegpu.tdesc_attr<array_length = 2>>
    %tb = xegpu.create_nd_tdesc %b[%column, 0] { mode = vc }
      : memref<80x160xf16> -> !xegpu.tensor_desc<16x16xf16>
    %tc = xegpu.create_nd_tdesc %c[%row, %column] {mode = vc, boundary_check = true} : memref<96x80xf32> -> !xegpu.tensor_desc<8x16xf32>
    %zero = arith.constant dense<0.0> : vector<8x16xf32>
    %r:3 = scf.for %k = %c0 to %c160 step %c16 iter_args(%s = %zero, %da = %ta, %db = %tb)
      -> (vector<8x16xf32>, !xegpu.tensor_desc<8x16xf16, #xegpu.tdesc_attr<array_length = 2>>,
          !xegpu.tensor_desc<16x16xf16>) {
      %va2 = xegpu.load_nd %da {vnni_axis = 1, l1_hint = cached, l2_hint = cached, l3_hint = cached, mode = vc} : !xegpu.tensor_desc<8x16xf16, #xegpu.tdesc_attr<array_length = 2>> -> vector<2x8x8x2xf16>
      %va = vector.extract %va2[0] : vector<8x8x2xf16> from vector<2x8x8x2xf16>
      %vb = xegpu.load_nd %db {transpose_bit_width = 32, transpose = [1, 0], mode = vc} : !xegpu.tensor_desc<16x16xf16> -> vector<8x16x2xf16>
      %t = xegpu.dpas %va, %vb, %s : vector<8x8x2xf16>, vector<8x16x2xf16>, vector<8x16xf32> -> vector<8x16xf32>
      %na = xegpu.update_nd_offset %da, [%c0, %c16] {mode = vc}: !xegpu.tensor_desc<8x16xf16, #xegpu.tdesc_attr<array_length = 2>> -> !xegpu.tensor_desc<8x16xf16, #xegpu.tdesc_attr<array_length = 2>>
      %nb = xegpu.update_nd_offset %db, [%c0, %c16] {mode=vc} : !xegpu.tensor_desc<16x16xf16> -> !xegpu.tensor_desc<16x16xf16>
      scf.yield %t, %na, %nb : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf16, #xegpu.tdesc_attr<array_length = 2>>, !xegpu.tensor_desc<16x16xf16>
    }
    xegpu.store_nd %r#0, %tc {l1_hint = write_back, mode=vc} : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}
