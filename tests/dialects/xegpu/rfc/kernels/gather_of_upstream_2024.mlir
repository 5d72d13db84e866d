// Scattered rows in the dialect that LLVM had in 2024, with descriptors in shared local memory.
#points = #xegpu.scatter_tdesc_attr<memory_space = global>
#chunks = #xegpu.scatter_tdesc_attr<memory_space = slm, chunk_size = 4>
gpu.module @kernels {
  gpu.func @rows(%m: memref<?xf32>, %s: memref<512xf32, 3>) kernel {
    %offsets = arith.constant dense<[0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120]> : vector<16xindex>
    %mask = arith.constant dense<true> : vector<16xi1>
    %id = arith.constant 1 : i8
    %threads = arith.constant 4 : i8
    xegpu.alloc_nbarrier 2
    %b = xegpu.init_nbarrier %id, %threads : i8, i8 -> !xegpu.nbarrier
    %t = xegpu.create_tdesc %m, %offsets : memref<?xf32>, vector<16xindex> -> !xegpu.tensor_desc<16xf32, #points>
    xegpu.prefetch %t : !xegpu.tensor_desc<16xf32, #points>
    %v = xegpu.load %t, %mask {l1_hint = #xegpu.cache_hint<cached>, l2_hint = #xegpu.cache_hint<uncached>} : !xegpu.tensor_desc<16xf32, #points>, vector<16xi1> -> vector<16xf32>
    %next = xegpu.update_offset %t, %offsets : !xegpu.tensor_desc<16xf32, #points>, vector<16xindex>
    xegpu.store %v, %next, %mask : vector<16xf32>, !xegpu.tensor_desc<16xf32, #points>, vector<16xi1>
    xegpu.nbarrier_arrive %b : !xegpu.nbarrier
    xegpu.nbarrier_wait %b : !xegpu.nbarrier
    xegpu.fence memory_kind = slm, fence_scope = workgroup
    %u = xegpu.create_tdesc %s, %offsets {chunk_size = 4} : memref<512xf32, 3>, vector<16xindex> -> !xegpu.tensor_desc<16x4xf32, #chunks>
    %w = xegpu.load %u, %mask {transpose} : !xegpu.tensor_desc<16x4xf32, #chunks>, vector<16xi1> -> vector<4x16xf32>
    %w2 = arith.addf %w, %w : vector<4x16xf32>
    xegpu.store %w2, %u, %mask {transpose} : vector<4x16xf32>, !xegpu.tensor_desc<16x4xf32, #chunks>, vector<16xi1>
    gpu.return
  }
}
