// Vectors of a subgroup stay what they are: one load, one product and one store of the whole of each.
//
// RUN: xtile-opt %s -p "subgroup-to-xegpu-subgroup{chip=pvc}" | filecheck %s
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
gpu.module @kernels {
  gpu.func @product(%A: memref<8x32xf16>, %B: memref<32x32xf16>, %C: memref<8x32xf32>) kernel
      attributes {core.level = "subgroup", intel_reqd_sub_group_size = 16 : i32,
                  known_block_size = array<i32: 16, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f16
    %none = arith.constant dense<0.0> : vector<8x32xf32>
    %a = vector.transfer_read %A[%c0, %c0], %zero {in_bounds = [true, true]}
        : memref<8x32xf16>, vector<8x16xf16>
    %b = vector.transfer_read %B[%c0, %c0], %zero {in_bounds = [true, true]}
        : memref<32x32xf16>, vector<16x32xf16>
    %c = vector.contract {indexing_maps = [#a, #b, #c],
        iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
        %a, %b, %none : vector<8x16xf16>, vector<16x32xf16> into vector<8x32xf32>
    vector.transfer_write %c, %C[%c0, %c0] {in_bounds = [true, true]}
        : vector<8x32xf32>, memref<8x32xf32>
    gpu.return
  }
}

// CHECK:      known_block_size = array<i32: 16, 1, 1>, xegpu.level = "subgroup"
// CHECK:      %[[A:.*]] = xegpu.load_nd %{{.*}}[0, 0] {{.*}} -> vector<8x16xf16>
// CHECK:      %[[B:.*]] = xegpu.load_nd %{{.*}}[0, 0] {{.*}} -> vector<16x32xf16>
// CHECK:      %[[C:.*]] = xegpu.dpas %[[A]], %[[B]]
// CHECK-SAME: vector<8x16xf16>, vector<16x32xf16>, vector<8x32xf32> -> vector<8x32xf32>
// CHECK:      xegpu.store_nd %[[C]], %{{.*}}[0, 0]
