// A vector belongs to the subgroup: of 64 elements each of its 16 lanes holds every sixteenth, so
// that neighbours load from neighbouring addresses.
//
// RUN: xtile-opt %s --translate core-to-xegpu --chip pvc | filecheck %s
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

// CHECK:      %lane = gpu.lane_id
// CHECK:      %[[FIRST:.*]] = memref.load %x[%lane]
// CHECK:      %[[PLACE:.*]] = arith.addi %lane, %c16
// CHECK:      %[[SECOND:.*]] = memref.load %x[%[[PLACE]]]
// CHECK:      %[[MINE:.*]] = vector.from_elements %[[FIRST]], %[[SECOND]], %{{.*}}, %{{.*}} : vector<4xf32>
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[MINE]], %[[MINE]] : vector<4xf32>
// CHECK:      %[[OUT:.*]] = vector.extract %[[SUM]][0]
// CHECK:      memref.store %[[OUT]], %y[%lane]
