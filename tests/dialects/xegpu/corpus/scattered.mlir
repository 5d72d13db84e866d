func.func @load_points(%t: !xegpu.tensor_desc<12xf32, #xegpu.scatter_tdesc_attr<>>, %k: vector<12xi1>) {
  %v = xegpu.load %t, %k : !xegpu.tensor_desc<12xf32, #xegpu.scatter_tdesc_attr<>>, vector<12xi1> -> vector<12xf32>
  return
}

// -----

func.func @load_chunks(%t: !xegpu.tensor_desc<12x6xf16, #xegpu.scatter_tdesc_attr<chunk_size = 6>>, %k: vector<12xi1>) {
  %v = xegpu.load %t, %k <{l1_hint = #xegpu.cache_hint<uncached>}> : !xegpu.tensor_desc<12x6xf16, #xegpu.scatter_tdesc_attr<chunk_size = 6>>, vector<12xi1> -> vector<12x6xf16>
  return
}

// -----

func.func @load_chunk_of_a_lane(%t: !xegpu.tensor_desc<12x6xf16, #xegpu.scatter_tdesc_attr<chunk_size = 6>>, %k: vector<12xi1>) {
  %v = xegpu.load %t, %k : !xegpu.tensor_desc<12x6xf16, #xegpu.scatter_tdesc_attr<chunk_size = 6>>, vector<12xi1> -> vector<6xf16>
  return
}

// -----

func.func @load_at_offsets(%m: memref<900xf32>, %o: vector<12xindex>, %k: vector<12xi1>) {
  %v = xegpu.load %m[%o], %k : memref<900xf32>, vector<12xindex>, vector<12xi1> -> vector<12xf32>
  return
}

// -----

func.func @load_chunks_at_offsets(%p: i64, %o: vector<12xindex>, %k: vector<12xi1>) {
  %v = xegpu.load %p[%o], %k <{chunk_size = 5}> {note} : i64, vector<12xindex>, vector<12xi1> -> vector<12x5xi8>
  return
}

// -----

func.func @load_number(%m: memref<900xf32>, %i: index, %k: i1) {
  %v = xegpu.load %m[%i], %k : memref<900xf32>, index, i1 -> f32
  return
}

// -----

func.func @load_chunk_at_index(%m: memref<900xf32>, %i: index, %k: i1) {
  %v = xegpu.load %m[%i], %k <{chunk_size = 3}> : memref<900xf32>, index, i1 -> vector<3xf32>
  return
}

// -----

func.func @load_grid(%m: memref<900xf32>, %o: vector<3x9xindex>, %k: vector<3x9xi1>) {
  %v = xegpu.load %m[%o], %k <{layout = #xegpu.layout<lane_layout = [1, 3], lane_data = [1, 1]>}> : memref<900xf32>, vector<3x9xindex>, vector<3x9xi1> -> vector<3x9xf32>
  return
}

// -----

func.func @store_points(%t: !xegpu.tensor_desc<12xf32, #xegpu.scatter_tdesc_attr<>>, %k: vector<12xi1>, %v: vector<12xf32>) {
  xegpu.store %v, %t, %k <{l1_hint = #xegpu.cache_hint<write_back>}> : vector<12xf32>, !xegpu.tensor_desc<12xf32, #xegpu.scatter_tdesc_attr<>>, vector<12xi1>
  return
}

// -----

func.func @store_chunks_at_offsets(%m: memref<900xbf16>, %o: vector<12xindex>, %k: vector<12xi1>, %v: vector<12x6xbf16>) {
  xegpu.store %v, %m[%o], %k <{chunk_size = 6}> : vector<12x6xbf16>, memref<900xbf16>, vector<12xindex>, vector<12xi1>
  return
}

// -----

func.func @store_number(%p: ui64, %i: index, %k: i1, %v: i32) {
  xegpu.store %v, %p[%i], %k : i32, ui64, index, i1
  return
}

// -----

func.func @prefetch_points(%t: !xegpu.tensor_desc<12xf32, #xegpu.scatter_tdesc_attr<>>) {
  xegpu.prefetch %t {note} : !xegpu.tensor_desc<12xf32, #xegpu.scatter_tdesc_attr<>>
  return
}

// -----

func.func @prefetch_at_offsets(%m: memref<900xf32>, %o: vector<12xindex>) {
  xegpu.prefetch %m[%o] <{l2_hint = #xegpu.cache_hint<cached>}> : memref<900xf32>, vector<12xindex>
  return
}

// -----

func.func @prefetch_from_address(%p: ui32, %i: index) {
  xegpu.prefetch %p[%i] <{offset_align_byte = 16}> : ui32, index
  return
}

// -----

func.func @load_without_offsets(%m: memref<900xf32>, %k: vector<12xi1>) {
  // expected-error@below {{there are no offsets, but a base of type memref<900xf32> needs them, as in '%a[%b]'}}
  %v = xegpu.load %m, %k : memref<900xf32>, vector<12xi1> -> vector<12xf32>
  return
}

// -----

func.func @offsets_of_a_descriptor(%t: !xegpu.tensor_desc<12xf32, #xegpu.scatter_tdesc_attr<>>, %o: vector<12xindex>, %k: vector<12xi1>) {
  // expected-error@below {{there are offsets, but the descriptor has its own; use update_offset to move it}}
  %v = xegpu.load %t[%o], %k : !xegpu.tensor_desc<12xf32, #xegpu.scatter_tdesc_attr<>>, vector<12xindex>, vector<12xi1> -> vector<12xf32>
  return
}

// -----

func.func @load_block(%t: !xegpu.tensor_desc<12xf32>, %k: vector<12xi1>) {
  // expected-error@below {{!xegpu.tensor_desc<12xf32> describes a block; expected one with a scatter_tdesc_attr}}
  %v = xegpu.load %t, %k : !xegpu.tensor_desc<12xf32>, vector<12xi1> -> vector<12xf32>
  return
}

// -----

func.func @write_hint(%m: memref<900xf32>, %o: vector<12xindex>, %k: vector<12xi1>) {
  // expected-error@below {{l1_hint is write_back; it must be one of cached, uncached, streaming, read_invalidate}}
  %v = xegpu.load %m[%o], %k <{l1_hint = #xegpu.cache_hint<write_back>}> : memref<900xf32>, vector<12xindex>, vector<12xi1> -> vector<12xf32>
  return
}

// -----

func.func @other_elements(%m: memref<900xf32>, %o: vector<12xindex>, %k: vector<12xi1>) {
  // expected-error@below {{the value has elements of type f16, but the memref of type f32; they must be the same}}
  %v = xegpu.load %m[%o], %k : memref<900xf32>, vector<12xindex>, vector<12xi1> -> vector<12xf16>
  return
}

// -----

func.func @other_elements_of_points(%t: !xegpu.tensor_desc<12xf32, #xegpu.scatter_tdesc_attr<>>, %k: vector<12xi1>) {
  // expected-error@below {{the value has elements of type i32, but the descriptor of type f32; they must be the same}}
  %v = xegpu.load %t, %k : !xegpu.tensor_desc<12xf32, #xegpu.scatter_tdesc_attr<>>, vector<12xi1> -> vector<12xi32>
  return
}

// -----

func.func @shorter_mask_of_points(%t: !xegpu.tensor_desc<12xf32, #xegpu.scatter_tdesc_attr<>>, %k: vector<10xi1>) {
  // expected-error@below {{the mask has the shape 10; the descriptor has one point for each of 12}}
  %v = xegpu.load %t, %k : !xegpu.tensor_desc<12xf32, #xegpu.scatter_tdesc_attr<>>, vector<10xi1> -> vector<12xf32>
  return
}

// -----

func.func @mask_of_chunks(%t: !xegpu.tensor_desc<12x6xf32, #xegpu.scatter_tdesc_attr<chunk_size = 6>>, %k: vector<12x6xi1>) {
  // expected-error@below {{the mask has the shape 12x6; the descriptor has one point for each of 12}}
  %v = xegpu.load %t, %k : !xegpu.tensor_desc<12x6xf32, #xegpu.scatter_tdesc_attr<chunk_size = 6>>, vector<12x6xi1> -> vector<12x6xf32>
  return
}

// -----

func.func @transposed_chunks(%t: !xegpu.tensor_desc<12x6xf32, #xegpu.scatter_tdesc_attr<chunk_size = 6>>, %k: vector<12xi1>) {
  // expected-error@below {{the value has the shape 6x12; expected the descriptor's shape 12x6, or 6 for one lane}}
  %v = xegpu.load %t, %k : !xegpu.tensor_desc<12x6xf32, #xegpu.scatter_tdesc_attr<chunk_size = 6>>, vector<12xi1> -> vector<6x12xf32>
  return
}

// -----

func.func @lane_with_layout(%t: !xegpu.tensor_desc<12x6xf32, #xegpu.scatter_tdesc_attr<chunk_size = 6>, #xegpu.layout<lane_layout = [12, 1], lane_data = [1, 2]>>, %k: vector<12xi1>) {
  // expected-error@below {{the value is the part of one lane, so the descriptor must not have a layout}}
  %v = xegpu.load %t, %k : !xegpu.tensor_desc<12x6xf32, #xegpu.scatter_tdesc_attr<chunk_size = 6>, #xegpu.layout<lane_layout = [12, 1], lane_data = [1, 2]>>, vector<12xi1> -> vector<6xf32>
  return
}

// -----

func.func @number_from_chunks(%t: !xegpu.tensor_desc<12x6xf32, #xegpu.scatter_tdesc_attr<chunk_size = 6>>, %k: i1) {
  // expected-error@below {{the value is one f32, but each point has 6 elements; expected a vector}}
  %v = xegpu.load %t, %k : !xegpu.tensor_desc<12x6xf32, #xegpu.scatter_tdesc_attr<chunk_size = 6>>, i1 -> f32
  return
}

// -----

func.func @number_with_vector_mask(%t: !xegpu.tensor_desc<12xf32, #xegpu.scatter_tdesc_attr<>>, %k: vector<12xi1>) {
  // expected-error@below {{the mask is vector<12xi1>, so the value must be a vector, not f32}}
  %v = xegpu.load %t, %k : !xegpu.tensor_desc<12xf32, #xegpu.scatter_tdesc_attr<>>, vector<12xi1> -> f32
  return
}

// -----

func.func @number_at_offsets(%m: memref<900xf32>, %o: vector<12xindex>, %k: i1) {
  // expected-error@below {{the value is one f32, so the offsets and the mask must be an index and an i1}}
  %v = xegpu.load %m[%o], %k : memref<900xf32>, vector<12xindex>, i1 -> f32
  return
}

// -----

func.func @number_from_a_chunk(%m: memref<900xf32>, %i: index, %k: i1) {
  // expected-error@below {{the value is one f32, but each point has 2 elements; expected a vector}}
  %v = xegpu.load %m[%i], %k <{chunk_size = 2}> : memref<900xf32>, index, i1 -> f32
  return
}

// -----

func.func @other_chunk_at_index(%m: memref<900xf32>, %i: index, %k: i1) {
  // expected-error@below {{the value has 4 elements; one lane's must have chunk_size = 3}}
  %v = xegpu.load %m[%i], %k <{chunk_size = 3}> : memref<900xf32>, index, i1 -> vector<4xf32>
  return
}

// -----

func.func @one_mask_for_all(%m: memref<900xf32>, %o: vector<12xindex>, %k: i1) {
  // expected-error@below {{the offsets are a vector, so the mask must be a vector too}}
  %v = xegpu.load %m[%o], %k : memref<900xf32>, vector<12xindex>, i1 -> vector<12xf32>
  return
}

// -----

func.func @shorter_mask(%m: memref<900xf32>, %o: vector<12xindex>, %k: vector<10xi1>) {
  // expected-error@below {{the value has 12 elements and the mask 10; they must be as many}}
  %v = xegpu.load %m[%o], %k : memref<900xf32>, vector<12xindex>, vector<10xi1> -> vector<12xf32>
  return
}

// -----

func.func @mask_of_other_shape(%m: memref<900xf32>, %o: vector<3x9xindex>, %k: vector<9x3xi1>) {
  // expected-error@below {{the mask has the shape 9x3; for this value and a chunk_size of 1 it must be 3x9}}
  %v = xegpu.load %m[%o], %k : memref<900xf32>, vector<3x9xindex>, vector<9x3xi1> -> vector<3x9xf32>
  return
}

// -----

func.func @mask_of_chunks_at_offsets(%m: memref<900xf32>, %o: vector<12xindex>, %k: vector<10xi1>) {
  // expected-error@below {{the mask has the shape 10; for this value and a chunk_size of 6 it must be 12}}
  %v = xegpu.load %m[%o], %k <{chunk_size = 6}> : memref<900xf32>, vector<12xindex>, vector<10xi1> -> vector<12x6xf32>
  return
}

// -----

func.func @part_of_other_size(%m: memref<900xf32>, %o: vector<1xindex>, %k: vector<1xi1>) {
  // expected-error@below {{the value has 4 elements; one lane's must have chunk_size = 6}}
  %v = xegpu.load %m[%o], %k <{chunk_size = 6}> : memref<900xf32>, vector<1xindex>, vector<1xi1> -> vector<4xf32>
  return
}

// -----

func.func @matrix_as_base(%m: memref<30x30xf32>, %o: vector<12xindex>, %k: vector<12xi1>) {
  // expected-error@below {{with one dimension, or an address of type i64, ui64, i32 or ui32, got memref<30x30xf32>}}
  %v = xegpu.load %m[%o], %k : memref<30x30xf32>, vector<12xindex>, vector<12xi1> -> vector<12xf32>
  return
}

// -----

func.func @mask_of_numbers(%m: memref<900xf32>, %o: vector<12xindex>, %k: vector<12xi8>) {
  // expected-error@below {{expected a vector of i1 or an i1, got vector<12xi8>}}
  %v = xegpu.load %m[%o], %k : memref<900xf32>, vector<12xindex>, vector<12xi8> -> vector<12xf32>
  return
}

// -----

func.func @store_without_offsets(%m: memref<900xf32>, %k: vector<12xi1>, %v: vector<12xf32>) {
  // expected-error@below {{there are no offsets, but a base of type memref<900xf32> needs them}}
  xegpu.store %v, %m, %k : vector<12xf32>, memref<900xf32>, vector<12xi1>
  return
}

// -----

func.func @store_block(%t: !xegpu.tensor_desc<12xf32>, %k: vector<12xi1>, %v: vector<12xf32>) {
  // expected-error@below {{describes a block; expected one with a scatter_tdesc_attr}}
  xegpu.store %v, %t, %k : vector<12xf32>, !xegpu.tensor_desc<12xf32>, vector<12xi1>
  return
}

// -----

func.func @store_to_read(%t: !xegpu.tensor_desc<12xf32, #xegpu.scatter_tdesc_attr<>>, %k: vector<12xi1>, %v: vector<12xf32>) {
  // expected-error@below {{l2_hint is read_invalidate; it must be one of cached, uncached, write_back, write_through}}
  xegpu.store %v, %t, %k <{l2_hint = #xegpu.cache_hint<read_invalidate>}> : vector<12xf32>, !xegpu.tensor_desc<12xf32, #xegpu.scatter_tdesc_attr<>>, vector<12xi1>
  return
}

// -----

func.func @store_other_elements(%m: memref<900xbf16>, %o: vector<12xindex>, %k: vector<12xi1>, %v: vector<12xf32>) {
  // expected-error@below {{the value has elements of type f32, but the memref of type bf16; they must be the same}}
  xegpu.store %v, %m[%o], %k : vector<12xf32>, memref<900xbf16>, vector<12xindex>, vector<12xi1>
  return
}

// -----

func.func @prefetch_block(%t: !xegpu.tensor_desc<12x20xf32>) {
  // expected-error@below {{describes a block; expected one with a scatter_tdesc_attr}}
  xegpu.prefetch %t : !xegpu.tensor_desc<12x20xf32>
  return
}

// -----

func.func @prefetch_without_offsets(%m: memref<900xf32>) {
  // expected-error@below {{there are no offsets, but a base of type memref<900xf32> needs them}}
  xegpu.prefetch %m : memref<900xf32>
  return
}

// -----

func.func @prefetch_unaligned(%p: i64, %o: vector<12xindex>) {
  // expected-error@below {{the source is an address, so the alignment of the offsets must be given, as in 'offset_align_byte = 4 : i64'}}
  xegpu.prefetch %p[%o] : i64, vector<12xindex>
  return
}

// -----

func.func @alignment_of_a_memref(%m: memref<900xf32>, %o: vector<12xindex>) {
  // expected-error@below {{offset_align_byte is given for a source of type memref<900xf32>; only an address takes it}}
  xegpu.prefetch %m[%o] <{offset_align_byte = 4}> : memref<900xf32>, vector<12xindex>
  return
}

// -----

func.func @chunk_size_is_no_number(%m: memref<900xf32>, %o: vector<12xindex>, %k: vector<12xi1>) {
  // expected-error@below {{expected an integer such as 8 : i64, got "six"}}
  %v = xegpu.load %m[%o], %k <{chunk_size = "six"}> : memref<900xf32>, vector<12xindex>, vector<12xi1> -> vector<12xf32>
  return
}

// -----

func.func @narrow_alignment(%p: i64, %o: vector<12xindex>) {
  // expected-error@below {{expected an integer such as 8 : i64, got 4 : i32}}
  xegpu.prefetch %p[%o] <{offset_align_byte = 4 : i32}> : i64, vector<12xindex>
  return
}
