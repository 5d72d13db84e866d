// At level block there is one thread of control; what tells work-items apart stands in a region
// for them.
//
// RUN: xtile-opt %s 2>&1 | filecheck %s
gpu.module @kernels {
  gpu.func @k(%x: memref<64xf32>) kernel attributes {core.level = "block"} {
    %i = gpu.thread_id x
    gpu.return
  }
}

// CHECK:      error: gpu.thread_id must stand in core.parallel, where work-items act on their own; the kernel is at level block
// CHECK-NEXT:     %i = gpu.thread_id x
