// CUDA Tile IR as NVIDIA's tools print it: a tile of pointers, and tokens that order the load
// before the store.
//
// RUN: xtile-opt %s | filecheck %s
cuda_tile.module @kernels {
  entry @square(%x: tile<ptr<f32>>) {
    %lanes = iota : tile<128xi32>
    %x1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
    %xs = broadcast %x1 : tile<1xptr<f32>> -> tile<128xptr<f32>>
    %places = offset %xs, %lanes : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
    %a, %token = load_ptr_tko weak %places : tile<128xptr<f32>> -> tile<128xf32>, token
    %b = mulf %a, %a : tile<128xf32>
    %done = store_ptr_tko weak %places, %b token = %token : tile<128xptr<f32>>, tile<128xf32> -> token
    return
  }
}

// CHECK:      entry @square(%x: tile<ptr<f32>>)
// CHECK:      %places = offset %xs, %lanes : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
// CHECK-NEXT: %a, %token = load_ptr_tko weak %places
// CHECK:      store_ptr_tko weak %places, %b token=%token
