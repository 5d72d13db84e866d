// The product of few rows: Triton multiplies 16 rows at least, so that they are repeated, and the
// first ones of the result are stored.
//
// RUN: xtile-opt %s --translate core-to-triton --chip gfx942 | filecheck %s
// RUN: xtile-opt %s --translate core-to-amdg --chip gfx942 | filecheck %s --check-prefix=AMDG
gpu.module @kernels {
  gpu.func @product(%A: memref<8x32xf16>, %B: memref<32x32xf16>, %C: memref<8x32xf32>) kernel
      attributes {core.level = "tile", known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = vector.load %A[%c0, %c0] : memref<8x32xf16>, vector<8x32xf16>
    %b = vector.load %B[%c0, %c0] : memref<32x32xf16>, vector<32x32xf16>
    %zeros = arith.constant dense<0.0> : vector<8x32xf32>
    %c = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
        %a, %b, %zeros : vector<8x32xf16>, vector<32x32xf16> into vector<8x32xf32>
    vector.store %c, %C[%c0, %c0] : memref<8x32xf32>, vector<8x32xf32>
    gpu.return
  }
}

// CHECK:      tt.func public @product(%A: !tt.ptr<f16>
// CHECK:        tt.dot %{{.*}} : tensor<16x32xf16> * tensor<32x32xf16> -> tensor<16x32xf32>
// CHECK:        tt.split %{{.*}} : tensor<8x32x2xf32> -> tensor<8x32xf32>
// CHECK:        tt.store

// AMDG:      ttg.target = "hip:gfx942"
// AMDG:        amdg.buffer_load
// AMDG:        amdg.buffer_store
