// A lane has a column of a block, and each of its elements is a number of its own.
//
// RUN: xtile-opt %s --translate xegpu-to-tensorlang -t tensorlang | filecheck %s
gpu.module @kernels {
  gpu.func @copy(%a: memref<8x16xf32>, %b: memref<8x16xf32>) kernel
      attributes {known_block_size = array<i32: 16, 1, 1>} {
    %s = xegpu.create_nd_tdesc %a : memref<8x16xf32> -> !xegpu.tensor_desc<8x16xf32>
    %t = xegpu.create_nd_tdesc %b : memref<8x16xf32> -> !xegpu.tensor_desc<8x16xf32>
    %v = xegpu.load_nd %s[0, 0] : !xegpu.tensor_desc<8x16xf32> -> vector<8xf32>
    xegpu.store_nd %v, %t[0, 0] : vector<8xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}

// CHECK: parallel {
// CHECK: %[[LANE:.*]] = subgroup_local_id : i32
// CHECK: %[[COLUMN:.*]] = cast %[[LANE]] : index
// CHECK: load %a[%[[COLUMN]],%c0] : f32
