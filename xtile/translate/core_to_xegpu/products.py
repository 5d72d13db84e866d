"""Products of matrices: dpas where the matrix unit has the shape, shuffles elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    BFloat16Type,
    IndexType,
    IntegerType,
    VectorType,
    bf16,
    f16,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.vector import ContractionOp
from xtile.translate.core_to_xegpu import xegpu_operations as xegpu
from xtile.translate.core_to_xegpu.bfloat16 import widen
from xtile.translate.core_to_xegpu.fragments import (
    PIECE,
    BlockForm,
    Fragment,
    Layout,
    of_values,
    spans,
)
from xtile.translate.core_to_xegpu.lowering import Lowering, Number
from xtile.translate.core_to_xegpu.pieces import (
    from_scalars,
    interleaved,
    length_of,
    vector_bitcast,
    with_piece,
)
from xtile.translate.core_to_xegpu.scattered import entries
from xtile.translate.core_to_xegpu.subgroup import shuffle
from xtile.translate.rule import Rule

_MATMUL = (["d0", "d2"], ["d2", "d1"], ["d0", "d1"])
"""The indexing maps of C := A B + C, of the iterations (row, column, depth)."""


def _is_matmul(operation: Operation) -> bool:
    maps = cast("ArrayAttr[AffineMapAttr]", operation.properties["indexing_maps"])
    results = tuple([str(result) for result in attribute.data.results] for attribute in maps)
    return results == _MATMUL


def uses_matrix_unit(lowering: Lowering, operation: Operation) -> bool:
    """Whether an operation is a product that the matrix unit computes."""
    if not isinstance(operation, ContractionOp) or not _is_matmul(operation):
        return False
    return _misfit(lowering, operation) is None


def form_of_operand(lowering: Lowering, result: SSAValue) -> BlockForm:
    """The blocks that products on the matrix unit want of a matrix, if nothing else uses it."""
    unit = lowering.device.matrix_unit
    element = cast("VectorType[Attribute]", result.type).element_type
    if unit is not None and _is_only_operand(lowering, result, 0):
        return BlockForm(neighbours=unit.depth(element) // unit.execution_size)
    if unit is not None and _is_only_operand(lowering, result, 1):
        return BlockForm(rows=unit.depth(element), is_packed=True)
    return BlockForm()


def _is_only_operand(lowering: Lowering, result: SSAValue, index: int) -> bool:
    """Whether a matrix is only used as one operand of products on the matrix unit."""
    return bool(result.uses) and all(
        use.index == index and uses_matrix_unit(lowering, use.operation) for use in result.uses
    )


def _misfit(lowering: Lowering, operation: Operation) -> str | None:
    """Why the matrix unit does not compute a product; None if it does."""
    unit = lowering.device.matrix_unit
    left, right, accumulator = (
        cast("VectorType[Attribute]", operand.type) for operand in operation.operands[:3]
    )
    element = left.element_type
    if unit is None:
        return f"{lowering.device.name} has none"
    if element != right.element_type or element not in unit.accumulators:
        return f"it has no products of {element} and {right.element_type}"
    if not unit.is_exact(element, accumulator.element_type):
        return f"it has no exact products of {element} with sums of {accumulator.element_type}"
    if unit.execution_size != lowering.subgroup_size:
        return f"it needs subgroups of {unit.execution_size} lanes"
    if lowering.device.is_for_llvm and unit.depth(f16) != unit.execution_size:
        return f"LLVM has none for subgroups of {unit.execution_size} lanes"
    depth = unit.depth(element)
    if left.get_shape()[1] % depth != 0:
        return f"the depth {left.get_shape()[1]} is no multiple of {depth}"
    if right.get_shape()[1] % unit.execution_size != 0:
        return f"{right.get_shape()[1]} columns are no multiple of {unit.execution_size}"
    rows = {length for _, length in spans(lowering.layout(accumulator))}
    if not rows <= set(unit.repeat_counts):
        return f"it has no products with {max(rows - set(unit.repeat_counts))} rows"
    return None


def _contract(operation: Operation, lowering: Lowering) -> None:
    if not _is_matmul(operation):
        raise lowering.error("vector.contract must be a product of two matrices, C := A B + C")
    left, right, accumulator = (lowering.fragment(operand) for operand in operation.operands[:3])
    misfit = _misfit(lowering, operation)
    if misfit is None:
        result = _on_matrix_unit(lowering, operation, left, right, accumulator)
    else:
        lowering.remark(f"multiplies without the matrix unit: {misfit}")
        result = _by_shuffles(lowering, operation, left, right, accumulator)
    lowering.define(operation.results[0], result)


def _on_matrix_unit(
    lowering: Lowering,
    operation: Operation,
    left: Fragment,
    right: Fragment,
    accumulator: Fragment,
) -> Fragment:
    unit = lowering.device.matrix_unit
    assert unit is not None
    element = cast("VectorType[Attribute]", operation.operands[0].type).element_type
    depth = unit.depth(element)
    neighbours = depth // unit.execution_size
    if left.neighbours == neighbours:
        rows = with_piece(lowering, left, PIECE * neighbours).blocks
        columns = with_piece(lowering, right, depth).blocks
    else:
        left = with_piece(lowering, left, PIECE)
        right = with_piece(lowering, right, unit.execution_size)
        rows, columns = _as_neighbours(lowering, left, right, neighbours)
    result: list[SSAValue] = []
    for column, sums in zip(columns, accumulator.blocks, strict=True):
        for row, total in enumerate(sums):
            for k, parts in enumerate(rows):
                a = as_operand(lowering, parts[row], element)
                b = as_operand(lowering, column[k], element)
                total = xegpu.dpas(lowering, a, b, total)
            result.append(total)
    return of_values(accumulator.layout, result)


_Parts = Sequence[Sequence[SSAValue]]
"""For each block of columns of a matrix its pieces."""


def _as_neighbours(
    lowering: Lowering, left: Fragment, right: Fragment, count: int
) -> tuple[_Parts, _Parts]:
    """The operands of a unit with rows of A that are `count` times as long as there are lanes.

    A lane holds so many neighbours of a row of A, and of a column of B. Which elements of A they
    are does not matter, as long as those of B have the same numbers: of L lanes lane p has columns
    p, p + L, ... of A, as fragments do, so rows p, p + L, ... of B are neighbours. No element moves
    between lanes.
    """
    groups = [left.blocks[i : i + count] for i in range(0, len(left.blocks), count)]
    rows = [
        [interleaved(lowering, pieces) for pieces in zip(*blocks, strict=True)] for blocks in groups
    ]
    columns = [
        [interleaved(lowering, pieces[i : i + count]) for i in range(0, len(pieces), count)]
        for pieces in right.blocks
    ]
    return rows, columns


def as_operand(lowering: Lowering, piece: SSAValue, element: Attribute) -> SSAValue:
    """The operand of dpas: bf16 numbers, where their bits are carried."""
    if not isinstance(element, BFloat16Type):
        return piece
    owner = piece.owner
    if isinstance(owner, arith.BitcastOp) and owner.input.type == VectorType(
        bf16, [length_of(piece)]
    ):
        return owner.input
    return vector_bitcast(lowering, piece, VectorType(bf16, [length_of(piece)]))


def _by_shuffles(
    lowering: Lowering,
    operation: Operation,
    left: Fragment,
    right: Fragment,
    accumulator: Fragment,
) -> Fragment:
    """Sums up products of components, which are fetched from the lanes that hold them."""
    a = _wide_scalars(lowering, operation.operands[0], left, operation.operands[2])
    b = _wide_scalars(lowering, operation.operands[1], right, operation.operands[2])
    sums = {(w, i): value for w, i, value in entries(lowering, accumulator)}
    layout = accumulator.layout
    for k in range(left.layout.columns):
        from_left = _column_entries(lowering, a, left.layout, layout, k)
        from_right = _row_entries(lowering, b, right.layout, layout, k)
        for (w, i), total in sums.items():
            sums[w, i] = _multiply_add(lowering, from_left[i], from_right[w, i], total)
    values: list[SSAValue] = []
    for w, block in enumerate(accumulator.blocks):
        first = 0
        for piece in block:
            count = length_of(piece)
            values.append(from_scalars(lowering, [sums[w, first + j] for j in range(count)]))
            first += count
    return accumulator.with_values(values)


_Scalars = dict[tuple[int, int], SSAValue]


def _wide_scalars(
    lowering: Lowering, old: SSAValue, fragment: Fragment, accumulator: SSAValue
) -> _Scalars:
    """The entries of an operand in the type of the sums."""
    source = cast("VectorType[Attribute]", old.type).element_type
    target = cast("VectorType[Attribute]", accumulator.type).element_type
    result: _Scalars = {}
    for w, i, value in entries(lowering, fragment):
        if isinstance(source, BFloat16Type):
            value = widen(lowering, value)
        if value.type != target:
            conversion = arith.ExtSIOp if isa(target, IntegerType) else arith.ExtFOp
            value = lowering.emit(
                conversion.build(operands=[value], result_types=[target])
            ).results[0]
        result[w, i] = value
    return result


def _column_entries(
    lowering: Lowering, scalars: _Scalars, source: Layout, target: Layout, k: int
) -> list[SSAValue]:
    """For each entry of the target, the component of the left operand in its row, column k."""
    return [
        _fetch(lowering, scalars, source, _row_of(lowering, target, entry), k)
        for entry in range(target.entries)
    ]


def _row_entries(
    lowering: Lowering, scalars: _Scalars, source: Layout, target: Layout, k: int
) -> _Scalars:
    """For each entry of the target, the component of the right operand in row k, its column."""
    result: _Scalars = {}
    for w in range(target.blocks):
        column = lowering.add(lowering.remainder(lowering.lane(), target.width), w * target.width)
        value = _fetch(lowering, scalars, source, k, column)
        for entry in range(target.entries):
            result[w, entry] = value
    return result


def _row_of(lowering: Lowering, layout: Layout, entry: int) -> Number:
    if layout.width == lowering.subgroup_size:
        return entry
    return lowering.add(lowering.divide(lowering.lane(), layout.width), entry * layout.row_step)


def _fetch(
    lowering: Lowering, scalars: _Scalars, source: Layout, row: Number, column: Number
) -> SSAValue:
    """A component of a matrix, from the lane that holds it; it can differ between lanes."""
    lane = lowering.add(
        lowering.multiply(lowering.remainder(row, source.row_step), source.width),
        lowering.remainder(column, source.width),
    )
    entry = lowering.divide(row, source.row_step)
    block = lowering.divide(column, source.width)
    candidates = {
        (w, i): value
        for (w, i), value in scalars.items()
        if (not isinstance(block, int) or w == block) and (not isinstance(entry, int) or i == entry)
    }
    result: SSAValue | None = None
    for (w, i), value in candidates.items():
        fetched = shuffle(lowering, value, lane)
        if result is None:
            result = fetched
            continue
        here = None if isinstance(block, int) else lowering.is_equal(block, w)
        if not isinstance(entry, int):
            here = lowering.both(here, lowering.is_equal(entry, i))
        result = fetched if here is None else lowering.select(here, fetched, result)
    assert result is not None
    return result


def _multiply_add(lowering: Lowering, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
    if isinstance(c.type, IntegerType | IndexType):
        product = lowering.emit(arith.MuliOp(a, b)).result
        return lowering.emit(arith.AddiOp(product, c)).result
    product = lowering.emit(arith.MulfOp(a, b)).result
    return lowering.emit(arith.AddfOp(product, c)).result


RULES: dict[str, Rule] = {ContractionOp.name: _contract}
