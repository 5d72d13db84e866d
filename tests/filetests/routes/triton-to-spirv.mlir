// Each program of Triton is a work-group of one work-item. What several programs share they update in
// memory, and a function that others call is in its caller.
//
// RUN: xtile-opt %s --translate triton-to-core | filecheck %s --check-prefix=CORE
// RUN: xtile-opt %s --translate triton-to-tile | filecheck %s --check-prefix=CORE
// RUN: xtile-opt %s --translate triton-to-lane --chip cpu | filecheck %s
// RUN: xtile-opt %s --translate triton-to-spirv --chip cpu | filecheck %s --check-prefix=SPIRV
// RUN: xtile-opt %s --translate triton-to-subgroup --chip pvc | filecheck %s --check-prefix=SUBGROUP
// RUN: xtile-opt %s --translate triton-to-spirv --chip pvc -t spirv-asm | filecheck %s --check-prefix=PVC
tt.func public @sum(%p: !tt.ptr<f32>, %total: !tt.ptr<f32>) {
  %c128 = arith.constant 128 : i32
  %i = tt.get_program_id x : i32
  %start = arith.muli %i, %c128 : i32
  %q = tt.addptr %p, %start : !tt.ptr<f32>, i32
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %base = tt.splat %q : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %at = tt.addptr %base, %range : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %x = tt.load %at : tensor<128x!tt.ptr<f32>>
  %y = tt.call @square(%x) : (tensor<128xf32>) -> tensor<128xf32>
  %s = "tt.reduce"(%y) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<128xf32>) -> f32
  %old = tt.atomic_rmw fadd, relaxed, gpu, %total, %s : (!tt.ptr<f32>, f32) -> f32
  tt.return
}
tt.func private @square(%x: tensor<128xf32>) -> tensor<128xf32> {
  %y = arith.mulf %x, %x : tensor<128xf32>
  tt.return %y : tensor<128xf32>
}

// CORE:      %x = core.gather_load %at
// CORE-NEXT: %y = arith.mulf %x, %x : vector<128xf32>
// CORE-NEXT: %s = core.reduce %y axis 0 identities [-0.000000e+00 : f32]
// CORE:      core.atomic_rmw addf relaxed device %s, %total
// CORE-NOT:  @square
// CHECK:     vector.load %{{.*}}, vector<{{.*}}xf32>
// CHECK:     memref.generic_atomic_rmw
// SPIRV:     "spirv.EntryPoint"() {{.*}}"sum"
// SPIRV:     "spirv.AtomicFAddEXT"
// SUBGROUP:  vector.multi_reduction <add>, %{{.*}} : vector<128xf32> to f32
// SUBGROUP:  scf.if
// SUBGROUP:  memref.atomic_rmw addf
// PVC:       OpGroupNonUniformShuffle
