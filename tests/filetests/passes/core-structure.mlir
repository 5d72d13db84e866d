// A tile of pointers whose offsets follow from the tile's index, with a mask that compares them with a size, is
// a box of memory: the gather becomes a read of a view that ends where the mask does. Offsets of 32 bits might
// wrap around; `%b` is a multiple of 64, so that `%b + 63` does not. The second kernel multiplies by a number
// that only a launch knows, and so says what launches must check.
//
// RUN: xtile-opt %s -p core-structure | filecheck %s
gpu.module @kernels {
  gpu.func @double(%x: !core.ptr<f32>, %n: i32) kernel attributes {core.level = "tile", known_block_size = array<i32: 1, 1, 1>} {
    %block = gpu.block_id x
    %id = arith.index_cast %block : index to i32
    %c64 = arith.constant 64 : i32
    %b = arith.muli %id, %c64 : i32
    %lanes = vector.step : vector<64xindex>
    %i = arith.index_cast %lanes : vector<64xindex> to vector<64xi32>
    %bs = vector.broadcast %b : i32 to vector<64xi32>
    %offsets = arith.addi %bs, %i : vector<64xi32>
    %ns = vector.broadcast %n : i32 to vector<64xi32>
    %inside = arith.cmpi slt, %offsets, %ns : vector<64xi32>
    %xs = vector.broadcast %x : !core.ptr<f32> to vector<64x!core.ptr<f32>>
    %at = core.pointer_add %xs, %offsets : vector<64x!core.ptr<f32>>, vector<64xi32>
    %zero = arith.constant dense<0.0> : vector<64xf32>
    %v = core.gather_load %at, %inside, %zero : vector<64x!core.ptr<f32>>, vector<64xi1>, vector<64xf32> -> vector<64xf32>
    %w = arith.addf %v, %v : vector<64xf32>
    core.scatter_store %w, %at, %inside : vector<64xf32>, vector<64x!core.ptr<f32>>, vector<64xi1>
    gpu.return
  }

  gpu.func @every(%x: !core.ptr<f32>, %step: i32) kernel attributes {core.level = "tile", known_block_size = array<i32: 1, 1, 1>} {
    %lanes = vector.step : vector<16xindex>
    %i = arith.index_cast %lanes : vector<16xindex> to vector<16xi32>
    %steps = vector.broadcast %step : i32 to vector<16xi32>
    %offsets = arith.muli %i, %steps : vector<16xi32>
    %xs = vector.broadcast %x : !core.ptr<f32> to vector<16x!core.ptr<f32>>
    %at = core.pointer_add %xs, %offsets : vector<16x!core.ptr<f32>>, vector<16xi32>
    %v = core.gather_load %at : vector<16x!core.ptr<f32>> -> vector<16xf32>
    core.scatter_store %v, %xs : vector<16xf32>, vector<16x!core.ptr<f32>>
    gpu.return
  }
}

// CHECK:      gpu.func @double
// CHECK-NOT:  core.launch_checks
// CHECK:      %[[LEFT:.*]] = arith.subi %[[N:.*]], %[[B:.*]] : index
// CHECK:      %[[LEAST:.*]] = arith.minsi %[[LEFT]], %{{.*}}
// CHECK:      %[[SIZE:.*]] = arith.maxsi %[[LEAST]], %c0
// CHECK-NEXT: %[[MEMORY:.*]] = core.view %x to offset: [%[[B]]], sizes: [%[[SIZE]]], strides: [1]
// CHECK:      %v = vector.transfer_read %[[MEMORY]][%c0], %{{.*}} : memref<?xf32, strided<[1], offset: ?>>, vector<64xf32>
// CHECK-NEXT: %w = arith.addf %v, %v
// CHECK-NEXT: vector.transfer_write %w, %[[MEMORY]][%c0]
// CHECK:      gpu.func @every
// CHECK-SAME: core.launch_checks = {{\[\[\[}}"mul", 64, ["between", 0, 15], ["argument", 1]], -2147483648, 2147483647],
// CHECK-SAME: {{\[}}["argument", 1], 1, 137438953471]]
// CHECK:      vector.transfer_read %{{.*}} {in_bounds = [true]} : memref<16xf32, strided<[?]>>, vector<16xf32>
// All elements go to one location: which of them stays is not said, and a scatter says just that.
// CHECK:      core.scatter_store
