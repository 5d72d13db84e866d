// XeGPU has no compare-and-swap and no printing of a work-group, and one base for all points of an access.
//
// RUN: xtile-opt %s --translate triton-to-xegpu 2>&1 | filecheck %s
tt.func public @lock(%p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %old = tt.atomic_cas acq_rel, gpu, %p, %c0, %c1 : (!tt.ptr<i32>, i32, i32) -> i32
  tt.return
}

// CHECK: error: tt.atomic_cas cannot be translated to XeGPU at level work-group: XeGPU has no compare-and-swap; use core.atomic_rmw
// CHECK: %old = tt.atomic_cas acq_rel
