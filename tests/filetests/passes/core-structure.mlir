// A tile of pointers whose offsets follow from the tile's index, with a mask that compares them with a size, is
// a box of memory: the gather becomes a read of a view that ends where the mask does. Offsets of 32 bits may
// wrap around; that `%b` does not is proved, because it is a multiple of 64, and that it is not negative a
// launch checks.
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
}

// CHECK:      core.launch_checks = {{\[\[\[}}"mul", 32, ["cast", 32, ["block", 0]], 64], 0, 2147483647]]
// CHECK:      %[[SIZE:.*]] = arith.maxsi
// CHECK-NEXT: %[[MEMORY:.*]] = core.view %x to offset: [0], sizes: [%[[SIZE]]], strides: [1]
// CHECK:      %v = vector.transfer_read %[[MEMORY]][%[[B:.*]]], %{{.*}} : memref<?xf32, strided<[1]>>, vector<64xf32>
// CHECK-NEXT: %w = arith.addf %v, %v
// CHECK-NEXT: vector.transfer_write %w, %[[MEMORY]][%[[B]]]
// CHECK-NOT:  core.gather_load
