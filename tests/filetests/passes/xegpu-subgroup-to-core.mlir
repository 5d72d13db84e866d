// Descriptors are no values of the core form. This one moves as the loop does, so that the loop need not carry it.
// Points become a gather, whose positions are those of all elements of their chunks.
//
// RUN: xtile-opt %s -p xegpu-subgroup-to-core | filecheck %s
gpu.module @kernels {
  gpu.func @sum(%x: memref<8x64xf32>, %table: memref<256xf32>, %y: memref<8x16xf32>,
      %z: memref<64xf32>) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant dense<0.0> : vector<8x16xf32>
    %in = xegpu.create_nd_tdesc %x[0, 0] : memref<8x64xf32> -> !xegpu.tensor_desc<8x16xf32>
    %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%sum = %zero, %block = %in)
        -> (vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>) {
      %v = xegpu.load_nd %block : !xegpu.tensor_desc<8x16xf32> -> vector<8x16xf32>
      %more = arith.addf %sum, %v : vector<8x16xf32>
      %next = xegpu.update_nd_offset %block, [0, 16] : !xegpu.tensor_desc<8x16xf32>
      scf.yield %more, %next : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    }
    %out = xegpu.create_nd_tdesc %y[0, 0] : memref<8x16xf32> -> !xegpu.tensor_desc<8x16xf32>
    xegpu.store_nd %r#0, %out : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    %lines = vector.step : vector<16xindex>
    %wide = arith.constant dense<16> : vector<16xindex>
    %offsets = arith.muli %lines, %wide : vector<16xindex>
    %all = arith.constant dense<true> : vector<16xi1>
    %points = xegpu.load %table[%offsets], %all <{chunk_size = 4 : i64}>
        : memref<256xf32>, vector<16xindex>, vector<16xi1> -> vector<16x4xf32>
    %flat = vector.shape_cast %points : vector<16x4xf32> to vector<64xf32>
    %line = xegpu.create_nd_tdesc %z[0] : memref<64xf32> -> !xegpu.tensor_desc<64xf32>
    xegpu.store_nd %flat, %line : vector<64xf32>, !xegpu.tensor_desc<64xf32>
    gpu.return
  }
}

// CHECK:      scf.for %i = %{{.*}} iter_args(%sum = %zero) -> (vector<8x16xf32>)
// CHECK-NEXT: %[[COLUMN:.*]] = arith.muli %i, %c16
// CHECK-NEXT: vector.transfer_read %x[%{{.*}}, %[[COLUMN]]]
// CHECK:      vector.gather %table[%{{.*}}] [%{{.*}}], %{{.*}} vector<16x4xindex>
// CHECK:      vector.transfer_write %flat, %z[%{{.*}}] {in_bounds = [true]}
