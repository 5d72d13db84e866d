"""Wrong older text: each mistake at its place, and what would be right."""

from __future__ import annotations

from collections.abc import Callable

import pytest

CASES: list[tuple[str, str, list[str]]] = [
    (
        "%x: i32",
        "%y = arith.add %x, 1.0 : f32",
        [
            (
                "2.26-28: error: %x is of type i32, but this annotation of it says f32; "
                "both must be the same"
            )
        ],
    ),
    (
        "%A: memref<f32x9x9>",
        "%y = load %A[0,0] : memref<f64x9x9>",
        [
            (
                "2.21-35: error: %A is of type memref<f32x9x9>, but this annotation of it says "
                "memref<f64x9x9>; both must be the same"
            )
        ],
    ),
    (
        "%A: memref<f32x9x9>",
        "%y = subview %A[0:4,1] : memref<f32x9>",
        [
            (
                "2.26-38: error: %A is of type memref<f32x9x9>, but this annotation of it says "
                "memref<f32x9>; both must be the same"
            )
        ],
    ),
    (
        "%A: memref<f32x9>",
        "%y = subview %A[9:?] : memref<f32x9>",
        ["2.17-19: error: offset 9 leaves nothing of mode 0, whose size is 9"],
    ),
    (
        "%A: memref<f32x9>",
        "%y = subview %A[0:0] : memref<f32x9>",
        [
            (
                "2.17-19: error: the size of a slice must be positive; "
                "write the offset alone to drop the mode"
            )
        ],
    ),
    (
        "%A: memref<f32x9>",
        "%y = subview %A[:,:] : memref<f32x9>",
        ["2.14-20: error: 2 slices are given for a memref of order 1; write one for each mode"],
    ),
    (
        "%A: memref<f32x9>",
        "%y = expand %A[0->2x?] : memref<f32x9>",
        ["2.19-21: error: 2 does not divide the size of mode 0, which is 9"],
    ),
    (
        "%A: memref<f32x9>",
        "%y = expand %A[0->?x?] : memref<f32x9>",
        ["2.19-21: error: at most one size of an expand shape may be '?'"],
    ),
    (
        "%A: memref<f32x?>",
        "%y = expand %A[0->?] : memref<f32x?>",
        ["2.19: error: an expand shape needs at least two sizes"],
    ),
    (
        "%A: memref<f32x9>",
        "%y = expand %A[1->3x3] : memref<f32x9>",
        ["2.16: error: the memref has no mode 1; its order is 1"],
    ),
    (
        "%A: memref<f32x9>",
        "%y = fuse %A[0,0] : memref<f32x9>",
        ["2.14-16: error: the first mode to fuse must be less than the last"],
    ),
    (
        "%a: f32, %A: memref<f32x9>",
        "axpby.n %a, %A, 1.0, %A : f32, memref<f32x9>",
        ["2.27-44: error: 4 operands are given but 2 types; write one type for each operand"],
    ),
    (
        "%A: memref<f32x9>",
        "axpby.n.n 1.0, %A, 1.0, %A : f32, memref<f32x9>, f32, memref<f32x9>",
        ["2.8-9: error: expected a local identifier '%name' or a constant, but found '.n'"],
    ),
    ("", "%y = arith.add 1.5, 2 : i32", ["2.16-18: error: this constant is not of type i32"]),
    (
        "",
        "%y = arith.frob 1, 2 : i32",
        [
            (
                "2.11-15: error: expected the name of an arithmetic instruction, e.g. '.add', "
                "but found '.frob'"
            )
        ],
    ),
    (
        "%x: i32",
        "%y = cmp.lo %x, 2 : i32",
        ["2.9-11: error: expected a condition: .eq, .ne, .gt, .ge, .lt or .le, but found '.lo'"],
    ),
    (
        "%x: i32",
        "for %i = 0, %x : index {\n}",
        [
            (
                "2.18-22: error: %x is of type i32, but this annotation of it says index; "
                "both must be the same"
            )
        ],
    ),
    (
        "%x: i32",
        "%y = load %x[0] : memref<i32>",
        ["2.11-12: error: expected a memref or a group, but this is of type i32"],
    ),
]


@pytest.mark.parametrize(("parameters", "old", "messages"), CASES)
def test_mistake(
    parameters: str, old: str, messages: list[str], diagnose: Callable[..., list[str]]
) -> None:
    text = f"func @f({parameters}) {{\n{old}\n}}\n"
    assert diagnose(text, "v0.3") == messages


def test_all_mistakes_are_reported(diagnose: Callable[..., list[str]]) -> None:
    text = """func @f(%x: i32, %A: memref<f32x9>) work_group_size(0,1) {
}
func @g(%x: i32, %A: memref<f32x9>) {
    %a = subview %A[10:?] : memref<f32x9>
    %b = subview %a[:] : memref<f32x9>
    %c = arith.add %undefined, 1 : i32
    %d = cast %x : i64 -> i32
    gemm.n.n 1.0, %A
    %e = neg %x : i32
}
"""
    assert diagnose(text, "v0.3") == [
        "1.53: error: work_group_size must be positive, but it is 0",
        "4.21-24: error: offset 10 leaves nothing of mode 0, whose size is 9",
        (
            "6.20-29: error: %undefined is not defined here; define it before its use, "
            "in this region or one around it"
        ),
        (
            "7.20-22: error: %x is of type i32, but this annotation of it says i64; "
            "both must be the same"
        ),
        "9.5-6: error: expected ',', but found '%e'",
    ]


def test_a_wrong_instruction_leaves_no_constants(diagnose: Callable[..., list[str]]) -> None:
    text = """func @f(%A: memref<f32x9>) {
    %a = load %A[3, 4 : memref<f32x9>
    %b = load %A[3] : memref<f32x9>
}
"""
    assert len(diagnose(text, "v0.3")) == 1
