func.func @same_type(%m: memref<20x28xf16, 3>) {
  %d = xegpu.create_mem_desc %m : memref<20x28xf16, 3> -> !xegpu.mem_desc<20x28xf16>
  return
}

// -----

func.func @bytes(%m: memref<2240xi8, #xegpu<memory_space slm>>) {
  %d = xegpu.create_mem_desc %m {note} : memref<2240xi8, #xegpu<memory_space slm>> -> !xegpu.mem_desc<20x28xf32, #xegpu.mem_layout<stride = [1, 20]>>
  return
}

// -----

func.func @workgroup_memory(%m: memref<560xf16, #gpu.address_space<workgroup>>) {
  %d = xegpu.create_mem_desc %m : memref<560xf16, #gpu.address_space<workgroup>> -> !xegpu.mem_desc<20x28xf16, #xegpu.mem_layout<block = [10, 14]>>
  return
}

// -----

func.func @shared_memory(%m: memref<560xf16, #xevm.addr_space<shared>>) {
  %d = xegpu.create_mem_desc %m : memref<560xf16, #xevm.addr_space<shared>> -> !xegpu.mem_desc<20x28xf16>
  return
}

// -----

func.func @load(%d: !xegpu.mem_desc<20x28xf16>, %i: index) {
  %v = xegpu.load_matrix %d[%i, 3] : !xegpu.mem_desc<20x28xf16>, index -> vector<10x14xf16>
  return
}

// -----

func.func @load_number(%d: !xegpu.mem_desc<20x28xf16>) {
  %v = xegpu.load_matrix %d[19, 27] : !xegpu.mem_desc<20x28xf16> -> f16
  return
}

// -----

func.func @load_part(%d: !xegpu.mem_desc<20x28xf16>, %i: index, %j: index) {
  %v = xegpu.load_matrix %d[%i, %j] : !xegpu.mem_desc<20x28xf16>, index, index -> vector<7xf16>
  return
}

// -----

func.func @load_as_block(%d: !xegpu.mem_desc<20x28xf16, #xegpu.mem_layout<block = [1, 14]>>) {
  %v = xegpu.load_matrix %d[0, 14] <{subgroup_block_io, layout = #xegpu.layout<lane_layout = [1, 14], lane_data = [1, 1]>}> {note}: !xegpu.mem_desc<20x28xf16, #xegpu.mem_layout<block = [1, 14]>> -> vector<10x14xf16>
  return
}

// -----

func.func @store(%d: !xegpu.mem_desc<20x28xf16>, %v: vector<10x14xf16>) {
  xegpu.store_matrix %v, %d[5, 7] : vector<10x14xf16>, !xegpu.mem_desc<20x28xf16>
  return
}

// -----

func.func @store_in_work_group(%d: !xegpu.mem_desc<20x28xf16>, %v: vector<20x28xf16>, %i: index) {
  xegpu.store_matrix %v, %d[%i, %i] <{layout = #xegpu.layout<sg_layout = [2, 2], sg_data = [10, 14]>}> : vector<20x28xf16>, !xegpu.mem_desc<20x28xf16>, index, index
  return
}

// -----

func.func @store_number(%d: !xegpu.mem_desc<20x28xf16>, %v: f16, %i: index) {
  xegpu.store_matrix %v, %d[%i, 0] : f16, !xegpu.mem_desc<20x28xf16>, index
  return
}

// -----

func.func @other_size(%m: memref<2000xi8, 3>) {
  // expected-error@below {{the source has 16000 bits, but the result 17920; they must be as many}}
  %d = xegpu.create_mem_desc %m : memref<2000xi8, 3> -> !xegpu.mem_desc<20x28xf32>
  return
}

// -----

func.func @global_memory(%m: memref<20x28xf16, 1>) {
  // expected-error@below {{with a static shape of 1 or 2 dimensions in shared memory, such as memref<4096xi8, 3>, got memref<20x28xf16, 1}}
  %d = xegpu.create_mem_desc %m : memref<20x28xf16, 1> -> !xegpu.mem_desc<20x28xf16>
  return
}

// -----

func.func @generic_memory(%m: memref<560xf16, #xevm.addr_space<generic>>) {
  // expected-error@below {{got memref<560xf16, #xevm.addr_space<generic>>}}
  %d = xegpu.create_mem_desc %m : memref<560xf16, #xevm.addr_space<generic>> -> !xegpu.mem_desc<20x28xf16>
  return
}

// -----

func.func @cube(%m: memref<2x10x28xf16, 3>) {
  // expected-error@below {{with a static shape of 1 or 2 dimensions in shared memory}}
  %d = xegpu.create_mem_desc %m : memref<2x10x28xf16, 3> -> !xegpu.mem_desc<20x28xf16>
  return
}

// -----

func.func @unknown_size(%m: memref<?x28xf16, 3>) {
  // expected-error@below {{with a static shape of 1 or 2 dimensions in shared memory}}
  %d = xegpu.create_mem_desc %m : memref<?x28xf16, 3> -> !xegpu.mem_desc<20x28xf16>
  return
}

// -----

func.func @tensor_desc(%m: memref<20x28xf16, 3>) {
  // expected-error@below {{expected a mem_desc, got !xegpu.tensor_desc<20x28xf16>}}
  %d = xegpu.create_mem_desc %m : memref<20x28xf16, 3> -> !xegpu.tensor_desc<20x28xf16>
  return
}

// -----

func.func @too_large(%d: !xegpu.mem_desc<20x28xf16>) {
  // expected-error@below {{the data has the shape 10x30, which does not fit in a mem_desc of 20x28}}
  %v = xegpu.load_matrix %d[0, 0] : !xegpu.mem_desc<20x28xf16> -> vector<10x30xf16>
  return
}

// -----

func.func @vector_from_cube(%d: !xegpu.mem_desc<2x10x28xf16>) {
  // expected-error@below {{the mem_desc has 3 dimensions; it must have 2 to move vectors}}
  %v = xegpu.load_matrix %d[0, 0, 0] : !xegpu.mem_desc<2x10x28xf16> -> vector<10x28xf16>
  return
}

// -----

func.func @other_elements(%d: !xegpu.mem_desc<20x28xf16>) {
  // expected-error@below {{the matrix has elements of type f16, but the result of type f32; they must be the same}}
  %v = xegpu.load_matrix %d[0, 0] : !xegpu.mem_desc<20x28xf16> -> vector<10x14xf32>
  return
}

// -----

func.func @number_as_block(%d: !xegpu.mem_desc<20x28xf16>) {
  // expected-error@below {{subgroup_block_io moves vectors, but the data is one f16; leave it out}}
  %v = xegpu.load_matrix %d[0, 0] <{subgroup_block_io}> : !xegpu.mem_desc<20x28xf16> -> f16
  return
}

// -----

func.func @columns_as_block(%d: !xegpu.mem_desc<20x28xf16, #xegpu.mem_layout<stride = [1, 20]>>) {
  // expected-error@below {{the mem_desc is column-major; subgroup_block_io needs rows of contiguous elements}}
  %v = xegpu.load_matrix %d[0, 0] <{subgroup_block_io}> : !xegpu.mem_desc<20x28xf16, #xegpu.mem_layout<stride = [1, 20]>> -> vector<10xf16>
  return
}

// -----

func.func @lanes_of_other_block(%d: !xegpu.mem_desc<20x28xf16, #xegpu.mem_layout<block = [10, 14]>>) {
  // expected-error@below {{lane_layout is [1, 14]; with subgroup_block_io it must be the mem_desc's block [10, 14]}}
  %v = xegpu.load_matrix %d[0, 0] <{subgroup_block_io, layout = #xegpu.layout<lane_layout = [1, 14], lane_data = [1, 1]>}> : !xegpu.mem_desc<20x28xf16, #xegpu.mem_layout<block = [10, 14]>> -> vector<10x14xf16>
  return
}

// -----

func.func @tall_lane_data(%d: !xegpu.mem_desc<20x28xf16, #xegpu.mem_layout<block = [1, 14]>>) {
  // expected-error@below {{lane_data is [2, 1]; with subgroup_block_io only its last number may be larger than 1}}
  %v = xegpu.load_matrix %d[0, 0] <{subgroup_block_io, layout = #xegpu.layout<lane_layout = [1, 14], lane_data = [2, 1]>}> : !xegpu.mem_desc<20x28xf16, #xegpu.mem_layout<block = [1, 14]>> -> vector<10x14xf16>
  return
}

// -----

func.func @lanes_along_rows(%d: !xegpu.mem_desc<20x28xf16, #xegpu.mem_layout<block = [10, 1]>>, %v: vector<10x14xf16>) {
  // expected-error@below {{lanes may only be spread along a dimension of stride 1}}
  xegpu.store_matrix %v, %d[0, 0] <{subgroup_block_io, layout = #xegpu.layout<lane_layout = [10, 1], lane_data = [1, 1]>}> : vector<10x14xf16>, !xegpu.mem_desc<20x28xf16, #xegpu.mem_layout<block = [10, 1]>>
  return
}

// -----

func.func @store_too_large(%d: !xegpu.mem_desc<20x28xf16>, %v: vector<24x14xf16>) {
  // expected-error@below {{the data has the shape 24x14, which does not fit in a mem_desc of 20x28}}
  xegpu.store_matrix %v, %d[0, 0] : vector<24x14xf16>, !xegpu.mem_desc<20x28xf16>
  return
}

// -----

func.func @store_other_elements(%d: !xegpu.mem_desc<20x28xf16>, %v: vector<10x14xbf16>) {
  // expected-error@below {{the data has elements of type bf16, but the matrix of type f16; they must be the same}}
  xegpu.store_matrix %v, %d[0, 0] : vector<10x14xbf16>, !xegpu.mem_desc<20x28xf16>
  return
}

// -----

func.func @no_offsets(%d: !xegpu.mem_desc<20x28xf16>) {
  // expected-error@below {{'['}}
  %v = xegpu.load_matrix %d : !xegpu.mem_desc<20x28xf16> -> vector<10x14xf16>
  return
}
