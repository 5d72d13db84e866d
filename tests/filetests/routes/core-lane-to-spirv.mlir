// A kernel of MLIR's own dialects is at level lane, and nothing of it need come from xtile. MLIR's
// minimum is NaN if one number is, and -0 is less than 0, which SPIR-V must be told.
//
// RUN: xtile-opt %s --translate core-to-spirv --chip pvc -t spirv-asm | filecheck %s
gpu.module @kernels {
  gpu.func @clamp(%x: memref<?xf32>, %limit: f32) kernel {
    %x_id = gpu.global_id x
    %c0 = arith.constant 0 : index
    %n = memref.dim %x, %c0 : memref<?xf32>
    %is_inside = arith.cmpi slt, %x_id, %n : index
    scf.if %is_inside {
      %a = memref.load %x[%x_id] : memref<?xf32>
      %b = arith.minimumf %a, %limit : f32
      memref.store %b, %x[%x_id] : memref<?xf32>
    }
    gpu.return
  }
}

// CHECK:      OpDecorate %[[ID:.*]] BuiltIn GlobalInvocationId
// CHECK:      %clamp = OpFunction %void
// CHECK:      %is_inside = OpSLessThan %bool %x_id %x_size0
// CHECK:      OpSelectionMerge %[[END:[0-9]+]]
// CHECK-NEXT: OpBranchConditional %is_inside %[[INSIDE:[0-9]+]] %[[END]]
// CHECK-NEXT: %[[INSIDE]] = OpLabel
// CHECK:      OpFOrdLessThan %bool %a %limit
// CHECK:      %[[IS_NAN:.*]] = OpUnordered %bool %a %limit
// CHECK:      %b = OpSelect %float %[[IS_NAN]]
// CHECK:      OpStore %{{.*}} %b
