// What all elements have in common moves the pointer, so that the offsets are known to be small: each lane
// loads four floats through a buffer.
//
// RUN: xtile-opt %s -p triton-to-amdg | filecheck %s
tt.func public @double(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c256 = arith.constant 256 : i32
  %i = tt.get_program_id x : i32
  %start = arith.muli %i, %c256 : i32
  %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %starts = tt.splat %start : i32 -> tensor<256xi32>
  %at = arith.addi %starts, %range : tensor<256xi32>
  %limit = tt.splat %n : i32 -> tensor<256xi32>
  %mask = arith.cmpi slt, %at, %limit : tensor<256xi32>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %q = tt.addptr %base, %at : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %x = tt.load %q, %mask : tensor<256x!tt.ptr<f32>>
  %y = arith.addf %x, %x : tensor<256xf32>
  tt.store %q, %y, %mask : tensor<256x!tt.ptr<f32>>
  tt.return
}

// CHECK:      #blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64]
// CHECK:      tt.func public @double(%p: !tt.ptr<f32>
// CHECK:        %[[BASE:.*]] = tt.addptr %p, %start : !tt.ptr<f32>, i32
// CHECK:        %[[OFFSETS:.*]] = tt.make_range {end = 256 : i32, start = 0 : i32}
// CHECK:        amdg.buffer_load %[[BASE]][%[[OFFSETS]]], %{{.*}} {contiguity = 4 : i32}
// CHECK:        arith.addf
// CHECK:        amdg.buffer_store
