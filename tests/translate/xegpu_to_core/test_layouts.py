"""Remarks tell which parameters of a layout are not followed."""

from __future__ import annotations

import pytest

import xtile
from tests.translate.xegpu_to_core.raised import kernel
from xtile.text.diagnostics import Diagnostics
from xtile.translate.route import Options, translate_to

GRID = "sg_layout = [2, 2], sg_data = [16, 32]"


@pytest.mark.parametrize(
    ("layout", "remarks"),
    [
        ("lane_layout = [1, 16], lane_data = [2, 1], order = [1, 0]", []),
        ("inst_data = [8, 16]", ["inst_data: vectors are cut into the largest instructions"]),
        (
            "lane_layout = [8, 2], lane_data = [2, 2], order = [0, 1]",
            [
                "lane_layout: lanes hold what the chip's blocks",
                "lane_data: lanes hold what the chip's blocks",
                "order: subgroups and lanes are numbered row by row",
            ],
        ),
    ],
)
def test_what_is_not_followed(layout: str, remarks: list[str]) -> None:
    type_ = f"!xegpu.tensor_desc<32x64xf32, #xegpu.layout<{GRID}, {layout}>>"
    text = kernel(
        "%a: memref<32x64xf32>",
        f"""%t = xegpu.create_nd_tdesc %a : memref<32x64xf32> -> {type_}
        %v = xegpu.load_nd %t[0, 0] : {type_} -> vector<32x64xf32>
        xegpu.store_nd %v, %t[0, 0] : vector<32x64xf32>, {type_}""",
    )
    diagnostics = Diagnostics()
    translate_to(xtile.parse(text, language="mlir"), "core", Options(), diagnostics)
    told = [each.message for each in diagnostics]
    assert len(told) == len(remarks)
    for message, expected in zip(told, remarks, strict=True):
        name, _, reason = expected.partition(": ")
        assert message.startswith(f"{name} of #xegpu.layout<sg_layout = [2, 2]")
        assert f"is not followed: {reason}" in message
