"""The layouts of XeGPU, dpas and AMX, against the dialect's and the reference device's own."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import bf16, f32, i8

from tests.layouts.enumerated import numbers_of
from xtile.dialects.core.cooperative_matrix import CooperativeMatrixType, MatrixUse
from xtile.dialects.tensorlang import attributes as tensorlang
from xtile.dialects.tensorlang.types import CoopmatrixType
from xtile.dialects.xegpu.layout import LayoutAttr, SliceAttr
from xtile.layouts import Layout, LayoutError, intel
from xtile.semantics import core_cooperative_matrix
from xtile.semantics.layout import layout_of
from xtile.semantics.xegpu.block_coordinates import elements_of_a_register, to_lanes, unit
from xtile.targets import INTEL


def held(layout: Layout, input: str, number: int) -> list[tuple[int, ...]]:
    """The indices of what a lane or a subgroup holds, in the order of its registers."""
    registers = range(layout.size("register"))
    return [layout.apply(register=register, **{input: number}) for register in registers]


# --- #xegpu.layout and #xegpu.slice ---

BOXES = [(1, 1), (1, 2), (2, 2), (3, 2), (2, 3), (4, 1), (2, 4)]
ORDERS = [(), (0, 1), (1, 0)]
SHAPES = [(4, 4), (4, 6), (8, 16), (12, 8), (4, 12), (16, 2)]


Positions = list[list[tuple[int, ...]]]


def expected(attribute: LayoutAttr | SliceAttr, count: int, shape: tuple[int, ...]) -> Positions:
    """What the dialect says that each lane or subgroup holds; nothing if that is not defined."""
    if not attribute.is_distributable(shape):
        return []
    return [list(attribute.element_coordinates(number, shape)) for number in range(count)]


def is_shared_out(positions: Positions, shape: tuple[int, ...]) -> bool:
    """Whether each element of a tensor, and nothing else, is held equally often."""
    counts = Counter(position for own in positions for position in own)
    return set(counts) == set(product(*map(range, shape))) and len(set(counts.values())) == 1


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("unit_layout", BOXES)
@pytest.mark.parametrize("level", ["sg", "lane"])
def test_units_hold_what_the_dialect_says(
    level: str, unit_layout: tuple[int, int], order: tuple[int, ...]
) -> None:
    seen = 0
    for data, shape in product([(), *BOXES, (8, 16)], SHAPES):
        given = {f"{level}_layout": unit_layout, f"{level}_data": data, "order": order}
        attribute = LayoutAttr(**{name: value for name, value in given.items() if value})
        input = "subgroup" if level == "sg" else "lane"
        count = unit_layout[0] * unit_layout[1]
        positions = expected(attribute, count, shape)
        try:
            layout = intel.XeGpu(**given).layout(shape)
        except LayoutError:
            # The dialect also takes boxes that do not fit into the tensor.
            assert not is_shared_out(positions, shape)
            continue
        if not positions:
            continue
        assert layout.shape == shape
        assert layout.size(input) == count
        assert [held(layout, input, number) for number in range(count)] == positions
        seen += 1
    assert seen > 5


@pytest.mark.parametrize("dims", [[0], [1], [2], [0, 2], [1, 2]])
@pytest.mark.parametrize("order", [(), (1, 0, 2)])
def test_slices_hold_what_the_dialect_says(dims: list[int], order: tuple[int, ...]) -> None:
    whole, data = (2, 3, 4), (2, 2, 3)
    given = {"order": order} if order else {}
    attribute = SliceAttr(LayoutAttr(sg_layout=whole, sg_data=data, **given), dims)
    shape = tuple(
        2 * n * d for i, (n, d) in enumerate(zip(whole, data, strict=True)) if i not in dims
    )
    layout = intel.XeGpu(sg_layout=whole, sg_data=data, order=order).layout(shape, dims)
    positions = expected(attribute, 24, shape)
    assert positions
    assert [held(layout, "subgroup", number) for number in range(24)] == positions


@pytest.mark.slow
def test_lanes_share_out_the_instructions_of_the_blocks_of_subgroups() -> None:
    """Each level shares out the boxes of the one around it, as the dialect does one by one."""
    layout = intel.XeGpu(
        sg_layout=(3, 2), sg_data=(16, 32), inst_data=(8, 16), lane_layout=(1, 16), lane_data=(2, 1)
    ).layout((96, 64))
    work_group = LayoutAttr(sg_layout=(3, 2), sg_data=(16, 32))
    instructions = LayoutAttr(sg_layout=(1, 1), sg_data=(8, 16))
    lanes = LayoutAttr(lane_layout=(1, 16), lane_data=(2, 1))
    assert layout.size("subgroup") == 6
    for subgroup, lane in product(range(6), range(16)):
        positions = [
            tuple(sum(parts) for parts in zip(block, instruction, position, strict=True))
            for block in work_group.distributed_coordinates(subgroup, (96, 64))
            for instruction in instructions.distributed_coordinates(0, (16, 32))
            for position in lanes.element_coordinates(lane, (8, 16))
        ]
        registers = range(layout.size("register"))
        assert positions == [
            layout.apply(register=r, lane=lane, subgroup=subgroup) for r in registers
        ]


def test_what_cannot_be_shared_out_is_refused() -> None:
    with pytest.raises(LayoutError, match="a size of 10 is no multiple of a box of 4"):
        intel.XeGpu(lane_layout=(2,), lane_data=(4,)).layout((10,))
    with pytest.raises(LayoutError, match="3 boxes cannot be dealt to 2 in turn"):
        intel.XeGpu(lane_layout=(2,), lane_data=(4,)).layout((12,))


# --- dpas ---

UNITS = [
    (row.rows, row.depth * row.bits // 32, row.columns, row.bits)
    for target in INTEL.chips.values()
    for row in target.units("dpas")
]
"""Rows, words along K, lanes and bits of every row of a matrix unit."""


@pytest.mark.parametrize(("rows", "words", "lanes", "bits"), sorted(set(UNITS)))
def test_operands_of_dpas_are_the_reference_devices(
    rows: int, words: int, lanes: int, bits: int
) -> None:
    pack = elements_of_a_register(bits)
    depth = words * pack
    # How the reference device takes the matrices of lanes apart: `semantics/xegpu/product.py`.
    if rows * depth < lanes:
        # The reference device has no lanes that are ignored.
        single = intel.dpas_a(rows, words, lanes, bits)
        assert [single.apply(lane=lane) for lane in range(lanes)] == [
            (0, lane % depth) for lane in range(lanes)
        ]
    elif rows * depth % lanes:
        with pytest.raises(LayoutError, match="cannot be dealt to 16 lanes"):
            intel.dpas_a(rows, words, lanes, bits)
    else:
        left = to_lanes(np.arange(rows * depth), unit(depth, bits, lanes), lanes)
        check(intel.dpas_a(rows, words, lanes, bits), left, (rows, depth))
    packed = np.arange(depth * lanes).reshape(depth // pack, pack, lanes).swapaxes(1, 2)
    right = to_lanes(packed.reshape(-1), pack, lanes)
    check(intel.dpas_b(words, lanes, bits), right, (depth, lanes))
    check(intel.dpas_c(rows, lanes), to_lanes(np.arange(rows * lanes), 1, lanes), (rows, lanes))


def check(layout: Layout, parts: np.ndarray, shape: tuple[int, int]) -> None:
    """Checks that an array (lanes, entries) has the numbers that lanes hold of a flat matrix."""
    assert layout.shape == shape
    assert (layout.size("lane"), layout.size("register")) == parts.shape
    for numbers in numbers_of(layout):
        row, column = layout.apply(**numbers)
        assert parts[numbers["lane"], numbers["register"]] == row * shape[1] + column


def test_there_are_units_of_both_execution_sizes() -> None:
    assert {lanes for _, _, lanes, _ in UNITS} == {8, 16}
    assert {bits for _, _, _, bits in UNITS} >= {8, 16, 32}


def test_blocks_are_dealt_as_the_reference_device_does() -> None:
    blocks = [
        shapes
        for target in INTEL.chips.values()
        if target.block_access is not None
        for table in (target.block_access.load, target.block_access.store)
        for size, extents in table.items()
        for shapes in product([size], extents.heights, extents.widths)
    ]
    assert len(blocks) > 30
    for size, rows, columns in sorted(set(blocks)):
        neighbours = unit(columns, 8 * size, 16)
        if rows * columns % (16 * neighbours):
            continue
        parts = to_lanes(np.arange(rows * columns), neighbours, 16)
        check(intel.dealt((rows, columns), neighbours, 16), parts, (rows, columns))


def test_neighbours_of_a_row_are_the_reference_devices() -> None:
    for columns, bits, lanes in product((1, 8, 16, 24, 32, 64), (4, 8, 16, 32, 64), (8, 16, 32)):
        assert intel.neighbours_of_a_row(columns, bits, lanes) == unit(columns, bits, lanes)


# --- AMX ---


@pytest.mark.parametrize(("element", "depth"), [(bf16, 32), (i8, 64)])
def test_right_operands_of_amx_are_packed_as_the_reference_device_unpacks(
    element: Any, depth: int
) -> None:
    bits = element.bitwidth
    pack = 32 // bits
    layout = intel.amx_b(depth, 16, bits)
    matrix = CooperativeMatrixType.of(depth, 16, element, MatrixUse.MATRIX_B)
    dtype = np.dtype(f"i{bits // 8}")
    numbers = np.arange(depth * 16).reshape(1, 1, depth // pack, 16 * pack)
    # One byte holds less than the number of an element of the tile.
    low, high = (
        core_cooperative_matrix._unpacked(digit.astype(dtype), matrix, dtype)[0, 0].astype(int)
        for digit in (numbers % 128, numbers // 128)
    )
    tile = low + 128 * high
    for row, line in product(range(layout.size("row")), range(layout.size("element"))):
        assert tile[layout.apply(row=row, element=line)] == row * 16 * pack + line


@pytest.mark.parametrize(("rows", "depth", "bits"), [(16, 32, 16), (8, 64, 8), (3, 16, 32)])
def test_left_operands_of_amx_are_row_by_row(rows: int, depth: int, bits: int) -> None:
    layout = intel.amx_a(rows, depth, bits)
    for numbers in numbers_of(layout):
        assert layout.apply(**numbers) == (numbers["row"], numbers["element"])


def test_tiles_that_there_are_not() -> None:
    with pytest.raises(LayoutError, match="a row of a tile has 64 bytes, not 128"):
        intel.amx_a(16, 64, 16)
    with pytest.raises(LayoutError, match="a row of a tile has 64 bytes, not 128"):
        intel.amx_c(16, 32)
    with pytest.raises(LayoutError, match="a depth of 3 is no multiple of the 2 elements"):
        intel.amx_b(3, 16, 16)


# --- vectors of subgroups ---


@pytest.mark.slow
@pytest.mark.parametrize("lanes", [4, 8, 16, 32])
def test_vectors_are_spread_as_on_the_reference_device(lanes: int) -> None:
    seen = 0
    for rows, columns in product([1, 2, 3, 5, 8, 12, 16, 33], [1, 2, 3, 4, 8, 16, 24, 32, 48]):
        # A vector is held as the transposed matrix of the tensor language is.
        own = layout_of(CoopmatrixType.get(f32, columns, rows, tensorlang.MatrixUse.ACC), lanes)
        if own is None:
            continue
        vector = intel.VectorLayout(rows, columns, lanes)
        layout = vector.layout
        assert vector.has_padding == (not own.is_component.all())
        assert (layout.size("register"), layout.size("lane")) == (own.length, lanes)
        for register, lane in product(range(own.length), range(lanes)):
            row, column = layout.apply(register=register, lane=lane)
            assert (row < rows and column < columns) == own.is_component[register, lane]
            if own.is_component[register, lane]:
                assert (own.columns[register, lane], own.rows[register, lane]) == (row, column)
        seen += 1
    assert seen > 20


@pytest.mark.parametrize("rows", [2, 3, 8, 16])
def test_narrower_blocks_are_left_operands_of_as_many_columns(rows: int) -> None:
    """Blocks of 8 columns of f32 lie in lanes as dpas reads A of tf32."""
    narrow = intel.VectorLayout(rows, 32, 16, narrowed=8)
    assert (narrow.width, narrow.blocks, narrow.row_step) == (8, 4, 2)
    assert narrow.has_padding == (rows == 3)
    if rows == 8:
        operand = intel.dpas_a(8, 8, 16, 32)
        for register, lane, block in product(range(4), range(16), range(4)):
            row, column = operand.apply(register=register, lane=lane)
            place = narrow.layout.apply(register=register + 4 * block, lane=lane)
            assert place == (row, column + 8 * block)


def test_a_vector_of_no_multiple_of_the_lanes_has_padding() -> None:
    layout = intel.VectorLayout(3, 24, 16).layout
    assert layout.shape == (3, 32)
    assert layout.apply(register=3, lane=8) == (0, 24)
