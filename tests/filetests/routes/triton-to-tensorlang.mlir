// Tiles of pointers become memory with one mode, and masks conditions. The function says in core.signature
// what it was, so that a launch takes the arguments of the source.
//
// RUN: xtile-opt %s --translate triton-to-tensorlang -t tensorlang | filecheck %s
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

// CHECK: func @double(%p: memref<f32x?>, %n: i32) attributes {"core.signature"={"language"="triton"
// CHECK: foreach (%{{.*}})=
// CHECK:   if %{{.*}} -> (f32) {
// CHECK:   load %p[%{{.*}}] : f32
// CHECK: foreach (%{{.*}})=
// CHECK:   add %{{.*}} : f32
// CHECK:   store %{{.*}}, %p[
