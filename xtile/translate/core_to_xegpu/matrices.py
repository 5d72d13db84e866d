"""Matrices as a whole: broadcasts, reductions, maps and single entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import (
    BFloat16Type,
    VectorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xtile.dialects.construction import made
from xtile.dialects.core.subgroup import FragmentExtractOp, FragmentInsertOp, MapOp, YieldOp
from xtile.dialects.effects import may_fail
from xtile.dialects.shared_attributes import vector_of
from xtile.dialects.vector.reductions import MultiDimReductionOp
from xtile.dialects.vector.shapes import ShapeCastOp
from xtile.layouts.intel import VectorLayout, vector_layout
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_xegpu.bfloat16 import element_of, narrow, widen
from xtile.translate.core_to_xegpu.components import Components, shape_of
from xtile.translate.core_to_xegpu.copying import emit_on
from xtile.translate.core_to_xegpu.fragments import Fragment, build
from xtile.translate.core_to_xegpu.lowering import Lowering, carried_type
from xtile.translate.core_to_xegpu.moves import reshaped
from xtile.translate.core_to_xegpu.pieces import from_scalars, length_of, to_scalars
from xtile.translate.core_to_xegpu.scattered import (
    entries,
    guarded_values,
    holder,
    is_component,
    position,
)
from xtile.translate.core_to_xegpu.subgroup import Combine, all_lanes, combiner, neutral, shuffle


def splat(lowering: Lowering, layout: VectorLayout, value: SSAValue) -> Fragment:
    """A matrix whose components are all the same."""

    def piece(_block: int, _first: int, length: int) -> SSAValue:
        type_ = vector_of((length,), value.type)
        return lowering.shared(
            ("broadcast", value, type_),
            (value,),
            lambda: lowering.emit(made(vector.BroadcastOp, (value,), (type_,))).results[0],
        )

    return build(layout, piece)


def _broadcast(operation: Operation, lowering: Lowering) -> None:
    source, result = operation.operands[0], operation.results[0]
    layout = lowering.layout(result.type)
    if not isinstance(source.type, VectorType):
        lowering.define(result, splat(lowering, layout, lowering.value(source)))
        return
    if _is_row(shape_of(source), layout) and layout.width == layout.lanes:
        lowering.define(result, _repeated_row(lowering, source, layout))
        return
    shape, rank = shape_of(source), len(shape_of(result))
    components = Components(lowering, source)

    def at(block: int, entry: int) -> SSAValue:
        location = position(lowering, layout, block, entry)[:rank]
        # The last dimensions belong together, and one of size 1 is repeated.
        own = zip(shape, location[rank - len(shape) :], strict=True)
        return components.at([0 if size == 1 else index for size, index in own])

    def piece(block: int, first: int, length: int) -> SSAValue:
        return from_scalars(lowering, [at(block, first + i) for i in range(length)])

    lowering.define(result, build(layout, piece))


def _is_row(shape: Sequence[int], layout: VectorLayout) -> bool:
    """Whether a vector is a row of a matrix that is spread so."""
    return shape[-1] == layout.columns and (len(shape) == 1 or shape[0] == 1)


def _repeated_row(lowering: Lowering, source: SSAValue, layout: VectorLayout) -> Fragment:
    """A row as all rows of a matrix; each lane has what it needs of it."""
    columns = [scalar for _, _, scalar in entries(lowering, lowering.fragment(source))]

    def piece(block: int, _first: int, length: int) -> SSAValue:
        type_ = VectorType(columns[block].type, [length])
        return lowering.shared(
            ("broadcast", columns[block], type_),
            (columns[block],),
            lambda: lowering.emit(vector.BroadcastOp(columns[block], type_)).results[0],
        )

    return build(layout, piece)


# --- reductions ---


def _multi_reduction(operation: Operation, lowering: Lowering) -> None:
    source, accumulator = operation.operands
    fragment = lowering.fragment(source)
    reduction = cast(MultiDimReductionOp, operation)
    dimensions = list(cast("tuple[int]", reduction.reduction_dims.get_values()))
    kind = str(reduction.kind.data)
    # The type that is carried decides how values are combined; a bf16 is combined in f32.
    wide = _widened(lowering, fragment, source)
    combine = combiner(lowering, kind, element_of(wide.values[0]))
    if len(dimensions) == len(shape_of(source)):
        start = _widened_number(lowering, accumulator)
        total = combine(_reduce_all(lowering, wide, kind, combine), start)
        is_narrow = isinstance(accumulator.type, BFloat16Type)
        lowering.define(operation.results[0], narrow(lowering, total) if is_narrow else total)
        return
    reduce = _reduce_rows if dimensions == [0] else _reduce_columns
    reduced = reduce(lowering, wide, combine)
    start = _widened(lowering, lowering.fragment(accumulator), accumulator)
    values = [combine(a, b) for a, b in zip(reduced.values, start.values, strict=True)]
    if isinstance(_vector_element(source), BFloat16Type):
        values = [narrow(lowering, value) for value in values]
    lowering.define(operation.results[0], reduced.with_values(values))


def _widened_number(lowering: Lowering, old: SSAValue) -> SSAValue:
    value = lowering.value(old)
    return widen(lowering, value) if isinstance(old.type, BFloat16Type) else value


def _reduce_all(lowering: Lowering, fragment: Fragment, kind: str, combine: Combine) -> SSAValue:
    """Combines all components of a matrix: the entries of a lane, and then lanes."""
    total: SSAValue | None = None
    for block, entry, scalar in entries(lowering, fragment):
        inside = is_component(lowering, fragment.layout, block, entry)
        if inside is not None:
            other = lowering.constant(neutral(kind, scalar.type), scalar.type)
            scalar = lowering.select(inside, scalar, other)
        total = scalar if total is None else combine(total, scalar)
    assert total is not None
    return all_lanes(lowering, total, combine)


def _vector_element(value: SSAValue) -> Attribute:
    return cast("VectorType[Attribute]", value.type).element_type


def _widened(lowering: Lowering, fragment: Fragment, old: SSAValue) -> Fragment:
    if not isinstance(_vector_element(old), BFloat16Type):
        return fragment
    return fragment.with_values([widen(lowering, value) for value in fragment.values])


def _entry_scalars(lowering: Lowering, fragment: Fragment) -> list[list[SSAValue]]:
    """The entries of each block of columns."""
    return [
        [scalar for piece in block for scalar in to_scalars(lowering, piece)]
        for block in fragment.blocks
    ]


def _reduce_rows(lowering: Lowering, fragment: Fragment, combine: Combine) -> Fragment:
    """Combines the rows of each column: entries of a lane, and lanes with the same column."""
    layout = fragment.layout
    totals: list[SSAValue] = []
    for scalars in _entry_scalars(lowering, fragment):
        inside = _components_only(lowering, layout, scalars)
        total = inside[0]
        for scalar in inside[1:]:
            total = combine(total, scalar)
        totals.append(all_lanes(lowering, total, combine, first=layout.width))
    return _regrouped(lowering, vector_layout(layout.columns, 1, layout.lanes), totals)


def _components_only(
    lowering: Lowering, layout: VectorLayout, scalars: list[SSAValue]
) -> list[SSAValue]:
    """Entries with padding replaced by the first entry... of a lane that has one."""
    if layout.rows % layout.row_step == 0:
        return scalars
    # A lane whose last entry is padding has the component of another lane with its column.
    last = len(scalars) - 1
    is_row = is_component(lowering, layout, 0, last)
    assert is_row is not None
    if last > 0:
        raise lowering.error(
            f"the rows of a matrix with {layout.rows} x {layout.columns} components cannot be "
            "combined; use a number of rows that the subgroup's size divides"
        )
    source = lowering.remainder(lowering.lane(), layout.width)
    return [lowering.select(is_row, scalars[0], shuffle(lowering, scalars[0], source))]


def _reduce_columns(lowering: Lowering, fragment: Fragment, combine: Combine) -> Fragment:
    """Combines the columns of each row: blocks, and lanes with the same row."""
    layout = fragment.layout
    if layout.columns % layout.width != 0:
        raise lowering.error(
            f"the columns of a matrix with {layout.rows} x {layout.columns} components cannot be "
            "combined; use a number of columns that divides or is divided by the subgroup's size"
        )
    blocks = _entry_scalars(lowering, fragment)
    totals: list[SSAValue] = []
    for entry in range(layout.entries):
        total = blocks[0][entry]
        for block in blocks[1:]:
            total = combine(total, block[entry])
        totals.append(all_lanes(lowering, total, combine, last=layout.width))
    return _as_column(lowering, layout, totals)


def _as_column(lowering: Lowering, source: VectorLayout, totals: list[SSAValue]) -> Fragment:
    """Spreads one value for each row over the lanes as a matrix with one column."""
    result = vector_layout(source.rows, 1, source.lanes)
    lane = lowering.lane()

    def entry(number: int) -> SSAValue:
        row = lowering.add(lane, number * result.row_step)
        lane_of_row = holder(lowering, source, row)
        wanted = lowering.divide(row, source.row_step)
        first = number * result.row_step // source.row_step
        count = max(1, result.row_step // source.row_step)
        chosen: SSAValue | None = None
        for candidate in range(first, min(first + count, len(totals))):
            value = totals[candidate]
            if source.row_step > 1:
                value = shuffle(lowering, value, lane_of_row)
            if chosen is None:
                chosen = value
            else:
                chosen = lowering.select(lowering.is_equal(wanted, candidate), value, chosen)
        assert chosen is not None
        return chosen

    def piece(_block: int, first: int, length: int) -> SSAValue:
        return from_scalars(lowering, [entry(first + i) for i in range(length)])

    return build(result, piece)


def _shape_cast(operation: Operation, lowering: Lowering) -> None:
    """Adds or drops a dimension of size 1, so that components stay; in other shapes they move."""
    source, result = operation.operands[0], operation.results[0]
    fragment = lowering.fragment(source)
    layout = lowering.layout(result.type)
    if fragment.layout != layout:
        if not (_is_line(fragment.layout) and _is_line(layout)):
            reshaped(operation, lowering)
            return
        scalars = [scalar for _, _, scalar in entries(lowering, fragment)]
        fragment = _regrouped(lowering, layout, scalars)
    lowering.define(result, fragment)


def _is_line(layout: VectorLayout) -> bool:
    """Whether lanes hold the components of a row or a column in turn."""
    return 1 in (layout.rows, layout.columns)


def _regrouped(lowering: Lowering, layout: VectorLayout, scalars: Sequence[SSAValue]) -> Fragment:
    """A row or a column of a lane's numbers, one after the other."""

    def piece(block: int, first: int, length: int) -> SSAValue:
        at = block * layout.entries + first
        return from_scalars(lowering, scalars[at : at + length])

    return build(layout, piece)


# --- maps ---


def _map(operation: MapOp, lowering: Lowering) -> None:
    fragments = [lowering.fragment(source) for source in operation.sources]
    body = operation.body.block
    if _is_elementwise(body):
        _map_pieces(operation, body, fragments, lowering)
        return
    made: list[list[SSAValue]] = [[] for _ in operation.mapped]
    is_harmless = all(_is_harmless(inner) for inner in body.walk())
    for w, blocks in enumerate(zip(*(fragment.blocks for fragment in fragments), strict=True)):
        first = 0
        for pieces in zip(*blocks, strict=True):
            entries = zip(*(to_scalars(lowering, piece) for piece in pieces), strict=True)
            results = [
                _map_entry(lowering, operation, (w, first + i), scalars, is_harmless)
                for i, scalars in enumerate(entries)
            ]
            for values, scalars in zip(made, zip(*results, strict=True), strict=True):
                values.append(from_scalars(lowering, list(scalars)))
            first += length_of(pieces[0])
    for result, values in zip(operation.mapped, made, strict=True):
        lowering.define(result, fragments[0].with_values(values))


def _is_harmless(operation: Operation) -> bool:
    """Whether an operation on padding has no effect but its results, and cannot fail."""
    is_plain = operation.dialect_name() in ("arith", "complex", "math", "scf")
    is_certain = not may_fail(operation) and operation.name != "scf.for"
    return isinstance(operation, YieldOp) or (is_plain and is_certain)


def _map_entry(
    lowering: Lowering,
    operation: MapOp,
    location: tuple[int, int],
    values: Sequence[SSAValue],
    is_harmless: bool,
) -> list[SSAValue]:
    """What the region makes of one entry; padding is left out where that makes a difference."""
    layout = lowering.layout(operation.sources[0].type)
    condition = None if is_harmless else is_component(lowering, layout, *location)
    types = [carried_type(_vector_element(result)) for result in operation.mapped]
    return guarded_values(
        lowering, condition, types, lambda: _inlined(lowering, operation, layout, location, values)
    )


def _inlined(
    lowering: Lowering,
    operation: MapOp,
    layout: VectorLayout,
    location: tuple[int, int],
    values: Sequence[SSAValue],
) -> list[SSAValue]:
    row, column = position(lowering, layout, *location)
    numbers = (lowering.as_value(row), lowering.as_value(column), *values)
    for argument, number in zip(operation.body.block.args, numbers, strict=True):
        lowering.define(argument, number)
    for inner in operation.body.block.ops:
        if isinstance(inner, YieldOp):
            return lowering.values(inner.values)
        lowering.translate(inner)
    raise lowering.error("the region must end with core.yield")


def _is_elementwise(body: Block) -> bool:
    """Whether the region only computes with its value and with constants."""
    if body.args[0].uses or body.args[1].uses:
        return False
    inside = set(body.args[2:])
    for operation in body.ops:
        if operation.name == "core.yield":
            continue
        is_plain = operation.dialect_name() in ("arith", "math") and not operation.regions
        if not is_plain:
            return False
        inside |= set(operation.results)
    return True


def _map_pieces(
    operation: MapOp, body: Block, fragments: Sequence[Fragment], lowering: Lowering
) -> None:
    made: list[list[SSAValue]] = [[] for _ in operation.mapped]
    for pieces in zip(*(fragment.values for fragment in fragments), strict=True):
        length = length_of(pieces[0])
        known: dict[SSAValue, SSAValue] = dict(zip(body.args[2:], pieces, strict=True))
        for inner in body.ops:
            if isinstance(inner, YieldOp):
                for values, value in zip(made, inner.values, strict=True):
                    values.append(_as_piece(lowering, known, value, length))
            elif isinstance(inner, arith.ConstantOp):
                lowering.translate(inner)
            else:
                operands = [
                    _as_piece(lowering, known, operand, length) for operand in inner.operands
                ]
                type_ = VectorType(inner.results[0].type, [length])
                known[inner.results[0]] = emit_on(inner, operands, [type_], lowering)[0]
    for result, values in zip(operation.mapped, made, strict=True):
        lowering.define(result, fragments[0].with_values(values))


def _as_piece(
    lowering: Lowering, known: dict[SSAValue, SSAValue], value: SSAValue, length: int
) -> SSAValue:
    if value in known:
        return known[value]
    scalar = lowering.value(value)
    type_ = VectorType(scalar.type, [length])
    return lowering.shared(
        ("broadcast", scalar, type_),
        (scalar,),
        lambda: lowering.emit(vector.BroadcastOp(scalar, type_)).results[0],
    )


# --- single entries ---


def _entry_location(layout: VectorLayout, index: int) -> tuple[int, int]:
    """The block of columns and the number in it of a lane's entry."""
    return divmod(index, layout.entries)


def _extract(operation: FragmentExtractOp, lowering: Lowering) -> None:
    fragment = lowering.fragment(operation.source)
    block, entry = _entry_location(fragment.layout, operation.index.value.data)
    number, position_ = fragment.location_of(entry)
    piece = fragment.blocks[block][number]
    element = cast("VectorType[Attribute]", piece.type).element_type
    value = lowering.emit(vector.ExtractOp(piece, [position_], element)).result
    condition = is_component(lowering, fragment.layout, block, entry)
    if condition is not None:
        value = lowering.select(condition, value, lowering.constant(0, element))
    lowering.define(operation.result, value)


def _insert(operation: FragmentInsertOp, lowering: Lowering) -> None:
    fragment = lowering.fragment(operation.dest)
    block, entry = _entry_location(fragment.layout, operation.index.value.data)
    piece, position_ = fragment.location_of(entry)
    number = block * len(fragment.blocks[0]) + piece
    values = fragment.values
    scalar = lowering.value(operation.value)
    inserted = lowering.emit(vector.InsertOp(scalar, values[number], [position_]))
    values[number] = inserted.results[0]
    lowering.define(operation.result, fragment.with_values(values))


RULES: dict[str, Rule] = {
    FragmentExtractOp.name: _extract,
    FragmentInsertOp.name: _insert,
    MapOp.name: _map,
    MultiDimReductionOp.name: _multi_reduction,
    ShapeCastOp.name: _shape_cast,
    vector.BroadcastOp.name: _broadcast,
}
