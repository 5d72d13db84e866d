"""Blocks of XeGPU whose parts lanes hold: matrices again, whose elements are told apart by layouts.

An entry of a lane's vector is an element of the subgroup's matrix (docs/semantics.md, 8). Where the
entries are the rows and the lanes the columns, nothing but the names of axes changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    VectorType,
    i64,
)
from xdsl.ir import Operation, SSAValue

from xtile.dialects.core.elements import GatherOp
from xtile.dialects.upstream import value_type
from xtile.dialects.xegpu.attributes import BlockTensorDescAttr
from xtile.dialects.xegpu.operation import tensor_desc
from xtile.dialects.xegpu.ops.block import LoadNdOp, StoreNdOp
from xtile.dialects.xegpu.ops.descriptors import CreateNdDescOp, UpdateNdOffsetOp
from xtile.dialects.xegpu.types import TensorDescType, bit_width
from xtile.rewrite.emitter import AnyMemRef, rank
from xtile.rewrite.facts import constant_of
from xtile.rewrite.indices import Index
from xtile.rewrite.memref_layouts import layout_of
from xtile.rewrite.regions import offset_of, reinterpreted, view_at
from xtile.rewrite.tile_emitter import TileEmitter, shape_of, with_shape
from xtile.transforms.lift.matrices import product
from xtile.transforms.lift.shapes import ordered, outside_of
from xtile.transforms.lift.transfers import Box, read_box, write_box
from xtile.transforms.lift.widening import Where, Wide, Widening
from xtile.transforms.lift.work_group import COLUMN, LANE, ROW, own_axes

Table = tuple[tuple[int, ...], ...]
"""For each entry of a lane's vector, and for each lane, the number of an element."""

_MATRIX = (ROW, COLUMN)


# --- descriptors ---


def create_descriptor(operation: CreateNdDescOp, widening: Widening) -> None:
    """A descriptor is memory and where a block begins."""
    if widening.divergence.of_all((operation.source, *operation.shape, *operation.strides)):
        raise widening.kernel.error("a block of memory that differs has no counterpart on tiles")
    memory = described_memory(operation, widening.kernel)
    offsets = [_where(each, widening) for each in operation.mixed_offsets]
    widening.blocks[operation.TensorDesc] = memory, offsets or [0] * rank(memory)


def described_memory(operation: CreateNdDescOp, kernel: TileEmitter) -> SSAValue:
    """The memory of a descriptor, with its shape if it has one of its own.

    Raises:
        DiagnosticError: The descriptor begins at a number that has no arithmetic.
    """
    source = kernel.value(operation.source)
    is_memref = isinstance(source.type, MemRefType)
    if is_memref and not has_own_shape(operation):
        return source
    sizes, strides = (
        tuple(_known(each, kernel) for each in numbers)
        for numbers in (operation.mixed_sizes, operation.mixed_strides)
    )
    if is_memref:
        layout = layout_of(cast("AnyMemRef", source.type))
        offset = offset_of(kernel, source, layout)
        return reinterpreted(kernel, source, offset, sizes, strides)
    if source.type != i64:
        raise kernel.error(f"an address of type {source.type} has no arithmetic; use one of i64")
    element = tensor_desc(operation.TensorDesc).element_type
    return view_at(kernel, source, element, sizes, strides)


def has_own_shape(operation: CreateNdDescOp) -> bool:
    """Whether a descriptor says which shape its memory has."""
    return bool(operation.shape) or operation.const_shape is not None


def _known(number: SSAValue | int | None, kernel: TileEmitter) -> Index:
    assert number is not None, "a descriptor with a shape of its own has all numbers"
    if isinstance(number, int):
        return number
    constant = constant_of(number)
    return kernel.value(number) if constant is None else constant


def update_descriptor(operation: UpdateNdOffsetOp, widening: Widening) -> None:
    """The offsets move on."""
    memory, offsets = _moved(operation, operation.TensorDesc, operation.mixed_offsets, widening)
    widening.blocks[operation.result] = memory, offsets


def _where(given: SSAValue | int, widening: Widening) -> Where:
    where = given if isinstance(given, int) else widening.where(given)
    return widening.of_subgroup(where) if isinstance(where, Wide) else where


def _moved(
    operation: Operation,
    descriptor: SSAValue,
    offsets: Sequence[SSAValue | int],
    widening: Widening,
) -> tuple[SSAValue, list[Where]]:
    known = widening.blocks.get(descriptor)
    if known is None:
        raise widening.kernel.error(
            "a descriptor that loops or branches hand on has no counterpart on tiles; give the "
            "access its offsets",
            operation,
        )
    memory, first = known
    start = len(first) - len(offsets)
    moved = [
        widening.add(a, _where(b, widening)) for a, b in zip(first[start:], offsets, strict=True)
    ]
    return memory, [*first[:start], *moved]


# --- accesses ---


def table_of_access(operation: LoadNdOp | StoreNdOp, lanes: int) -> tuple[Table, list[int]]:
    """Which element of a block each entry of each lane is, and the rows and columns of the block.

    Raises:
        ValueError: The vector is no lane's part of the block.
    """
    from xtile.semantics.xegpu.block_coordinates import coordinates

    type_ = tensor_desc(operation.TensorDesc)
    axes = [axis.reshape(lanes, -1).T for axis in coordinates(operation, type_, lanes)]
    sizes = [int(axis.max()) + 1 for axis in axes]
    if len(axes) == 1:
        axes, sizes = [axes[0] * 0, axes[0]], [1, sizes[0]]
    position = axes[0] * sizes[1] + axes[1]
    return tuple(tuple(map(int, row)) for row in position.tolist()), sizes


def is_boundary_checked(type_: TensorDescType) -> bool:
    """Whether elements outside of memory are zeros, and not written."""
    encoding = type_.encoding
    is_checked = isinstance(encoding, BlockTensorDescAttr) and encoding.is_boundary_checked
    return type_.rank > 1 and is_checked


def _accessed(operation: LoadNdOp | StoreNdOp, widening: Widening) -> tuple[Box, Table]:
    """The block that the lanes of a subgroup access together, and which element each entry is."""
    kernel, type_ = widening.kernel, tensor_desc(operation.TensorDesc)
    if not operation.is_for_lane:
        raise kernel.error(
            "the vector must be the part of one lane, as the others of the kernel are"
        )
    memory, offsets = _moved(operation, operation.TensorDesc, operation.mixed_offsets, widening)
    table, sizes = table_of_access(operation, widening.group.lanes)
    is_checked = is_boundary_checked(type_)
    count = len(offsets)
    along: list[int | None] = [count - 2 if type_.rank > 1 else None, count - 1]
    checked = [d for d in along if d is not None] if is_checked else []
    return Box(
        memory,
        offsets,
        _MATRIX,
        along,
        sizes,
        [not is_checked] * 2,
        {d: kernel.size((memory, d)) for d in checked},
        {d: offsets[d] for d in checked},
    ), table


def load(operation: LoadNdOp, widening: Widening) -> None:
    """The block is read, and dealt to the lanes."""
    box, table = _accessed(operation, widening)
    element = value_type(operation.value.type)
    outside = {a for each in box.indices if isinstance(each, Wide) for a in each.axes}
    mask = widening.mask
    if mask is not None:
        outside |= set(mask.axes) - {LANE}
    axes = sorted({*outside, *_MATRIX})
    matrix = read_box(box, axes, widening.number(0, element), widening)
    widening.define(operation.value, _dealt(widening, matrix, table, operation.value))


def store(operation: StoreNdOp, widening: Widening) -> None:
    """The block is put together, and written."""
    box, table = _accessed(operation, widening)
    fragment = widening.like(widening.wide(operation.value), operation.value)
    write_box(box, _together(widening, fragment, table, box.sizes, operation.value), widening)


# --- parts of lanes and whole matrices ---


def _is_plain(table: Table, columns: int) -> bool:
    """Whether entries are rows and lanes columns."""
    return (
        all(
            element == row * columns + lane
            for row, lanes in enumerate(table)
            for lane, element in enumerate(lanes)
        )
        and len(table[0]) == columns
    )


def _dealt(widening: Widening, matrix: Wide, table: Table, old: SSAValue) -> Wide:
    """The entries of all lanes: the elements that a table says, row by row, of a matrix."""
    kernel, outside = widening.kernel, outside_of(matrix, _MATRIX)
    own, columns = own_axes(old.type), matrix.sizes[COLUMN]
    value = kernel.transposed(
        matrix.value, [matrix.axes.index(axis) for axis in (*outside, *_MATRIX)]
    )
    shape = [matrix.sizes[axis] for axis in outside]
    if not _is_plain(table, columns):
        numbers = [element for lanes in table for element in lanes]
        value = _elements(widening, value, shape, numbers)
    value = kernel.reshape(value, [*shape, *shape_of(old.type), widening.group.lanes])
    return ordered(widening, value, [*outside, *own, LANE])


def _together(
    widening: Widening, fragment: Wide, table: Table, sizes: Sequence[int], old: SSAValue
) -> Wide:
    """The matrix of which the lanes have entries, whose elements a table says."""
    kernel, own = widening.kernel, own_axes(old.type)
    fragment = widening.aligned(fragment, sorted({*fragment.axes, LANE}))
    outside = outside_of(fragment, (*own, LANE))
    value = kernel.transposed(
        fragment.value, [fragment.axes.index(axis) for axis in (*outside, *own, LANE)]
    )
    shape = [fragment.sizes[axis] for axis in outside]
    if not _is_plain(table, sizes[1]):
        lanes = len(table[0])
        at = {
            element: entry * lanes + lane
            for entry, row in enumerate(table)
            for lane, element in enumerate(row)
        }
        value = _elements(widening, value, shape, [at[i] for i in range(prod(sizes))])
    return ordered(widening, kernel.reshape(value, [*shape, *sizes]), [*outside, *_MATRIX])


def _elements(
    widening: Widening, value: SSAValue, outside: Sequence[int], numbers: Sequence[int]
) -> SSAValue:
    """Elements of the last dimensions of a vector, row by row, in another order."""
    kernel, count = widening.kernel, prod(shape_of(value.type)[len(outside) :])
    line = kernel.reshape(value, [*outside, count])
    dense = VectorType(IndexType(), [len(numbers)])
    attribute = cast(Any, DenseIntOrFPElementsAttr).from_list(dense, list(numbers))
    positions = kernel.shared(
        attribute, (), lambda: kernel.emit(arith.ConstantOp(attribute)).result
    )
    positions = kernel.spread(positions, [*outside, len(numbers)])
    type_ = with_shape(value.type, [*outside, len(numbers)])
    axis = IntegerAttr(len(outside), i64)
    return kernel.compute(GatherOp, [line, positions], type_, {"axis": axis})


# --- products ---


def tables_of_product(operation: Operation, lanes: int) -> tuple[Table, Table, Table]:
    """Which elements of A, B and C := A B + C each entry of each lane is."""
    import numpy as np

    from xtile.semantics.xegpu.block_coordinates import elements_of_a_register, from_lanes, unit

    lhs, rhs = operation.operands[:2]
    rows, count = prod(shape_of(operation.results[0].type)), prod(shape_of(lhs.type))
    inner, bits = prod(shape_of(rhs.type)), bit_width(value_type(rhs.type))
    left_shape = shape_of(lhs.type)
    together = prod(left_shape[1:]) if len(left_shape) > 1 else unit(inner, bits, lanes)
    pack = elements_of_a_register(bits)
    left = from_lanes(np.arange(lanes * count).reshape(lanes, count), together)
    right = from_lanes(np.tile(np.arange(inner), (lanes, 1)), pack)
    right = right.reshape(inner // pack, lanes, pack).swapaxes(1, 2).reshape(inner, lanes)
    of_left = [[0] * lanes for _ in range(count)]
    for element, number in enumerate(left.tolist()):
        lane, entry = divmod(int(number), count)
        of_left[entry][lane] = element
    of_right = [[0] * lanes for _ in range(inner)]
    for depth, row in enumerate(right.tolist()):
        for lane, entry in enumerate(row):
            of_right[int(entry)][lane] = depth * lanes + lane
    plain = [[row * lanes + lane for lane in range(lanes)] for row in range(rows)]
    return _table(of_left), _table(of_right), _table(plain)


def dpas(operation: Operation, widening: Widening) -> None:
    """A product of the matrices of which lanes have parts."""
    kernel, lanes = widening.kernel, widening.group.lanes
    lhs, rhs, *sums = operation.operands
    (result,) = operation.results
    rows, inner = prod(shape_of(result.type)), prod(shape_of(rhs.type))
    of_left, of_right, plain = tables_of_product(operation, lanes)
    a = _together(widening, widening.wide(lhs), of_left, (rows, inner), lhs)
    b = _together(widening, widening.wide(rhs), of_right, (inner, lanes), rhs)
    if sums:
        c = _together(widening, widening.wide(sums[0]), plain, (rows, lanes), result)
    else:
        zero = kernel.constant(0, with_shape(result.type, (rows, lanes)))
        c = Wide((zero,), _MATRIX)
    axes = sorted({axis for each in (a, b, c) for axis in each.axes})
    c = widening.aligned(c, axes)
    numbers = ({ROW: 0, COLUMN: 2}, {ROW: 2, COLUMN: 1}, {ROW: 0, COLUMN: 1})
    value = product(widening, (a, b, c), numbers, {})
    widening.define(result, _dealt(widening, value, plain, result))


def _table(rows: Sequence[Sequence[int]]) -> Table:
    return tuple(map(tuple, rows))


def same(operation: Operation, widening: Widening) -> None:
    """What lanes hold is not moved."""
    widening.define(operation.results[0], widening.wide(operation.operands[0]))
