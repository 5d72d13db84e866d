func.func @load(%t: !xegpu.tensor_desc<12x20xf16>) {
  %v = xegpu.load_nd %t : !xegpu.tensor_desc<12x20xf16> -> vector<12x20xf16>
  return
}

// -----

func.func @load_at(%t: !xegpu.tensor_desc<12x20xf16>, %i: index) {
  %v = xegpu.load_nd %t[%i, 36] : !xegpu.tensor_desc<12x20xf16> -> vector<12x20xf16>
  return
}

// -----

func.func @load_line(%t: !xegpu.tensor_desc<48xi32>) {
  %v = xegpu.load_nd %t[16] <{l1_hint = #xegpu.cache_hint<cached>, l2_hint = #xegpu.cache_hint<uncached>, l3_hint = #xegpu.cache_hint<streaming>}> : !xegpu.tensor_desc<48xi32> -> vector<48xi32>
  return
}

// -----

// Hints may be given in the attribute dictionary, too.
func.func @hints_as_attributes(%t: !xegpu.tensor_desc<48xi32>) {
  %v = xegpu.load_nd %t {l1_hint = #xegpu.cache_hint<read_invalidate>, note = 1 : i32} : !xegpu.tensor_desc<48xi32> -> vector<48xi32>
  return
}

// -----

func.func @packed(%t: !xegpu.tensor_desc<12x20xi8>) {
  %v = xegpu.load_nd %t[0, 0] <{packed}> : !xegpu.tensor_desc<12x20xi8> -> vector<3x20x4xi8>
  return
}

// -----

func.func @transposed(%t: !xegpu.tensor_desc<12x20xf32>) {
  %v = xegpu.load_nd %t[0, 0] <{transpose = array<i64: 1, 0>}> : !xegpu.tensor_desc<12x20xf32> -> vector<20x12xf32>
  return
}

// -----

func.func @transposed_and_packed(%t: !xegpu.tensor_desc<12x20xf16>) {
  %v = xegpu.load_nd %t <{packed, transpose = array<i64: 1, 0>}> : !xegpu.tensor_desc<12x20xf16> -> vector<10x12x2xf16>
  return
}

// -----

func.func @array(%t: !xegpu.tensor_desc<12x20xf16, #xegpu.block_tdesc_attr<array_length = 3>>) {
  %v = xegpu.load_nd %t[2, 4] : !xegpu.tensor_desc<12x20xf16, #xegpu.block_tdesc_attr<array_length = 3>> -> vector<3x12x20xf16>
  return
}

// -----

func.func @part_of_a_lane(%t: !xegpu.tensor_desc<12x20xf16>, %i: index) {
  %v = xegpu.load_nd %t[%i, %i] : !xegpu.tensor_desc<12x20xf16> -> vector<15xf16>
  return
}

// -----

func.func @part_of_an_array(%t: !xegpu.tensor_desc<12x20xf16, #xegpu.block_tdesc_attr<array_length = 2>>) {
  %v = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<12x20xf16, #xegpu.block_tdesc_attr<array_length = 2>> -> vector<30xf16>
  return
}

// -----

func.func @work_group(%t: !xegpu.tensor_desc<24x40xf16, #xegpu.layout<sg_layout = [2, 2], sg_data = [12, 20]>>) {
  %v = xegpu.load_nd %t[0, 0] <{layout = #xegpu.layout<sg_layout = [2, 2], sg_data = [12, 20]>}> : !xegpu.tensor_desc<24x40xf16, #xegpu.layout<sg_layout = [2, 2], sg_data = [12, 20]>> -> vector<24x40xf16>
  return
}

// -----

func.func @generic_load(%t: !xegpu.tensor_desc<12x20xf16>, %i: index) {
  %v = "xegpu.load_nd"(%t, %i) <{const_offsets = array<i64: 8, -9223372036854775808>}> : (!xegpu.tensor_desc<12x20xf16>, index) -> vector<12x20xf16>
  return
}

// -----

func.func @store(%t: !xegpu.tensor_desc<12x20xf16>, %v: vector<12x20xf16>) {
  xegpu.store_nd %v, %t[4, 4] <{l1_hint = #xegpu.cache_hint<write_back>, l2_hint = #xegpu.cache_hint<write_through>, l3_hint = #xegpu.cache_hint<uncached>}> : vector<12x20xf16>, !xegpu.tensor_desc<12x20xf16>
  return
}

// -----

func.func @store_part(%t: !xegpu.tensor_desc<12x20xf16>, %v: vector<24xf16>) {
  xegpu.store_nd %v, %t : vector<24xf16>, !xegpu.tensor_desc<12x20xf16>
  return
}

// -----

func.func @prefetch(%t: !xegpu.tensor_desc<12x20xf16>, %i: index) {
  xegpu.prefetch_nd %t[%i, 8] <{l1_hint = #xegpu.cache_hint<cached>}> : !xegpu.tensor_desc<12x20xf16>
  return
}

// -----

func.func @prefetch_cube(%t: !xegpu.tensor_desc<3x5x7xf16>) {
  xegpu.prefetch_nd %t {note} : !xegpu.tensor_desc<3x5x7xf16>
  return
}

// -----

func.func @load_points(%t: !xegpu.tensor_desc<12xf16, #xegpu.scatter_tdesc_attr<>>) {
  // expected-error@below {{describes scattered points; expected one that describes a block}}
  %v = xegpu.load_nd %t : !xegpu.tensor_desc<12xf16, #xegpu.scatter_tdesc_attr<>> -> vector<12xf16>
  return
}

// -----

func.func @load_cube(%t: !xegpu.tensor_desc<3x5x7xf16>) {
  // expected-error@below {{the descriptor has 3 dimensions; a block has 1 or 2}}
  %v = xegpu.load_nd %t : !xegpu.tensor_desc<3x5x7xf16> -> vector<3x5x7xf16>
  return
}

// -----

func.func @write_hint(%t: !xegpu.tensor_desc<12x20xf16>) {
  // expected-error@below {{l2_hint is write_back; it must be one of cached, uncached, streaming, read_invalidate}}
  %v = xegpu.load_nd %t <{l2_hint = #xegpu.cache_hint<write_back>}> : !xegpu.tensor_desc<12x20xf16> -> vector<12x20xf16>
  return
}

// -----

func.func @load_other_elements(%t: !xegpu.tensor_desc<12x20xf16>) {
  // expected-error@below {{the descriptor has elements of type f16, but the result of type f32; they must be the same}}
  %v = xegpu.load_nd %t : !xegpu.tensor_desc<12x20xf16> -> vector<12x20xf32>
  return
}

// -----

func.func @load_other_shape(%t: !xegpu.tensor_desc<12x20xf16>) {
  // expected-error@below {{the result has the shape 20x12; this load delivers 12x20, or a vector of one dimension to each lane}}
  %v = xegpu.load_nd %t : !xegpu.tensor_desc<12x20xf16> -> vector<20x12xf16>
  return
}

// -----

func.func @transposed_to_the_same(%t: !xegpu.tensor_desc<12x20xf16>) {
  // expected-error@below {{the result has the shape 12x20; this load delivers 20x12}}
  %v = xegpu.load_nd %t <{transpose = array<i64: 1, 0>}> : !xegpu.tensor_desc<12x20xf16> -> vector<12x20xf16>
  return
}

// -----

func.func @packed_to_two_dimensions(%t: !xegpu.tensor_desc<12x20xf16>) {
  // expected-error@below {{the result has the shape 12x20; this load delivers 6x20x2}}
  %v = xegpu.load_nd %t <{packed}> : !xegpu.tensor_desc<12x20xf16> -> vector<12x20xf16>
  return
}

// -----

func.func @array_without_dimension(%t: !xegpu.tensor_desc<12x20xf16, #xegpu.block_tdesc_attr<array_length = 2>>) {
  // expected-error@below {{the result has the shape 12x40; this load delivers 2x12x20}}
  %v = xegpu.load_nd %t : !xegpu.tensor_desc<12x20xf16, #xegpu.block_tdesc_attr<array_length = 2>> -> vector<12x40xf16>
  return
}

// -----

func.func @uneven_lane(%t: !xegpu.tensor_desc<12x20xf16>) {
  // expected-error@below {{the result has 17 elements; the 240 elements of the block must be a multiple of them}}
  %v = xegpu.load_nd %t : !xegpu.tensor_desc<12x20xf16> -> vector<17xf16>
  return
}

// -----

func.func @part_with_layout(%t: !xegpu.tensor_desc<12x20xf16, #xegpu.layout<lane_layout = [1, 4]>>) {
  // expected-error@below {{the result is the part of one lane, so the descriptor must not have a layout}}
  %v = xegpu.load_nd %t : !xegpu.tensor_desc<12x20xf16, #xegpu.layout<lane_layout = [1, 4]>> -> vector<60xf16>
  return
}

// -----

func.func @one_offset(%t: !xegpu.tensor_desc<12x20xf16>) {
  // expected-error@below {{expected one offset for each of the 2 dimensions of the descriptor, got 1}}
  %v = xegpu.load_nd %t[6] : !xegpu.tensor_desc<12x20xf16> -> vector<12x20xf16>
  return
}

// -----

func.func @load_a_number(%t: !xegpu.tensor_desc<12x20xf16>) {
  // expected-error@below {{expected a vector of i1, i4, i8 to i64, bf16, f16, tf32, f32 or f64, got f16}}
  %v = xegpu.load_nd %t : !xegpu.tensor_desc<12x20xf16> -> f16
  return
}

// -----

func.func @load_from_memref(%m: memref<12x20xf16>) {
  // expected-error@below {{expected a tensor_desc, got memref<12x20xf16>}}
  %v = xegpu.load_nd %m : memref<12x20xf16> -> vector<12x20xf16>
  return
}

// -----

func.func @no_hint(%t: !xegpu.tensor_desc<12x20xf16>) {
  // expected-error@below {{expected a cache hint such as #xegpu.cache_hint<cached>, got "cached"}}
  %v = xegpu.load_nd %t <{l1_hint = "cached"}> : !xegpu.tensor_desc<12x20xf16> -> vector<12x20xf16>
  return
}

// -----

func.func @no_such_hint(%t: !xegpu.tensor_desc<12x20xf16>) {
  // expected-error@below {{write_back}}
  %v = xegpu.load_nd %t <{l1_hint = #xegpu.cache_hint<evicted>}> : !xegpu.tensor_desc<12x20xf16> -> vector<12x20xf16>
  return
}

// -----

func.func @no_layout(%t: !xegpu.tensor_desc<12x20xf16>) {
  // expected-error@below {{expected a layout or a slice of this dialect, got array<i32: 1, 16>}}
  %v = xegpu.load_nd %t <{layout = array<i32: 1, 16>}> : !xegpu.tensor_desc<12x20xf16> -> vector<12x20xf16>
  return
}

// -----

func.func @store_points(%t: !xegpu.tensor_desc<12xf16, #xegpu.scatter_tdesc_attr<>>, %v: vector<12xf16>) {
  // expected-error@below {{describes scattered points; expected one that describes a block}}
  xegpu.store_nd %v, %t : vector<12xf16>, !xegpu.tensor_desc<12xf16, #xegpu.scatter_tdesc_attr<>>
  return
}

// -----

func.func @store_cube(%t: !xegpu.tensor_desc<3x5x7xf16>, %v: vector<3x5x7xf16>) {
  // expected-error@below {{the descriptor has 3 dimensions; a block has 1 or 2}}
  xegpu.store_nd %v, %t : vector<3x5x7xf16>, !xegpu.tensor_desc<3x5x7xf16>
  return
}

// -----

func.func @read_hint(%t: !xegpu.tensor_desc<12x20xf16>, %v: vector<12x20xf16>) {
  // expected-error@below {{l1_hint is streaming; it must be one of cached, uncached, write_back, write_through}}
  xegpu.store_nd %v, %t <{l1_hint = #xegpu.cache_hint<streaming>}> : vector<12x20xf16>, !xegpu.tensor_desc<12x20xf16>
  return
}

// -----

func.func @store_array(%t: !xegpu.tensor_desc<12x20xf16, #xegpu.block_tdesc_attr<array_length = 2>>, %v: vector<2x12x20xf16>) {
  // expected-error@below {{the descriptor has an array_length of 2; only loads may have more than 1}}
  xegpu.store_nd %v, %t : vector<2x12x20xf16>, !xegpu.tensor_desc<12x20xf16, #xegpu.block_tdesc_attr<array_length = 2>>
  return
}

// -----

func.func @store_other_shape(%t: !xegpu.tensor_desc<12x20xf16>, %v: vector<12x10xf16>) {
  // expected-error@below {{the value has the shape 12x10; expected the descriptor's shape 12x20, or a vector of one dimension for each lane}}
  xegpu.store_nd %v, %t : vector<12x10xf16>, !xegpu.tensor_desc<12x20xf16>
  return
}

// -----

func.func @store_uneven_part(%t: !xegpu.tensor_desc<12x20xf16>, %v: vector<7xf16>) {
  // expected-error@below {{the value has 7 elements; the 240 elements of the block must be a multiple of them}}
  xegpu.store_nd %v, %t : vector<7xf16>, !xegpu.tensor_desc<12x20xf16>
  return
}

// -----

func.func @store_part_with_layout(%t: !xegpu.tensor_desc<12x20xf16, #xegpu.layout<lane_layout = [1, 4]>>, %v: vector<60xf16>) {
  // expected-error@below {{the value is the part of one lane, so the descriptor must not have a layout}}
  xegpu.store_nd %v, %t : vector<60xf16>, !xegpu.tensor_desc<12x20xf16, #xegpu.layout<lane_layout = [1, 4]>>
  return
}

// -----

func.func @store_at_three_offsets(%t: !xegpu.tensor_desc<12x20xf16>, %v: vector<12x20xf16>) {
  // expected-error@below {{expected one offset for each of the 2 dimensions of the descriptor, got 3}}
  xegpu.store_nd %v, %t[1, 2, 3] : vector<12x20xf16>, !xegpu.tensor_desc<12x20xf16>
  return
}

// -----

func.func @prefetch_points(%t: !xegpu.tensor_desc<12xf16, #xegpu.scatter_tdesc_attr<>>) {
  // expected-error@below {{describes scattered points; expected one that describes a block}}
  xegpu.prefetch_nd %t : !xegpu.tensor_desc<12xf16, #xegpu.scatter_tdesc_attr<>>
  return
}

// -----

func.func @prefetch_to_write(%t: !xegpu.tensor_desc<12x20xf16>) {
  // expected-error@below {{l3_hint is write_through; it must be one of cached, uncached, streaming, read_invalidate}}
  xegpu.prefetch_nd %t <{l3_hint = #xegpu.cache_hint<write_through>}> : !xegpu.tensor_desc<12x20xf16>
  return
}

// -----

func.func @prefetch_at_one_offset(%t: !xegpu.tensor_desc<12x20xf16>) {
  // expected-error@below {{expected one offset for each of the 2 dimensions of the descriptor, got 1}}
  xegpu.prefetch_nd %t[9] : !xegpu.tensor_desc<12x20xf16>
  return
}
