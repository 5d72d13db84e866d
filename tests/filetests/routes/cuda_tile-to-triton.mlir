// Tiles of pointers stay tiles of pointers; tokens are gone, because Triton has the order of the text.
//
// RUN: xtile-opt %s --translate cuda_tile-to-triton | filecheck %s
// RUN: xtile-opt %s --translate cuda_tile-to-amdg --chip gfx942 | filecheck %s --check-prefix=AMDG
cuda_tile.module @kernels {
  entry @copy(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>) {
    %i = iota : tile<64xi32>
    %p1 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
    %pb = broadcast %p1 : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %ps = offset %pb, %i : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
    %q1 = reshape %q : tile<ptr<f32>> -> tile<1xptr<f32>>
    %qb = broadcast %q1 : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %qs = offset %qb, %i : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
    %x, %t = load_ptr_tko weak %ps : tile<64xptr<f32>> -> tile<64xf32>, token
    %u = store_ptr_tko weak %qs, %x : tile<64xptr<f32>>, tile<64xf32> -> token
    return
  }
}

// CHECK:      tt.func public @copy(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>)
// CHECK:      %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
// CHECK:      %ps = tt.addptr %pb, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
// CHECK:      %x = tt.load %ps : tensor<64x!tt.ptr<f32>>
// CHECK:      tt.store %qs, %x : tensor<64x!tt.ptr<f32>>

// AMDG:      ttg.target = "hip:gfx942"
// AMDG:        amdg.buffer_load
// AMDG:        amdg.buffer_store
