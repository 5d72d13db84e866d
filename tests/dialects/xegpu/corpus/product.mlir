func.func @product(%a: vector<6x10xf16>, %b: vector<10x14xf16>) {
  %d = xegpu.dpas %a, %b : vector<6x10xf16>, vector<10x14xf16> -> vector<6x14xf32>
  return
}

// -----

func.func @added(%a: vector<6x10xbf16>, %b: vector<10x14xbf16>, %c: vector<6x14xf32>) {
  %d = xegpu.dpas %a, %b, %c {note = 1 : i8} : vector<6x10xbf16>, vector<10x14xbf16>, vector<6x14xf32> -> vector<6x14xf32>
  return
}

// -----

func.func @packed(%a: vector<6x12xi8>, %b: vector<3x14x4xi8>, %c: vector<6x14xi32>) {
  %d = xegpu.dpas %a, %b, %c : vector<6x12xi8>, vector<3x14x4xi8>, vector<6x14xi32> -> vector<6x14xi32>
  return
}

// -----

func.func @parts_of_a_lane(%a: vector<6xf16>, %b: vector<14xf16>, %c: vector<6xf32>) {
  %d = xegpu.dpas %a, %b, %c : vector<6xf16>, vector<14xf16>, vector<6xf32> -> vector<6xf32>
  return
}

// -----

func.func @layouts(%a: vector<24x40xf16>, %b: vector<40x28xf16>) {
  %d = xegpu.dpas %a, %b {layout_a = #xegpu.layout<sg_layout = [2, 2], sg_data = [12, 40]>, layout_b = #xegpu.layout<sg_layout = [2, 2], sg_data = [40, 14]>, layout_cd = #xegpu.layout<sg_layout = [2, 2], sg_data = [12, 14]>} : vector<24x40xf16>, vector<40x28xf16> -> vector<24x28xf32>
  return
}

// -----

func.func @tf32(%a: vector<6x8xtf32>, %b: vector<8x14xtf32>, %c: vector<6x14xf32>) {
  %d = "xegpu.dpas"(%a, %b, %c) : (vector<6x8xtf32>, vector<8x14xtf32>, vector<6x14xf32>) -> vector<6x14xf32>
  return
}

// -----

func.func @inner_sizes(%a: vector<6x10xf16>, %b: vector<12x14xf16>) {
  // expected-error@below {{lhs has 10 columns and rhs 12 rows; they must be as many}}
  %d = xegpu.dpas %a, %b : vector<6x10xf16>, vector<12x14xf16> -> vector<6x14xf32>
  return
}

// -----

func.func @packed_inner_sizes(%a: vector<6x10xf16>, %b: vector<6x14x2xf16>) {
  // expected-error@below {{lhs has 10 columns and rhs 12 rows; they must be as many}}
  %d = xegpu.dpas %a, %b : vector<6x10xf16>, vector<6x14x2xf16> -> vector<6x14xf32>
  return
}

// -----

func.func @rows(%a: vector<6x10xf16>, %b: vector<10x14xf16>) {
  // expected-error@below {{lhs has 6 rows and the result 5; they must be as many}}
  %d = xegpu.dpas %a, %b : vector<6x10xf16>, vector<10x14xf16> -> vector<5x14xf32>
  return
}

// -----

func.func @columns(%a: vector<6x10xf16>, %b: vector<10x14xf16>) {
  // expected-error@below {{rhs has 14 columns and the result 13; they must be as many}}
  %d = xegpu.dpas %a, %b : vector<6x10xf16>, vector<10x14xf16> -> vector<6x13xf32>
  return
}

// -----

func.func @other_elements(%a: vector<6x10xf16>, %b: vector<10x14xbf16>) {
  // expected-error@below {{lhs has elements of type f16, but rhs of type bf16; they must be the same}}
  %d = xegpu.dpas %a, %b : vector<6x10xf16>, vector<10x14xbf16> -> vector<6x14xf32>
  return
}

// -----

func.func @other_accumulator(%a: vector<6x10xf16>, %b: vector<10x14xf16>, %c: vector<6x14xf16>) {
  // expected-error@below {{acc is vector<6x14xf16>, but the result vector<6x14xf32>; they must be the same}}
  %d = xegpu.dpas %a, %b, %c : vector<6x10xf16>, vector<10x14xf16>, vector<6x14xf16> -> vector<6x14xf32>
  return
}

// -----

func.func @packed_left(%a: vector<6x5x2xf16>, %b: vector<10x14xf16>) {
  // expected-error@below {{lhs is 6x5x2, rhs 10x14 and the result 6x14; expected two dimensions for each}}
  %d = xegpu.dpas %a, %b : vector<6x5x2xf16>, vector<10x14xf16> -> vector<6x14xf32>
  return
}

// -----

func.func @one_part(%a: vector<6xf16>, %b: vector<10x14xf16>) {
  // expected-error@below {{lhs is 6, rhs 10x14 and the result 6x14; expected two dimensions for each}}
  %d = xegpu.dpas %a, %b : vector<6xf16>, vector<10x14xf16> -> vector<6x14xf32>
  return
}

// -----

func.func @half_a_register(%a: vector<6xi8>, %b: vector<14xi8>) {
  // expected-error@below {{rhs has 14 elements; it must have a multiple of 4, so that i8 fills 32 bits}}
  %d = xegpu.dpas %a, %b : vector<6xi8>, vector<14xi8> -> vector<6xi32>
  return
}

// -----

func.func @four_dimensions(%a: vector<6x10xf16>, %b: vector<1x5x14x2xf16>) {
  // expected-error@below {{with 1 to 3 dimensions, got vector<1x5x14x2xf16>}}
  %d = xegpu.dpas %a, %b : vector<6x10xf16>, vector<1x5x14x2xf16> -> vector<6x14xf32>
  return
}

// -----

func.func @cube(%a: vector<6x10xf16>, %b: vector<10x14xf16>) {
  // expected-error@below {{with 1 or 2 dimensions, got vector<1x6x14xf32>}}
  %d = xegpu.dpas %a, %b : vector<6x10xf16>, vector<10x14xf16> -> vector<1x6x14xf32>
  return
}

// -----

func.func @index_elements(%a: vector<6x10xindex>, %b: vector<10x14xindex>) {
  // expected-error@below {{with 1 to 3 dimensions, got vector<6x10xindex>}}
  %d = xegpu.dpas %a, %b : vector<6x10xindex>, vector<10x14xindex> -> vector<6x14xf32>
  return
}

// -----

func.func @no_layout(%a: vector<6x10xf16>, %b: vector<10x14xf16>) {
  // expected-error@below {{expected a layout or a slice of this dialect, got 4 : i64}}
  %d = xegpu.dpas %a, %b {layout_a = 4} : vector<6x10xf16>, vector<10x14xf16> -> vector<6x14xf32>
  return
}
