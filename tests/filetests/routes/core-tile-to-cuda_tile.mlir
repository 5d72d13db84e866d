// Rows of any number in tiles of four: a tile that begins behind the last row is left out, and the
// others are tiles of views.
//
// RUN: xtile-opt %s --translate core-to-cuda_tile --chip sm_90 | filecheck %s
gpu.module @kernels {
  gpu.func @largest(%A: memref<?x64xf32>, %most: memref<?xf32>) kernel
      attributes {core.level = "tile", known_block_size = array<i32: 1, 1, 1>} {
    %row = gpu.block_id x
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %least = arith.constant dense<0xFF800000> : vector<4xf32>
    %c4 = arith.constant 4 : index
    %first = arith.muli %row, %c4 : index
    %a = vector.transfer_read %A[%first, %c0], %zero {in_bounds = [false, true]}
        : memref<?x64xf32>, vector<4x64xf32>
    %b = vector.multi_reduction <maximumf>, %a, %least [1] : vector<4x64xf32> to vector<4xf32>
    vector.transfer_write %b, %most[%first] {in_bounds = [false]} : vector<4xf32>, memref<?xf32>
    gpu.return
  }
}

// CHECK:      entry @largest(%A: tile<ptr<f32>>, %A_size0: tile<i64>, %most: tile<ptr<f32>>, %most_size0: tile<i64>)
// CHECK:      assume bounded<0, 2147483647>, %A_size0
// CHECK:      %row = exti %{{.*}}#0 unsigned
// CHECK:      %[[INSIDE:.*]] = cmpi less_than
// CHECK:      if %[[INSIDE]]
// CHECK:      load_view_tko weak
// CHECK:      reduce %{{.*}} dim=1 identities=[0xFF800000 : f32] : tile<4x64xf32> -> tile<4xf32>
// CHECK:        maxf %{{.*}} propagate_nan
// CHECK:      store_view_tko weak
