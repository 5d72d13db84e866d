// For a CPU: no block loads and no matrix unit, so lanes load elements, 16 apart.
//
// RUN: xtile-opt %s -p "subgroup-to-lane{chip=cpu}" | filecheck %s
gpu.module @kernels {
  gpu.func @twice(%x: memref<64xf32>, %y: memref<64xf32>) kernel
      attributes {core.level = "subgroup", intel_reqd_sub_group_size = 16 : i32,
                  known_block_size = array<i32: 16, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %a = vector.transfer_read %x[%c0], %zero {in_bounds = [true]} : memref<64xf32>, vector<64xf32>
    %b = arith.addf %a, %a : vector<64xf32>
    vector.transfer_write %b, %y[%c0] {in_bounds = [true]} : vector<64xf32>, memref<64xf32>
    gpu.return
  }
}

// CHECK-NOT:  xegpu
// CHECK:      %lane = gpu.lane_id
// CHECK:      memref.load %x[%lane]
// CHECK:      vector.from_elements %{{.*}} : vector<4xf32>
// CHECK:      memref.store %{{.*}}, %y[%lane]
