"""What operations on tiles become: blocks, points, products and reductions, with their layouts."""

from __future__ import annotations

import re

import pytest

from tests.translate.tiles_to_xegpu.ported import as_xegpu, text_of, tile_kernel
from xtile.text.diagnostics import Diagnostics

ROWS = "memref<?x?xf32, strided<[?, 1], offset: ?>>"


def _text(parameters: str, body: str, chip: str = "pvc") -> str:
    return text_of(as_xegpu(tile_kernel(parameters, body), chip))


def _copy(memory: str, tile: str, options: str = "") -> str:
    """A kernel that copies a tile."""
    return f"""%z = arith.constant 0.0 : f32
        %v = vector.transfer_read %a[%i, %i], %z {options} : {memory}, {tile}
        vector.transfer_write %v, %b[%i, %i] {options} : {tile}, {memory}"""


def test_a_block_whose_ends_are_checked() -> None:
    memory = "memref<50x60xf32>"
    text = _text(f"%a: {memory}, %b: {memory}, %i: index", _copy(memory, "vector<32x64xf32>"))
    assert "xegpu.create_nd_tdesc %a : memref<50x60xf32> -> !xegpu.tensor_desc<32x64xf32, #" in text
    assert "sg_layout = [2, 2], sg_data = [16, 32]" in text
    assert "xegpu.load_nd %0[%i, %i]" in text
    assert "xegpu.store_nd %v, %1[%i, %i]" in text
    assert "boundary_check" not in text


def test_a_block_that_lies_inside_is_not_checked() -> None:
    memory = "memref<50x60xf32>"
    text = _text(
        f"%a: {memory}, %b: {memory}, %i: index",
        _copy(memory, "vector<32x64xf32>", "{in_bounds = [true, true]}"),
    )
    assert text.count("#xegpu.block_tdesc_attr<boundary_check = false>") == 4


def test_a_region_of_sizes_that_are_known_at_run_time() -> None:
    text = _text(f"%a: {ROWS}, %b: {ROWS}, %i: index", _copy(ROWS, "vector<32x64xf32>"))
    numbers = r"shape : \[%\S+, %\S+\], strides : \[%\S+, 1\] : i64"
    assert re.search(rf"create_nd_tdesc %\S+, {numbers}", text)


def test_a_padding_that_blocks_have_not_is_selected() -> None:
    memory = "memref<50x60xf32>"
    body = _copy(memory, "vector<32x64xf32>").replace("constant 0.0", "constant 1.0")
    text = _text(f"%a: {memory}, %b: {memory}, %i: index", body)
    assert "xegpu.load_nd" in text
    assert text.count("arith.select") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("memory", "tile", "chip", "reason"),
    [
        ("memref<50x60xf32>", "vector<32x64xf32>", "dg2", "dg2 has no two-dimensional block"),
        ("memref<50x60xf32>", "vector<32x8xf32>", "pvc", "a subgroup has 8 columns, no multiple"),
        (
            "memref<50x7xf32>",
            "vector<32x64xf32>",
            "pvc",
            "the pitch is 28 bytes, no multiple of 16",
        ),
        (
            "memref<50x60xf32, strided<[120, 2]>>",
            "vector<32x64xf32>",
            "pvc",
            "no dimension of the memory is known to be contiguous",
        ),
    ],
)
def test_what_is_no_block_is_points(memory: str, tile: str, chip: str, reason: str) -> None:
    diagnostics = Diagnostics()
    parameters = f"%a: {memory}, %b: {memory}, %i: index"
    text = text_of(as_xegpu(tile_kernel(parameters, _copy(memory, tile)), chip, diagnostics))
    assert "_nd" not in text
    assert text.count("xegpu.load %") == text.count("xegpu.store %") == 1
    assert f"loads elements one by one: {reason}" in diagnostics.render()
    assert f"stores elements one by one: {reason}" in diagnostics.render()


def test_a_transposed_block() -> None:
    memory = "memref<64x64xf32>"
    turned = "{permutation_map = affine_map<(i, j) -> (j, i)>}"
    body = _copy(memory, "vector<32x64xf32>", turned)
    text = _text(f"%a: {memory}, %b: {memory}, %i: index", body)
    assert "-> vector<64x32xf32>" in text
    assert text.count("vector.transpose") == 2


CONTRACT = """%none = arith.constant 0.0 : f16
    %zero = arith.constant dense<0.0> : vector<{m}x{n}xf32>
    %x = vector.transfer_read %a[%c0, %c0], %none : memref<128x64xf16>, vector<{m}x{k}xf16>
    %y = vector.transfer_read %b[%c0, %c0], %none : memref<64x128xf16>, vector<{k}x{n}xf16>
    {between}
    %p = vector.contract {{indexing_maps = [#lhs, #rhs, #sum],
        iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}}
        %{left}, %y, %zero : vector<{m}x{k}xf16>, vector<{k}x{n}xf16> into vector<{m}x{n}xf32>
    vector.transfer_write %p, %c[%c0, %c0] : vector<{m}x{n}xf32>, memref<128x128xf32>"""

MATRICES = "%a: memref<128x64xf16>, %b: memref<64x128xf16>, %c: memref<128x128xf32>"


def test_a_product_of_whole_rows_and_columns() -> None:
    text = _text(MATRICES, CONTRACT.format(m=128, n=128, k=64, between="", left="x"))
    left = "#xegpu.layout<sg_layout = [8, 4], sg_data = [16, 64]>"
    right = "#xegpu.layout<sg_layout = [8, 4], sg_data = [64, 32]>"
    sums = "#xegpu.layout<sg_layout = [8, 4], sg_data = [16, 32]>"
    assert f"layout_a = {left}, layout_b = {right}, layout_cd = {sums}" in text
    assert f"!xegpu.tensor_desc<128x64xf16, {left}>" in text
    assert f"!xegpu.tensor_desc<64x128xf16, {right}>" in text
    assert "known_block_size = array<i32: 512, 1, 1>" in text
    assert "convert_layout" not in text


def test_what_leads_to_a_factor_is_spread_like_it() -> None:
    between = "%w = arith.addf %x, %x : vector<128x64xf16>"
    text = _text(MATRICES, CONTRACT.format(m=128, n=128, k=64, between=between, left="w"))
    left = "#xegpu.layout<sg_layout = [8, 4], sg_data = [16, 64]>"
    assert f"arith.addf %x, %x {{layout_result_0 = {left}}}" in text
    assert "convert_layout" not in text


def test_a_factor_that_is_something_else_too_is_converted() -> None:
    between = "vector.transfer_write %x, %a[%c0, %c0] : vector<128x64xf16>, memref<128x64xf16>"
    text = _text(MATRICES, CONTRACT.format(m=128, n=128, k=64, between=between, left="x"))
    assert text.count("xegpu.convert_layout") == 1
    assert "gpu.barrier" in text


def test_a_product_that_the_matrix_unit_has_not() -> None:
    diagnostics = Diagnostics()
    body = CONTRACT.format(m=128, n=128, k=8, between="", left="x")
    text = text_of(as_xegpu(tile_kernel(MATRICES, body), "pvc", diagnostics))
    assert "vector.contract" in text
    assert "does not use the matrix unit: the depth is 8, no multiple of 16" in diagnostics.render()


def test_a_reduction_has_a_slice_of_its_sources_layout() -> None:
    body = """%zero = arith.constant 0.0 : f32
      %start = arith.constant dense<0.0> : vector<64xf32>
      %v = vector.transfer_read %a[%c0, %c0], %zero : memref<64x64xf32>, vector<64x64xf32>
      %s = vector.multi_reduction <add>, %v, %start [1] : vector<64x64xf32> to vector<64xf32>
      %t = arith.addf %s, %s : vector<64xf32>
      vector.transfer_write %t, %b[%c0] : vector<64xf32>, memref<64xf32>"""
    text = _text("%a: memref<64x64xf32>, %b: memref<64xf32>", body)
    part = "#xegpu.slice<#xegpu.layout<sg_layout = [8, 1], sg_data = [8, 64]>, dims = [1]>"
    assert f"vector.multi_reduction <add>, %v, %start {{layout_result_0 = {part}}}" in text
    assert f"arith.addf %s, %s {{layout_result_0 = {part}}}" in text


@pytest.mark.slow
def test_subgroups_are_as_many_as_the_largest_vector_needs() -> None:
    body = """%zero = arith.constant 0.0 : f32
      %v = vector.transfer_read %a[%c0], %zero : memref<4096xf32>, vector<{n}xf32>
      vector.transfer_write %v, %b[%c0] : vector<{n}xf32>, memref<4096xf32>"""
    found = {
        size: re.findall(
            r"known_block_size = array<i32: (\d+),",
            _text("%a: memref<4096xf32>, %b: memref<4096xf32>", body.format(n=size)),
        )
        for size in (64, 1024, 4096, 48)
    }
    assert found == {64: ["16"], 1024: ["32"], 4096: ["128"], 48: ["16"]}


def test_a_barrier_between_a_write_and_what_reads_it() -> None:
    body = """%zero = arith.constant 0.0 : f32
      %v = vector.transfer_read %a[%c0], %zero : memref<64xf32>, vector<64xf32>
      vector.transfer_write %v, %b[%c0] : vector<64xf32>, memref<64xf32>
      %w = vector.transfer_read %b[%c0], %zero : memref<64xf32>, vector<64xf32>
      vector.transfer_write %w, %c[%c0] : vector<64xf32>, memref<64xf32>"""
    given = ("%a: memref<64xf32>", "%b: memref<64xf32>", "%c: memref<64xf32>")
    shared = _text(", ".join(given), body)
    assert shared.count("gpu.barrier") == 3
    own = _text(", ".join(f"{each} {{core.noalias}}" for each in given), body)
    assert own.count("gpu.barrier") == 1


def test_an_update_is_dealt_out_to_the_lanes() -> None:
    body = """%one = arith.constant 1 : i32
      %old = memref.atomic_rmw addi %one, %a[%c0] : (i32, memref<4xi32>) -> i32
      memref.store %old, %b[%c0] : memref<4xi32>"""
    text = _text("%a: memref<4xi32>, %b: memref<4xi32>", body)
    assert "xegpu.atomic_rmw addi" in text
    assert "vector<16xi32> -> vector<16xi32>" in text
    assert "vector.extract" in text
