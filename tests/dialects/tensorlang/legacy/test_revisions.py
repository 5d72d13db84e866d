"""Which revision a text is taken for."""

from __future__ import annotations

import time

import pytest

from xtile.dialects.tensorlang.legacy import detect_revision

CASES: list[tuple[str, str]] = [
    ("", "v0.4"),
    ("func @f() {\n}", "v0.4"),
    ("%0 = group_id.x : index", "v0.4"),
    ("%0 = group_id", "v0.3"),
    ("%0 = group_id ; group_id.x", "v0.3"),
    ("; alloca -> memref<f32x4>\n%0 = alloca : memref<f32x4,local>", "v0.4"),
    ("%c = constant 1.0 : f32\n%0 = alloca -> memref<f32x4>", "v0.4"),
    ("%constant = alloca -> memref<f32x4>", "v0.3"),
    ("func @parallel() work_group_size(16,1) {\n}", "v0.3"),
    ("func @f(%0: group<memref<f32x9>x?>) {\n}", "v0.4"),
    ("%0 = arith.add %1, 5 : index", "v0.3"),
    ("%0 = add %1, 5 : index", "v0.1"),
    ("%0 = add %1, %2 : index", "v0.4"),
    ("%0 = group_id\n%1 = mul %0, %0 : index", "v0.1"),
    ("func @f(%x: memref<u32x4>) {\n}", "v0.1"),
    ("foreach %i=0,4 {\n}", "v0.3"),
    ("foreach (%i)=(%a),(%b) {\n}", "v0.4"),
    ("for %i=%a,%b : i32 {\n}", "v0.3"),
    ("%1 = subview %0[:,%g] : memref<f32x9x?>", "v0.3"),
    ("%1 = subview %0[4:?] : memref<f32x9>", "v0.3"),
    ("%1 = subview %0[4:5] : memref<f32x9>", "v0.4"),
    ("%1 = expand %0[1->2x?] : memref<f32x9x4>", "v0.3"),
    ("gemm.n.n %a, %A, %B, %b, %C\n : f32, memref<f32x9x9>", "v0.3"),
    ("gemm.n.n 1.0, %A", "v0.3"),
    ("yield %0 : i32", "v0.3"),
    ("yield :", "v0.3"),
    ("yield ()", "v0.4"),
    ("memref<f32x4,strided<?,?>>", "v0.4"),
]


@pytest.mark.parametrize(("text", "revision"), CASES)
def test_detection(text: str, revision: str) -> None:
    assert detect_revision(text) == revision


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "subview %a[" * 100_000,
        "expand %a[0->" * 100_000,
        "load %a[" * 100_000,
        "yield " + " " * 1_000_000,
        "attributes" + " " * 1_000_000,
        "attributes " * 100_000,
        "= " * 500_000,
        ", " * 500_000,
        ": f32 " * 200_000,
        "x" * 10_000_000,
        ";" + "x" * 10_000_000,
    ],
    ids=lambda text: text[:12],
)
def test_detection_is_quick_on_any_text(text: str) -> None:
    start = time.process_time()
    detect_revision(text)
    assert time.process_time() - start < 2
