"""Who holds what: the queries of layouts, by value and against mlir-opt's own distribution."""

from __future__ import annotations

import re
from collections import Counter
from itertools import product

import pytest
from xdsl.utils.exceptions import VerifyException

from tests.mlir_opt import run_mlir_opt
from xtile.dialects.xegpu.distribution import DistributeLayoutAttr
from xtile.dialects.xegpu.layout import LayoutAttr, SliceAttr

WORK_GROUPS = [
    (LayoutAttr([2, 2], [6, 10]), (24, 40)),
    (LayoutAttr([2, 2], [6, 10], order=[0, 1]), (24, 40)),
    (LayoutAttr([3, 2]), (24, 40)),
    (LayoutAttr([1, 6], [24, 5]), (24, 30)),
    (LayoutAttr([4, 2], [6, 40]), (24, 40)),
    (LayoutAttr([2, 3], [4, 8], order=[0, 1]), (16, 48)),
    (LayoutAttr([6], [8]), (96,)),
]
"""Layouts for a work-group, each with the shape of a block that it spreads."""


def distributed_by_mlir_opt(layout: LayoutAttr, shape: tuple[int, ...]) -> list[list[int]]:
    """Returns the offsets of each subgroup's blocks, subgroup after subgroup."""
    sizes = "x".join(map(str, shape))
    descriptor = f"!xegpu.tensor_desc<{sizes}xf32, {layout}>"
    zeros = ", ".join("0" for _ in shape)
    kernel = f"""
        gpu.module @m {{
          gpu.func @f(%m: memref<{sizes}xf32>) {{
            %t = xegpu.create_nd_tdesc %m : memref<{sizes}xf32> -> {descriptor}
            xegpu.prefetch_nd %t[{zeros}] <{{layout = {layout}}}> : {descriptor}
            gpu.return
          }}
        }}"""
    distributed = run_mlir_opt(kernel, "-xegpu-wg-to-sg-distribute")
    assert distributed.returncode == 0, distributed.stderr
    pieces = [
        distributed.stdout.replace("gpu.subgroup_id : index", f"arith.constant {number} : index")
        for number in range(layout.number_of_subgroups)
    ]
    folded = run_mlir_opt("\n// -----\n".join(pieces), "-split-input-file", "-canonicalize")
    assert folded.returncode == 0, folded.stderr
    return [_offsets(text) for text in folded.stdout.split("// -----\n")]


def _offsets(text: str) -> list[int]:
    lists = re.findall(r"prefetch_nd %\w+\[(.*?)\]", text)
    return [int(name) for name in re.findall(r"%c(\d+)", " ".join(lists))]


@pytest.mark.parametrize(("layout", "shape"), WORK_GROUPS, ids=str)
def test_blocks_of_subgroups_are_those_of_mlir_opt(
    layout: LayoutAttr, shape: tuple[int, ...]
) -> None:
    ours = [
        [offset for block in layout.distributed_coordinates(number, shape) for offset in block]
        for number in range(layout.number_of_subgroups)
    ]
    assert ours == distributed_by_mlir_opt(layout, shape)


@pytest.mark.parametrize(
    ("layout", "shape"),
    [
        *WORK_GROUPS,
        (LayoutAttr(lane_layout=[2, 8], lane_data=[1, 2]), (8, 32)),
        (LayoutAttr(lane_layout=[4, 4], lane_data=[2, 1], order=[0, 1]), (8, 12)),
        (LayoutAttr(lane_layout=[1, 16]), (8, 32)),
        (SliceAttr(LayoutAttr([4, 2], [6, 5]), [1]), (24,)),
        (SliceAttr(LayoutAttr(lane_layout=[2, 4], lane_data=[1, 3]), [0]), (24,)),
    ],
    ids=str,
)
def test_everything_is_held_equally_often(
    layout: DistributeLayoutAttr, shape: tuple[int, ...]
) -> None:
    holders = layout.layout if isinstance(layout, SliceAttr) else layout
    number = 1
    for count in holders.unit_layout:
        number *= count
    held = Counter(
        position
        for holder in range(number)
        for position in layout.element_coordinates(holder, shape)
    )
    assert set(held) == set(product(*(range(size) for size in shape)))
    assert len(set(held.values())) == 1
    assert layout.is_distributable(shape)


def test_delinearization() -> None:
    assert LayoutAttr([2, 4, 4]).delinearize_id(22) == (1, 1, 2)
    assert LayoutAttr([2, 4, 4], order=[0, 1, 2]).delinearize_id(22) == (0, 3, 2)
    assert LayoutAttr(lane_layout=[2, 8]).delinearize_id(11) == (1, 3)
    assert SliceAttr(LayoutAttr([2, 4, 4]), [1]).delinearize_id(22) == (1, 2)


def test_blocks_are_dealt_in_turn() -> None:
    layout = LayoutAttr(lane_layout=[4], lane_data=[2])
    assert layout.distributed_coordinates(1, (16,)) == [(2,), (10,)]
    assert list(layout.element_coordinates(1, (16,))) == [(2,), (3,), (10,), (11,)]


def test_subgroups_share_blocks() -> None:
    layout = LayoutAttr([4, 1], [6, 20])
    assert [layout.distributed_coordinates(number, (12, 20)) for number in range(4)] == [
        [(0, 0)],
        [(6, 0)],
        [(0, 0)],
        [(6, 0)],
    ]


def test_block_shape_without_data_follows_from_the_shape() -> None:
    assert LayoutAttr([3, 2]).block_shape((24, 40)) == (8, 20)
    assert LayoutAttr(lane_layout=[1, 16], lane_data=[2, 1]).block_shape((24, 40)) == (2, 1)
    with pytest.raises(ValueError, match=r"\[25, 40\] is no multiple of \[3, 2\]"):
        LayoutAttr([3, 2]).block_shape((25, 40))


def test_no_distribution() -> None:
    with pytest.raises(ValueError, match="has not the rank of the layout"):
        LayoutAttr([3, 2], [8, 20]).distributed_coordinates(0, (24,))
    with pytest.raises(ValueError, match=r"order \[1, 1\] does not name each dimension once"):
        LayoutAttr([3, 2], order=[1, 1]).delinearize_id(0)
    with pytest.raises(ValueError, match="is no multiple"):
        LayoutAttr(inst_data=[8, 16]).block_shape((8, 16))


@pytest.mark.parametrize(
    ("layout", "shape", "expected"),
    [
        (LayoutAttr([2, 2], [6, 10]), (24, 40), True),
        (LayoutAttr([2, 2], [7, 10]), (24, 40), False),
        (LayoutAttr([2, 5]), (24, 40), True),
        (LayoutAttr([2, 3]), (24, 40), False),
        (LayoutAttr([48, 40]), (24, 40), True),
        (LayoutAttr(lane_layout=[48, 40]), (24, 40), False),
        (LayoutAttr([2, 2], inst_data=[6, 10]), (24, 40), True),
        (LayoutAttr([2, 2], inst_data=[8, 10]), (24, 40), False),
        (LayoutAttr([2, 2], [12, 20], [6, 10], [3, 2], [2, 5]), (24, 40), True),
        (LayoutAttr([2, 2], [12, 20], [6, 10], [3, 2], [2, 3]), (24, 40), False),
        (LayoutAttr(lane_layout=[4, 4], lane_data=[12, 1]), (24, 40), False),
        (LayoutAttr([2, 2]), (24,), False),
        (LayoutAttr([2, 2]), (0, 40), False),
    ],
    ids=str,
)
def test_even_distribution(layout: LayoutAttr, shape: tuple[int, ...], expected: bool) -> None:
    assert layout.is_distributable(shape) is expected


def test_levels() -> None:
    work_group = LayoutAttr([4, 2], [12, 20], [6, 10], [2, 2], [1, 1], [1, 0])
    assert work_group.is_for_workgroup
    assert work_group.number_of_subgroups == 8
    subgroup = work_group.drop_sg_layout_and_data()
    assert subgroup == LayoutAttr(None, None, [6, 10], [2, 2], [1, 1], [1, 0])
    assert subgroup is not None
    assert not subgroup.is_for_workgroup
    assert subgroup.number_of_subgroups == 0
    lanes = subgroup.drop_inst_data()
    assert lanes == LayoutAttr(lane_layout=[2, 2], lane_data=[1, 1], order=[1, 0])
    assert LayoutAttr([4, 2]).drop_sg_layout_and_data() is None
    assert LayoutAttr(inst_data=[6, 10]).drop_inst_data() is None


def test_slices() -> None:
    layout = LayoutAttr([2, 3, 5], [4, 6, 8], [1, 2, 4], [1, 2, 2], [1, 1, 2])
    nested = SliceAttr(SliceAttr(layout, [1]), [0])
    assert nested.sliced_dimensions == (0, 1)
    assert nested.layout == layout
    assert nested.flatten() == SliceAttr(layout, [0, 1])
    assert nested.rank == 1
    assert nested.is_for_workgroup
    assert nested.effective_sg_layout == (5,)
    assert nested.effective_sg_data == (8,)
    assert nested.effective_inst_data == (4,)
    assert nested.effective_lane_layout == (2,)
    assert nested.effective_lane_data == (2,)
    assert nested.number_of_subgroups == 5
    dropped = nested.drop_sg_layout_and_data()
    assert dropped is not None
    assert dropped.layout.effective_sg_layout == ()
    without_instruction = dropped.drop_inst_data()
    assert without_instruction is not None
    assert without_instruction.effective_inst_data == ()
    assert SliceAttr(LayoutAttr([2, 3]), [0]).drop_sg_layout_and_data() is None
    assert SliceAttr(LayoutAttr(inst_data=[2, 3]), [0]).drop_inst_data() is None


def test_a_layout_is_checked_when_it_is_made() -> None:
    with pytest.raises(VerifyException, match="lane_data is given without lane_layout"):
        LayoutAttr([2, 2], lane_data=[1, 1])
