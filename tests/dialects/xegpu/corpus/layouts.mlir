func.func private @levels() attributes {
  work_group = #xegpu.layout<sg_layout = [4, 2], sg_data = [12, 20]>,
  subgroup = #xegpu.layout<lane_layout = [2, 8], lane_data = [1, 2]>,
  instruction = #xegpu.layout<inst_data = [6, 10]>}

// -----

func.func private @every_parameter() attributes {
  layout = #xegpu.layout<order = [0, 1], lane_data = [1, 1], lane_layout = [4, 4], inst_data = [8, 8], sg_data = [16, 8], sg_layout = [3, 5]>}

// -----

func.func private @slices() attributes {
  one = #xegpu.slice<#xegpu.layout<sg_layout = [3, 5, 7]>, dims = [1]>,
  none = #xegpu.slice<#xegpu.layout<sg_layout = [3, 5, 7]>, dims = []>,
  nested = #xegpu.slice<#xegpu.slice<#xegpu.layout<sg_layout = [3, 5, 7]>, dims = [2, 0]>, dims = [0]>}

// -----

func.func private @no_dimensions() attributes {layout = #xegpu.layout<lane_layout = []>}

// -----

func.func @lanes(%v: vector<20x36xf32>) {
  %w = xegpu.convert_layout %v <{
    input_layout = #xegpu.layout<lane_layout = [1, 4], lane_data = [5, 3]>,
    target_layout = #xegpu.layout<lane_layout = [4, 1], lane_data = [1, 9]>}> : vector<20x36xf32>
  return
}

// -----

func.func @subgroups(%v: vector<20x36xf32>) {
  %w = xegpu.convert_layout %v <{
    input_layout = #xegpu.layout<sg_layout = [2, 3], sg_data = [10, 12]>,
    target_layout = #xegpu.layout<sg_layout = [1, 6], sg_data = [20, 6]>}> {note = "kept"} : vector<20x36xf32>
  return
}

// -----

// Twelve subgroups share four blocks of ten.
func.func @shared_blocks(%v: vector<40xi8>) {
  %w = xegpu.convert_layout %v <{
    input_layout = #xegpu.layout<sg_layout = [4], sg_data = [10]>,
    target_layout = #xegpu.layout<sg_layout = [80], sg_data = [1]>}> : vector<40xi8>
  return
}

// -----

func.func @sliced(%v: vector<18xf16>) {
  %w = xegpu.convert_layout %v <{
    input_layout = #xegpu.slice<#xegpu.layout<sg_layout = [6, 3], sg_data = [3, 5]>, dims = [1]>,
    target_layout = #xegpu.layout<sg_layout = [2], sg_data = [9]>}> : vector<18xf16>
  return
}

// -----

func.func @six_dimensions(%v: vector<2x1x2x1x2x1xi1>) {
  %w = xegpu.convert_layout %v <{
    input_layout = #xegpu.layout<inst_data = [1, 1, 1, 1, 1, 1]>,
    target_layout = #xegpu.layout<inst_data = [2, 1, 2, 1, 2, 1]>}> : vector<2x1x2x1x2x1xi1>
  return
}

// -----

// expected-error@below {{expected at least one of sg_layout, inst_data or lane_layout}}
func.func private @order_alone() attributes {layout = #xegpu.layout<order = [1, 0]>}

// -----

// expected-error@below {{every parameter must have the same rank, but sg_layout has 2, inst_data has 1}}
func.func private @instruction_rank() attributes {layout = #xegpu.layout<sg_layout = [3, 5], inst_data = [8]>}

// -----

// expected-error@below {{every parameter must have the same rank, but sg_layout has 2, lane_layout has 3}}
func.func private @lane_rank() attributes {layout = #xegpu.layout<sg_layout = [3, 5], lane_layout = [1, 2, 8]>}

// -----

// expected-error@below {{every parameter must have the same rank, but inst_data has 3, lane_layout has 2}}
func.func private @lane_and_instruction_rank() attributes {layout = #xegpu.layout<inst_data = [3, 5, 1], lane_layout = [1, 2]>}

// -----

// expected-error@below {{every parameter must have the same rank, but sg_layout has 2, sg_data has 1}}
func.func private @data_rank() attributes {layout = #xegpu.layout<sg_layout = [3, 5], sg_data = [8]>}

// -----

// expected-error@below {{every parameter must have the same rank, but lane_layout has 1, lane_data has 2}}
func.func private @lane_data_rank() attributes {layout = #xegpu.layout<lane_layout = [8], lane_data = [1, 2]>}

// -----

// expected-error@below {{every parameter must have the same rank, but lane_layout has 2, order has 1}}
func.func private @order_rank() attributes {layout = #xegpu.layout<lane_layout = [8, 2], order = [0]>}

// -----

// expected-error@below {{sg_data is given without sg_layout; it needs one}}
func.func private @data_alone() attributes {layout = #xegpu.layout<sg_data = [8, 8], inst_data = [4, 8]>}

// -----

// expected-error@below {{lane_data is given without lane_layout; it needs one}}
func.func private @lane_data_alone() attributes {layout = #xegpu.layout<inst_data = [4, 8], lane_data = [1, 1]>}

// -----

// expected-error@below {{order is given without sg_layout or lane_layout; it needs one}}
func.func private @nothing_to_order() attributes {layout = #xegpu.layout<inst_data = [4, 8], order = [0, 1]>}

// -----

// expected-error@below {{there is no parameter 'wg_layout' here}}
func.func private @no_such_parameter() attributes {layout = #xegpu.layout<wg_layout = [4, 8]>}

// -----

// expected-error@below {{cannot leave out dimension 2 of a layout; it has 2, counted from 0}}
func.func private @no_such_dimension() attributes {layout = #xegpu.slice<#xegpu.layout<sg_layout = [3, 5]>, dims = [2]>}

// -----

// expected-error@+2 {{cannot leave out dimension 1 of a layout; it has 1, counted from 0}}
func.func private @dimension_of_a_slice() attributes {
  layout = #xegpu.slice<#xegpu.slice<#xegpu.layout<sg_layout = [3, 5]>, dims = [1]>, dims = [1]>}

// -----

// expected-error@below {{dims is [1, 0, 1]; each dimension may be left out once}}
func.func private @dimension_twice() attributes {layout = #xegpu.slice<#xegpu.layout<sg_layout = [3, 5]>, dims = [1, 0, 1]>}

// -----

// expected-error@below {{cannot slice #xegpu.range<[1 : i64, 2 : i64]>; expected a layout or a slice}}
func.func private @slice_of_nothing() attributes {layout = #xegpu.slice<#xegpu.range<[1, 2]>, dims = [0]>}

// -----

func.func @both_levels(%v: vector<20x36xf32>) {
  // expected-error@below {{one of input_layout and target_layout has an sg_layout; either both are for a work-group or none}}
  %w = xegpu.convert_layout %v <{
    input_layout = #xegpu.layout<sg_layout = [2, 3], sg_data = [10, 12]>,
    target_layout = #xegpu.layout<lane_layout = [1, 4], lane_data = [5, 3]>}> : vector<20x36xf32>
  return
}

// -----

func.func @uneven_input(%v: vector<20x36xf32>) {
  // expected-error@below {{20x36 cannot be spread evenly with input_layout = #xegpu.layout<lane_layout = [1, 16]>}}
  %w = xegpu.convert_layout %v <{
    input_layout = #xegpu.layout<lane_layout = [1, 16]>,
    target_layout = #xegpu.layout<lane_layout = [1, 4]>}> : vector<20x36xf32>
  return
}

// -----

func.func @uneven_target(%v: vector<20x36xf32>) {
  // expected-error@below {{20x36 cannot be spread evenly with target_layout = #xegpu.layout<lane_layout = [4, 2], lane_data = [2, 3]>}}
  %w = xegpu.convert_layout %v <{
    input_layout = #xegpu.layout<lane_layout = [1, 4]>,
    target_layout = #xegpu.layout<lane_layout = [4, 2], lane_data = [2, 3]>}> : vector<20x36xf32>
  return
}

// -----

func.func @other_rank(%v: vector<20x36xf32>) {
  // expected-error@below {{20x36 cannot be spread evenly with target_layout}}
  %w = xegpu.convert_layout %v <{
    input_layout = #xegpu.layout<lane_layout = [1, 4]>,
    target_layout = #xegpu.layout<lane_layout = [4]>}> : vector<20x36xf32>
  return
}

// -----

func.func @seven_dimensions(%v: vector<1x1x1x1x1x1x2xf32>) {
  // expected-error@below {{with 1 to 6 dimensions, got vector<1x1x1x1x1x1x2xf32>}}
  %w = xegpu.convert_layout %v <{
    input_layout = #xegpu.layout<inst_data = [1]>,
    target_layout = #xegpu.layout<inst_data = [1]>}> : vector<1x1x1x1x1x1x2xf32>
  return
}

// -----

func.func @no_target(%v: vector<20x36xf32>) {
  // expected-error@below {{target_layout}}
  %w = xegpu.convert_layout %v <{input_layout = #xegpu.layout<lane_layout = [1, 4]>}> : vector<20x36xf32>
  return
}
