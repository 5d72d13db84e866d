// Layouts of a chip go where the same kernel is to be one for any chip.
//
// RUN: xtile-opt %s --translate triton-to-triton | filecheck %s --check-prefix=CHECK
// RUN: xtile-opt %s -p triton-to-triton | filecheck %s --check-prefix=CHECK
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942",
    "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @double(%p: !tt.ptr<f32>) {
    %at = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked>
    %x = amdg.buffer_load %p[%at] : !tt.ptr<f32> -> tensor<64xf32, #blocked>
    %y = arith.addf %x, %x : tensor<64xf32, #blocked>
    amdg.buffer_store %y, %p[%at] : !tt.ptr<f32> -> tensor<64xf32, #blocked>
    tt.return
  }
}

// CHECK-NOT: ttg
// CHECK:      module {
// CHECK-NEXT:   tt.func public @double(%p: !tt.ptr<f32>
// CHECK-NOT: ttg
// CHECK:      tt.load {{.*}} : tensor<64x!tt.ptr<f32>>
// CHECK:      arith.addf {{.*}} : tensor<64xf32>
// CHECK:      tt.store {{.*}} : tensor<64x!tt.ptr<f32>>
