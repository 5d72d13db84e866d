"""What distributed kernels look like."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mlir_opt import run_mlir_opt
from tests.transforms.distribute.kernels import (
    BLOCK_SIZE,
    DTYPES,
    body_of,
    distributed,
    kernel,
    printed,
    read,
)
from xtile.opt import XtileOptMain
from xtile.text.diagnostics import DiagnosticError

ONE_SUBGROUP = "known_block_size = array<i32: 16, 1, 1>"


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


def test_axpby_of_a_whole_number_of_tiles_has_no_guard_and_no_loop() -> None:
    text = kernel(
        "%alpha: f32, %a: memref<1x16xf32>, %b: memref<1x16xf32>",
        """%beta = arith.constant 0.0 : f32
        core.axpby %alpha, %a, %beta, %b : f32, memref<1x16xf32>, f32, memref<1x16xf32>""",
        ONE_SUBGROUP,
    )
    assert body_of(text) == lines("""
        %beta = arith.constant 0.000000e+00 : f32
        %lane = gpu.lane_id
        %c0 = arith.constant 0 : index
        %0 = memref.load %a[%c0, %lane] : memref<1x16xf32>
        %1 = arith.mulf %alpha, %0 : f32
        memref.store %1, %b[%c0, %lane] : memref<1x16xf32>
    """)


def test_axpby_of_any_size() -> None:
    text = kernel(
        "%alpha: f16, %a: memref<?xf16>, %beta: f32, %b: memref<?xf32>",
        "core.axpby %alpha, %a, %beta, %b : f16, memref<?xf16>, f32, memref<?xf32>",
    )
    assert body_of(text) == lines("""
        %0 = arith.extf %alpha : f16 to f32
        %1 = arith.constant 0.000000e+00 : f32
        %2 = arith.cmpf une, %beta, %1 : f32
        %c0 = arith.constant 0 : index
        %3 = memref.dim %b, %c0 : memref<?xf32>
        %subgroup = gpu.subgroup_id : index
        %c16 = arith.constant 16 : index
        %4 = arith.muli %subgroup, %c16 : index
        %lane = gpu.lane_id
        %5 = arith.addi %4, %lane : index
        %c32 = arith.constant 32 : index
        scf.for %column = %5 to %3 step %c32 {
        %6 = memref.load %a[%column] : memref<?xf16>
        %7 = arith.extf %6 : f16 to f32
        %8 = arith.mulf %0, %7 : f32
        %9 = scf.if %2 -> (f32) {
        %10 = memref.load %b[%column] : memref<?xf32>
        %11 = arith.mulf %beta, %10 : f32
        %12 = arith.addf %8, %11 : f32
        scf.yield %12 : f32
        } else {
        scf.yield %8 : f32
        }
        memref.store %9, %b[%column] : memref<?xf32>
        }
    """)


def test_a_product_in_registers() -> None:
    types = "f32, memref<4x8xf32>, memref<8x16xf32>, f32, memref<4x16xf32>"
    text = kernel(
        "%a: memref<4x8xf32>, %b: memref<8x16xf32>, %c: memref<4x16xf32>",
        f"""%alpha = arith.constant 1.0 : f32
        core.gemm %alpha, %a, %b, %alpha, %c : {types}""",
        ONE_SUBGROUP,
    )
    body = body_of(text)
    assert sum("memref.load %b" in line for line in body) == 1
    assert sum("memref.load %a" in line for line in body) == 4
    assert sum("memref.store" in line for line in body) == 4
    assert sum("memref.load %c" in line for line in body) == 4
    assert "scf.if" not in "".join(body)
    assert sum("arith.mulf" in line for line in body) == 4
    assert all("%lane]" in line for line in body if "%c[" in line or "%b[" in line)


def test_a_parallel_region_is_inlined_and_its_stores_are_not_guarded() -> None:
    text = kernel(
        "%a: memref<32xf32>, %x: f32",
        """core.parallel {
        %lane = gpu.lane_id
        memref.store %x, %a[%lane] : memref<32xf32>
        }""",
        ONE_SUBGROUP,
    )
    assert body_of(text) == ["%lane = gpu.lane_id", "memref.store %x, %a[%lane] : memref<32xf32>"]


def test_a_store_of_collective_code_is_done_once() -> None:
    text = kernel(
        "%a: memref<32xf32>, %i: index",
        """%x = memref.load %a[%i] : memref<32xf32>
        memref.store %x, %a[%i] : memref<32xf32>""",
        ONE_SUBGROUP,
    )
    assert body_of(text) == lines("""
        %x = memref.load %a[%i] : memref<32xf32>
        gpu.barrier
        %lane = gpu.lane_id
        %c0 = arith.constant 0 : index
        %0 = arith.cmpi eq, %lane, %c0 : index
        scf.if %0 {
        memref.store %x, %a[%i] : memref<32xf32>
        }
    """)


def test_an_atomic_update_of_collective_code_is_done_once() -> None:
    text = kernel(
        "%a: memref<f32>, %x: f32",
        "%old = memref.atomic_rmw addf %x, %a[] : (f32, memref<f32>) -> f32",
        ONE_SUBGROUP,
    )
    assert body_of(text)[-3:] == lines("""
        scf.if %0 {
        %old = memref.atomic_rmw addf %x, %a[] : (f32, memref<f32>) -> f32
        }
    """)


def test_all_work_items_get_the_first_ones_atomic_result() -> None:
    text = kernel(
        "%a: memref<f32>, %b: memref<f32>, %x: f32",
        """%old = memref.atomic_rmw addf %x, %a[] : (f32, memref<f32>) -> f32
        memref.store %old, %b[] : memref<f32>""",
    )
    body = body_of(text)
    buffer = "memref<f32, #gpu.address_space<workgroup>>"
    assert f"%0 = memref.alloca() : {buffer}" in body
    assert sum("memref.atomic_rmw" in line for line in body) == 1
    start = next(i for i, line in enumerate(body) if line.startswith("scf.if"))
    operations = [line.split(" = ")[-1].split()[0] for line in body[start : start + 6]]
    update, store, _, wait, load = operations[1:]
    assert (update, store, wait, load) == (
        "memref.atomic_rmw",
        "memref.store",
        "gpu.barrier",
        "memref.load",
    )


def test_the_same_memref_as_input_and_output_is_copied() -> None:
    types = "f32, memref<4x4xf32>, memref<4x4xf32>, f32, memref<4x4xf32>"
    text = kernel(
        "%a: memref<4x4xf32>, %b: memref<4x4xf32>",
        f"""%one = arith.constant 1.0 : f32
        core.gemm %one, %a, %b, %one, %a : {types}""",
    )
    body = body_of(text)
    assert sum("memref.alloca()" in line for line in body) == 1
    assert body.count("gpu.barrier") == 1


@pytest.mark.parametrize("type", DTYPES)
def test_mlir_opt_accepts_every_operation(type: str) -> None:
    matrix, vector, scalar = f"memref<?x?x{type}>", f"memref<?x{type}>", f"memref<{type}>"
    one = (
        f"%one = complex.constant [1.0 : {type[8:-1]}, 0.0 : {type[8:-1]}] : {type}"
        if type.startswith("complex")
        else f"%one = arith.constant {'1' if type[0] == 'i' else '1.0'} : {type}"
    )
    bodies = [
        f"core.axpby transpose_a %x, %a, %x, %b : {type}, {matrix}, {type}, {matrix}",
        f"core.hadamard atomic %x, %v, %w, %one, %w : {type}, {vector}, {vector}, {type}, {vector}",
        f"core.ger %x, %v, %w, %x, %a : {type}, {vector}, {vector}, {type}, {matrix}",
        f"core.sum %x, %v, %x, %s : {type}, {vector}, {type}, {scalar}",
        f"core.sum transpose_a %x, %a, %x, %v : {type}, {matrix}, {type}, {vector}",
        f"core.gemv %x, %a, %v, %x, %w : {type}, {matrix}, {vector}, {type}, {vector}",
        f"core.cumsum 0 %x, %a, %x, %b : {type}, {matrix}, {type}, {matrix}",
        f"core.cumsum 1 %x, %a, %x, %b : {type}, {matrix}, {type}, {matrix}",
        f"core.gemm transpose_b %x, %a, %b, %x, %c : {type}, {matrix}, {matrix}, {type}, {matrix}",
        f"core.gemm atomic %x, %a, %b, %one, %c : {type}, {matrix}, {matrix}, {type}, {matrix}",
    ]
    parameters = (
        f"%x: {type}, %a: {matrix}, %b: {matrix}, %c: {matrix}, "
        f"%v: {vector}, %w: {vector}, %s: {scalar}"
    )
    module = distributed(kernel(parameters, "\n".join([one, *bodies])))
    left = {op.name for op in module.walk() if op.name.startswith("core.")}
    assert left <= {"core.subgroup_scan", "core.atomic_update", "core.prefetch"}
    result = run_mlir_opt(printed(module, generic=True), "-allow-unregistered-dialect")
    assert result.returncode == 0, result.stderr


def head_of(text: str, chip: str = "pvc") -> str:
    output = printed(distributed(text, chip))
    return next(line for line in output.splitlines() if "gpu.func" in line)


GEMM = (
    "%x: f32, %a: memref<{0}x8xf32>, %b: memref<8x{0}xf32>, %c: memref<{0}x{0}xf32>",
    (
        "core.gemm %x, %a, %b, %x, %c : "
        "f32, memref<{0}x8xf32>, memref<8x{0}xf32>, f32, memref<{0}x{0}xf32>"
    ),
)


@pytest.mark.parametrize(
    ("size", "items"), [("8", 16), ("16", 16), ("32", 64), ("128", 128), ("?", 64)]
)
def test_the_largest_result_decides_about_the_number_of_subgroups(size: str, items: int) -> None:
    parameters, body = (part.format(size) for part in GEMM)
    head = head_of(kernel(parameters, body, "x"))
    assert "intel_reqd_sub_group_size = 16 : i32" in head
    assert f"known_block_size = array<i32: {items}, 1, 1>" in head


def test_sizes_that_are_given_stay() -> None:
    attributes = "intel_reqd_sub_group_size = 32 : i32, known_block_size = array<i32: 64, 2, 1>"
    head = head_of(kernel("", "", attributes))
    assert attributes in head
    assert 'core.level = "subgroup"' in head


@pytest.mark.parametrize(
    ("chip", "block_size", "subgroup_size"),
    [("pvc", "48, 1, 1", 16), ("pvc", "32, 1, 1", 16), ("dg2", "24, 1, 1", 8)],
)
def test_the_subgroup_size_divides_the_work_group(
    chip: str, block_size: str, subgroup_size: int
) -> None:
    head = head_of(kernel("", "", f"known_block_size = array<i32: {block_size}>"), chip)
    assert f"intel_reqd_sub_group_size = {subgroup_size} : i32" in head


def test_other_functions_stay_as_they_are() -> None:
    text = printed(
        read('gpu.module @m { gpu.func @k() attributes {core.level = "lane"} { gpu.return } }')
    )
    assert printed(distributed(text)) == text


ERRORS = {
    "no such subgroup size": (
        "",
        "",
        "intel_reqd_sub_group_size = 8 : i32",
        "a subgroup has 8 work-items, but pvc has subgroups of 16 or 32",
    ),
    "work-group too large": (
        "",
        "",
        "known_block_size = array<i32: 64, 32, 1>",
        "a work-group has 2048 work-items, but pvc allows 1024",
    ),
    "work-group no multiple": (
        "",
        "",
        "known_block_size = array<i32: 24, 1, 1>",
        "a work-group of 24 work-items is no multiple of the subgroup size 16",
    ),
    "atomic beta": (
        "%x: f32, %a: memref<4xf32>",
        "core.axpby atomic %x, %a, %x, %a : f32, memref<4xf32>, f32, memref<4xf32>",
        BLOCK_SIZE,
        "an atomic update needs a constant beta, 0 or 1",
    ),
    "float to integer": (
        "%x: f32, %a: memref<4xi32>",
        "core.axpby %x, %a, %x, %a : f32, memref<4xi32>, f32, memref<4xi32>",
        BLOCK_SIZE,
        "a number of type f32 cannot become one of type i32",
    ),
    "dynamic input that is the output": (
        "%x: f32, %a: memref<?x?xf32>",
        "core.axpby transpose_a %x, %a, %x, %a : f32, memref<?x?xf32>, f32, memref<?x?xf32>",
        BLOCK_SIZE,
        (
            "an input that is the output too must be copied, which needs a static size; "
            "write the result to another memref"
        ),
    ),
    "large input that is the output": (
        "%x: f32, %a: memref<256x256xf32>",
        (
            "core.axpby transpose_a %x, %a, %x, %a : "
            "f32, memref<256x256xf32>, f32, memref<256x256xf32>"
        ),
        BLOCK_SIZE,
        (
            "an input that is the output too must be copied to local memory, but it has 262144 "
            "bytes and pvc 131072; write the result to another memref"
        ),
    ),
    "other control flow": (
        "%i: index",
        "scf.index_switch %i default { scf.yield }",
        BLOCK_SIZE,
        (
            "scf.index_switch in collective code cannot be distributed over subgroups; "
            "use scf.for or scf.if"
        ),
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_located(name: str) -> None:
    parameters, body, attributes, message = ERRORS[name]
    with pytest.raises(DiagnosticError) as caught:
        distributed(kernel(parameters, body, attributes))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == message
    assert diagnostic.span is not None


def test_the_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "kernel.mlir"
    path.write_text(kernel("", "", "x"))
    assert XtileOptMain([str(path), "-p", "core-distribute{chip=bmg}"]).execute() == 0
    assert 'core.level = "subgroup"' in capsys.readouterr().out
