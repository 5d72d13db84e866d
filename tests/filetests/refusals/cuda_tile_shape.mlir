// Tiles of CUDA Tile IR have sizes that are powers of two; translations pad, but what is written
// by hand must keep to it.
//
// RUN: xtile-opt %s 2>&1 | filecheck %s
cuda_tile.module @kernels {
  entry @k(%x: tile<ptr<f32>>) {
    %a = iota : tile<20xi32>
    return
  }
}

// CHECK:      error: the sizes of a tile are powers of two, but got [20]
// CHECK-NEXT:     %a = iota : tile<20xi32>
