// For a CPU: all lanes do the same, so that one work-item does it for the subgroup. Its vectors are tiles in
// memory that loops go over, whatever the number of their dimensions is; a few pieces are no loop. What
// divides the number of a work-item by the size of subgroups is the number of the subgroup.
//
// RUN: xtile-opt %s -p "subgroup-to-lane{chip=cpu}" | filecheck %s
gpu.module @kernels {
  gpu.func @f(%x: memref<4x64xf32> {core.noalias}, %y: memref<4x64xf32> {core.noalias}) kernel
      attributes {core.level = "subgroup", intel_reqd_sub_group_size = 16 : i32,
                  known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %zero = arith.constant 0.0 : f32
    %number = gpu.thread_id x
    %row = arith.divui %number, %c16 : index
    %a = vector.transfer_read %x[%row, %c0], %zero {in_bounds = [true]} : memref<4x64xf32>, vector<64xf32>
    %b = math.absf %a : vector<64xf32>
    vector.transfer_write %b, %y[%row, %c0] {in_bounds = [true]} : vector<64xf32>, memref<4x64xf32>
    gpu.return
  }
}

// CHECK-NOT:   intel_reqd_sub_group_size
// CHECK:       known_block_size = array<i32: 1, 4, 1>
// CHECK:       gpu.thread_id  y
// CHECK:       %[[A:.*]] = vector.load %x{{.*}} vector<16xf32>
// CHECK-NEXT:  %[[B:.*]] = math.absf %[[A]]
// CHECK-NEXT:  vector.store %[[B]], %y
// CHECK-COUNT-3: math.absf
// CHECK-NOT:   math.absf
