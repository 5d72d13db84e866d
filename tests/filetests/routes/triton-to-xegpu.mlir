// Triton's kernels have tiles, and become XeGPU at level work-group. A pointer is its address, the tile of
// pointers an offset for each element, and the mask what is accessed.
//
// RUN: xtile-opt %s --translate triton-to-xegpu | filecheck %s
tt.func public @double(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c64 = arith.constant 64 : i32
  %i = tt.get_program_id x : i32
  %start = arith.muli %i, %c64 : i32
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

// CHECK:      gpu.func @double(%p: i64, %n: i32)
// CHECK-SAME: becomes = ["pointer"], name = "p", type = "!tt.ptr<f32>"
// CHECK-SAME: xegpu.level = "work-group"
// CHECK:      %[[MASK:.*]] = arith.cmpi slt
// CHECK:      xegpu.load %p[%[[AT:.*]]], %[[MASK]]
// CHECK-SAME: i64, vector<64xindex>, vector<64xi1> -> vector<64xf32>
// CHECK:      arith.addf
// CHECK:      xegpu.store
