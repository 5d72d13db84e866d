// A loop that is left in the middle. What stands behind the `break` goes into the branch that does not
// take it, and the condition of the loop is tested where all of it is done.
//
// RUN: xtile-opt %s -p cuda_tile-to-core | filecheck %s
cuda_tile.module @kernels {
  entry @search(%p: tile<ptr<i32>>, %wanted: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %place = loop iter_values(%i = %zero) : tile<i32> -> tile<i32> {
      %q = offset %p, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %x, %t = load_ptr_tko weak %q : tile<ptr<i32>> -> tile<i32>, token
      %found = cmpi equal %x, %wanted, signed : tile<i32> -> tile<i1>
      if %found {
        break %i : tile<i32>
      }
      %next = addi %i, %one : tile<i32>
      continue %next : tile<i32>
    }
    %u = store_ptr_tko weak %p, %place : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}

// CHECK:      %place:2 = scf.while (%i = %zero) : (i32) -> (i32, i32) {
// CHECK:        %found = arith.cmpi eq, %x, %wanted : i32
// CHECK-NEXT:   %[[END:.*]]:3 = scf.if %found -> (i1, i32, i32) {
// CHECK-NEXT:     scf.yield %{{.*}}, %i, %i : i1, i32, i32
// CHECK-NEXT:   } else {
// CHECK-NEXT:     %next = arith.addi %i, %one : i32
// CHECK-NEXT:     scf.yield %{{.*}}, %{{.*}}, %next : i1, i32, i32
// CHECK:        scf.condition(%[[END]]#0) %[[END]]#1, %[[END]]#2 : i32, i32
// CHECK:      core.scatter_store %place#0, %p
