// A function that returns early branches between blocks: what stands behind the return goes into the
// branch that does not take it. Masks stay masks, and promises of arguments become assumptions.
//
// RUN: xtile-opt %s -p triton-to-core | filecheck %s
tt.func public @double(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c64 = arith.constant 64 : i32
  %i = tt.get_program_id x : i32
  %start = arith.muli %i, %c64 : i32
  %done = arith.cmpi sge, %start, %n : i32
  cf.cond_br %done, ^out, ^work
^out:
  tt.return
^work:
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %starts = tt.splat %start : i32 -> tensor<64xi32>
  %at = arith.addi %starts, %range : tensor<64xi32>
  %limit = tt.splat %n : i32 -> tensor<64xi32>
  %mask = arith.cmpi slt, %at, %limit : tensor<64xi32>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %base, %at : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %x = tt.load %q, %mask : tensor<64x!tt.ptr<f32>>
  %y = arith.addf %x, %x : tensor<64xf32>
  tt.store %q, %y, %mask : tensor<64x!tt.ptr<f32>>
  tt.return
}

// CHECK:      gpu.func @double(%p: !core.ptr<f32>, %n: i32) kernel
// CHECK-SAME: core.level = "tile"
// CHECK-SAME: {becomes = ["pointer"], name = "p", type = "!tt.ptr<f32>"}
// CHECK:        %[[BASE:.*]] = core.assume %p divisible_by 16 : !core.ptr<f32>
// CHECK:        %done = arith.cmpi sge, %start, %n : i32
// CHECK:        scf.if %done {
// CHECK-NEXT:   } else {
// CHECK:          %base = vector.broadcast %[[BASE]]
// CHECK-NEXT:     %q = core.pointer_add %base, %at : vector<64x!core.ptr<f32>>, vector<64xi32>
// CHECK-NEXT:     %x = core.gather_load %q, %mask
// CHECK-NEXT:     %y = arith.addf %x, %x : vector<64xf32>
// CHECK-NEXT:     core.scatter_store %y, %q, %mask
