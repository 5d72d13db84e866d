"""Matrices in memory element by element, where no block access is legal.

Where an element may be outside of the memory, a loop goes over a lane's entries: LLVM's pipeline
takes very long for code with a branch for each entry.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

from xdsl.dialects import scf, vector
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Block, Region, SSAValue

from xtile.dialects.construction import made
from xtile.dialects.core.subgroup import AtomicUpdateOp
from xtile.dialects.memory_orders import ordering_of
from xtile.dialects.memref import access
from xtile.layouts.intel import VectorLayout
from xtile.rewrite.indices import Index, share
from xtile.translate.core_to_xegpu.fragments import Fragment, of_values, spans
from xtile.translate.core_to_xegpu.legality import Block as MemoryBlock
from xtile.translate.core_to_xegpu.lowering import Lowering, carried_type
from xtile.translate.core_to_xegpu.memory import update
from xtile.translate.core_to_xegpu.pieces import from_scalars, to_scalars
from xtile.translate.core_to_xegpu.views import view_of

Location = tuple[list[SSAValue], SSAValue | None]
"""The indices of an element, and the condition under which it is accessed; None: always."""


def position(
    lowering: Lowering, layout: VectorLayout, block: int, entry: Index
) -> tuple[Index, Index]:
    """The row and the column of a lane's entry."""
    lane = lowering.lane()
    row = share(lowering, layout.layout, ("lane", "dim0"), lane)
    row = lowering.add(row, lowering.multiply(entry, layout.row_step))
    column = share(lowering, layout.layout, ("lane", "dim1"), lane)
    return row, lowering.add(column, block * layout.width)


def holder(lowering: Lowering, layout: VectorLayout, row: Index, column: Index = 0) -> Index:
    """The lane that holds a component, also where this is padding."""
    back = layout.inverse
    return lowering.add(
        share(lowering, back, ("dim0", "lane"), row, wraps=True),
        share(lowering, back, ("dim1", "lane"), column, wraps=True),
    )


def indices_of(rank: int, location: tuple[Index, Index]) -> tuple[Index, ...]:
    """The indices of a component of a vector, from its row and its column."""
    return location if rank > 1 else location[:1]


def is_component(
    lowering: Lowering, layout: VectorLayout, block: int, entry: Index
) -> SSAValue | None:
    """Whether a lane's entry is a component; None if it always is."""
    has_all_rows = layout.rows % layout.row_step == 0
    may_be_below = not isinstance(entry, int) or entry == layout.entries - 1
    has_all_columns = (block + 1) * layout.width <= layout.columns
    if has_all_columns and (has_all_rows or not may_be_below):
        return None
    row, column = position(lowering, layout, block, entry)
    result: SSAValue | None = None
    if not has_all_rows and may_be_below:
        result = lowering.is_below(row, layout.rows)
    if not has_all_columns:
        result = lowering.both(result, lowering.is_below(column, layout.columns))
    return result


@dataclass(frozen=True)
class Line:
    """Elements along one dimension of a memref.

    Attributes:
        memory: The memref.
        dimension: The dimension.
        start: Where they begin along each dimension.
        is_checked: Whether they may reach beyond the memref.
    """

    memory: SSAValue
    dimension: int
    start: tuple[Index, ...]
    is_checked: bool

    def location(
        self, lowering: Lowering, layout: VectorLayout, block: int, entry: Index
    ) -> Location:
        """Where a lane's entry is in memory."""
        (number,) = indices_of(1, position(lowering, layout, block, entry))
        indices = list(self.start)
        indices[self.dimension] = lowering.add(indices[self.dimension], number)
        condition = is_component(lowering, layout, block, entry)
        if self.is_checked:
            size = view_of(lowering, self.memory).sizes[self.dimension]
            is_inside = lowering.is_below(indices[self.dimension], size)
            condition = lowering.both(condition, is_inside)
        return [lowering.as_value(index) for index in indices], condition


def location(
    lowering: Lowering, target: MemoryBlock | Line, layout: VectorLayout, block: int, entry: Index
) -> Location:
    """Where a lane's entry is in memory."""
    if isinstance(target, Line):
        return target.location(lowering, layout, block, entry)
    row, column = position(lowering, layout, block, entry)
    indices: list[Index] = [0, 0]
    indices[target.row] = lowering.add(target.start[target.row], row)
    indices[1 - target.row] = lowering.add(target.start[1 - target.row], column)
    condition = is_component(lowering, layout, block, entry)
    sizes = view_of(lowering, target.memory).sizes
    for index, size, checked in zip(indices, sizes, target.checked, strict=True):
        if checked:
            condition = lowering.both(condition, lowering.is_below(index, size))
    return [lowering.as_value(index) for index in indices], condition


def load(
    lowering: Lowering, source: MemoryBlock | Line, layout: VectorLayout, element: Attribute
) -> Fragment:
    """Loads a matrix; what is outside of the memory is 0."""
    carried = carried_type(element)

    def load_element(indices: list[SSAValue], _old: SSAValue | None) -> SSAValue:
        operation = made(access.LoadOp, (source.memory, *indices), (carried,))
        return lowering.emit(operation).results[0]

    return _for_each(lowering, source, layout, carried, load_element, None)


def store(lowering: Lowering, target: MemoryBlock | Line, fragment: Fragment) -> None:
    """Stores a matrix; what is outside of the memory is left out."""

    def store_element(indices: list[SSAValue], value: SSAValue | None) -> None:
        assert value is not None
        lowering.emit(made(access.StoreOp, (value, target.memory, *indices), ()))

    _for_each(lowering, target, fragment.layout, None, store_element, fragment)


def _for_each(
    lowering: Lowering,
    memory: MemoryBlock | Line,
    layout: VectorLayout,
    result: Attribute | None,
    access_element: Callable[[list[SSAValue], SSAValue | None], SSAValue | None],
    values: Fragment | None,
) -> Fragment:
    """Accesses every element of a block, and returns what the accesses return.

    Args:
        lowering: Where to emit.
        memory: The block.
        layout: How its elements are spread over the lanes.
        result: The type of what an access returns; None if it returns nothing.
        access_element: Emits an access, from the indices and the element of `values`.
        values: The matrix whose elements the accesses take; None if they take none.
    """
    pieces: list[SSAValue] = []
    given = iter(values.values if values is not None else ())
    for w in range(layout.blocks):
        for first, length in spans(layout):
            piece = next(given, None)
            _, condition = location(lowering, memory, layout, w, first + length - 1)
            # LLVM's lowering makes numbers of vectors with one element, and then confuses them.
            one_by_one = _unrolled if condition is None or length == 1 else _looped
            made = one_by_one(
                lowering,
                lambda entry, w=w: location(lowering, memory, layout, w, entry),
                (first, length),
                result,
                access_element,
                piece,
            )
            pieces += [] if made is None else [made]
    return of_values(layout, pieces) if pieces else Fragment(layout, ())


def _unrolled(
    lowering: Lowering,
    location_of: Callable[[Index], Location],
    span: tuple[int, int],
    result: Attribute | None,
    access_element: Callable[[list[SSAValue], SSAValue | None], SSAValue | None],
    piece: SSAValue | None,
) -> SSAValue | None:
    first, length = span
    scalars = [None] * length if piece is None else to_scalars(lowering, piece)
    made: list[SSAValue | None] = []
    for i, scalar in enumerate(scalars):
        indices, condition = location_of(first + i)
        made.append(guarded(lowering, condition, result, partial(access_element, indices, scalar)))
    return None if result is None else from_scalars(lowering, cast("list[SSAValue]", made))


def _looped(
    lowering: Lowering,
    location_of: Callable[[Index], Location],
    span: tuple[int, int],
    result: Attribute | None,
    access_element: Callable[[list[SSAValue], SSAValue | None], SSAValue | None],
    piece: SSAValue | None,
) -> SSAValue | None:
    first, length = span
    index = lowering.index(0).type
    types = [] if result is None else [VectorType(result, [length])]
    body = Block(arg_types=[index, *types])
    body.args[0].name_hint = "entry"
    lowering.facts.assume(body.args[0], 1, True)
    with lowering.at_end_of(body):
        entry = body.args[0]
        indices, condition = location_of(lowering.add(entry, first))
        scalar = None
        if piece is not None:
            element = cast("VectorType[Attribute]", piece.type).element_type
            scalar = lowering.emit(vector.ExtractOp(piece, [entry], element)).result
        made = guarded(lowering, condition, result, lambda: access_element(indices, scalar))
        yielded: list[SSAValue] = []
        if made is not None:
            inserted = lowering.emit(vector.InsertOp(made, body.args[1], [entry]))
            yielded.append(inserted.results[0])
        lowering.emit(scf.YieldOp(*yielded))
    start = [lowering.constant(0, type_) for type_ in types]
    bounds = (lowering.index(0), lowering.index(length), lowering.index(1))
    loop = lowering.emit(scf.ForOp(*bounds, start, Region([body])))
    return loop.results[0] if types else None


def guarded(
    lowering: Lowering,
    condition: SSAValue | None,
    result: Attribute | None,
    emit: Callable[[], SSAValue | None],
) -> SSAValue | None:
    """Emits something that is only done where the condition holds; elsewhere it returns 0."""

    def emit_all() -> list[SSAValue]:
        made = emit()
        return [] if made is None else [made]

    types = [] if result is None else [result]
    return next(iter(guarded_values(lowering, condition, types, emit_all)), None)


def guarded_values(
    lowering: Lowering,
    condition: SSAValue | None,
    types: Sequence[Attribute],
    emit: Callable[[], list[SSAValue]],
) -> list[SSAValue]:
    """Emits what gives values of these types where the condition holds; elsewhere they are 0."""
    if condition is None:
        return emit()
    then = Block()
    with lowering.at_end_of(then):
        lowering.emit(made(scf.YieldOp, emit(), ()))
    if not types:
        lowering.emit(made(scf.IfOp, (condition,), (), regions=(Region([then]), Region())))
        return []
    otherwise = Block()
    with lowering.at_end_of(otherwise):
        zeros = [lowering.constant(0, type_) for type_ in types]
        lowering.emit(made(scf.YieldOp, zeros, ()))
    regions = Region([then]), Region([otherwise])
    return list(lowering.emit(made(scf.IfOp, (condition,), types, regions=regions)).results)


def entries(lowering: Lowering, fragment: Fragment) -> list[tuple[int, int, SSAValue]]:
    """All entries of a fragment: the block of columns, the number in it, and the value."""
    result: list[tuple[int, int, SSAValue]] = []
    for w, block in enumerate(fragment.blocks):
        scalars = [scalar for piece in block for scalar in to_scalars(lowering, piece)]
        result += [(w, i, scalar) for i, scalar in enumerate(scalars)]
    return result


def update_matrix(operation: AtomicUpdateOp, lowering: Lowering) -> None:
    """Updates the elements of a block of memory, each of them atomically."""
    memory = lowering.value(operation.memory)
    kind, ordering = str(operation.kind.data), ordering_of(operation)
    fragment = lowering.fragment(operation.value)
    element = cast("VectorType[Attribute]", operation.value.type).element_type
    checked = operation.checked.get_values()
    row = 1 if operation.transpose is not None else 0
    start = lowering.numbers(operation.indices)
    target = MemoryBlock(memory, row, (start[0], start[1]), (0 in checked, 1 in checked))

    def update_element(indices: list[SSAValue], value: SSAValue | None) -> SSAValue | None:
        assert value is not None
        old = update(lowering, kind, value, memory, indices, element, ordering)
        return old if is_used else None

    is_used = bool(operation.result.uses)
    result = carried_type(element) if is_used else None
    old = _for_each(lowering, target, fragment.layout, result, update_element, fragment)
    lowering.define(operation.result, old)
