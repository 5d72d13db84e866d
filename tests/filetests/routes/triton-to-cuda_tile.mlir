// Tiles of pointers become views, and masks that compare a range with a size their edges.
//
// RUN: xtile-opt %s --translate triton-to-cuda_tile | filecheck %s
tt.func public @double(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c64 = arith.constant 64 : i32
  %i = tt.get_program_id x : i32
  %start = arith.muli %i, %c64 : i32
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %starts = tt.splat %start : i32 -> tensor<64xi32>
  %at = arith.addi %starts, %range : tensor<64xi32>
  %limit = tt.splat %n : i32 -> tensor<64xi32>
  %mask = arith.cmpi slt, %at, %limit : tensor<64xi32>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %base, %at : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %x = tt.load %q, %mask : tensor<64x!tt.ptr<f32>>
  %y = arith.addf %x, %x : tensor<64xf32>
  tt.store %q, %y, %mask : tensor<64x!tt.ptr<f32>>
  tt.return
}

// CHECK:      entry @double(%p: tile<ptr<f32>>, %n: tile<i32>) {
// CHECK:        make_partition_view
// CHECK-SAME:   partition_view<tile=(64), padding_value = zero, tensor_view<?xf32, strides=[1]>>
// CHECK:        load_view_tko weak
// CHECK:        addf %{{.*}}, %{{.*}} : tile<64xf32>
// CHECK:        store_view_tko weak
