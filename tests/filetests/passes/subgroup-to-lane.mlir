// For a CPU: all lanes do the same, so that one work-item does it for the subgroup. A vector of one dimension
// is no matrix in memory that loops go over; it stays in registers.
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

// CHECK-NOT:  intel_reqd_sub_group_size
// CHECK:      known_block_size = array<i32: 1, 1, 1>
// CHECK:      vector.transfer_read %x[%c0], %{{.*}} vector<64xf32>
// CHECK-NEXT: arith.addf %{{.*}} : vector<64xf32>
// CHECK-NEXT: vector.transfer_write
