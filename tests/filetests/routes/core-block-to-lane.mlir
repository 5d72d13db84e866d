// Code of lanes is what SPIR-V is made of. For a chip with a matrix unit it is XeGPU; without one
// (`--chip cpu`) the same kernel is a loop over vectors.
//
// RUN: xtile-opt %s --translate core-to-lane --chip pvc | filecheck %s
// RUN: xtile-opt %s --translate core-to-lane --chip cpu | filecheck %s --check-prefix=CPU
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

// CHECK:      intel_reqd_sub_group_size = 16 : i32
// CHECK:      xegpu.load_nd %{{.*}} <{packed}>
// CHECK:      xegpu.dpas %{{.*}} : vector<8xf16>, vector<16xf16>, vector<8xf32> -> vector<8xf32>

// CPU-NOT:    xegpu
// CPU:        known_block_size = array<i32: 1, 1, 1>
// CPU:        arith.extf %{{.*}} : vector<16xf16> to vector<16xf32>
// CPU:        math.fma %{{.*}} : vector<16xf32>
