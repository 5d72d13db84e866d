"""Layouts of XeGPU, of which only `sg_layout` decides how a kernel is dealt out."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation

from xtile.dialects.xegpu.layout import LayoutAttr, SliceAttr
from xtile.dialects.xegpu.operation import layouts_of
from xtile.translate.xegpu_to_core.raising import Raising

_AS_CHIPS_HAVE_IT = "lanes hold what the chip's blocks and products give them"

_REASONS: dict[str, tuple[Callable[[LayoutAttr], bool], str]] = {
    "inst_data": (
        lambda layout: not layout.effective_inst_data,
        "vectors are cut into the largest instructions of the chip",
    ),
    "lane_layout": (
        lambda layout: all(count == 1 for count in layout.effective_lane_layout[:-1]),
        _AS_CHIPS_HAVE_IT,
    ),
    "lane_data": (
        lambda layout: sum(count != 1 for count in layout.effective_lane_data) <= 1,
        _AS_CHIPS_HAVE_IT,
    ),
    "order": (
        lambda layout: layout.effective_order == tuple(reversed(range(layout.rank))),
        "subgroups and lanes are numbered row by row",
    ),
}
"""For each parameter when it says what is done anyway, and else what is done instead."""


def remark_unused(operation: Operation, raising: Raising, told: set[LayoutAttr]) -> None:
    """Tells which parameters of an operation's layouts are not followed, once for each layout."""
    for each in layouts_of(operation):
        layout = each.layout if isinstance(each, SliceAttr) else each
        if not isinstance(layout, LayoutAttr) or layout in told:
            continue
        told.add(layout)
        for name, (is_followed, instead) in _REASONS.items():
            if not is_followed(layout):
                raising.remark(f"{name} of {layout} is not followed: {instead}", operation)
