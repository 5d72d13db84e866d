// A row of tiles of a matrix is scaled. A tile becomes a transfer at its first element, checked at
// the edges, which begins inside by CUDA Tile IR's rules; the view keeps the sizes and strides that the entry was given, and the kernel its
// signature. Tokens are gone: the text is in an order that they allow.
//
// RUN: xtile-opt %s --translate cuda_tile-to-core | filecheck %s
cuda_tile.module @kernels {
  entry @scale(%a: tile<ptr<f32>>, %m: tile<i32>, %s: tile<i32>, %f: tile<f32>)
      optimization_hints=<sm_90 = {occupancy = 2}> {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %t = make_tensor_view %a, shape = [%m, 64], strides = [%s, 1]
      : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
    %v = make_partition_view %t
      : partition_view<tile=(8x64), padding_value = zero, tensor_view<?x64xf32, strides=[?,1]>>
    %zero = constant <i32: 0> : tile<i32>
    %b, %loaded = load_view_tko weak %v[%x, %zero]
      : partition_view<tile=(8x64), padding_value = zero, tensor_view<?x64xf32, strides=[?,1]>>,
        tile<i32> -> tile<8x64xf32>, token
    %f1 = reshape %f : tile<f32> -> tile<1x1xf32>
    %fs = broadcast %f1 : tile<1x1xf32> -> tile<8x64xf32>
    %c = mulf %b, %fs flush_to_zero : tile<8x64xf32>
    %stored = store_view_tko weak %c, %v[%x, %zero] token = %loaded
      : tile<8x64xf32>,
        partition_view<tile=(8x64), padding_value = zero, tensor_view<?x64xf32, strides=[?,1]>>,
        tile<i32> -> token
    return
  }
}

// CHECK:      gpu.func @scale(%a: !core.ptr<f32>, %m: i32, %s: i32, %f: f32) kernel
// CHECK-SAME: core.level = "tile"
// CHECK-SAME: {becomes = ["pointer"], name = "a", type = "tile<ptr<f32>>"}
// CHECK-SAME: core.tile_hints = {sm_90 = {occupancy = 2
// CHECK:      %t = core.view %a to offset: [0], sizes: [%{{.*}}, 64], strides: [%{{.*}}, 1]
// CHECK:      %[[ROW:.*]] = arith.muli %{{.*}}, %c8 : index
// CHECK:      %b = vector.transfer_read %t[%[[ROW]], %c0], %{{.*}} {core.begins_inside, in_bounds = [false, true]}
// CHECK:      %c = arith.mulf %b, %fs {core.flush_to_zero}
// CHECK-NEXT: vector.transfer_write %c, %t[%[[ROW]], %c0] {core.begins_inside, in_bounds = [false, true]}
