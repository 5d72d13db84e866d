"""Operations on what one work item owns: fragments by a `sg_map`, and lanes' parts without one."""

from __future__ import annotations

import pytest

from tests.dialects.xegpu.rfc.texts import body, errors, in_function, print_rfc, read_module

ROWS = "tensor_desc<8x16xf16, #xegpu.sg_map<wi_layout = [2, 8], wi_data = [1, 2]>>"
COLUMNS = "tensor_desc<16x16xf16, #xegpu.sg_map<wi_layout = [1, 16], wi_data = [2, 1]>>"
LINE = "tensor_desc<32xf32, #xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 1]>>"
CHUNKS = "tensor_desc<16x4xf32, #scattered, #xegpu.sg_map<wi_layout = [16, 1], wi_data = [1, 1]>>"

MAKE = {
    "%rows": "%rows = XeGPU.create_nd_tdesc %m, %i, %j : memref<64x96xf16>, index, index "
    f"into {ROWS}",
    "%columns": "%columns = XeGPU.create_nd_tdesc %m, %i, %j : memref<64x96xf16>, index, index "
    f"into {COLUMNS}",
    "%line32": f"%line32 = XeGPU.create_nd_tdesc %line, %i : memref<640xf32>, index into {LINE}",
    "%lines": "%lines = XeGPU.create_tdesc %line, %offsets {chunk_size_per_lane = 4} : "
    f"memref<640xf32>, vector<16xindex> into {CHUNKS}",
}
"""What makes the descriptors."""

SAME = [
    (
        f"%v = XeGPU.load_nd %rows : {ROWS} into vector<4x2xf16>\n"
        f"XeGPU.store_nd %v, %rows : vector<4x2xf16>, {ROWS}"
    ),
    f"%v = XeGPU.load_nd %rows {{vnni_axis = 1}} : {ROWS} into vector<4x1x2xf16>",
    f"%v = XeGPU.load_nd %columns {{vnni_axis = 0}} : {COLUMNS} into vector<8x1x2xf16>",
    f"%v = XeGPU.load_nd %rows : {ROWS} into vector<8x16xf16>",
    f"%v = XeGPU.load_nd %line32 : {LINE} into vector<2xf32>",
    (
        f"%v = XeGPU.load_gather %lines, %mask : {CHUNKS}, vector<16xi1> into vector<1x4xf32>\n"
        f"XeGPU.store_scatter %v, %lines, %mask : vector<1x4xf32>, {CHUNKS}, vector<16xi1>"
    ),
    (
        f"%v = XeGPU.load_gather %lines, %mask {{transpose = [1, 0]}} : {CHUNKS}, vector<16xi1> "
        "into vector<4x1xf32>"
    ),
    (
        "%x = arith.constant dense<1.000000e+00> : vector<4x2xf16>\n"
        "%y = arith.constant dense<1.000000e+00> : vector<8x2xf16>\n"
        "%v = XeGPU.dpas %x, %y {mode = simt} : vector<4x2xf16>, vector<8x2xf16> "
        "into vector<8x1xf32>"
    ),
    # A lane's parts, which LLVM 22 has without a layout.
    (
        "%v = XeGPU.load_nd %block : tensor_desc<8x16xf16> into vector<8xf16>\n"
        "XeGPU.store_nd %v, %block : vector<8xf16>, tensor_desc<8x16xf16>"
    ),
    (
        "%x = arith.constant dense<1.000000e+00> : vector<8xf16>\n"
        "%y = arith.constant dense<1.000000e+00> : vector<16xf16>\n"
        "%v = XeGPU.dpas %x, %y {mode = simt} : vector<8xf16>, vector<16xf16> into vector<8xf32>"
    ),
]
"""Texts that are printed as they are read."""


@pytest.mark.parametrize("text", SAME)
def test_is_printed_as_it_is_read(text: str) -> None:
    used = [make for name, make in MAKE.items() if f"{name} " in text or f"{name}," in text]
    whole = "\n".join([*used, text])
    module = read_module(in_function(whole))
    printed = print_rfc(module)
    assert body(printed) == whole
    assert read_module(printed).is_structurally_equivalent(module)


def test_dpas_of_fragments_needs_no_mode() -> None:
    constants, product = SAME[7].rsplit("\n", 1)
    without = in_function(f"{constants}\n{product.replace(' {mode = simt}', '')}")
    assert body(print_rfc(read_module(without))) == SAME[7]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"%v = XeGPU.load_nd %rows {{mode = simt}} : {ROWS} into vector<2x4xf16>",
            "'xegpu.load_nd': the result has the shape 2x4; this load delivers 4x2",
        ),
        (
            "%v = XeGPU.load_nd %block {mode = simt} : tensor_desc<8x16xf16> into vector<4x2xf16>",
            (
                "'xegpu.load_nd': !xegpu.tensor_desc<8x16xf16> has no sg_map; without one an "
                "operation is in mode = vc"
            ),
        ),
    ],
)
def test_wrong_fragment(text: str, message: str) -> None:
    ((_, found),) = errors(in_function(f"{MAKE['%rows']}\n{text}"))
    assert found == message


def test_wrong_fragment_to_store() -> None:
    constant = "%x = arith.constant dense<0.0> : vector<2x4xf16>"
    store = f"{constant}\nXeGPU.store_nd %x, %rows : vector<2x4xf16>, {ROWS}"
    ((_, found),) = errors(in_function(f"{MAKE['%rows']}\n{store}"))
    assert found == (
        "'xegpu.store_nd': the value is vector<2x4xf16>; a work item owns vector<4x2xf16> of the "
        "block"
    )
