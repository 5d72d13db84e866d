// What does not change in a loop is computed before it, constants are folded, and what nobody uses
// is gone.
//
// RUN: xtile-opt %s -p core-cleanup | filecheck %s
gpu.module @kernels {
  gpu.func @address(%x: memref<64xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    scf.for %i = %c0 to %n step %c1 {
      %id = gpu.thread_id x
      %scaled = arith.muli %id, %c4 : index
      %unused = arith.addi %scaled, %i : index
      %c2 = arith.constant 2 : index
      %twice = arith.muli %c2, %c4 : index
      %place = arith.addi %scaled, %twice : index
      %a = memref.load %x[%place] : memref<64xf32>
      %b = arith.negf %a : f32
      memref.store %b, %x[%place] : memref<64xf32>
    }
    gpu.return
  }
}

// CHECK:      %[[EIGHT:.*]] = arith.constant 8 : index
// CHECK-NOT:  scf.for
// CHECK:      %place = arith.addi %scaled, %[[EIGHT]]
// CHECK-NOT:  %unused
// CHECK:      scf.for %i = %c0 to %n step %c1 {
// CHECK-NEXT:   %a = memref.load %x[%place]
// CHECK-NEXT:   %b = arith.negf %a
// CHECK-NEXT:   memref.store %b, %x[%place]
// CHECK-NEXT: }
