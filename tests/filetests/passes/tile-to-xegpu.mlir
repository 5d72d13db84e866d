// A work-group of 8 subgroups computes a tile of 64 x 64. Layouts say which part of each vector a subgroup
// holds: 16 x 32 elements of the sums, whole rows of A and whole columns of B. What lies beyond the end of A
// and C is 0 when it is loaded and left alone when it is stored, as block accesses do it. The bias has one
// number for each column: its layout is that of the sums without their rows.
//
// RUN: xtile-opt %s -p 'tile-to-xegpu{chip=pvc}' | filecheck %s
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#sum = affine_map<(m, n, k) -> (m, n)>
gpu.module @kernels {
  gpu.func @layer(%A: memref<50x32xf16>, %B: memref<32x64xf16>, %bias: memref<64xf32>,
                  %C: memref<50x64xf32>) kernel attributes {core.level = "tile"} {
    %c0 = arith.constant 0 : index
    %none = arith.constant 0.0 : f16
    %zero = arith.constant 0.0 : f32
    %a = vector.transfer_read %A[%c0, %c0], %none : memref<50x32xf16>, vector<64x32xf16>
    %b = vector.transfer_read %B[%c0, %c0], %none : memref<32x64xf16>, vector<32x64xf16>
    %line = vector.transfer_read %bias[%c0], %zero : memref<64xf32>, vector<64xf32>
    %start = vector.broadcast %line : vector<64xf32> to vector<64x64xf32>
    %c = vector.contract {indexing_maps = [#lhs, #rhs, #sum],
        iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
        %a, %b, %start : vector<64x32xf16>, vector<32x64xf16> into vector<64x64xf32>
    vector.transfer_write %c, %C[%c0, %c0] : vector<64x64xf32>, memref<50x64xf32>
    gpu.return
  }
}

// CHECK:      intel_reqd_sub_group_size = 16 : i32
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>
// CHECK-SAME: xegpu.level = "work-group"
// CHECK:      xegpu.load_nd %{{.*}}[0, 0] <{layout = #xegpu.layout<sg_layout = [4, 2], sg_data = [16, 32]>}>
// CHECK-SAME: -> vector<64x32xf16>
// CHECK:      xegpu.load_nd %{{.*}}[0, 0] <{layout = #xegpu.layout<sg_layout = [4, 2], sg_data = [32, 32]>}>
// CHECK-SAME: -> vector<32x64xf16>
// CHECK:      vector.broadcast %{{.*}} {layout_result_0 = #xegpu.layout<sg_layout = [4, 2], sg_data = [16, 32]>}
// CHECK:      xegpu.dpas %{{.*}} {layout_a = #xegpu.layout<sg_layout = [4, 2], sg_data = [16, 32]>, layout_b =
// CHECK-SAME: layout_cd = #xegpu.layout<sg_layout = [4, 2], sg_data = [16, 32]>}
// CHECK:      xegpu.store_nd
