"""Loads, stores, atomics, barriers and local memory."""

from __future__ import annotations

from tests.translate.tensorlang_to_core.case import Case

# ruff: noqa: E501

CASES = [
    Case(
        "load and store",
        """
%x = load %A[%i,%j] : f32
store %x, %A[%j,%i]
""",
        """
%x = memref.load %A[%j, %i] : memref<?x4xf32>
memref.store %x, %A[%i, %j] : memref<?x4xf32>
""",
        parameters="%A: memref<f32x4x?>, %i: index, %j: index",
    ),
    Case(
        "load of a scalar memref",
        "%x = load %A[] : c32",
        "%x = memref.load %A[] : memref<complex<f32>>",
        parameters="%A: memref<c32>",
    ),
    Case(
        "atomic_load",
        """
%x = atomic_load.device.acquire %A[%i] : i32
%y = atomic_load %B[] : f64
%z = atomic_load %C[%i] : index
""",
        """
%0 = arith.constant 0 : i32
%1 = arith.constant -0.000000e+00 : f64
%c0 = arith.constant 0 : index
%x = memref.atomic_rmw ori %0, %A[%i] {core.memory_order = "acquire"} : (i32, memref<?xi32>) -> i32
%y = memref.atomic_rmw addf %1, %B[] : (f64, memref<f64>) -> f64
%z = core.atomic_update ori %c0, %C[%i] checked [] : index, memref<8xindex> -> index
""",
        parameters="%A: memref<i32x?>, %B: memref<f64>, %C: memref<indexx8>, %i: index",
        is_spmd=True,
    ),
    Case(
        "atomic_load c64",
        "%x = atomic_load %A[] : c64",
        """
%0 = complex.constant [-0.000000e+00, -0.000000e+00] : complex<f64>
%x = core.atomic_update addf %0, %A[] checked [] : complex<f64>, memref<complex<f64>> -> complex<f64>
""",
        parameters="%A: memref<c64>",
        is_spmd=True,
    ),
    Case(
        "atomic_store",
        """
atomic_store.device.release %x, %A[%i,%i]
atomic_store %c, %C[]
""",
        """
%0 = memref.atomic_rmw assign %x, %A[%i, %i] {core.memory_order = "release"} : (bf16, memref<?x?xbf16, strided<[?, 1]>>) -> bf16
%1 = core.atomic_update assign %c, %C[] checked [] : complex<f32>, memref<complex<f32>> -> complex<f32>
""",
        parameters="%A: memref<bf16x?x?>, %C: memref<c32>, %x: bf16, %c: c32, %i: index",
        is_spmd=True,
    ),
    Case(
        "atomic updates i16",
        """
%a = atomic_add %x, %A[] : i16
%b = atomic_max %x, %A[] : i16
%c = atomic_min %x, %A[] : i16
""",
        """
%a = memref.atomic_rmw addi %x, %A[] : (i16, memref<i16>) -> i16
%b = memref.atomic_rmw maxs %x, %A[] : (i16, memref<i16>) -> i16
%c = memref.atomic_rmw mins %x, %A[] : (i16, memref<i16>) -> i16
""",
        parameters="%A: memref<i16>, %x: i16",
        is_spmd=True,
    ),
    Case(
        "atomic updates f32",
        """
%a = atomic_add %x, %A[] : f32
%b = atomic_max %x, %A[] : f32
%c = atomic_min %x, %A[] : f32
""",
        """
%a = memref.atomic_rmw addf %x, %A[] : (f32, memref<f32>) -> f32
%b = memref.atomic_rmw maxnumf %x, %A[] : (f32, memref<f32>) -> f32
%c = memref.atomic_rmw minnumf %x, %A[] : (f32, memref<f32>) -> f32
""",
        parameters="%A: memref<f32>, %x: f32",
        is_spmd=True,
    ),
    Case(
        "atomic updates index",
        """
%a = atomic_add %x, %A[] : index
%b = atomic_max %x, %A[] : index
%c = atomic_min %x, %A[] : index
""",
        """
%a = core.atomic_update addi %x, %A[] checked [] : index, memref<index> -> index
%b = core.atomic_update maxs %x, %A[] checked [] : index, memref<index> -> index
%c = core.atomic_update mins %x, %A[] checked [] : index, memref<index> -> index
""",
        parameters="%A: memref<index>, %x: index",
        is_spmd=True,
    ),
    Case(
        "atomic_add c32",
        "%a = atomic_add %x, %A[] : c32",
        """
%a = core.atomic_update addf %x, %A[] checked [] : complex<f32>, memref<complex<f32>> -> complex<f32>
""",
        parameters="%A: memref<c32>, %x: c32",
        is_spmd=True,
    ),
    Case(
        "collective atomic without use of the result",
        "%a = atomic_add %x, %A[%i] : f32",
        """
core.parallel {
  %0 = memref.atomic_rmw addf %x, %A[%i] : (f32, memref<?xf32>) -> f32
}
""",
        parameters="%A: memref<f32x?>, %x: f32, %i: index",
    ),
    Case(
        "collective atomic with use of the result",
        """
%a = atomic_add %x, %A[%i] : f32
store %a, %A[%i]
""",
        """
%0 = memref.alloca() : memref<f32, #gpu.address_space<workgroup>>
%c0 = arith.constant 0 : index
core.parallel {
  %1 = memref.atomic_rmw addf %x, %A[%i] : (f32, memref<?xf32>) -> f32
  %2 = gpu.thread_id  x
  %3 = gpu.thread_id  y
  %4 = arith.ori %2, %3 : index
  %5 = arith.cmpi eq, %4, %c0 : index
  scf.if %5 {
    memref.store %1, %0[] : memref<f32, #gpu.address_space<workgroup>>
  }
}
%a = memref.load %0[] : memref<f32, #gpu.address_space<workgroup>>
memref.store %a, %A[%i] : memref<?xf32>
""",
        parameters="%A: memref<f32x?>, %x: f32, %i: index",
    ),
    Case(
        "barrier",
        "barrier.global.local",
        "gpu.barrier",
        is_spmd=True,
    ),
    Case(
        "alloca and lifetime_stop",
        """
%l = alloca {alignment=64} : memref<f16x16x8,local>
%m = alloca : memref<f32x4x4,strided<1,8>,local>
lifetime_stop %l
""",
        """
%l = memref.alloca() {alignment = 64 : i64} : memref<8x16xf16, #gpu.address_space<workgroup>>
%m = memref.alloca() : memref<4x4xf32, strided<[8, 1]>, #gpu.address_space<workgroup>>
""",
    ),
]
