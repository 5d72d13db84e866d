// One row of a softmax in one tile. What was read is used after memory is written again, so its
// bits go through a reduction that keeps the assembler from reading it twice.
//
// RUN: xtile-opt %s -p tile-to-cuda_tile | filecheck %s
gpu.module @kernels {
  gpu.func @soft(%x: memref<128xf32>) kernel
      attributes {core.level = "tile", known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %a = vector.transfer_read %x[%c0], %zero {in_bounds = [true]} : memref<128xf32>, vector<128xf32>
    %b = math.exp %a : vector<128xf32>
    %sum = vector.reduction <add>, %b : vector<128xf32> into f32
    %sums = vector.broadcast %sum : f32 to vector<128xf32>
    %c = arith.divf %b, %sums : vector<128xf32>
    vector.transfer_write %c, %x[%c0] {in_bounds = [true]} : vector<128xf32>, memref<128xf32>
    gpu.return
  }
}

// CHECK:      entry @soft(%x: tile<ptr<f32>>)
// CHECK:      %a:2 = load_view_tko weak
// CHECK:      reduce %{{.*}} dim=1 identities=[0 : i32] : tile<128x1xi32> -> tile<128xi32>
// CHECK:      %b = exp %{{.*}} : tile<128xf32>
// CHECK-NEXT: %sum = reduce %b dim=0 identities=[-0.000000e+00 : f32]
// CHECK:      %sums = broadcast %{{.*}} : tile<1xf32> -> tile<128xf32>
// CHECK-NEXT: %c = divf %b, %sums
// CHECK-NEXT: store_view_tko weak %c, %{{.*}} token = %a#1
