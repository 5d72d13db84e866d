"""Products on the matrix units: which there are, and what they look like."""

from __future__ import annotations

import numpy as np
import pytest

from tests.lane_targets import for_either
from tests.mlir_opt import run_mlir_opt
from tests.transforms.distribute.kernels import (
    DTYPES,
    body_of,
    distributed,
    kernel,
    printed,
    read,
    run,
)
from xtile.targets import INTEL
from xtile.text.diagnostics import Diagnostics, Severity
from xtile.transforms.distribute.distribution import distribute

ONE_SUBGROUP = "known_block_size = array<i32: 16, 1, 1>"
EIGHT_SUBGROUPS = "known_block_size = array<i32: 128, 1, 1>"


def gemm(
    a: str,
    b: str,
    c: str,
    flags: str = "",
    beta: str = "0.0",
    attributes: str = ONE_SUBGROUP,
) -> str:
    """A kernel with one product and a known beta."""
    return kernel(
        f"%alpha: f32, %a: {a}, %b: {b}, %c: {c}",
        f"""%beta = arith.constant {beta} : f32
        core.gemm {flags} %alpha, %a, %b, %beta, %c : f32, {a}, {b}, f32, {c}""",
        attributes,
    )


def test_a_product_of_whole_tiles() -> None:
    text = gemm("memref<32x64xf16>", "memref<64x32xf16>", "memref<32x32xf16>")
    assert body_of(text) == [
        "%beta = arith.constant 0.000000e+00 : f32",
        "%0 = arith.constant dense<0.000000e+00> : vector<32x32xf32>",
        "%c0 = arith.constant 0 : index",
        "%c64 = arith.constant 64 : index",
        "%c16 = arith.constant 16 : index",
        "%1 = arith.constant 0.000000e+00 : f16",
        "%2 = scf.for %k = %c0 to %c64 step %c16 iter_args(%sum = %0) -> (vector<32x32xf32>) {",
        "%6 = arith.addi %k, %c16 : index",
        "core.prefetch %a[%c0, %6] block [32, 16] level 0 : memref<32x64xf16>",
        "core.prefetch %b[%6, %c0] block [16, 32] level 0 : memref<64x32xf16>",
        (
            "%7 = vector.transfer_read %a[%c0, %k], %1 {in_bounds = [true, true]} : "
            "memref<32x64xf16>, vector<32x16xf16>"
        ),
        (
            "%8 = vector.transfer_read %b[%k, %c0], %1 {in_bounds = [true, true]} : "
            "memref<64x32xf16>, vector<16x32xf16>"
        ),
        (
            "%9 = vector.contract {indexing_maps = [#map, #map1, #map2], iterator_types = "
            '["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %7, %8, %sum : '
            "vector<32x16xf16>, vector<16x32xf16> into vector<32x32xf32>"
        ),
        "scf.yield %9 : vector<32x32xf32>",
        "}",
        "%3 = vector.broadcast %alpha : f32 to vector<32x32xf32>",
        "%4 = arith.mulf %3, %2 : vector<32x32xf32>",
        "%5 = arith.truncf %4 : vector<32x32xf32> to vector<32x32xf16>",
        (
            "vector.transfer_write %5, %c[%c0, %c0] {in_bounds = [true, true]} : "
            "vector<32x32xf16>, memref<32x32xf16>"
        ),
    ]


def shapes_of(text: str) -> str:
    """The shape of the tile of C."""
    (line,) = (line for line in body_of(text) if "vector.contract" in line)
    return line.split(" into vector<")[1].split("xf32>")[0]


TILES = {
    "one subgroup": (64, 64, ONE_SUBGROUP, "32x32"),
    "eight subgroups": (64, 64, EIGHT_SUBGROUPS, "32x16"),
    "few rows": (8, 64, ONE_SUBGROUP, "8x32"),
    "few columns": (64, 16, ONE_SUBGROUP, "32x16"),
    "more subgroups than tiles": (16, 16, EIGHT_SUBGROUPS, "8x16"),
    "unknown sizes": ("?", "?", EIGHT_SUBGROUPS, "32x32"),
    "unknown columns": (16, "?", ONE_SUBGROUP, "16x32"),
}


@pytest.mark.parametrize("name", TILES)
def test_the_largest_tile_that_gives_all_subgroups_work(name: str) -> None:
    rows, columns, attributes, shape = TILES[name]
    a, b = f"memref<{rows}x32xf16>", f"memref<32x{columns}xf16>"
    text = gemm(a, b, f"memref<{rows}x{columns}xf32>", attributes=attributes)
    assert shapes_of(text) == shape


def test_only_what_a_tile_may_not_fill_is_checked() -> None:
    text = gemm("memref<40x32xf16>", "memref<32x64xf16>", "memref<40x64xf32>", beta="1.0")
    found = {
        line.split("transfer_")[1].split("[")[0]: line
        for line in body_of(text)
        if "transfer_" in line
    }
    bounds = {
        name.split()[-1]: line.split("in_bounds = ")[1].split("]")[0] + "]"
        for name, line in found.items()
    }
    assert bounds == {"%a": "[false, true]", "%b": "[true, true]", "%c": "[false, true]"}


def test_transposed_operands_are_read_by_a_map() -> None:
    flags = "transpose_a transpose_b"
    text = gemm("memref<64x32xf16>", "memref<32x64xf16>", "memref<32x32xf32>", flags)
    body = body_of(text)
    reads = [line for line in body if "transfer_read" in line]
    assert ["%a[%k, %c0]" in reads[0], "%b[%c0, %k]" in reads[1]] == [True, True]
    assert all("permutation_map = #map}" in line for line in reads)
    prefetches = [line.split("] block ")[1] for line in body if "core.prefetch" in line]
    assert prefetches == [
        "[16, 32] level 0 : memref<64x32xf16>",
        "[32, 16] level 0 : memref<32x64xf16>",
    ]
    assert "#map = affine_map<(d0, d1) -> (d1, d0)>" in printed(distributed(text))


def test_an_unknown_beta_reads_only_if_it_is_not_zero() -> None:
    types = "f32, memref<32x32xf16>, memref<32x32xf16>, f32, memref<32x32xf32>"
    text = kernel(
        "%x: f32, %a: memref<32x32xf16>, %b: memref<32x32xf16>, %c: memref<32x32xf32>",
        f"core.gemm %x, %a, %b, %x, %c : {types}",
        ONE_SUBGROUP,
    )
    body = body_of(text)
    start = next(i for i, line in enumerate(body) if "= scf.if" in line)
    assert "vector.transfer_read %c" in body[start + 1]
    assert body[start].endswith("-> (vector<32x32xf32>) {")


def test_atomic_updates_of_tiles() -> None:
    text = gemm("memref<32x32xbf16>", "memref<32x40xbf16>", "memref<32x40xf32>", "atomic", "1.0")
    (update,) = (line for line in body_of(text) if "core.atomic_update" in line)
    assert "core.atomic_update addf" in update
    assert "checked [1]" in update


MISFITS = {
    "types": (
        "memref<32x32xf32>",
        "memref<32x32xf32>",
        "pvc",
        ONE_SUBGROUP,
        "it rounds factors of f32 to tf32",
    ),
    "two types": (
        "memref<32x32xf16>",
        "memref<32x32xbf16>",
        "pvc",
        ONE_SUBGROUP,
        "it has no products of f16 and bf16",
    ),
    "size": (
        "memref<4x32xf16>",
        "memref<32x32xf16>",
        "pvc",
        ONE_SUBGROUP,
        "the product is smaller than 8 x 16 x 16",
    ),
    "subgroup size": (
        "memref<32x32xf16>",
        "memref<32x32xf16>",
        "bmg",
        "intel_reqd_sub_group_size = 32 : i32",
        "it needs subgroups of 16 lanes",
    ),
    "device": (
        "memref<32x32xf16>",
        "memref<32x32xf16>",
        "dg2",
        ONE_SUBGROUP,
        "LLVM has none for subgroups of 8 lanes",
    ),
    "layout": (
        "memref<32x32xf16, strided<[?, ?]>>",
        "memref<32x32xf16>",
        "pvc",
        ONE_SUBGROUP,
        "an input is not known to be contiguous along a dimension",
    ),
    "memory": (
        "memref<32x32xf16, #gpu.address_space<workgroup>>",
        "memref<32x32xf16>",
        "pvc",
        ONE_SUBGROUP,
        "an input is not in global memory",
    ),
}


@pytest.mark.parametrize("name", MISFITS)
def test_other_products_say_why(name: str) -> None:
    a, b, chip, attributes, reason = MISFITS[name]
    rows = a.split("<")[1].split("x")[0]
    text = gemm(a, b, f"memref<{rows}x32xf32>", attributes=attributes)
    diagnostics = Diagnostics()
    module = distribute(read(text), for_either(INTEL.chips[chip]), diagnostics)
    assert "vector.contract" not in printed(module)
    (remark,) = diagnostics
    assert remark.severity is Severity.REMARK
    assert remark.message == f"the matrix unit does not compute this product: {reason}"


def test_mlir_opt_accepts() -> None:
    texts = [
        gemm("memref<40x32xf16>", "memref<32x64xf16>", "memref<40x64xf16>", beta="2.0"),
        gemm("memref<?x?xbf16>", "memref<?x?xbf16>", "memref<?x?xbf16>", "transpose_a", "1.0"),
        gemm("memref<32x32xbf16>", "memref<32x40xbf16>", "memref<32x40xf32>", "atomic", "1.0"),
    ]
    modules = [printed(distributed(text), generic=True) for text in texts]
    result = run_mlir_opt(
        "\n// -----\n".join(modules), "-allow-unregistered-dialect", "-split-input-file"
    )
    assert result.returncode == 0, result.stderr


SIZES = [(64, 64, 64), (33, 100, 50), (8, 16, 17)]

FORMS = [
    ("", "0.0", False),
    ("transpose_a", "1.0", True),
    ("transpose_b", "2.0", True),
    ("transpose_a transpose_b", "dynamic 0.0", False),
    ("", "dynamic 3.0", True),
    ("atomic", "0.0", False),
    ("atomic transpose_a", "1.0", True),
]


@pytest.mark.parametrize("input_type", ["f16", "bf16"])
@pytest.mark.parametrize("output_type", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_values(input_type: str, output_type: str, form: tuple[str, str, bool]) -> None:
    flags, beta, is_dynamic = form
    rows, columns, depth = SIZES[FORMS.index(form) % len(SIZES)]
    rng = np.random.default_rng(FORMS.index(form))
    shapes = [
        (depth, rows) if "transpose_a" in flags else (rows, depth),
        (columns, depth) if "transpose_b" in flags else (depth, columns),
        (rows, columns),
    ]
    a, b, c = (
        rng.uniform(-1, 1, shape).astype(DTYPES[type])
        for shape, type in zip(shapes, (input_type, input_type, output_type), strict=True)
    )
    types = [
        f"memref<?x?x{type}, strided<[?, 1]>>"
        if is_dynamic
        else f"memref<{shape[0]}x{shape[1]}x{type}>"
        for shape, type in zip(shapes, (input_type, input_type, output_type), strict=True)
    ]
    factor = float(beta.split()[-1])
    known = "" if "dynamic" in beta else f"%known = arith.constant {factor} : f32"
    module = distributed(
        kernel(
            f"%alpha: f16, %unknown: f32, %a: {types[0]}, %b: {types[1]}, %c: {types[2]}",
            f"{known}\ncore.gemm {flags} %alpha, %a, %b, {'%known' if known else '%unknown'}, %c : "
            f"f16, {types[0]}, {types[1]}, f32, {types[2]}",
            EIGHT_SUBGROUPS,
        )
    )
    assert "vector.contract" in printed(module)
    left, right = a.astype(np.float64), b.astype(np.float64)
    left = left.T if "transpose_a" in flags else left
    right = right.T if "transpose_b" in flags else right
    expected = 1.5 * (left @ right) + factor * c.astype(np.float64)
    if factor == 0:
        c[...] = np.nan
    run(module, 1.5, factor, a, b, c)
    tolerance = {"f16": 1e-2, "bf16": 1e-1, "f32": 1e-4}[output_type]
    assert np.max(np.abs(c.astype(np.float64) - expected)) <= tolerance
