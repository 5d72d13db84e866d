// CUDA Tile IR stands at level "tile" as soon as it is in the core form. A reduction gives its region
// the later element first, and the core form the earlier one.
//
// RUN: xtile-opt %s --translate cuda_tile-to-tile | filecheck %s
cuda_tile.module @kernels {
  entry @first(%p: tile<ptr<i32>>) {
    %i = iota : tile<8xi32>
    %p1 = reshape %p : tile<ptr<i32>> -> tile<1xptr<i32>>
    %pb = broadcast %p1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %ps = offset %pb, %i : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %x, %t = load_ptr_tko weak %ps : tile<8xptr<i32>> -> tile<8xi32>, token
    %m = reduce %x dim=0 identities=[-2147483648 : i32] : tile<8xi32> -> tile<i32>
    (%later: tile<i32>, %earlier: tile<i32>) {
      %c = maxi %later, %earlier signed : tile<i32>
      yield %c : tile<i32>
    }
    %u = store_ptr_tko weak %p, %m : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}

// CHECK:      core.level = "tile"
// CHECK:      %ps = core.pointer_add %pb, %i : vector<8x!core.ptr<i32>>, vector<8xi32>
// CHECK-NEXT: %x = core.gather_load %ps : vector<8x!core.ptr<i32>> -> vector<8xi32>
// CHECK-NEXT: %m = core.reduce %x axis 0 identities [-2147483648 : i32]
// CHECK-NEXT: ^bb0(%earlier: i32, %later: i32):
// CHECK-NEXT:   %c = arith.maxsi %later, %earlier : i32
// CHECK:      core.scatter_store %m, %p : i32, !core.ptr<i32>
