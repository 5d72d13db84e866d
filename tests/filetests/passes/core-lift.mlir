// Four subgroups of 16 lanes: what differs between subgroups gets an axis of 4, what differs between lanes one of
// 16, and what is the same for all stays a number. Lanes from 10 on take no part in the maximum.
//
// RUN: xtile-opt %s -p core-lift | filecheck %s
gpu.module @kernels {
  gpu.func @largest(%x: memref<4x16xf32>, %y: memref<4xf32>) kernel
      attributes {core.level = "subgroup", intel_reqd_sub_group_size = 16 : i32,
                  known_block_size = array<i32: 64, 1, 1>} {
    %c10 = arith.constant 10 : index
    %lane = gpu.lane_id
    %subgroup = gpu.subgroup_id : index
    %is_inside = arith.cmpi slt, %lane, %c10 : index
    scf.if %is_inside {
      %a = memref.load %x[%subgroup, %lane] : memref<4x16xf32>
      %m = gpu.subgroup_reduce maxnumf %a : (f32) -> f32
      memref.store %m, %y[%subgroup] : memref<4xf32>
    }
    gpu.barrier
    gpu.return
  }
}

// CHECK:      core.level = "tile"
// CHECK-SAME: known_block_size = array<i32: 1, 1, 1>
// CHECK:      %lane = vector.step : vector<16xindex>
// CHECK:      %subgroup = vector.step : vector<4xindex>
// CHECK:      %is_inside = arith.cmpi slt, %lane, %{{.*}} : vector<16xindex>
// CHECK:      %a = core.gather_load %x[%{{.*}}, %{{.*}}], %{{.*}} -> vector<4x16xf32>
// CHECK:      %m = vector.multi_reduction <maxnumf>, %{{.*}}, %{{.*}} [1] : vector<4x16xf32> to vector<4xf32>
// CHECK:      core.scatter_store %m, %y[%subgroup], %{{.*}} : vector<4xf32>
// CHECK-NOT:  gpu.barrier
