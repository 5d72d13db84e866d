// A column of maxima for a CPU: a loop over rows, in it vectors that are folded half with half. A row is
// read where it is, and nothing of it is stored. For a GPU's work-group the tile is one vector, and a slice of
// its layout says which subgroup holds which of the maxima.
//
// RUN: xtile-opt %s --translate core-to-lane --chip cpu | filecheck %s
// RUN: xtile-opt %s --translate core-to-spirv --chip cpu | filecheck %s --check-prefix=SPIRV
// RUN: xtile-opt %s --translate core-to-subgroup --chip pvc | filecheck %s --check-prefix=SUBGROUP
// RUN: xtile-opt %s --translate core-to-lane --chip pvc | filecheck %s --check-prefix=LANE
// RUN: xtile-opt %s --translate core-to-xegpu --chip pvc | filecheck %s --check-prefix=XEGPU
gpu.module @kernels {
  gpu.func @largest(%A: memref<4x64xf32>, %most: memref<4xf32>) kernel
      attributes {core.level = "tile", known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %least = arith.constant dense<0xFF800000> : vector<4xf32>
    %a = vector.transfer_read %A[%c0, %c0], %zero {in_bounds = [true, true]}
        : memref<4x64xf32>, vector<4x64xf32>
    %b = vector.multi_reduction <maximumf>, %a, %least [1] : vector<4x64xf32> to vector<4xf32>
    vector.transfer_write %b, %most[%c0] {in_bounds = [true]} : vector<4xf32>, memref<4xf32>
    gpu.return
  }
}

// CHECK:      known_block_size = array<i32: 1, 1, 1>
// CHECK:      scf.for %row
// CHECK-COUNT-4: vector.load %A[%row, %{{.*}}] : memref<4x64xf32>, vector<16xf32>
// CHECK-COUNT-3: arith.maximumf %{{.*}} : vector<16xf32>
// CHECK:      arith.maximumf %{{.*}} : vector<8xf32>
// CHECK:      arith.maximumf %{{.*}} : f32
// SPIRV:      LoopMerge
// SPIRV:      "spirv.Load"
// XEGPU:      xegpu.load_nd %{{.*}}[0, 0]
// XEGPU:      vector.multi_reduction <maximumf>, %{{.*}} {layout_result_0 = #xegpu.slice<#xegpu.layout<
// XEGPU:      xegpu.store %
// SUBGROUP:  vector.transfer_read %A[%c0, %c0], {{.*}} vector<4x64xf32>
// SUBGROUP:  vector.multi_reduction <maximumf>, %{{.*}} [1] : vector<4x64xf32> to vector<4xf32>
// LANE:      xegpu.load_nd %{{.*}} -> vector<4xf32>
// LANE:      gpu.shuffle xor
