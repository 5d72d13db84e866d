// A CPU has no numbers of 8 bits: a work-item sees their bytes in memory and computes in f32.
//
// RUN: xtile-opt %s --translate cuda_tile-to-lane | filecheck %s
cuda_tile.module @kernels {
  entry @widen(%x: tile<ptr<f8E4M3FN>>, %y: tile<ptr<bf16>>) {
    %a = make_tensor_view %x, shape = [16], strides = [1] : tensor_view<16xf8E4M3FN, strides=[1]>
    %b = make_tensor_view %y, shape = [16], strides = [1] : tensor_view<16xbf16, strides=[1]>
    %from = make_partition_view %a : partition_view<tile=(16), tensor_view<16xf8E4M3FN, strides=[1]>>
    %to = make_partition_view %b : partition_view<tile=(16), tensor_view<16xbf16, strides=[1]>>
    %zero = constant <i32: 0> : tile<i32>
    %narrow, %read = load_view_tko weak %from[%zero] : partition_view<tile=(16), tensor_view<16xf8E4M3FN, strides=[1]>>, tile<i32> -> tile<16xf8E4M3FN>, token
    %wide = ftof %narrow : tile<16xf8E4M3FN> -> tile<16xbf16>
    %written = store_view_tko weak %wide, %to[%zero] : tile<16xbf16>, partition_view<tile=(16), tensor_view<16xbf16, strides=[1]>>, tile<i32> -> token
    return
  }
}

// CHECK:      gpu.func @widen(%x: !core.ptr<i8>, %y: !core.ptr<bf16>)
// CHECK:      %[[BITS:.*]] = core.pointer_cast %y : !core.ptr<bf16> -> !core.ptr<i16>
// CHECK:      %[[FROM:.*]] = core.view %x {{.*}} to memref<16xi8, 
// CHECK:      %[[TO:.*]] = core.view %[[BITS]] {{.*}} to memref<16xi16, 
// CHECK:      vector.load %[[FROM]]
// CHECK:      arith.bitcast {{.*}} : vector<16xi32> to vector<16xf32>
// CHECK:      vector.store {{.*}}, %[[TO]]
