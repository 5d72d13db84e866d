// What each work-item does is an SPMD region. The tensor language has no vectors of a work-item, so that one
// is its elements, and no square roots, which are found by Newton's method.
//
// RUN: xtile-opt %s --translate core-to-tensorlang -t tensorlang | filecheck %s
gpu.module @kernels {
  gpu.func @roots(%x: memref<?x4xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = gpu.global_id x
    %c0 = arith.constant 0 : index
    %a = vector.load %x[%i, %c0] : memref<?x4xf32>, vector<4xf32>
    %b = math.sqrt %a : vector<4xf32>
    vector.store %b, %x[%i, %c0] : memref<?x4xf32>, vector<4xf32>
    gpu.return
  }
}

// CHECK: func @roots(%x: memref<f32x4x?>) attributes {subgroup_size=16, work_group_size=[32,1]
// CHECK: parallel {
// CHECK: %[[ID:.*]] = subgroup_id.x : i32
// CHECK-COUNT-4: load %x[
// CHECK: log2
// CHECK-COUNT-4: store %{{.*}}, %x[
