"""Matrices in global memory row by row, on devices without two-dimensional block accesses.

A row is a block of one dimension, whose address all lanes share: that leaves more registers for
matrices than an address for each element.

Source: OpenCL extension cl_intel_subgroups.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from xdsl.dialects import vector
from xdsl.ir import SSAValue

from xtile.dialects.xegpu.ops.descriptors import CreateNdDescOp
from xtile.dialects.xegpu.types import TensorDescType
from xtile.layouts.intel import VectorLayout
from xtile.targets.blocks import Action, Bytes, row_obstacle
from xtile.translate.core_to_xegpu import xegpu_operations as xegpu
from xtile.translate.core_to_xegpu.fragments import Fragment, build
from xtile.translate.core_to_xegpu.legality import Block
from xtile.translate.core_to_xegpu.lowering import LOCAL_MEMORY_SPACE, Lowering
from xtile.translate.core_to_xegpu.pieces import from_scalars, to_scalars
from xtile.translate.core_to_xegpu.views import size_of, static_and_dynamic, type_of, view_of


def load(lowering: Lowering, block: Block, layout: VectorLayout) -> Fragment | None:
    """A read row by row; None if that is not legal."""
    if not _is_legal(lowering, block, layout, Action.LOAD):
        return None
    rows = [
        [
            scalar
            for first, count in _groups(lowering, layout)
            for scalar in _load(lowering, block, layout, (row, first), count)
        ]
        for row in range(layout.rows)
    ]
    return build(
        layout,
        lambda w, first, length: from_scalars(
            lowering, [row[w] for row in rows[first : first + length]]
        ),
    )


def store(lowering: Lowering, block: Block, fragment: Fragment) -> bool:
    """Writes a matrix row by row; whether that is legal."""
    layout = fragment.layout
    if not _is_legal(lowering, block, layout, Action.STORE):
        return False
    columns = [
        [scalar for piece in pieces for scalar in to_scalars(lowering, piece)]
        for pieces in fragment.blocks
    ]
    for row in range(layout.rows):
        for first, count in _groups(lowering, layout):
            values = [column[row] for column in columns[first : first + count]]
            descriptor = _descriptor(lowering, block, layout, (row, first), count)
            xegpu.store_nd(lowering, from_scalars(lowering, values), descriptor, ())
    return True


def _load(
    lowering: Lowering, block: Block, layout: VectorLayout, start: tuple[int, int], count: int
) -> list[SSAValue]:
    """A lane's elements of a row, from a block of columns on."""
    descriptor = _descriptor(lowering, block, layout, start, count)
    loaded = xegpu.load_nd(lowering, descriptor, (), count)
    element = type_of(block.memory).element_type
    return [lowering.emit(vector.ExtractOp(loaded, [i], element)).result for i in range(count)]


def _descriptor(
    lowering: Lowering, block: Block, layout: VectorLayout, start: tuple[int, int], count: int
) -> SSAValue:
    """Describes so many blocks of columns of a row."""
    row, first = start
    indices = (
        lowering.add(block.start[0], row),
        lowering.add(block.start[1], first * layout.width),
    )
    type_ = TensorDescType([count * layout.width], type_of(block.memory).element_type)
    static, dynamic = static_and_dynamic(indices)
    operation = CreateNdDescOp.build(
        operands=[block.memory, dynamic, [], []],
        result_types=[type_],
        properties={"const_offsets": static},
    )
    return lowering.emit(operation).results[0]


def _groups(lowering: Lowering, layout: VectorLayout) -> Iterator[tuple[int, int]]:
    """The first and the number of the blocks of columns that are accessed at once."""
    access = lowering.target.row_access
    assert access is not None
    first = 0
    while first < layout.blocks:
        count = max(count for count in access.counts if count <= layout.blocks - first)
        yield first, count
        first += count


def _is_legal(lowering: Lowering, block: Block, layout: VectorLayout, action: Action) -> bool:
    """Whether the rows of a matrix are rows in global memory that instructions access."""
    type_, lanes = type_of(block.memory), lowering.subgroup_size
    if type_.memory_space == LOCAL_MEMORY_SPACE or any(block.checked):
        return False
    if block.row != 0 or layout.width != lanes or layout.has_padding:
        return False
    view = view_of(lowering, block.memory)
    step = view.strides[1] if isinstance(view.strides[1], int) else None
    column = lowering.add(view.offsets[1], block.start[1])
    size, known = size_of(type_.element_type), lowering.facts.divisor
    distances = (known(number) * size for number in (view.outer, view.strides[0], column))
    address = Bytes(gcd(lowering.alignment_of(view.root), *distances), 0)
    return row_obstacle(lowering.target, action, lanes, layout.width, step, address) is None
