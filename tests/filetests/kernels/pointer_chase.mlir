// A list in memory: each element holds the place of the next one, and -1 ends it. Nothing here is
// affine, so nothing is a block or a tile; the loop becomes three blocks.
//
// RUN: xtile-opt %s -t spirv-asm | filecheck %s
gpu.module @kernels {
  gpu.func @last(%next: memref<?xindex>, %first: index, %result: memref<index>) kernel {
    %none = arith.constant -1 : index
    %last = scf.while (%at = %first) : (index) -> index {
      %after = memref.load %next[%at] : memref<?xindex>
      %has_next = arith.cmpi ne, %after, %none : index
      scf.condition(%has_next) %at : index
    } do {
    ^bb0(%at: index):
      %after = memref.load %next[%at] : memref<?xindex>
      scf.yield %after : index
    }
    memref.store %last, %result[] : memref<index>
    gpu.return
  }
}

// CHECK:      %at = OpPhi %ulong %first %{{.*}} %[[NEXT:.*]] %{{.*}}
// CHECK:      OpLoopMerge %[[END:.*]] %{{.*}} None
// CHECK:      %[[PLACE:.*]] = OpInBoundsPtrAccessChain %_ptr_CrossWorkgroup_ulong %next %at
// CHECK-NEXT: %after = OpLoad %ulong %[[PLACE]]
// CHECK:      %has_next = OpINotEqual %bool %after
// CHECK-NEXT: OpBranchConditional %has_next %{{.*}} %[[END]]
// CHECK:      OpStore %result %at
