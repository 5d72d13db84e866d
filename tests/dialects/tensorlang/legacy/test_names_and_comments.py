"""What a migration keeps: names and comments."""

from __future__ import annotations

from collections.abc import Callable

SAMPLE = """\
; The sample kernel.
func @fused_kernel(%alpha: f32, ; a scalar
                   %A: group<memref<f32x16x8>>,
                   %B: memref<f32x8x8>,
                   %C: memref<f32x8x16>,
                   %D: memref<f32x16x16x?>) {
  %0 = group_id
  %1 = load %A[%0]        : group<memref<f32x16x8>> ; Returns memref<f32x16x8>
  %2 = subview %D[:,:,%0] : memref<f32x16x16x?>     ; Returns memref<f32x16x16>
  %tmp0 = alloca -> memref<f32x16x8>

  ; The first product:
  ; tmp0 = A B^T
  gemm.n.t 1.0, %1, %B, 0.0, %tmp0
     : f32, memref<f32x16x8>, memref<f32x8x8>, f32, memref<f32x16x8>
  gemm.n.n %alpha, %tmp0, %C, 1.0, %2 ; D += alpha tmp0 C
     : f32, memref<f32x16x8>, memref<f32x8x16>, f32, memref<f32x16x16>
}
"""

MIGRATED = """\
; The sample kernel.
; a scalar
func @fused_kernel(%alpha: f32, %A: group<memref<f32x16x8>x?>, %B: memref<f32x8x8>, \
%C: memref<f32x8x16>, %D: memref<f32x16x16x?>) {
    %0 = group_id.x : index
    %1 = load %A[%0] : memref<f32x16x8> ; Returns memref<f32x16x8>
    %2 = subview %D[0:16,0:16,%0] : memref<f32x16x16> ; Returns memref<f32x16x16>
    %tmp0 = alloca : memref<f32x16x8,local>
    ; The first product:
    ; tmp0 = A B^T
    %c1_f32 = constant 1.0 : f32
    %c0_f32 = constant 0.0 : f32
    gemm.n.t %c1_f32, %1, %B, %c0_f32, %tmp0
    gemm %alpha, %tmp0, %C, %c1_f32, %2 ; D += alpha tmp0 C
}
"""


def test_the_sample_of_the_reference(migrate: Callable[..., str]) -> None:
    assert migrate(SAMPLE) == migrate(SAMPLE, "v0.1") == migrate(SAMPLE, "v0.3") == MIGRATED


def test_written_names_come_first(migrate: Callable[..., str]) -> None:
    text = """func @f(%A_1: memref<f32x?>, %7: index) {
    %x = load %A_1[5] : memref<f32x?>
    %c5 = load %A_1[%7] : memref<f32x?>
    %c5_0 = load %A_1[5] : memref<f32x?>
    %A_1_size0 = subview %A_1[:] : memref<f32x?>
}
"""
    assert (
        migrate(text, "v0.3")
        == """func @f(%A_1: memref<f32x?>, %7: index) {
    %c5_1 = constant 5 : index
    %x = load %A_1[%c5_1] : f32
    %c5 = load %A_1[%7] : f32
    %c5_0 = load %A_1[%c5_1] : f32
    %A_1_size0_0 = size %A_1[0] : index
    %A_1_size0 = subview %A_1[0:%A_1_size0_0] : memref<f32x?>
}
"""
    )


def test_constants_stand_where_they_are_seen(migrate: Callable[..., str]) -> None:
    text = """func @f(%A: memref<f32x9>, %x: f32) {
    foreach %i=0,9 {
        store %x, %A[0] : memref<f32x9>
        store %x, %A[3] : memref<f32x9>
    }
    foreach %j=0,9 {
        store %x, %A[3] : memref<f32x9>
    }
    store %x, %A[3] : memref<f32x9>
}
func @g(%A: memref<f32x9>, %x: f32) {
    store %x, %A[3] : memref<f32x9>
}
"""
    assert (
        migrate(text, "v0.3")
        == """func @f(%A: memref<f32x9>, %x: f32) {
    %c0 = constant 0 : index
    %c9 = constant 9 : index
    foreach (%i)=(%c0),(%c9) {
        store %x, %A[%c0]
        %c3 = constant 3 : index
        store %x, %A[%c3]
    }
    foreach (%j)=(%c0),(%c9) {
        %c3 = constant 3 : index
        store %x, %A[%c3]
    }
    %c3 = constant 3 : index
    store %x, %A[%c3]
}

func @g(%A: memref<f32x9>, %x: f32) {
    %c3 = constant 3 : index
    store %x, %A[%c3]
}
"""
    )
