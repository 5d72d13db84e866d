// A layout with sg_layout makes this XeGPU at level work-group: its vectors belong to all subgroups together,
// and at level tile to the work-group, so the layouts go. No work-items are told apart; whoever lowers tiles
// chooses how many there are.
//
// RUN: xtile-opt %s --translate xegpu-to-core | filecheck %s
// RUN: xtile-opt %s --translate xegpu-to-tile | filecheck %s
// RUN: xtile-opt %s --translate xegpu-to-subgroup --chip pvc | filecheck %s --check-prefix=SUBGROUP
// RUN: xtile-opt %s --translate xegpu-to-xegpu --xegpu-level subgroup | filecheck %s --check-prefix=SUBGROUPS
// RUN: xtile-opt %s --translate xegpu-to-xegpu | filecheck %s --check-prefix=LANES
// RUN: xtile-opt %s --translate xegpu-to-cuda_tile --chip sm_90 | filecheck %s --check-prefix=TILE
// RUN: xtile-opt %s --translate xegpu-to-triton --chip gfx942 | filecheck %s --check-prefix=TRITON
// RUN: xtile-opt %s --translate xegpu-to-amdg --chip gfx942 | filecheck %s --check-prefix=AMDG
// RUN: xtile-opt %s --translate xegpu-to-lane --chip cpu | filecheck %s --check-prefix=LANE
// RUN: xtile-opt %s --translate xegpu-to-spirv --chip cpu -t spirv-asm | filecheck %s --check-prefix=CPU
// RUN: xtile-opt %s --translate xegpu-to-tensorlang -t tensorlang | filecheck %s --check-prefix=TENSORS
#rows = #xegpu.layout<sg_layout = [4, 1], sg_data = [8, 64]>
gpu.module @kernels {
  gpu.func @softmax(%x: memref<32x64xf32>, %y: memref<32x64xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %least = arith.constant dense<0xFF800000> : vector<32xf32>
    %zeros = arith.constant dense<0.0> : vector<32xf32>
    %in = xegpu.create_nd_tdesc %x : memref<32x64xf32> -> !xegpu.tensor_desc<32x64xf32, #rows>
    %out = xegpu.create_nd_tdesc %y : memref<32x64xf32> -> !xegpu.tensor_desc<32x64xf32, #rows>
    %v = xegpu.load_nd %in[0, 0] : !xegpu.tensor_desc<32x64xf32, #rows> -> vector<32x64xf32>
    %m = vector.multi_reduction <maximumf>, %v, %least [1] : vector<32x64xf32> to vector<32xf32>
    %column = vector.shape_cast %m : vector<32xf32> to vector<32x1xf32>
    %max = vector.broadcast %column {layout_result_0 = #rows} : vector<32x1xf32> to vector<32x64xf32>
    %d = arith.subf %v, %max {layout_result_0 = #rows} : vector<32x64xf32>
    %e = math.exp %d {layout_result_0 = #rows} : vector<32x64xf32>
    %s = vector.multi_reduction <add>, %e, %zeros [1] : vector<32x64xf32> to vector<32xf32>
    %sums = vector.shape_cast %s : vector<32xf32> to vector<32x1xf32>
    %all = vector.broadcast %sums : vector<32x1xf32> to vector<32x64xf32>
    %r = arith.divf %e, %all : vector<32x64xf32>
    xegpu.store_nd %r, %out[0, 0] : vector<32x64xf32>, !xegpu.tensor_desc<32x64xf32, #rows>
    gpu.return
  }
}

// CHECK:      core.level = "tile"
// CHECK-SAME: known_block_size = array<i32: 1, 1, 1>
// CHECK-NOT:  xegpu.
// CHECK:      vector.transfer_read %x[%c0, %c0]
// CHECK:      vector.multi_reduction <maximumf>
// CHECK:      math.exp
// CHECK:      vector.transfer_write %{{.*}}, %y[%c0, %c0]

// TILE: entry @softmax
// TILE: load_view_tko
// TILE: reduce
// TILE: exp
// TILE: store_view_tko

// LANE:     known_block_size = array<i32: 1, 1, 1>
// LANE-NOT: xegpu.
// LANE:     math.exp %{{.*}} : vector<16xf32>

// CPU: OpExecutionMode %softmax LocalSize 1 1 1
// TRITON:     tt.func public @softmax(%x: !tt.ptr<f32>
// TRITON:       tt.load %{{.*}} : tensor<32x64x!tt.ptr<f32>>
// TRITON:       "tt.reduce"
// TRITON:       math.exp
// TRITON:       tt.store

// TENSORS: func @softmax(%x: memref<f32x64x32>, %y: memref<f32x64x32>)
// TENSORS: foreach
// TENSORS: exp
// SUBGROUP:  vector.transfer_read %x[%{{.*}}, %c0], {{.*}} vector<8x64xf32>
// SUBGROUP:  vector.multi_reduction <maximumf>, %{{.*}} [1] : vector<8x64xf32> to vector<8xf32>

// AMDG:      ttg.target = "hip:gfx942"
// AMDG:        "tt.reduce"

// SUBGROUPS: known_block_size = array<i32: 64, 1, 1>, xegpu.level = "subgroup"
// SUBGROUPS: %[[ROW:.*]] = arith.muli %subgroup, %c8
// SUBGROUPS: xegpu.load_nd %{{.*}}[%[[ROW]], 0] {{.*}} -> vector<8x64xf32>
// SUBGROUPS: vector.multi_reduction <maximumf>, %{{.*}} [1] : vector<8x64xf32> to vector<8xf32>
// SUBGROUPS: xegpu.store_nd %{{.*}}[%[[ROW]], 0]

// LANES: xegpu.load_nd %{{.*}} : !xegpu.tensor_desc<8x16xf32> -> vector<8xf32>
// LANES: gpu.shuffle
// LANES: xegpu.store_nd
