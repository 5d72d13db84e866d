// Nothing promises that the arguments do not overlap, so tokens order the accesses: C is written
// after A and B were read.
//
// RUN: xtile-opt %s --translate core-to-cuda_tile --chip sm_100 | filecheck %s
gpu.module @kernels {
  gpu.func @product(%A: memref<8x32xf16>, %B: memref<32x32xf16>, %C: memref<8x32xf32>) kernel
      attributes {core.level = "block"} {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f16
    core.gemm %one, %A, %B, %zero, %C
        : f16, memref<8x32xf16>, memref<32x32xf16>, f32, memref<8x32xf32>
    gpu.return
  }
}

// CHECK:      %[[START:.*]] = make_token : token
// CHECK:      %[[A:.*]]:2 = load_view_tko weak %{{.*}}[%c0, %c0] token = %[[START]]
// CHECK:      %[[B:.*]]:2 = load_view_tko weak %{{.*}}[%c0, %c0] token = %[[START]]
// CHECK:      %[[C:.*]] = mmaf %[[A]]#0, %[[B]]#0, %{{.*}} : tile<16x32xf16>, tile<32x32xf16>, tile<16x32xf32>
// CHECK:      %[[READ:.*]] = join_tokens %[[A]]#1, %[[B]]#1
// CHECK:      store_view_tko weak %[[C]], %{{.*}} token = %[[READ]]
