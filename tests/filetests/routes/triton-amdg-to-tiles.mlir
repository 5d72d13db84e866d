// A kernel that was compiled for a chip of AMD becomes one for others: layouts go.
//
// RUN: xtile-opt %s --translate triton-to-core | filecheck %s --check-prefix=CORE
// RUN: xtile-opt %s --translate triton-to-tile | filecheck %s --check-prefix=CORE
// RUN: xtile-opt %s --translate triton-to-cuda_tile | filecheck %s --check-prefix=CUDA
// RUN: xtile-opt %s --translate triton-to-tensorlang | filecheck %s --check-prefix=TENSORS
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

// CORE:      core.level = "tile"
// CORE:        arith.addf %{{.*}} : vector<64xf32>
// CUDA:      entry @double
// CUDA:        addf
// TENSORS:   tensorlang.func
