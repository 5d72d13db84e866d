"""The names and types of the RFC's revisions, and what decides where a text fits both forms."""

from __future__ import annotations

import pytest

from tests.dialects.xegpu.rfc.texts import body, in_function, print_rfc, read_module
from xtile.dialects.xegpu.rfc.names import operation_name, scalar_type_name
from xtile.text.diagnostics import DiagnosticError


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("XeGPU.load_gather", "xegpu.load"),
        ("XeGpu.update_offsets", "xegpu.update_offset"),
        ("xegpu.store_scatter", "xegpu.store"),
        ("XEGPU.creat_nbarrier", "xegpu.alloc_nbarrier"),
        ("xegpu.dpas", "xegpu.dpas"),
        ("xegpu.load_matrix", None),
        ("XeGPU.Load_nd", None),
        ("load_nd", None),
        ("vector.load", None),
    ],
)
def test_operation_name(name: str, expected: str | None) -> None:
    assert operation_name(name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("float", "f32"),
        ("fp16", "f16"),
        ("fp32", "f32"),
        ("uint8", "ui8"),
        ("Uint8_t", "ui8"),
        ("uint64", "ui64"),
        ("int64", "i64"),
        ("int3", None),
        ("bf16", None),
    ],
)
def test_scalar_type_name(name: str, expected: str | None) -> None:
    assert scalar_type_name(name) == expected


BLOCK = "!xegpu.tensor_desc<8x16xf16, #xegpu.block_tdesc_attr<{}>>"
LAYOUT = "#xegpu.layout<lane_layout = [2, 8], lane_data = [1, 2]>"
MAP = "#xegpu.sg_map<wi_layout = [2, 8], wi_data = [1, 2]>"

SAME_TYPES = {
    "!XeGPU.tensor_desc<8x16xf16>": "!xegpu.tensor_desc<8x16xf16>",
    "!XeGpu.nbarrier": "!xegpu.nbarrier",
    "!xegpu.tensor_desc<8 x 16 x bf16>": "!xegpu.tensor_desc<8x16xbf16>",
    "!xegpu.tensor_desc<8x16xfloat>": "!xegpu.tensor_desc<8x16xf32>",
    "!xegpu.tensor_desc<8x16xf16, array_length=2>": BLOCK.format("array_length = 2 : i64"),
    "!xegpu.tensor_desc<8x16xf16, #xegpu.tdesc_attr<array_length = 2>>": BLOCK.format(
        "array_length = 2 : i64"
    ),
    "!xegpu.tensor_desc<8x16xf16, #xegpu.tdesc_attr<memory_scope = global, array_length = 1, "
    "boundary_check = false>>": BLOCK.format("boundary_check = false"),
    f"!xegpu.tensor_desc<8x16xf16, {MAP}>": f"!xegpu.tensor_desc<8x16xf16, {LAYOUT}>",
    "!xegpu.tensor_desc<8x16xf16, #xegpu.sg_map<{wi_layout = [2, 8], wi_data = [1, 2]}>>": (
        f"!xegpu.tensor_desc<8x16xf16, {LAYOUT}>"
    ),
    f"!xegpu.tensor_desc<8x16xf16, #xegpu.tdesc_attr<array_length = 2, map = {MAP}>>": (
        f"!xegpu.tensor_desc<8x16xf16, #xegpu.block_tdesc_attr<array_length = 2 : i64>, {LAYOUT}>"
    ),
    "!xegpu.tensor_desc<16xf32, #xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 1]>>": (
        "!xegpu.tensor_desc<16xf32, #xegpu.layout<lane_layout = [16], lane_data = [1]>>"
    ),
    "!xegpu.tensor_desc<16xf32, #scattered>": (
        "!xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>"
    ),
    "!xegpu.tensor_desc<16x4xf32, #xegpu.scattered>": (
        "!xegpu.tensor_desc<16x4xf32, #xegpu.scatter_tdesc_attr<chunk_size = 4 : i64>>"
    ),
    "!xegpu.tensor_desc<16x4xf32, #xegpu.tdesc_attr<memory_scope = slm, scattered = true>>": (
        "!xegpu.tensor_desc<16x4xf32, #xegpu.scatter_tdesc_attr<memory_space = slm, "
        "chunk_size = 4 : i64>>"
    ),
    "!xegpu.tensor_desc<16x4xf32, #xegpu.tdesc_attr<memory_scope = slm, #xegpu.scattered>>": (
        "!xegpu.tensor_desc<16x4xf32, #xegpu.scatter_tdesc_attr<memory_space = slm, "
        "chunk_size = 4 : i64>>"
    ),
    "!xegpu.tensor_desc<16 x bf16, #scattered, memory_scope=slm, chunk_size_per_lane=1>": (
        "!xegpu.tensor_desc<16xbf16, #xegpu.scatter_tdesc_attr<memory_space = slm>>"
    ),
    "!xegpu.tensor_desc<16x4xf32, #xegpu.scatter_tdesc_attr<memory_space = slm, chunk_size = 4>>": (
        "!xegpu.tensor_desc<16x4xf32, #xegpu.scatter_tdesc_attr<memory_space = slm, "
        "chunk_size = 4 : i64>>"
    ),
}
"""Types as the RFC's revisions and their kernels spell them, and as LLVM 22 does."""


@pytest.mark.parametrize(("spelling", "type"), SAME_TYPES.items())
def test_type(spelling: str, type: str) -> None:
    text = "func.func private @f({})"
    module, expected = read_module(text.format(spelling)), read_module(text.format(type))
    assert module.is_structurally_equivalent(expected)


@pytest.mark.parametrize("type", SAME_TYPES.values())
def test_type_is_printed_in_the_rfcs_form_and_read_again(type: str) -> None:
    module = read_module(f"func.func private @f({type})")
    printed = print_rfc(module)
    assert "!XeGPU." in printed
    assert read_module(printed).is_structurally_equivalent(module)


def test_aliases_without_their_marks() -> None:
    before = (
        "#attr = !xegpu.tdesc_attr< memory_scope=slm, boundary_check=false, sg= #map>\n"
        "#map = xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 1]>"
    )
    load = "%r = XeGPU.create_nd_tdesc %p, %i : uint64, index into tensor_desc<16xbf16, #attr>"
    assert body(print_rfc(read_module(in_function(load, before)))) == (
        "%r = XeGPU.create_nd_tdesc %p, %i : uint64, index into tensor_desc<16xbf16, "
        "memory_scope = slm, boundary_check = false, "
        "#xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 1]>>"
    )


def test_an_attribute_with_the_mark_of_a_type() -> None:
    text = "#attr = !xegpu.scatter_tdesc_attr< memory_space=slm, chunk_size=8>\n{}"
    function = "func.func private @f(!xegpu.tensor_desc<16x8xf32, {}>)"
    in_full = function.format("#xegpu.scatter_tdesc_attr<memory_space = slm, chunk_size = 8>")
    module = read_module(text.format(function.format("#attr")))
    assert module.is_structurally_equivalent(read_module(in_full))


def test_an_alias_may_be_called_scattered() -> None:
    text = "#scattered = #xegpu.scatter_tdesc_attr<memory_space = slm>\n{}"
    function = "func.func private @f(!xegpu.tensor_desc<16xf32, {}>)"
    alias = read_module(text.format(function.format("#scattered")))
    in_full = function.format("#xegpu.scatter_tdesc_attr<memory_space = slm>")
    assert alias.is_structurally_equivalent(read_module(in_full))


def test_a_pack_stands_for_the_results_of_one_operation() -> None:
    pack = (
        '%o:2 = "test.op"() : () -> (index, index)\n'
        "%r = XeGPU.update_nd_offset %block, {} : tensor_desc<8x16xf16>, index, index "
        "into tensor_desc<8x16xf16>"
    )
    module = read_module(in_function(pack.format("%o:2")))
    assert module.is_structurally_equivalent(read_module(in_function(pack.format("%o#0, %o#1"))))


def test_a_memref_of_more_dimensions_has_as_many_offsets() -> None:
    text = (
        "%n = memref.alloc() : memref<4x64x64xf16>\n"
        "%r = XeGPU.create_nd_tdesc %n, %i, %j, %j {mode = vc} : memref<4x64x64xf16>, index, "
        "index, index into tensor_desc<8x16xf16>"
    )
    assert body(print_rfc(read_module(in_function(text)))) == text


def test_uint_stands_for_a_number_without_a_sign_too() -> None:
    text = "func.func @f(%p: i64, %o: vector<16xindex>) {{\n%r = XeGPU.create_tdesc %p, %o : {}, "
    text += "vector<16xindex> into tensor_desc<16xf32, #scattered>\nreturn\n}}"
    module = read_module(text.format("uint64"))
    assert module.is_structurally_equivalent(read_module(text.format("i64")))
    with pytest.raises(DiagnosticError, match="the operand is of type i64, but it is written as"):
        read_module(text.format("uint32"))


def test_the_last_operand_of_dpas_accumulates_where_each_may() -> None:
    text = "func.func @f(%x: vector<16x16xf32>, %y: vector<16x16xf32>, %z: vector<16x16xf32>) {\n"
    text += "%r = XeGPU.dpas %x, %y, %z : vector<16x16xf32>, vector<16x16xf32>, "
    text += "vector<16x16xf32> into vector<16x16xf32>\nreturn\n}"
    assert "dpas %x, %y, %z" in print_rfc(read_module(text))


def test_layouts_of_dpas() -> None:
    text = (
        "%r = XeGPU.dpas %a, %b {#xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 1]>} : "
        "vector<8x16xf16>, vector<16x16xf16> into vector<8x16xf32>"
    )
    assert body(print_rfc(read_module(in_function(text)))) == text.replace(
        "{#xegpu", "{layout_cd = #xegpu"
    ).replace("]>}", "]>, mode = vc}")


def test_a_text_in_llvm22s_form_means_what_llvm22_says() -> None:
    load = "%r = xegpu.load_nd %t : !xegpu.tensor_desc<8x16xf16> -> vector<8x8x2xf16>"
    text = f"func.func @f(%t: !xegpu.tensor_desc<8x16xf16>) {{\n{load}\nreturn\n}}"
    with pytest.raises(DiagnosticError, match="this load delivers 8x16"):
        read_module(text)


def test_a_product_of_split_matrices_is_read_where_the_text_is_the_rfcs() -> None:
    product = "%r = xegpu.dpas %a, %b : vector<8x8x2xf16>, vector<8x16x2xf16> -> vector<8x16xf32>"
    text = f"func.func @f(%a: vector<8x8x2xf16>, %b: vector<8x16x2xf16>) {{{{\n{{}}\n{product}\n"
    text += "return\n}}"
    assert "XeGPU.dpas" in print_rfc(read_module(text.format("xegpu.compile_hint")))
    with pytest.raises(DiagnosticError, match="expected two dimensions for each"):
        read_module(text.format(""))


def test_the_quotes_of_the_rfcs_page() -> None:
    text = (
        "%r = XeGPU.atomic_rmw “addf”, %flags, %points, %mask : vector<16xf32>, "
        "tensor_desc<16xf32, #scattered>, vector<16xi1>"
    )
    printed = body(print_rfc(read_module(in_function(text))))
    assert printed.startswith('%r = XeGPU.atomic_rmw "addf" %flags, %points, %mask')


def test_other_attributes_are_kept() -> None:
    text = (
        'XeGPU.prefetch_nd %block {L1_hint = cached, mode = vc, stage = 2 : i32, who = "me"} : '
        "tensor_desc<8x16xf16>"
    )
    assert body(print_rfc(read_module(in_function(text)))) == text
