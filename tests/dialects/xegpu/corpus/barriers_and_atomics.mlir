func.func @allocate() {
  xegpu.alloc_nbarrier 12
  return
}

// -----

func.func @allocate_with_note() {
  xegpu.alloc_nbarrier 3 {note = "kept"}
  return
}

// -----

func.func @use(%i: i8, %n: i8) {
  %b = xegpu.init_nbarrier %i, %n : i8, i8 -> !xegpu.nbarrier
  xegpu.nbarrier_arrive %b : !xegpu.nbarrier
  xegpu.nbarrier_wait %b : !xegpu.nbarrier
  return
}

// -----

func.func @fence_of_global_memory() {
  xegpu.fence memory_kind = global, fence_scope = gpu
  return
}

// -----

func.func @fence_of_slm() {
  "xegpu.fence"() <{fence_scope = #xegpu<fence_scope workgroup>, memory_kind = #xegpu<memory_space slm>}> : () -> ()
  return
}

// -----

func.func @update(%t: !xegpu.tensor_desc<12xi32, #xegpu.scatter_tdesc_attr<>>, %k: vector<12xi1>, %v: vector<12xi32>) {
  %a = xegpu.atomic_rmw addi %t, %k, %v : !xegpu.tensor_desc<12xi32, #xegpu.scatter_tdesc_attr<>>, vector<12xi1>, vector<12xi32> -> vector<12xi32>
  %b = xegpu.atomic_rmw maxu %t, %k, %v {note} : !xegpu.tensor_desc<12xi32, #xegpu.scatter_tdesc_attr<>>, vector<12xi1>, vector<12xi32> -> vector<12xi32>
  %c = xegpu.atomic_rmw assign %t, %k, %v : !xegpu.tensor_desc<12xi32, #xegpu.scatter_tdesc_attr<>>, vector<12xi1>, vector<12xi32> -> vector<12xi32>
  %d = xegpu.atomic_rmw xori %t, %k, %v : !xegpu.tensor_desc<12xi32, #xegpu.scatter_tdesc_attr<>>, vector<12xi1>, vector<12xi32> -> vector<12xi32>
  return
}

// -----

func.func @update_floats(%t: !xegpu.tensor_desc<12x6xf32, #xegpu.scatter_tdesc_attr<chunk_size = 6>>, %k: vector<12xi1>, %v: vector<12x6xf32>) {
  %a = "xegpu.atomic_rmw"(%t, %k, %v) <{kind = 0 : i64, layout = #xegpu.layout<lane_layout = [12, 1], lane_data = [1, 2]>}> : (!xegpu.tensor_desc<12x6xf32, #xegpu.scatter_tdesc_attr<chunk_size = 6>>, vector<12xi1>, vector<12x6xf32>) -> vector<12x6xf32>
  return
}

// -----

func.func @no_number() {
  // expected-error@below {{Expected integer literal}}
  xegpu.alloc_nbarrier "many"
  return
}

// -----

func.func @wide_id(%i: i32, %n: i8) {
  // expected-error@below {{expected an i8, got i32}}
  %b = xegpu.init_nbarrier %i, %n : i32, i8 -> !xegpu.nbarrier
  return
}

// -----

func.func @no_barrier(%i: i8, %n: i8) {
  // expected-error@below {{expected a named barrier, got i8}}
  %b = xegpu.init_nbarrier %i, %n : i8, i8 -> i8
  return
}

// -----

func.func @wait_for_a_number(%i: i8) {
  // expected-error@below {{expected a named barrier, got i8}}
  xegpu.nbarrier_wait %i : i8
  return
}

// -----

func.func @arrive_at_a_number(%i: index) {
  // expected-error@below {{expected a named barrier, got index}}
  xegpu.nbarrier_arrive %i : index
  return
}

// -----

func.func @no_such_memory() {
  // expected-error@below {{slm}}
  xegpu.fence memory_kind = local, fence_scope = gpu
  return
}

// -----

func.func @no_such_scope() {
  // expected-error@below {{workgroup}}
  xegpu.fence memory_kind = slm, fence_scope = subgroup
  return
}

// -----

func.func @no_scope() {
  // expected-error@+2 {{Expected ','}}
  xegpu.fence memory_kind = slm
  return
}

// -----

func.func @no_such_update(%t: !xegpu.tensor_desc<12xi32, #xegpu.scatter_tdesc_attr<>>, %k: vector<12xi1>, %v: vector<12xi32>) {
  // expected-error@below {{there is no atomic update 'nand'; expected one of addf, addi, andi, assign}}
  %a = xegpu.atomic_rmw nand %t, %k, %v : !xegpu.tensor_desc<12xi32, #xegpu.scatter_tdesc_attr<>>, vector<12xi1>, vector<12xi32> -> vector<12xi32>
  return
}

// -----

func.func @update_number(%t: !xegpu.tensor_desc<12xi32, #xegpu.scatter_tdesc_attr<>>, %k: vector<12xi1>, %v: vector<12xi32>) {
  // expected-error@below {{kind is 16 : i64; expected a number from 0 to 15 of type i64}}
  %a = "xegpu.atomic_rmw"(%t, %k, %v) <{kind = 16 : i64}> : (!xegpu.tensor_desc<12xi32, #xegpu.scatter_tdesc_attr<>>, vector<12xi1>, vector<12xi32>) -> vector<12xi32>
  return
}

// -----

func.func @update_with_other_elements(%t: !xegpu.tensor_desc<12xf32, #xegpu.scatter_tdesc_attr<>>, %k: vector<12xi1>, %v: vector<12xi32>) {
  // expected-error@below {{the descriptor has elements of type f32, but the value of type i32; they must be the same}}
  %a = xegpu.atomic_rmw addi %t, %k, %v : !xegpu.tensor_desc<12xf32, #xegpu.scatter_tdesc_attr<>>, vector<12xi1>, vector<12xi32> -> vector<12xi32>
  return
}

// -----

func.func @update_with_fewer(%t: !xegpu.tensor_desc<12xi32, #xegpu.scatter_tdesc_attr<>>, %k: vector<12xi1>, %v: vector<10xi32>) {
  // expected-error@below {{the value has the shape 10; it must be the descriptor's shape 12}}
  %a = xegpu.atomic_rmw addi %t, %k, %v : !xegpu.tensor_desc<12xi32, #xegpu.scatter_tdesc_attr<>>, vector<12xi1>, vector<10xi32> -> vector<10xi32>
  return
}

// -----

func.func @update_to_other_shape(%t: !xegpu.tensor_desc<12xi32, #xegpu.scatter_tdesc_attr<>>, %k: vector<12xi1>, %v: vector<12xi32>) {
  // expected-error@below {{the result has the shape 3x4; it must be the descriptor's shape 12}}
  %a = xegpu.atomic_rmw addi %t, %k, %v : !xegpu.tensor_desc<12xi32, #xegpu.scatter_tdesc_attr<>>, vector<12xi1>, vector<12xi32> -> vector<3x4xi32>
  return
}

// -----

func.func @update_with_one_mask(%t: !xegpu.tensor_desc<12xi32, #xegpu.scatter_tdesc_attr<>>, %k: i1, %v: vector<12xi32>) {
  // expected-error@below {{expected a vector of i1, got i1}}
  %a = xegpu.atomic_rmw addi %t, %k, %v : !xegpu.tensor_desc<12xi32, #xegpu.scatter_tdesc_attr<>>, i1, vector<12xi32> -> vector<12xi32>
  return
}
