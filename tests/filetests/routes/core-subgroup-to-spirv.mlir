// The four elements of a lane are one vector of SPIR-V, and addresses that differ by a constant
// are computed from one pointer.
//
// RUN: xtile-opt %s --translate core-to-spirv --chip pvc -t spirv-asm | filecheck %s
gpu.module @kernels {
  gpu.func @twice(%x: memref<64xf32>, %y: memref<64xf32>) kernel
      attributes {core.level = "subgroup", intel_reqd_sub_group_size = 16 : i32,
                  known_block_size = array<i32: 16, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %a = vector.transfer_read %x[%c0], %zero {in_bounds = [true]} : memref<64xf32>, vector<64xf32>
    %b = arith.addf %a, %a : vector<64xf32>
    vector.transfer_write %b, %y[%c0] {in_bounds = [true]} : vector<64xf32>, memref<64xf32>
    gpu.return
  }
}

// CHECK:      OpDecorate %[[ID:.*]] BuiltIn SubgroupLocalInvocationId
// CHECK:      %[[LANE:.*]] = OpLoad %uint %[[ID]]
// CHECK:      %lane = OpUConvert %ulong %[[LANE]]
// CHECK:      %[[PLACE:.*]] = OpInBoundsPtrAccessChain %_ptr_CrossWorkgroup_float %x %lane
// CHECK:      OpInBoundsPtrAccessChain %_ptr_CrossWorkgroup_float %[[PLACE]] %ulong_16
// CHECK:      %[[MINE:.*]] = OpCompositeConstruct %v4float
// CHECK-NEXT: OpFAdd %v4float %[[MINE]] %[[MINE]]
