// A tile is elements that a foreach computes, and a reduction a loop.
//
// RUN: xtile-opt %s --translate cuda_tile-to-tensorlang -t tensorlang | filecheck %s
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

// CHECK: func @first(%p: memref<i32x?>)
// CHECK: %[[X:.*]] = for %{{.*}} init(%{{.*}}) -> (i32) {
// CHECK:   load %p[%{{.*}}] : i32
// CHECK:   max %{{.*}} : i32
// CHECK: store %[[X]], %p[
