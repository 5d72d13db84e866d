"""What products and other operations look like as tiles, and how kernels are to be compiled."""

from __future__ import annotations

from typing import Any

import pytest

import xtile
from tests.transforms.distribute.kernels import function_of, kernel, read
from tests.transforms.tile_linalg.kernels import body_of, tiled
from xtile.dialects.core.attributes import TILE_HINTS_ATTRIBUTE
from xtile.text.diagnostics import DiagnosticError
from xtile.translate.passes import TranslationFailedError, pass_named
from xtile.translate.route import Options, translate

CONTRACT = (
    'vector.contract {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", '
    '"parallel", "reduction"], kind = #vector.kind<add>}'
)

ONE = "%one = arith.constant 1.0 : {0}\n%zero = arith.constant 0.0 : {1}\n"


def gemm(a: str, b: str, c: str, alpha: str = "%one", beta: str = "%zero", flags: str = "") -> str:
    """A kernel with one product."""
    types = [text.rsplit("x", 1)[-1].rstrip(">") for text in (a, c)]
    constants = ONE.format(*types)
    operands = f"{alpha}, %a, %b, {beta}, %c : {types[0]}, {a}, {b}, {types[1]}, {c}"
    return kernel(f"%a: {a}, %b: {b}, %c: {c}", f"{constants}core.gemm {flags} {operands}", "")


def test_a_step_of_a_product_reads_twice_and_multiplies_once() -> None:
    lines = body_of(gemm("memref<?x?xf16>", "memref<?x?xf16>", "memref<?x?xf32>"))
    start = next(i for i, line in enumerate(lines) if line.startswith("scf.for"))
    assert lines[start:] == [
        "scf.for %i = %c0 to %0 step %c256 {",
        "scf.for %j = %c0 to %1 step %c256 {",
        ("%5 = scf.for %k = %c0 to %2 step %c64 iter_args(%sum = %3) -> (vector<256x256xf32>) {"),
        "%6 = vector.transfer_read %a[%i, %k], %4 : memref<?x?xf16>, vector<256x64xf16>",
        "%7 = vector.transfer_read %b[%k, %j], %4 : memref<?x?xf16>, vector<64x256xf16>",
        (
            f"%8 = {CONTRACT} %6, %7, %sum : vector<256x64xf16>, vector<64x256xf16> into "
            "vector<256x256xf32>"
        ),
        "scf.yield %8 : vector<256x256xf32>",
        "} {core.independent}",
        "vector.transfer_write %5, %c[%i, %j] : vector<256x256xf32>, memref<?x?xf32>",
        "} {core.independent}",
        "} {core.independent}",
    ]


def test_a_small_product_is_one_tile_that_is_padded() -> None:
    text = gemm("memref<9x20xf32>", "memref<20x35xf32>", "memref<9x35xf32>", beta="%one")
    lines = body_of(text)
    assert [line for line in lines if "constant" not in line] == [
        "%1 = vector.transfer_read %a[%c0, %c0], %zero : memref<9x20xf32>, vector<16x32xf32>",
        "%2 = vector.transfer_read %b[%c0, %c0], %zero : memref<20x35xf32>, vector<32x64xf32>",
        (
            f"%3 = {CONTRACT} %1, %2, %0 : vector<16x32xf32>, vector<32x64xf32> into "
            "vector<16x64xf32>"
        ),
        "%4 = vector.transfer_read %c[%c0, %c0], %zero : memref<9x35xf32>, vector<16x64xf32>",
        "%5 = arith.addf %3, %4 : vector<16x64xf32>",
        "vector.transfer_write %5, %c[%c0, %c0] : vector<16x64xf32>, memref<9x35xf32>",
    ]


def test_tiles_that_end_with_the_matrix_are_inside_of_it() -> None:
    lines = body_of(gemm("memref<512x128xf16>", "memref<128x512xf16>", "memref<512x512xf16>"))
    accesses = [line for line in lines if "transfer" in line]
    assert len(accesses) == 3
    assert all("in_bounds = [true, true]" in line for line in accesses)


def test_promised_divisors_tell_where_tiles_end() -> None:
    text = gemm("memref<?x?xf16>", "memref<?x?xf16>", "memref<?x?xf16>").replace(
        "memref<?x?xf16>,", "memref<?x?xf16> {core.shape_gcd = array<i64: 256, 64>},", 1
    )
    text = text.replace(
        "%c: memref<?x?xf16>)", "%c: memref<?x?xf16> {core.shape_gcd = array<i64: 256, 128>})"
    )
    accesses = [line for line in body_of(text) if "transfer" in line]
    assert ["in_bounds = [true, true]" in line for line in accesses] == [True, False, False]
    assert "in_bounds = [true, false]" in accesses[1]
    assert "in_bounds = [true, false]" in accesses[2]


def test_a_transposed_factor_is_read_by_a_permutation() -> None:
    text = gemm(
        "memref<32x16xf32>",
        "memref<64x32xf32>",
        "memref<16x64xf32>",
        flags="transpose_a transpose_b",
    )
    reads = [line for line in body_of(text) if "transfer_read" in line]
    assert all("permutation_map = #map" in line for line in reads)
    assert [line.rsplit(", ", 1)[-1] for line in reads] == [
        "vector<16x32xf32>",
        "vector<32x64xf32>",
    ]


@pytest.mark.parametrize(
    ("a", "c", "factors", "sums"),
    [
        ("bf16", "bf16", "bf16", "f32"),
        ("f16", "f64", "f64", "f64"),
        ("f32", "f32", "f32", "f32"),
    ],
)
def test_types_of_products(a: str, c: str, factors: str, sums: str) -> None:
    text = gemm(f"memref<16x16x{a}>", f"memref<16x16x{a}>", f"memref<16x16x{c}>")
    (product,) = [line for line in body_of(text) if "vector.contract" in line]
    assert product.endswith(
        f": vector<16x16x{factors}>, vector<16x16x{factors}> into vector<16x16x{sums}>"
    )


HINTS = {
    "sm_90 8192": (
        "sm_90",
        "8192x8192",
        "{num_cta_in_cga = 2 : i32, num_worker_warps_per_cta = 8 : i32}",
    ),
    "sm_90 64": ("sm_90", "64x64", "{num_worker_warps_per_cta = 4 : i32, occupancy = 4 : i32}"),
    "sm_90 9": ("sm_90", "9x9", "{num_worker_warps_per_cta = 2 : i32}"),
    "sm_80 8192": ("sm_80", "8192x8192", "{num_worker_warps_per_cta = 8 : i32}"),
}


@pytest.mark.parametrize("name", HINTS)
def test_hints(name: str) -> None:
    chip, size, hints = HINTS[name]
    memory = f"memref<{size}xbf16>"
    function = function_of(tiled(gemm(memory, memory, memory), chip))
    assert str(function.attributes.get(TILE_HINTS_ATTRIBUTE)) == hints
    assert str(function.attributes["core.level"]) == '"tile"'


def test_a_kernel_has_no_sizes_of_work_items() -> None:
    text = "func @f() attributes {subgroup_size=16, work_group_size=[32,2]} { }"
    module = translate(
        xtile.parse(text, language="tensorlang"), "tensorlang-to-tile", Options("sm_80")
    )
    function = function_of(module)
    assert "intel_reqd_sub_group_size" not in function.attributes
    assert function.known_block_size is not None
    assert list(function.known_block_size.get_values()) == [1, 1, 1]


# --- aliases and errors ---


def axpby(type: str) -> str:
    operands = f"%one, %a, %zero, %a : f32, {type}, f32, {type}"
    text = f"{ONE.format('f32', 'f32')}core.axpby transpose_a {operands}"
    return kernel(f"%a: {type}", text, "")


def test_an_input_that_is_the_output_is_copied_unless_it_is_one_tile() -> None:
    assert not any("alloca" in line for line in body_of(axpby("memref<20x20xf32>")))
    (alloca,) = [line for line in body_of(axpby("memref<100x100xf32>")) if "alloca" in line]
    assert alloca.endswith("memref.alloca() : memref<100x100xf32, #gpu.address_space<workgroup>>")


def test_an_input_that_is_the_output_needs_a_size() -> None:
    with pytest.raises(
        DiagnosticError, match=r"5\.1-87: error.*must be copied, which needs a static size"
    ) as error:
        tiled(axpby("memref<?x?xf32>"))
    assert "write the result to another memref" in str(error.value)


def test_regions_without_a_rule_are_refused() -> None:
    text = """%c0 = arith.constant 0 : index
    %r = scf.while (%x = %c0) : (index) -> index {
        %t = arith.constant true
        scf.condition(%t) %x : index
    } do {
    ^bb0(%y: index):
        scf.yield %y : index
    }"""
    message = r"scf\.while cannot become code on tiles; use scf\.for"
    with pytest.raises(DiagnosticError, match=message):
        tiled(kernel("%a: memref<f32>", text, ""))


def test_the_pass() -> None:
    from xdsl.context import Context

    from xtile.dialects.normalisation import normalised

    module = read(gemm("memref<9x9xf32>", "memref<9x9xf32>", "memref<9x9xf32>"))
    kind: Any = pass_named("core-tile-linalg")
    kind(chip="sm_100").apply(Context(), module)
    # A pass leaves xDSL's classes.
    assert str(function_of(normalised(module)).attributes["core.level"]) == '"tile"'
    with pytest.raises(ValueError, match="no chip 'gfx000'; core-tile-linalg is for pvc"):
        kind(chip="gfx000")
    with pytest.raises(TranslationFailedError):
        kind().apply(Context(), read(axpby("memref<?x?xf32>")))
