"""Collective instructions."""

from __future__ import annotations

from tests.translate.tensorlang_to_core.case import Case

# ruff: noqa: E501

CASES = [
    Case(
        "gemm",
        "gemm.n.n %alpha, %A, %B, %beta, %C",
        """
core.gemm %alpha, %B, %A, %beta, %C : f32, memref<6x8xf32>, memref<8x4xf32>, f32, memref<6x4xf32>
""",
        parameters="%alpha: f32, %A: memref<f32x4x8>, %B: memref<f32x8x6>, %C: memref<f32x4x6>, %beta: f32",
    ),
    Case(
        "gemm transposed",
        "gemm.t.n %alpha, %A, %B, %beta, %C",
        """
core.gemm transpose_b %alpha, %B, %A, %beta, %C : f32, memref<6x8xf32>, memref<4x8xf32>, f32, memref<6x4xf32>
""",
        parameters="%alpha: f32, %A: memref<f32x8x4>, %B: memref<f32x8x6>, %C: memref<f32x4x6>, %beta: f32",
    ),
    Case(
        "gemm atomic",
        """
%one = constant 1.0 : f32
gemm.atomic.n.t %alpha, %A, %B, %one, %C
""",
        """
%one = arith.constant 1.000000e+00 : f32
core.gemm atomic transpose_a %alpha, %B, %A, %one, %C : f32, memref<8x6xf32>, memref<8x4xf32>, f32, memref<6x4xf32>
""",
        parameters="%alpha: f32, %A: memref<f32x4x8>, %B: memref<f32x6x8>, %C: memref<f32x4x6>",
    ),
    Case(
        "gemv",
        """
gemv.n %alpha, %A, %b, %beta, %c
gemv.t %alpha, %A, %c, %beta, %b
""",
        """
core.gemv transpose_a %alpha, %A, %b, %beta, %c : f32, memref<8x4xf32>, memref<8xf32>, f32, memref<4xf32>
core.gemv %alpha, %A, %c, %beta, %b : f32, memref<8x4xf32>, memref<4xf32>, f32, memref<8xf32>
""",
        parameters="%alpha: f32, %A: memref<f32x4x8>, %b: memref<f32x8>, %c: memref<f32x4>, %beta: f32",
    ),
    Case(
        "ger",
        "ger %alpha, %a, %b, %beta, %C",
        """
core.ger %alpha, %b, %a, %beta, %C : f32, memref<8xf32>, memref<4xf32>, f32, memref<8x4xf32>
""",
        parameters="%alpha: f32, %a: memref<f32x4>, %b: memref<f32x8>, %C: memref<f32x4x8>, %beta: f32",
    ),
    Case(
        "hadamard",
        "hadamard %alpha, %A, %B, %beta, %C",
        """
core.hadamard %alpha, %A, %B, %beta, %C : f32, memref<8x4xf32>, memref<8x4xf32>, f32, memref<8x4xf32>
""",
        parameters="%alpha: f32, %A: memref<f32x4x8>, %B: memref<f32x4x8>, %C: memref<f32x4x8>, %beta: f32",
    ),
    Case(
        "axpby",
        """
axpby.t %alpha, %A, %beta, %B
axpby.n %alpha, %A, %beta, %A
axpby.t %alpha, %v, %beta, %v
""",
        """
core.axpby transpose_a %alpha, %A, %beta, %B : f32, memref<8x4xf32>, f32, memref<4x8xf32>
core.axpby %alpha, %A, %beta, %A : f32, memref<8x4xf32>, f32, memref<8x4xf32>
core.axpby %alpha, %v, %beta, %v : f32, memref<4xf32>, f32, memref<4xf32>
""",
        parameters="%alpha: f32, %A: memref<f32x4x8>, %B: memref<f32x8x4>, %v: memref<f32x4>, %beta: f32",
    ),
    Case(
        "sum",
        """
sum.n %alpha, %A, %beta, %a
sum.t %alpha, %A, %beta, %b
sum.n %alpha, %a, %beta, %c
""",
        """
core.sum transpose_a %alpha, %A, %beta, %a : f32, memref<8x4xf32>, f32, memref<4xf32>
core.sum %alpha, %A, %beta, %b : f32, memref<8x4xf32>, f32, memref<8xf32>
core.sum %alpha, %a, %beta, %c : f32, memref<4xf32>, f32, memref<f32>
""",
        parameters="%alpha: f32, %A: memref<f32x4x8>, %a: memref<f32x4>, %b: memref<f32x8>, %c: memref<f32>, %beta: f32",
    ),
    Case(
        "cumsum",
        """
cumsum %alpha, %A, 0, %beta, %A
cumsum %alpha, %A, 1, %beta, %A
""",
        """
core.cumsum 2 %alpha, %A, %beta, %A : f32, memref<2x8x4xf32>, f32, memref<2x8x4xf32>
core.cumsum 1 %alpha, %A, %beta, %A : f32, memref<2x8x4xf32>, f32, memref<2x8x4xf32>
""",
        parameters="%alpha: f32, %A: memref<f32x4x8x2>, %beta: f32",
    ),
    Case(
        "parallel",
        """
parallel {
    %i = subgroup_local_id : i32
}
""",
        """
core.parallel {
  %0 = gpu.lane_id
  %i = arith.index_cast %0 : index to i32
}
""",
    ),
    Case(
        "foreach",
        """
%z = constant 0 : index
foreach (%i)=(%z),(%n) {
    store %x, %A[%i]
}
""",
        """
%z = arith.constant 0 : index
%c0 = arith.constant 0 : index
%0 = arith.maxsi %n, %c0 : index
core.parallel {
  %1 = gpu.thread_id  x
  %2 = gpu.thread_id  y
  %3 = gpu.block_dim  x
  %4 = gpu.block_dim  y
  %5 = arith.muli %2, %3 : index
  %6 = arith.addi %5, %1 : index
  %7 = arith.muli %3, %4 : index
  scf.for %i = %6 to %0 step %7 {
    memref.store %x, %A[%i] : memref<?xf32>
  }
}
""",
        parameters="%A: memref<f32x?>, %x: f32, %n: index",
    ),
    Case(
        "foreach of two modes",
        """
foreach (%i,%j)=(%from,%from),(%n,%m) {
    %s = add %i, %j : i32
}
""",
        """
%0 = arith.index_cast %from : i32 to index
%1 = arith.index_cast %n : i32 to index
%2 = arith.index_cast %m : i32 to index
%3 = arith.maxsi %1, %0 : index
%4 = arith.subi %3, %0 : index
%5 = arith.maxsi %2, %0 : index
%6 = arith.subi %5, %0 : index
%7 = arith.muli %4, %6 : index
core.parallel {
  %8 = gpu.thread_id  x
  %9 = gpu.thread_id  y
  %10 = gpu.block_dim  x
  %11 = gpu.block_dim  y
  %12 = arith.muli %9, %10 : index
  %13 = arith.addi %12, %8 : index
  %14 = arith.muli %10, %11 : index
  scf.for %arg3 = %13 to %7 step %14 {
    %15 = arith.remui %arg3, %4 : index
    %16 = arith.divui %arg3, %4 : index
    %17 = arith.addi %0, %15 : index
    %i = arith.index_cast %17 : index to i32
    %18 = arith.addi %0, %16 : index
    %j = arith.index_cast %18 : index to i32
    %s = arith.addi %i, %j : i32
  }
}
""",
        parameters="%from: i32, %n: i32, %m: i32",
    ),
    Case(
        "foreach with known bounds",
        """
%z = constant 0 : index
%n = constant 4 : index
%m = constant 8 : index
foreach (%i,%j)=(%z,%z),(%n,%m) {
    store %x, %A[%i,%j]
}
""",
        """
%z = arith.constant 0 : index
%n = arith.constant 4 : index
%m = arith.constant 8 : index
%c4 = arith.constant 4 : index
%c32 = arith.constant 32 : index
core.parallel {
  %0 = gpu.thread_id  x
  %1 = gpu.thread_id  y
  %2 = gpu.block_dim  x
  %3 = gpu.block_dim  y
  %4 = arith.muli %1, %2 : index
  %5 = arith.addi %4, %0 : index
  %6 = arith.muli %2, %3 : index
  scf.for %arg2 = %5 to %c32 step %6 {
    %i = arith.remui %arg2, %c4 : index
    %j = arith.divui %arg2, %c4 : index
    memref.store %x, %A[%j, %i] : memref<8x4xf32>
  }
}
""",
        parameters="%A: memref<f32x4x8>, %x: f32",
    ),
    Case(
        "foreach_tile",
        """
foreach_tile (%i,%j)=(%from,%from),(%n,%n) as (%ti,%tj)<=(32,16) {
    %s = add %ti, %tj : index
}
""",
        """
%0 = arith.maxsi %n, %from : index
%1 = arith.subi %0, %from : index
%2 = arith.maxsi %n, %from : index
%3 = arith.subi %2, %from : index
%c32 = arith.constant 32 : index
%4 = arith.ceildivui %1, %c32 : index
%c16 = arith.constant 16 : index
%5 = arith.ceildivui %3, %c16 : index
%6 = arith.muli %4, %5 : index
core.parallel {
  %7 = gpu.subgroup_id : index
  %8 = gpu.num_subgroups : index
  scf.for %arg2 = %7 to %6 step %8 {
    %9 = arith.remui %arg2, %4 : index
    %10 = arith.divui %arg2, %4 : index
    %11 = arith.muli %9, %c32 : index
    %12 = arith.subi %1, %11 : index
    %ti = arith.minsi %c32, %12 : index
    %i = arith.addi %from, %11 : index
    %13 = arith.muli %10, %c16 : index
    %14 = arith.subi %3, %13 : index
    %tj = arith.minsi %c16, %14 : index
    %j = arith.addi %from, %13 : index
    %s = arith.addi %ti, %tj : index
  }
}
""",
        parameters="%from: index, %n: index",
    ),
    Case(
        "foreach_tile with known bounds",
        """
%z = constant 0 : index
%n = constant 64 : index
foreach_tile (%i)=(%z),(%n) as (%ti)<=(32) {
    %s = add %i, %ti : index
}
""",
        """
%z = arith.constant 0 : index
%n = arith.constant 64 : index
%c32 = arith.constant 32 : index
%c2 = arith.constant 2 : index
core.parallel {
  %0 = gpu.subgroup_id : index
  %1 = gpu.num_subgroups : index
  scf.for %arg0 = %0 to %c2 step %1 {
    %i = arith.muli %arg0, %c32 : index
    %s = arith.addi %i, %c32 : index
  }
}
""",
    ),
]
