// What one work-item writes another one reads: distribution puts a barrier between the two
// regions, and their operations into the kernel.
//
// RUN: xtile-opt %s -p core-distribute | filecheck %s
gpu.module @kernels {
  gpu.func @reverse(%x: memref<256xf32>, %y: memref<256xf32>) kernel
      attributes {core.level = "block", known_block_size = array<i32: 64, 1, 1>} {
    core.parallel {
      %i = gpu.thread_id x
      %a = memref.load %x[%i] : memref<256xf32>
      %b = arith.addf %a, %a : f32
      memref.store %b, %y[%i] : memref<256xf32>
    }
    core.parallel {
      %i = gpu.thread_id x
      %c63 = arith.constant 63 : index
      %other = arith.subi %c63, %i : index
      %a = memref.load %y[%other] : memref<256xf32>
      memref.store %a, %x[%i] : memref<256xf32>
    }
    gpu.return
  }
}

// CHECK:      core.level = "subgroup"
// CHECK-NOT:  core.parallel
// CHECK:      memref.store %{{.*}}, %y[%i]
// CHECK-NEXT: gpu.barrier
// CHECK:      %other = arith.subi
// CHECK:      memref.load %y[%other]
