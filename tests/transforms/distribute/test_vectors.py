"""On a CPU, one work-item does the linear algebra of its work-group with whole vectors."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from tests.samples import one_of
from tests.transforms.distribute.kernels import (
    DTYPES,
    body_of,
    distributed,
    function_of,
    kernel,
    printed,
    run,
)
from xtile.transforms.distribute.vectors import products

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, Any]


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


def axpby(shape: str) -> str:
    types = f"f32, memref<{shape}f32>, f32, memref<{shape}f32>"
    return kernel(
        f"%alpha: f32, %a: memref<{shape}f32>, %b: memref<{shape}f32>",
        f"%beta = arith.constant 0.0 : f32\ncore.axpby %alpha, %a, %beta, %b : {types}",
        "",
    )


def gemm(
    a: str, b: str, c: str, flags: str = "", type: str = "f32", beta: str = "", attributes: str = ""
) -> str:
    """A product with `alpha = 1`; beta is 0, or a parameter of the given type."""
    point = "" if type == "index" else ".0"
    constant = "" if beta else f"%beta = arith.constant 0{point} : {type}"
    parameters = f"%a: memref<{a}>, %b: memref<{b}>, %c: memref<{c}>"
    return kernel(
        parameters + (f", %beta: {beta}" if beta else ""),
        f"%one = arith.constant 1{point} : {type}\n{constant}\n"
        f"core.gemm {flags} %one, %a, %b, %beta, %c : {type}, memref<{a}>, memref<{b}>, {type}, "
        f"memref<{c}>",
        attributes,
    )


# --- the shape of the code ---


def test_a_known_size_is_cut_into_vectors_without_a_rest() -> None:
    assert body_of(axpby("20x"), "cpu") == lines(
        """
        %beta = arith.constant 0.000000e+00 : f32
        %c0 = arith.constant 0 : index
        %0 = vector.load %a[%c0] : memref<20xf32>, vector<16xf32>
        %1 = vector.broadcast %alpha : f32 to vector<16xf32>
        %2 = arith.mulf %1, %0 : vector<16xf32>
        vector.store %2, %b[%c0] : memref<20xf32>, vector<16xf32>
        %c16 = arith.constant 16 : index
        %3 = vector.load %a[%c16] : memref<20xf32>, vector<4xf32>
        %4 = vector.broadcast %alpha : f32 to vector<4xf32>
        %5 = arith.mulf %4, %3 : vector<4xf32>
        vector.store %5, %b[%c16] : memref<20xf32>, vector<4xf32>
        """
    )


def test_an_unknown_size_ends_with_single_numbers() -> None:
    assert body_of(axpby("?x"), "cpu") == lines(
        """
        %beta = arith.constant 0.000000e+00 : f32
        %c0 = arith.constant 0 : index
        %0 = memref.dim %b, %c0 : memref<?xf32>
        %c16 = arith.constant 16 : index
        %1 = arith.remui %0, %c16 : index
        %2 = arith.subi %0, %1 : index
        %3 = vector.broadcast %alpha : f32 to vector<16xf32>
        scf.for %column = %c0 to %2 step %c16 {
        %4 = vector.load %a[%column] : memref<?xf32>, vector<16xf32>
        %5 = arith.mulf %3, %4 : vector<16xf32>
        vector.store %5, %b[%column] : memref<?xf32>, vector<16xf32>
        } {core.unroll = false}
        %c1 = arith.constant 1 : index
        scf.for %column = %2 to %0 step %c1 {
        %4 = memref.load %a[%column] : memref<?xf32>
        %5 = arith.mulf %alpha, %4 : f32
        memref.store %5, %b[%column] : memref<?xf32>
        } {core.unroll = false}
        """
    )


def test_a_tile_of_a_product_is_in_registers() -> None:
    text = gemm("2x3xf64", "3x9xf64", "2x9xf64", type="f64")
    assert body_of(text, "cpu") == lines(
        """
        %one = arith.constant 1.000000e+00 : f64
        %beta = arith.constant 0.000000e+00 : f64
        %0 = arith.constant dense<0.000000e+00> : vector<8xf64>
        %1 = arith.constant 0.000000e+00 : f64
        %c0 = arith.constant 0 : index
        %c3 = arith.constant 3 : index
        %c1 = arith.constant 1 : index
        %c8 = arith.constant 8 : index
        %2:4 = scf.for %k = %c0 to %c3 step %c1 iter_args(%sum = %0, %sum_0 = %1, %sum_1 = %0, \
%sum_2 = %1) -> (vector<8xf64>, f64, vector<8xf64>, f64) {
        %3 = vector.load %b[%k, %c0] : memref<3x9xf64>, vector<8xf64>
        %4 = memref.load %b[%k, %c8] : memref<3x9xf64>
        %5 = memref.load %a[%c0, %k] : memref<2x3xf64>
        %6 = vector.broadcast %5 : f64 to vector<8xf64>
        %7 = math.fma %6, %3, %sum : vector<8xf64>
        %8 = math.fma %5, %4, %sum_0 : f64
        %9 = memref.load %a[%c1, %k] : memref<2x3xf64>
        %10 = vector.broadcast %9 : f64 to vector<8xf64>
        %11 = math.fma %10, %3, %sum_1 : vector<8xf64>
        %12 = math.fma %9, %4, %sum_2 : f64
        scf.yield %7, %8, %11, %12 : vector<8xf64>, f64, vector<8xf64>, f64
        } {core.unroll = false}
        vector.store %2#0, %c[%c0, %c0] : memref<2x9xf64>, vector<8xf64>
        memref.store %2#1, %c[%c0, %c8] : memref<2x9xf64>
        vector.store %2#2, %c[%c1, %c0] : memref<2x9xf64>, vector<8xf64>
        memref.store %2#3, %c[%c1, %c8] : memref<2x9xf64>
        """
    )


PANELS: dict[str, tuple[str, bool]] = {
    "B stays in the first cache": (gemm("64x64xf32", "64x64xf32", "64x64xf32"), False),
    "B is large": (gemm("64x256xf32", "256x64xf32", "64x64xf32"), True),
    "B has long rows": (
        gemm("64x64xf32", "64x64xf32, strided<[1024, 1]>", "64x64xf32"),
        True,
    ),
    "B has rows of unknown length": (
        gemm("64x64xf32", "64x64xf32, strided<[?, 1]>", "64x64xf32"),
        True,
    ),
    "B is read once": (gemm("8x256xf32", "256x64xf32", "8x64xf32"), False),
    "B is transposed": (gemm("9x9xf32", "9x9xf32", "9x9xf32", "transpose_b"), True),
    "sums would be rounded on the way": (
        gemm("64x1024xf16", "1024x64xf16", "64x64xf16", type="f16"),
        False,
    ),
    "the sums of one panel would not": (
        gemm("64x512xf16", "512x64xf16", "64x64xf16", type="f16"),
        True,
    ),
    "C is updated atomically": (
        gemm("64x1024xf32", "1024x64xf32", "64x64xf32", "atomic"),
        False,
    ),
    "a register holds one number": (
        gemm("9x9xindex", "9x9xindex", "9x9xindex", "transpose_b", "index"),
        False,
    ),
}


@pytest.mark.parametrize("name", PANELS)
def test_b_is_copied_where_that_pays(name: str) -> None:
    text, has_panel = PANELS[name]
    assert any(size > 16 for size in buffers_of(text)) == has_panel


def buffers_of(text: str) -> list[int]:
    """The numbers of elements of the buffers that distribution allocates."""
    lines_of_buffers = (line for line in body_of(text, "cpu") if " = memref.alloca" in line)
    return [
        int(line.split("memref<")[1].split("x")[0])
        for line in lines_of_buffers
        if not line.startswith("%own")
    ]


def test_a_panel_leaves_the_kernel_its_own_local_memory() -> None:
    own = "memref<60000xf32, #gpu.address_space<workgroup>>"
    text = gemm("64x1024xf32", "1024x64xf32", "64x64xf32").replace(
        "%one =", f"%own = memref.alloca() : {own}\n%one ="
    )
    (elements,) = buffers_of(text)
    assert 4 * (elements + 60000) <= 256 * 1024
    assert elements % 64 == 0


def test_products_share_their_panels() -> None:
    """The second product finds the panel of the first large enough."""
    text = gemm("64x1024xf32", "1024x64xf32", "64x64xf32")
    (line,) = (line for line in text.splitlines() if line.startswith("core.gemm"))
    again = line.replace("1024", "512").replace("%a,", "%d,").replace("%b,", "%e,")
    text = text.replace(line, f"{line}\n{again}")
    text = text.replace("(%a:", "(%d: memref<64x512xf32>, %e: memref<512x64xf32>, %a:")
    assert len(buffers_of(text)) == 1


def test_products_of_many_types_leave_local_memory_for_each_other() -> None:
    types = ("f64", "f32", "i64", "i32")
    parameters = ", ".join(f"%a_{t}: memref<99x999x{t}>, %c_{t}: memref<99x99x{t}>" for t in types)
    lines: list[str] = []
    for type in types:
        point = "" if type.startswith("i") else ".0"
        lines.append(f"%one_{type} = arith.constant 1{point} : {type}")
        operands = f"%one_{type}, %a_{type}, %a_{type}, %one_{type}, %c_{type}"
        memory = f"memref<99x999x{type}>"
        lines.append(
            f"core.gemm transpose_b {operands} : {type}, {memory}, {memory}, {type}, "
            f"memref<99x99x{type}>"
        )
    text = kernel(parameters, "\n".join(lines), "")
    sizes = buffers_of(text)
    assert len(sizes) == len(types)
    widths = {"f64": 8, "f32": 4, "i64": 8, "i32": 4}
    used = sum(widths[type] * size for type, size in zip(types, sizes, strict=True))
    assert used <= 256 * 1024


# --- work-items ---


def head_of(text: str) -> str:
    return next(
        line for line in printed(distributed(text, "cpu")).splitlines() if "gpu.func" in line
    )


PARALLEL = "core.parallel {\n%x = arith.constant 0 : index\n}"
QUESTION = "%lanes = gpu.subgroup_size : index"


@pytest.mark.parametrize(
    ("body", "attributes", "size", "subgroup_size"),
    [
        ("", "", "1, 1, 1", None),
        (PARALLEL, "", "16, 1, 1", 16),
        (PARALLEL, "intel_reqd_sub_group_size = 32 : i32", "32, 1, 1", 32),
        (QUESTION, "intel_reqd_sub_group_size = 32 : i32", "32, 1, 1", 32),
        (PARALLEL, "known_block_size = array<i32: 16, 8, 1>", "16, 8, 1", 16),
        ("", "known_block_size = array<i32: 1, 1, 1>", "1, 1, 1", None),
        # A GPU's sizes, on which nothing depends.
        ("", "intel_reqd_sub_group_size = 32 : i32", "1, 1, 1", None),
        ("", "known_block_size = array<i32: 16, 8, 1>", "1, 1, 1", None),
    ],
)
def test_work_items(body: str, attributes: str, size: str, subgroup_size: int | None) -> None:
    head = head_of(kernel("", body, attributes))
    assert f"known_block_size = array<i32: {size}>" in head
    expected = f"intel_reqd_sub_group_size = {subgroup_size} : i32"
    assert (expected in head) if subgroup_size else ("sub_group_size" not in head)


LOCAL = "memref<8xf32, #gpu.address_space<workgroup>>"

PROGRAM = f"""
%zero = arith.constant 0.0 : f32
%l = memref.alloca() : {LOCAL}
core.axpby %alpha, %a, %zero, %l : f32, memref<8xf32>, f32, {LOCAL}
core.axpby %alpha, %l, %zero, %a : f32, {LOCAL}, f32, memref<8xf32>
"""


def test_work_item_0_does_not_wait_for_itself() -> None:
    for attributes in ("", "known_block_size = array<i32: 32, 1, 1>"):
        text = kernel("%alpha: f32, %a: memref<8xf32>", PROGRAM, attributes)
        assert "gpu.barrier" not in body_of(text, "cpu")


def test_work_items_wait_for_work_item_0() -> None:
    parallel = (
        f"core.parallel {{\n%c = arith.constant 1 : index\n%x = memref.load %l[%c] : {LOCAL}\n}}"
    )
    text = kernel("%alpha: f32, %a: memref<8xf32>", PROGRAM + parallel, "")
    assert body_of(text, "cpu").count("gpu.barrier") == 1


def test_one_work_item_needs_no_barrier_of_the_kernel() -> None:
    assert body_of(kernel("", "gpu.barrier", ""), "cpu") == []


# --- values ---

SIZES = (1, 9, 20, 35, 56, 84)


def random(rng: np.random.Generator, type: str, *shape: int) -> Array:
    return rng.uniform(-1, 1, shape).astype(DTYPES[type])


@pytest.mark.parametrize(
    ("rows", "columns", "is_known", "flags"),
    one_of(2, itertools.product(SIZES, SIZES, [True, False], ["", "transpose_a", "transpose_b"])),
)
def test_products_of_common_sizes(rows: int, columns: int, is_known: bool, flags: str) -> None:
    depth = 7
    a_shape = (depth, rows) if flags == "transpose_a" else (rows, depth)
    b_shape = (columns, depth) if flags == "transpose_b" else (depth, columns)
    types = [
        (f"{m}x{n}xf32" if is_known else "?x?xf32") for m, n in (a_shape, b_shape, (rows, columns))
    ]
    rng = np.random.default_rng(1000 * rows + columns)
    a, b = random(rng, "f32", *a_shape), random(rng, "f32", *b_shape)
    c = np.full((rows, columns), np.nan, np.float32)
    run(distributed(gemm(*types, flags), "cpu"), a, b, c)
    left = a.T if flags == "transpose_a" else a
    right = b.T if flags == "transpose_b" else b
    expected = left.astype(float) @ right.astype(float)
    # Each of 7 fused steps rounds a sum that is not larger than 7.
    assert np.max(np.abs(c - expected)) <= 7 * 7 * np.finfo(np.float32).eps


@pytest.mark.parametrize("beta", ["", "dynamic 0", "dynamic 2"])
@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("depth", [0, 15, 40, 60])
@pytest.mark.parametrize("type", ["f32", "f64"])
def test_deep_products_are_sums_of_panels(
    type: str, depth: int, is_known: bool, beta: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of about 15 rows.
    monkeypatch.setattr(products, "_PANEL", 2048)
    rows, columns = 9, 17
    pitch = columns + 1024
    layout = f", strided<[{pitch}, 1]>"
    known = [f"{rows}x{depth}x{type}", f"{depth}x{columns}x{type}{layout}"]
    types = known if is_known else [f"?x?x{type}", f"?x?x{type}, strided<[?, 1]>"]
    c_type = f"{rows}x{columns}x{type}" if is_known else f"?x?x{type}"
    rng = np.random.default_rng(depth)
    a, wide = random(rng, type, rows, depth), random(rng, type, depth, pitch)
    b = wide[:, :columns]
    old = random(rng, type, rows, columns)
    number = int(beta.rsplit(maxsplit=1)[-1]) if beta else 0
    c = old.copy() if number else np.full_like(old, np.nan)
    text = gemm(*types, c_type, type=type, beta=type if beta else "")
    module = distributed(text, "cpu")
    run(module, a, b, c, *([DTYPES[type](number)] if beta else []))
    expected = a.astype(float) @ b.astype(float) + number * old
    # A sum of n products that are not larger than 1, in any order.
    bound = 4 * (depth + 2) * np.sqrt(depth + 4) * np.finfo(DTYPES[type]).eps
    assert np.max(np.abs(c - expected)) <= bound
    # Beside the panel there is room for a tile, where the last one may have too many columns.
    assert len(buffers_of(text)) == (depth > 0 if is_known else 2)


def test_only_work_item_0_updates() -> None:
    """Every work-item would add once more."""
    text = gemm(
        "3x4xf32",
        "4x20xf32",
        "3x20xf32",
        beta="f32",
        attributes="known_block_size = array<i32: 16, 2, 1>",
    )
    a, b = np.ones((3, 4), np.float32), np.ones((4, 20), np.float32)
    c = np.ones((3, 20), np.float32)
    module = distributed(text, "cpu")
    assert function_of(module).known_block_size is not None
    run(module, a, b, c, np.float32(2))
    assert np.array_equal(c, np.full_like(c, 6))
