// An operation that came with a later version of CUDA Tile IR than the one that is asked for.
//
// RUN: xtile-opt %s --cuda-tile-version 13.1 2>&1 | filecheck %s
cuda_tile.module @kernels {
  entry @k(%x: tile<f32>, %y: tile<f32>) {
    %a = atan2 %x, %y : tile<f32>
    return
  }
}

// CHECK:      error: 'cuda_tile.atan2' needs version 13.2 of CUDA Tile IR, but this is 13.1
// CHECK-NEXT:     %a = atan2 %x, %y : tile<f32>
