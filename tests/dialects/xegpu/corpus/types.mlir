func.func private @block(!xegpu.tensor_desc<24x48xbf16>)

// -----

func.func private @block_of_one_dimension(!xegpu.tensor_desc<96xf64>)

// -----

func.func private @block_of_three_dimensions(!xegpu.tensor_desc<3x5x7xi16>)

// -----

func.func private @unknown_size(!xegpu.tensor_desc<?x12xf32>)

// -----

func.func private @element_types(!xegpu.tensor_desc<4x4xsi8>, !xegpu.tensor_desc<4x4xui32>, !xegpu.tensor_desc<4x4xtf32>)

// -----

func.func private @array(!xegpu.tensor_desc<12x20xf16, #xegpu.block_tdesc_attr<array_length = 3>>)

// -----

func.func private @unchecked(!xegpu.tensor_desc<12x20xf16, #xegpu.block_tdesc_attr<boundary_check = false>>)

// -----

func.func private @line_in_slm(!xegpu.tensor_desc<40xf32, #xegpu.block_tdesc_attr<memory_space = slm>>)

// -----

// The encoding and the layout may come in any order.
func.func private @any_order(!xegpu.tensor_desc<10x32xf32, #xegpu.layout<lane_layout = [2, 8]>, #xegpu.block_tdesc_attr<boundary_check = false, array_length = 2>>)

// -----

func.func private @defaults_written_out(!xegpu.tensor_desc<6x6xf32, #xegpu.block_tdesc_attr<memory_space = global, array_length = 1 : i64, boundary_check = true>>)

// -----

func.func private @points(!xegpu.tensor_desc<24xi64, #xegpu.scatter_tdesc_attr<>>)

// -----

func.func private @chunks(!xegpu.tensor_desc<24x6xf32, #xegpu.scatter_tdesc_attr<chunk_size = 6>>)

// -----

func.func private @chunks_of_packed_elements(!xegpu.tensor_desc<24x12xi8, #xegpu.scatter_tdesc_attr<chunk_size = 12, memory_space = slm>>)

// -----

func.func private @grid_of_points(!xegpu.tensor_desc<3x9xf16, #xegpu.scatter_tdesc_attr<>>)

// -----

func.func private @matrices(!xegpu.mem_desc<20x28xf16>, !xegpu.mem_desc<20x28xf16, #xegpu.mem_layout<stride = [1, 20]>>)

// -----

func.func private @blocked_matrix(!xegpu.mem_desc<64x48xi8, #xegpu.mem_layout<stride = [48, 1], block = [16, 12]>>)

// -----

func.func private @cube_in_slm(!xegpu.mem_desc<2x3x5xf32>)

// -----

func.func private @barrier(!xegpu.nbarrier)

// -----

func.func private @attributes() attributes {
  hint = #xegpu.cache_hint<write_through>, space = #xegpu<memory_space global>,
  scope = #xegpu<fence_scope gpu>, ids = #xegpu.range<[5, 9]>, short = #xegpu.range<[-3 : i32, 0 : i32]>}

// -----

// expected-error@below {{a tensor_desc has at least one dimension, but this has none}}
func.func private @no_dimension(!xegpu.tensor_desc<f16>)

// -----

// expected-error@below {{a block in slm has 1 dimension, but this has 2; use a mem_desc for matrices in slm}}
func.func private @block_in_slm(!xegpu.tensor_desc<9x5xf32, #xegpu.block_tdesc_attr<memory_space = slm>>)

// -----

// expected-error@below {{chunk_size is -4 : i64; it must be at least 1}}
func.func private @negative_chunk(!xegpu.tensor_desc<24x4xf32, #xegpu.scatter_tdesc_attr<chunk_size = -4>>)

// -----

// expected-error@below {{chunk_size is 4, but there is no dimension for the elements of a chunk; expected a shape such as 16x4}}
func.func private @no_dimension_for_chunks(!xegpu.tensor_desc<24xf32, #xegpu.scatter_tdesc_attr<chunk_size = 4>>)

// -----

// expected-error@below {{the last dimension is 5; it must be the chunk_size 4}}
func.func private @other_chunk(!xegpu.tensor_desc<24x5xf32, #xegpu.scatter_tdesc_attr<chunk_size = 4>>)

// -----

// expected-error@below {{the last dimension is 3; it must be a multiple of 2, as bf16 moves in packs of 32 bits}}
func.func private @half_a_pack(!xegpu.tensor_desc<24x3xbf16, #xegpu.scatter_tdesc_attr<chunk_size = 3>>)

// -----

// expected-error@below {{the last number of lane_data is 2; it must be a multiple of 4, as i8 moves in packs of 32 bits}}
func.func private @lane_with_half_a_pack(!xegpu.tensor_desc<16x8xi8, #xegpu.scatter_tdesc_attr<chunk_size = 8>, #xegpu.layout<lane_layout = [16, 1], lane_data = [1, 2]>>)

// -----

// expected-error@below {{the layout has 1 dimensions; it must have 2 as the shape}}
func.func private @layout_of_other_rank(!xegpu.tensor_desc<12x20xf16, #xegpu.layout<lane_layout = [4]>>)

// -----

// expected-error@below {{[12, 20] cannot be spread evenly with #xegpu.layout<lane_layout = [1, 16]>}}
func.func private @uneven_lanes(!xegpu.tensor_desc<12x20xf16, #xegpu.layout<lane_layout = [1, 16]>>)

// -----

// expected-error@below {{[24, 40] cannot be spread evenly}}
func.func private @uneven_subgroups(!xegpu.tensor_desc<24x40xf16, #xegpu.layout<sg_layout = [2, 3], sg_data = [12, 40]>>)

// -----

// expected-error@below {{[24, 40] cannot be spread evenly}}
func.func private @uneven_instructions(!xegpu.tensor_desc<24x40xf16, #xegpu.layout<sg_layout = [2, 2], inst_data = [8, 20]>>)

// -----

// expected-error@below {{cannot describe a tensor_desc with #xegpu.cache_hint<cached>; expected a block_tdesc_attr, a scatter_tdesc_attr or a layout of this dialect}}
func.func private @no_encoding(!xegpu.tensor_desc<12x20xf16, #xegpu.cache_hint<cached>>)

// -----

// expected-error@below {{cannot describe a tensor_desc with #xegpu.slice<#xegpu.layout<lane_layout = [1, 4, 4]>, dims = [0]>}}
func.func private @slice_in_type(!xegpu.tensor_desc<12x20xf16, #xegpu.slice<#xegpu.layout<lane_layout = [1, 4, 4]>, dims = [0]>>)

// -----

// expected-error@below {{there is no parameter 'array_size' here; expected one of 'memory_space', 'array_length', 'boundary_check'}}
func.func private @no_such_parameter(!xegpu.tensor_desc<12x20xf16, #xegpu.block_tdesc_attr<array_size = 2>>)

// -----

// expected-error@below {{parameter 'chunk_size' is given twice; it may be given once}}
func.func private @twice(!xegpu.tensor_desc<24x4xf32, #xegpu.scatter_tdesc_attr<chunk_size = 4, chunk_size = 4>>)

// -----

// expected-error@below {{expected an integer, but got "four"}}
func.func private @no_number(!xegpu.tensor_desc<24x4xf32, #xegpu.scatter_tdesc_attr<chunk_size = "four">>)

// -----

// expected-error@below {{a mem_desc has a static shape; expected a number instead of '?'}}
func.func private @unknown_matrix(!xegpu.mem_desc<8x?xf32>)

// -----

// expected-error@below {{expected a mem_layout, but got #xegpu.layout<inst_data = [4, 4]>}}
func.func private @no_mem_layout(!xegpu.mem_desc<8x8xf32, #xegpu.layout<inst_data = [4, 4]>>)

// -----

// expected-error@below {{parameter 'block' is given twice; it may be given once}}
func.func private @block_twice(!xegpu.mem_desc<8x8xf32, #xegpu.mem_layout<block = [4, 4], block = [2, 2]>>)

// -----

// expected-error@below {{the range ends at 4; it must end after its start 4}}
func.func private @empty_range() attributes {ids = #xegpu.range<[4, 4]>}
