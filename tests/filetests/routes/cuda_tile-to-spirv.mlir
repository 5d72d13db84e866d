// Pointers of a tile that turn out to be neighbours are read as vectors, and one by one elsewhere. A tile
// block is a work-group of one work-item.
//
// RUN: xtile-opt %s --translate cuda_tile-to-lane --chip cpu | filecheck %s
// RUN: xtile-opt %s --translate cuda_tile-to-spirv --chip cpu | filecheck %s --check-prefix=SPIRV
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

// CHECK:      gpu.func @copy(%p: !core.ptr<f32>, %q: !core.ptr<f32>)
// CHECK:      arith.cmpi eq
// CHECK-NEXT: vector.reduction <and>
// CHECK:      scf.if
// CHECK:        vector.load %{{.*}} : memref<?xf32, strided<[1]>>, vector<8xf32>
// CHECK:      } else {
// CHECK:        memref.load
// SPIRV:      "spirv.EntryPoint"() {{.*}}"copy"
// SPIRV:      "spirv.ConvertUToPtr"
