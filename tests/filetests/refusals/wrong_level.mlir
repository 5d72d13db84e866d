// A pass says what it takes. What it does not take it refuses, and it says which passes would
// help, if any do.
//
// RUN: xtile-opt %s -p core-distribute 2>&1 | filecheck %s
gpu.module @kernels {
  gpu.func @tiles(%x: memref<64xf32>) kernel attributes {core.level = "tile"} {
    gpu.return
  }
}

// CHECK:      error: @tiles is a kernel at level "tile", but core-distribute takes kernels at level "block"; no pass makes them of it
// CHECK-NEXT:   gpu.func @tiles
