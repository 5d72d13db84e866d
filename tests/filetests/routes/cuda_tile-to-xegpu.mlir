// A view of a tensor is a region of memory, and a tile of it a block: what the tile has beyond the end is 0,
// as the view's padding says, and is not stored.
//
// RUN: xtile-opt %s --translate cuda_tile-to-xegpu --chip bmg | filecheck %s
cuda_tile.module @kernels {
  entry @twice(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>) {
    %i, %j, %k = get_tile_block_id : tile<i32>
    %from = make_tensor_view %p, shape = [100, 128], strides = [128, 1]
        : tensor_view<100x128xf32, strides=[128,1]>
    %in = make_partition_view %from : partition_view<tile=(32x64), padding_value = zero, tensor_view<100x128xf32, strides=[128,1]>>
    %to = make_tensor_view %q, shape = [100, 128], strides = [128, 1]
        : tensor_view<100x128xf32, strides=[128,1]>
    %out = make_partition_view %to : partition_view<tile=(32x64), tensor_view<100x128xf32, strides=[128,1]>>
    %x, %t = load_view_tko weak %in[%i, %j]
        : partition_view<tile=(32x64), padding_value = zero, tensor_view<100x128xf32, strides=[128,1]>>, tile<i32>
        -> tile<32x64xf32>, token
    %y = addf %x, %x : tile<32x64xf32>
    %u = store_view_tko weak %y, %out[%i, %j]
        : tile<32x64xf32>, partition_view<tile=(32x64), tensor_view<100x128xf32, strides=[128,1]>>, tile<i32> -> token
    return
  }
}

// CHECK: xegpu.create_nd_tdesc %p, shape : [100, 128], strides : [128, 1] : i64 -> !xegpu.tensor_desc<32x64xf32
// CHECK: xegpu.load_nd
// CHECK: arith.addf
// CHECK: xegpu.store_nd
