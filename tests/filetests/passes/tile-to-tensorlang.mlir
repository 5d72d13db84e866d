// A tile is computed element by element by all work-items, and stored in local memory where it is read in
// other ways: here its rows are added up, each by one work-item. Edges are conditions.
//
// RUN: xtile-opt %s -p tile-to-tensorlang -t tensorlang | filecheck %s
gpu.module @kernels {
  gpu.func @sums(%A: memref<?x32xf32>, %sums: memref<8xf32>) kernel attributes {core.level = "tile"} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %none = arith.constant dense<0.0> : vector<8xf32>
    %a = vector.transfer_read %A[%c0, %c0], %zero {in_bounds = [false, true]}
        : memref<?x32xf32>, vector<8x32xf32>
    %e = math.exp %a : vector<8x32xf32>
    %s = vector.multi_reduction <add>, %e, %none [1] : vector<8x32xf32> to vector<8xf32>
    vector.transfer_write %s, %sums[%c0] {in_bounds = [true]} : vector<8xf32>, memref<8xf32>
    gpu.return
  }
}

// CHECK: %[[A:[^ ]*]] = alloca : memref<f32x32x8,local>
// CHECK: foreach (%[[I:.*]],%[[J:[^)]*]])=
// CHECK:   less_than %[[J]], %{{.*}} : bool
// CHECK:   load %A[%[[I]],%[[J]]] : f32
// CHECK:   store %{{.*}}, %[[A]][%[[I]],%[[J]]]
// CHECK: foreach (%[[ROW:.*]])=
// CHECK:   for %{{.*}} init
// CHECK:     exp %{{.*}} : f32
// CHECK: foreach (%[[ROW:.*]])=
// CHECK:   store %{{.*}}, %sums[%[[ROW]]]
