func.func @without_offsets(%m: memref<48x80xf16>) {
  %t = xegpu.create_nd_tdesc %m : memref<48x80xf16> -> !xegpu.tensor_desc<12x20xf16>
  return
}

// -----

func.func @with_offsets(%m: memref<48x80xf16>, %i: index) {
  %t = xegpu.create_nd_tdesc %m[%i, 40] : memref<48x80xf16> -> !xegpu.tensor_desc<12x20xf16>
  return
}

// -----

// A line of a matrix.
func.func @fewer_dimensions(%m: memref<6x48x80xf32>) {
  %t = xegpu.create_nd_tdesc %m[1, 2, 3] {note = "kept"} : memref<6x48x80xf32> -> !xegpu.tensor_desc<20xf32>
  return
}

// -----

func.func @address(%p: i64, %h: index, %w: index) {
  %t = xegpu.create_nd_tdesc %p[4, %h], shape : [%h, %w], strides : [%w, 1] : i64 -> !xegpu.tensor_desc<12x20xi8>
  return
}

// -----

func.func @short_address(%p: ui32) {
  %t = xegpu.create_nd_tdesc %p, shape : [100, 60], strides : [64, 1] : ui32 -> !xegpu.tensor_desc<12x20xi8>
  return
}

// -----

func.func @unknown_sizes(%m: memref<?x?xbf16>, %h: index, %w: index) {
  %t = xegpu.create_nd_tdesc %m[%h, 0], shape : [%h, %w], strides : [%w, 1] : memref<?x?xbf16> -> !xegpu.tensor_desc<12x20xbf16>
  return
}

// -----

// The memref knows its own sizes.
func.func @unknown_sizes_alone(%m: memref<?x?xbf16, strided<[?, 1], offset: ?>>) {
  %t = xegpu.create_nd_tdesc %m : memref<?x?xbf16, strided<[?, 1], offset: ?>> -> !xegpu.tensor_desc<12x20xbf16>
  return
}

// -----

func.func @offsets_of_an_address(%p: ui64) {
  %t = "xegpu.create_nd_tdesc"(%p) <{const_offsets = array<i64: 2, 3>, const_shape = array<i64: 50, 60>, const_strides = array<i64: 60, 1>, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (ui64) -> !xegpu.tensor_desc<12x20xf32>
  return
}

// -----

func.func @line_in_slm(%m: memref<512xf32, 3>) {
  %t = xegpu.create_nd_tdesc %m[96] : memref<512xf32, 3> -> !xegpu.tensor_desc<48xf32, #xegpu.block_tdesc_attr<memory_space = slm>>
  return
}

// -----

func.func @named_space(%m: memref<512xf32, #xegpu<memory_space slm>>) {
  %t = xegpu.create_nd_tdesc %m[96] : memref<512xf32, #xegpu<memory_space slm>> -> !xegpu.tensor_desc<48xf32, #xegpu.block_tdesc_attr<memory_space = slm>>
  return
}

// -----

func.func @move(%t: !xegpu.tensor_desc<12x20xf16>, %i: index) {
  %u = xegpu.update_nd_offset %t, [%i, -20] : !xegpu.tensor_desc<12x20xf16>
  return
}

// -----

func.func @move_line(%t: !xegpu.tensor_desc<48xi32>) {
  %u = xegpu.update_nd_offset %t, [7] {note} : !xegpu.tensor_desc<48xi32>
  return
}

// -----

func.func @points(%m: memref<900xf32>, %o: vector<12xindex>) {
  %t = xegpu.create_tdesc %m, %o : memref<900xf32>, vector<12xindex> -> !xegpu.tensor_desc<12xf32, #xegpu.scatter_tdesc_attr<>>
  return
}

// -----

func.func @chunks(%p: ui64, %o: vector<12xindex>) {
  %t = xegpu.create_tdesc %p, %o : ui64, vector<12xindex> -> !xegpu.tensor_desc<12x6xbf16, #xegpu.scatter_tdesc_attr<chunk_size = 6>>
  return
}

// -----

func.func @grid_of_points(%m: memref<?xi8, 3>, %o: vector<3x9xindex>) {
  %t = xegpu.create_tdesc %m, %o : memref<?xi8, 3>, vector<3x9xindex> -> !xegpu.tensor_desc<3x9xi8, #xegpu.scatter_tdesc_attr<memory_space = slm>>
  return
}

// -----

func.func @move_points(%t: !xegpu.tensor_desc<12x6xf32, #xegpu.scatter_tdesc_attr<chunk_size = 6>>, %o: vector<12xindex>) {
  %u = xegpu.update_offset %t, %o : !xegpu.tensor_desc<12x6xf32, #xegpu.scatter_tdesc_attr<chunk_size = 6>>, vector<12xindex>
  return
}

// -----

func.func @other_memory(%m: memref<512xf32, 3>) {
  // expected-error@below {{the source is in memory space 3, but the result says global, which is 0; they must be the same}}
  %t = xegpu.create_nd_tdesc %m : memref<512xf32, 3> -> !xegpu.tensor_desc<48xf32>
  return
}

// -----

func.func @slm_of_global(%m: memref<512xf32>) {
  // expected-error@below {{the source is in memory space 0, but the result says slm, which is 3}}
  %t = xegpu.create_nd_tdesc %m : memref<512xf32> -> !xegpu.tensor_desc<48xf32, #xegpu.block_tdesc_attr<memory_space = slm>>
  return
}

// -----

func.func @address_without_shape(%p: i64) {
  // expected-error@below {{the source is an address, so the shape and the strides must be given, as in 'shape : [64, 64], strides : [64, 1]'}}
  %t = xegpu.create_nd_tdesc %p : i64 -> !xegpu.tensor_desc<12x20xf16>
  return
}

// -----

func.func @one_offset(%m: memref<48x80xf16>) {
  // expected-error@below {{but there are 2 for the shape, 2 for the strides, 1 for the offsets}}
  %t = xegpu.create_nd_tdesc %m[5] : memref<48x80xf16> -> !xegpu.tensor_desc<12x20xf16>
  return
}

// -----

func.func @one_stride(%p: i64) {
  // expected-error@below {{but there are 2 for the shape, 1 for the strides}}
  %t = xegpu.create_nd_tdesc %p, shape : [80, 90], strides : [1] : i64 -> !xegpu.tensor_desc<12x20xf16>
  return
}

// -----

func.func @more_dimensions(%m: memref<48xf16>) {
  // expected-error@below {{the result has 2 dimensions, but the source only 1; it may not have more}}
  %t = xegpu.create_nd_tdesc %m : memref<48xf16> -> !xegpu.tensor_desc<12x20xf16>
  return
}

// -----

func.func @other_elements(%m: memref<48x80xf16>) {
  // expected-error@below {{the source has elements of type f16, but the result of type bf16; they must be the same}}
  %t = xegpu.create_nd_tdesc %m : memref<48x80xf16> -> !xegpu.tensor_desc<12x20xbf16>
  return
}

// -----

func.func @scattered_block(%m: memref<480xf16>) {
  // expected-error@below {{describes scattered points; expected one that describes a block}}
  %t = xegpu.create_nd_tdesc %m : memref<480xf16> -> !xegpu.tensor_desc<12xf16, #xegpu.scatter_tdesc_attr<>>
  return
}

// -----

func.func @no_dimensions(%m: memref<f32>) {
  // expected-error@below {{expected a memref of i1, i4, i8 to i64, bf16, f16, tf32, f32 or f64 with at least one dimension, or an address of type i64, ui64, i32 or ui32, got memref<f32>}}
  %t = xegpu.create_nd_tdesc %m : memref<f32> -> !xegpu.tensor_desc<12xf32>
  return
}

// -----

func.func @small_address(%p: i16) {
  // expected-error@below {{or an address of type i64, ui64, i32 or ui32, got i16}}
  %t = xegpu.create_nd_tdesc %p, shape : [80, 90], strides : [90, 1] : i16 -> !xegpu.tensor_desc<12x20xf16>
  return
}

// -----

func.func @empty_offsets(%m: memref<48x80xf16>) {
  // expected-error@below {{an empty list of offsets; expected at least one, or no brackets}}
  %t = xegpu.create_nd_tdesc %m[] : memref<48x80xf16> -> !xegpu.tensor_desc<12x20xf16>
  return
}

// -----

func.func @shape_without_strides(%m: memref<48x80xf16>) {
  // expected-error@below {{Expected ','}}
  %t = xegpu.create_nd_tdesc %m, shape : [48, 80] : memref<48x80xf16> -> !xegpu.tensor_desc<12x20xf16>
  return
}

// -----

func.func @no_descriptor(%m: memref<48x80xf16>) {
  // expected-error@below {{expected a tensor_desc, got vector<12x20xf16>}}
  %t = xegpu.create_nd_tdesc %m : memref<48x80xf16> -> vector<12x20xf16>
  return
}

// -----

func.func @move_by_one_number(%t: !xegpu.tensor_desc<12x20xf16>) {
  // expected-error@below {{expected one offset for each of the 2 dimensions of the descriptor, got 1}}
  %u = xegpu.update_nd_offset %t, [20] : !xegpu.tensor_desc<12x20xf16>
  return
}

// -----

func.func @move_points_as_block(%t: !xegpu.tensor_desc<12xf16, #xegpu.scatter_tdesc_attr<>>) {
  // expected-error@below {{describes scattered points; expected one that describes a block}}
  %u = xegpu.update_nd_offset %t, [20] : !xegpu.tensor_desc<12xf16, #xegpu.scatter_tdesc_attr<>>
  return
}

// -----

func.func @points_of_a_block(%m: memref<900xf32>, %o: vector<12xindex>) {
  // expected-error@below {{describes a block; expected one with a scatter_tdesc_attr}}
  %t = xegpu.create_tdesc %m, %o : memref<900xf32>, vector<12xindex> -> !xegpu.tensor_desc<12xf32>
  return
}

// -----

func.func @points_of_a_matrix(%m: memref<30x30xf32>, %o: vector<12xindex>) {
  // expected-error@below {{with one dimension, or an address of type i64, ui64, i32 or ui32, got memref<30x30xf32>}}
  %t = xegpu.create_tdesc %m, %o : memref<30x30xf32>, vector<12xindex> -> !xegpu.tensor_desc<12xf32, #xegpu.scatter_tdesc_attr<>>
  return
}

// -----

func.func @points_in_other_memory(%m: memref<900xf32, 3>, %o: vector<12xindex>) {
  // expected-error@below {{the source is in memory space 3, but the result says global, which is 0}}
  %t = xegpu.create_tdesc %m, %o : memref<900xf32, 3>, vector<12xindex> -> !xegpu.tensor_desc<12xf32, #xegpu.scatter_tdesc_attr<>>
  return
}

// -----

func.func @fewer_points(%m: memref<900xf32>, %o: vector<12xindex>) {
  // expected-error@below {{the result has the shape 10; with these offsets and this chunk_size it must be 12}}
  %t = xegpu.create_tdesc %m, %o : memref<900xf32>, vector<12xindex> -> !xegpu.tensor_desc<10xf32, #xegpu.scatter_tdesc_attr<>>
  return
}

// -----

func.func @no_chunks(%m: memref<900xf32>, %o: vector<12x6xindex>) {
  // expected-error@below {{the result has the shape 12x6; with these offsets and this chunk_size it must be 12x6x6}}
  %t = xegpu.create_tdesc %m, %o : memref<900xf32>, vector<12x6xindex> -> !xegpu.tensor_desc<12x6xf32, #xegpu.scatter_tdesc_attr<chunk_size = 6>>
  return
}

// -----

func.func @offsets_are_numbers(%m: memref<900xf32>, %o: vector<12xi32>) {
  // expected-error@below {{expected a vector of index, got vector<12xi32>}}
  %t = xegpu.create_tdesc %m, %o : memref<900xf32>, vector<12xi32> -> !xegpu.tensor_desc<12xf32, #xegpu.scatter_tdesc_attr<>>
  return
}

// -----

func.func @move_fewer_points(%t: !xegpu.tensor_desc<12x6xf32, #xegpu.scatter_tdesc_attr<chunk_size = 6>>, %o: vector<6xindex>) {
  // expected-error@below {{the offsets have the shape 6; the descriptor has one point for each of 12}}
  %u = xegpu.update_offset %t, %o : !xegpu.tensor_desc<12x6xf32, #xegpu.scatter_tdesc_attr<chunk_size = 6>>, vector<6xindex>
  return
}

// -----

func.func @move_block_as_points(%t: !xegpu.tensor_desc<12xf32>, %o: vector<12xindex>) {
  // expected-error@below {{describes a block; expected one with a scatter_tdesc_attr}}
  %u = xegpu.update_offset %t, %o : !xegpu.tensor_desc<12xf32>, vector<12xindex>
  return
}
