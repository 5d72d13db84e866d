// What is said of subgroups goes: layouts, the size of the launch, barriers. Local memory stays memory, here of
// the matrix's elements instead of bytes.
//
// RUN: xtile-opt %s -p xegpu-work-group-to-core | filecheck %s
#tile = #xegpu.layout<sg_layout = [2, 2], sg_data = [16, 16]>
gpu.module @kernels {
  gpu.func @transpose(%x: memref<32x32xf16>, %y: memref<32x32xf16>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %in = xegpu.create_nd_tdesc %x : memref<32x32xf16> -> !xegpu.tensor_desc<32x32xf16, #tile>
    %v = xegpu.load_nd %in[0, 0] : !xegpu.tensor_desc<32x32xf16, #tile> -> vector<32x32xf16>
    %bytes = memref.alloca() : memref<2048xi8, 3>
    %by_columns = xegpu.create_mem_desc %bytes : memref<2048xi8, 3>
        -> !xegpu.mem_desc<32x32xf16, #xegpu.mem_layout<stride = [1, 32]>>
    %by_rows = xegpu.create_mem_desc %bytes : memref<2048xi8, 3> -> !xegpu.mem_desc<32x32xf16>
    xegpu.store_matrix %v, %by_columns[0, 0] <{layout = #tile}>
        : vector<32x32xf16>, !xegpu.mem_desc<32x32xf16, #xegpu.mem_layout<stride = [1, 32]>>
    gpu.barrier
    %t = xegpu.load_matrix %by_rows[0, 0] <{layout = #tile}>
        : !xegpu.mem_desc<32x32xf16> -> vector<32x32xf16>
    %out = xegpu.create_nd_tdesc %y : memref<32x32xf16> -> !xegpu.tensor_desc<32x32xf16, #tile>
    xegpu.store_nd %t, %out[0, 0] : vector<32x32xf16>, !xegpu.tensor_desc<32x32xf16, #tile>
    gpu.return
  }
}

// CHECK:      core.level = "tile"
// CHECK-NOT:  #xegpu.layout
// CHECK:      %[[LOCAL:.*]] = memref.alloca() : memref<1024xf16, 3>
// CHECK:      vector.transfer_write %v, %{{.*}} : vector<32x32xf16>, memref<32x32xf16, strided<[1, 32]>, 3>
// CHECK-NOT:  gpu.barrier
// CHECK:      vector.transfer_read %{{.*}} : memref<32x32xf16, 3>, vector<32x32xf16>
