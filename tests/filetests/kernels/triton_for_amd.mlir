// A kernel as Triton's compiler for AMD leaves it: layouts, buffer operations, and local memory through
// which a loop copies. Layouts are gone in the core form, copies are where they stand, and accesses
// through buffers are transfers again.
//
// RUN: xtile-opt %s --translate triton-to-core | filecheck %s
// RUN: xtile-opt %s -p triton-to-core,core-structure | filecheck %s --check-prefix=BOX
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @copy(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #blocked>
    %limit = tt.splat %n : i32 -> tensor<256xi32, #blocked>
    %mask = arith.cmpi slt, %range, %limit : tensor<256xi32, #blocked>
    %m = ttg.local_alloc : () -> !ttg.memdesc<2x256xf32, #shared, #smem, mutable>
    %v = ttg.memdesc_index %m[%c0] : !ttg.memdesc<2x256xf32, #shared, #smem, mutable> -> !ttg.memdesc<256xf32, #shared, #smem, mutable>
    %x = amdg.buffer_load %p[%range], %mask : !tt.ptr<f32> -> tensor<256xf32, #blocked>
    ttg.local_store %x, %v : tensor<256xf32, #blocked> -> !ttg.memdesc<256xf32, #shared, #smem, mutable>
    ttg.barrier local
    %y = ttg.local_load %v : !ttg.memdesc<256xf32, #shared, #smem, mutable> -> tensor<256xf32, #blocked>
    amdg.buffer_store %y, %q[%range], %mask : !tt.ptr<f32> -> tensor<256xf32, #blocked>
    tt.return
  }
}

// CHECK:      %{{.*}} = memref.alloca() : memref<2x256xf32>
// CHECK:      %x = core.gather_load
// CHECK:      vector.transfer_write %x, %{{.*}}[%{{.*}}, %{{.*}}]
// CHECK-NOT:  barrier
// CHECK:      %y = vector.transfer_read
// CHECK:      core.scatter_store %y
// BOX:        core.view %p to
// BOX:        %x = vector.transfer_read
// BOX:        core.view %q to
// BOX:        vector.transfer_write %y
