// A rank-1 update becomes tiles: x as a column and y as a row, both spread over the tile. 40
// columns take a tile of 64, whose edge is masked.
//
// RUN: xtile-opt %s -p core-tile-linalg | filecheck %s
gpu.module @kernels {
  gpu.func @outer(%x: memref<24xf32>, %y: memref<40xf32>, %A: memref<24x40xf32>) kernel
      attributes {core.level = "block"} {
    %one = arith.constant 1.0 : f32
    core.ger %one, %x, %y, %one, %A
        : f32, memref<24xf32>, memref<40xf32>, f32, memref<24x40xf32>
    gpu.return
  }
}

// CHECK:      core.level = "tile"
// CHECK:      scf.for %i = %c0 to %c24 step %c16 {
// CHECK:        %[[X:.*]] = vector.transfer_read %x[%i]
// CHECK:        %[[COLUMN:.*]] = vector.shape_cast %[[X]] : vector<16xf32> to vector<16x1xf32>
// CHECK:        vector.broadcast %[[COLUMN]] : vector<16x1xf32> to vector<16x64xf32>
// CHECK:        vector.broadcast %{{.*}} : vector<64xf32> to vector<16x64xf32>
// CHECK:        vector.transfer_write %{{.*}}, %A[%i, %c0] : vector<16x64xf32>, memref<24x40xf32>
// CHECK:      } {core.independent}
