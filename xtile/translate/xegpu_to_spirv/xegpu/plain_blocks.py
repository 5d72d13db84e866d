"""Blocks that each lane accesses element by element: the way that all devices have.

Source: docs/semantics.md, "XeGPU"; MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUOps.td`, `load_nd` and
`store_nd`, and `Conversion/XeGPUToXeVM`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from xtile.layouts import Layout, LayoutError
from xtile.layouts.intel import dealt, elements_of_a_word, neighbours_of_a_row
from xtile.rewrite.indices import Index, share
from xtile.translate.xegpu_to_spirv.control import Condition, both, do_where, value_where
from xtile.translate.xegpu_to_spirv.gpu import of_subgroup
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.memory import Location, load_piece, location, store_piece
from xtile.translate.xegpu_to_spirv.types import register_type
from xtile.translate.xegpu_to_spirv.xegpu.block_descriptors import BlockAccess


@dataclass(frozen=True)
class _Element:
    """One of a lane's elements.

    Attributes:
        location: Where it is in memory.
        inside: Whether that is in the region.
    """

    location: Location
    inside: Condition


def load(lowering: Lowering, access: BlockAccess) -> list[SSAValue]:
    """A lane's elements, those outside of the region as 0."""
    descriptor = access.descriptor
    memory = descriptor.memory
    zero = lowering.constants.of_bits(0, register_type(memory.element))

    def value(element: _Element) -> SSAValue:
        return value_where(
            lowering,
            element.inside,
            lambda: load_piece(lowering, memory, element.location, 1),
            zero,
        )

    return [value(element) for element in _elements(lowering, access)]


def store(lowering: Lowering, access: BlockAccess, values: Sequence[SSAValue]) -> None:
    """Stores a lane's elements, but for those outside of the region."""
    memory = access.descriptor.memory

    def write(element: _Element, value: SSAValue) -> None:
        do_where(
            lowering, element.inside, lambda: store_piece(lowering, memory, element.location, value)
        )

    for element, value in zip(_elements(lowering, access), values, strict=True):
        write(element, value)


def _elements(lowering: Lowering, access: BlockAccess) -> list[_Element]:
    """A lane's elements, block after block."""
    width = access.shape[1]
    return [
        _element(lowering, access, row, lowering.add(column, block * width))
        for block in range(access.type.array_length)
        for row, column in (_position(lowering, access, i) for i in range(access.entries))
    ]


def _position(lowering: Lowering, access: BlockAccess, entry: int) -> tuple[Index, Index]:
    """The row and the column in a block in memory of one of a lane's elements."""
    rows, columns = access.shape
    if access.is_transposed:
        rows, columns = columns, rows
    if access.is_packed:
        pack = elements_of_a_word(access.bits)
        words = rows // pack, columns
        row, column = _dealt_position(lowering, words, 1, access.lanes, entry // pack)
        row = lowering.add(lowering.multiply(row, pack), entry % pack)
    else:
        is_matrix = access.type.rank > 1
        count = neighbours_of_a_row(columns, access.bits, access.lanes) if is_matrix else 1
        row, column = _dealt_position(lowering, (rows, columns), count, access.lanes, entry)
    return (column, row) if access.is_transposed else (row, column)


def _element(lowering: Lowering, access: BlockAccess, row: Index, column: Index) -> _Element:
    descriptor = access.descriptor
    rank = descriptor.type.rank
    moves = (row, column)[2 - rank :]
    indices = [lowering.add(a, b) for a, b in zip(descriptor.offsets, moves, strict=True)]
    inside: Condition = None
    if descriptor.is_checked:
        for index, size in zip(indices, descriptor.sizes, strict=True):
            inside = both(lowering, inside, _is_below(lowering, index, size))
    return _Element(location(lowering, descriptor.memory, indices), inside)


def _is_below(lowering: Lowering, index: Index, size: Index) -> Condition:
    """Whether 0 <= index < size; a negative index is a large unsigned one."""
    if isinstance(index, int) and isinstance(size, int) and 0 <= index < size:
        return None
    left, right = lowering.as_value(index), lowering.as_value(size)
    return lowering.shared_compute("ULessThan", i1, left, right)


def _dealt_position(
    lowering: Lowering, shape: tuple[int, int], neighbours: int, lanes: int, entry: int
) -> tuple[Index, Index]:
    """The row and the column of a lane's element of a matrix that is dealt to the lanes.

    Args:
        lowering: Where to emit.
        shape: Rows and columns of the matrix.
        neighbours: How many elements of a row a lane gets at once.
        lanes: The lanes of a subgroup.
        entry: Which of a lane's elements.

    Raises:
        DiagnosticError: The matrix cannot be dealt to the lanes.
    """
    rows, columns = shape
    together = neighbours * lanes
    has_whole_rows = columns % together == 0 or (
        together % columns == 0 and columns % neighbours == 0
    )
    layout = dealt_to(lowering, shape if has_whole_rows else (1, rows * columns), neighbours, lanes)
    lane = of_subgroup(lowering, "SubgroupLocalInvocationId")
    known = layout.apply(register=entry)
    row, column = (
        lowering.add(share(lowering, layout, ("lane", name), lane), index)
        for name, index in zip(("dim0", "dim1"), known, strict=True)
    )
    if has_whole_rows:
        return row, column
    return lowering.divide(column, columns), lowering.remainder(column, columns)


def dealt_to(lowering: Lowering, shape: tuple[int, int], neighbours: int, lanes: int) -> Layout:
    """How a matrix is dealt to lanes.

    Raises:
        DiagnosticError: It cannot be.
    """
    try:
        return dealt(shape, neighbours, lanes)
    except LayoutError as error:
        raise lowering.error(str(error)) from error
