// A work-item of a CPU holds a tile. The product keeps a block of C in registers while a loop goes over
// the depth; what may be outside of the memory is read in loops whose bounds are computed.
//
// RUN: xtile-opt %s -p "tile-to-lane{chip=cpu}" | filecheck %s
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
gpu.module @kernels {
  gpu.func @product(%A: memref<?x64xf32>, %B: memref<64x32xf32>, %C: memref<?x32xf32>) kernel
      attributes {core.level = "tile", known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %number = gpu.block_id x
    %row = arith.muli %number, %c8 : index
    %zero = arith.constant 0.0 : f32
    %sums = arith.constant dense<0.0> : vector<8x32xf32>
    %a = vector.transfer_read %A[%row, %c0], %zero {in_bounds = [false, true]}
        : memref<?x64xf32>, vector<8x64xf32>
    %b = vector.transfer_read %B[%c0, %c0], %zero {in_bounds = [true, true]}
        : memref<64x32xf32>, vector<64x32xf32>
    %c = vector.contract {indexing_maps = [#a, #b, #c],
        iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
        %a, %b, %sums : vector<8x64xf32>, vector<64x32xf32> into vector<8x32xf32>
    vector.transfer_write %c, %C[%row, %c0] {in_bounds = [false, true]}
        : vector<8x32xf32>, memref<?x32xf32>
    gpu.return
  }
}

// CHECK-NOT:  core.level
// CHECK:      memref.alloca() {{.*}} : memref<512xf32>
// CHECK:      scf.for %row
// CHECK:      scf.for %depth = {{.*}} iter_args(
// CHECK-NEXT:   vector.load %B
// CHECK:        math.fma %{{.*}} : vector<16xf32>
