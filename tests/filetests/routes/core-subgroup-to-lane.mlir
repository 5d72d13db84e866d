// A kernel that stands at level subgroup already takes the rest of the way only; the level is
// gone, because what is left is MLIR's own meaning of a kernel.
//
// RUN: xtile-opt %s --translate core-to-lane --chip pvc | filecheck %s
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

// CHECK-NOT:  core.level
// CHECK:      gpu.lane_id
// CHECK:      vector.from_elements %{{.*}} : vector<4xf32>
// CHECK-NEXT: arith.addf %{{.*}} : vector<4xf32>
