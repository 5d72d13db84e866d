// Pointers of a tile that are neighbours are a view of memory, which is read as vectors. A tile block is a
// work-group of one work-item.
//
// RUN: xtile-opt %s --translate cuda_tile-to-lane --chip cpu | filecheck %s
// RUN: xtile-opt %s --translate cuda_tile-to-spirv --chip cpu | filecheck %s --check-prefix=SPIRV
// RUN: xtile-opt %s --translate cuda_tile-to-subgroup --chip pvc | filecheck %s --check-prefix=SUBGROUP
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
// CHECK:      core.view %p to offset: [0], sizes: [64], strides: [1]
// CHECK:      vector.load %{{.*}} : memref<64xf32, strided<[1]>>, vector<{{.*}}xf32>
// CHECK-NOT:  arith.cmpi
// CHECK-NOT:  memref.load
// SPIRV:      "spirv.EntryPoint"() {{.*}}"copy"
// SPIRV-NOT:  "spirv.ConvertUToPtr"
// SPIRV:      "spirv.Load"
// SUBGROUP:  intel_reqd_sub_group_size = 16 : i32
// SUBGROUP:  vector.transfer_read %{{.*}} vector<64xf32>
// SUBGROUP:  gpu.barrier
// SUBGROUP:  vector.transfer_write
