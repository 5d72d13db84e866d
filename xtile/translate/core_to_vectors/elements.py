"""Elements of tiles by position: gathers along a dimension, histograms, and what is assumed."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, SSAValue

from xtile.dialects.arith.casts import IndexCastUIOp
from xtile.dialects.core.elements import GatherOp, HistogramOp
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_vectors.tile import Position, Tile, shape_of


def _gather(operation: GatherOp, lowering: Vectors) -> None:
    source = lowering.kept(operation.source)
    positions = lowering.tile(operation.positions)
    axis = operation.axis.value.data

    def piece(position: Position, width: int) -> SSAValue:
        along = _index(lowering, positions.piece(position, 1))
        indices: list[Index] = list(position.indices)
        indices[axis] = along
        return source.piece(lowering.position(source.shape, indices), 1)

    gathered = Tile(
        positions.shape,
        source.element,
        piece,
        is_flat=False,
        aligned=frozenset(),
        others=source.reads | positions.reads,
        width=1,
    )
    lowering.define_tile(operation.result, gathered)


def _index(
    lowering: Vectors,
    number: SSAValue,
    kind: type[arith.IndexCastOp | IndexCastUIOp] = arith.IndexCastOp,
) -> SSAValue:
    if isinstance(number.type, IndexType):
        return number
    return lowering.emit(kind.create(operands=[number], result_types=[IndexType()])).results[0]


def _histogram(operation: HistogramOp, lowering: Vectors) -> None:
    """One is added for each element that counts."""
    result = operation.result
    element = lowering.component_type(result.type)
    source = lowering.tile(operation.source)
    mask = None if operation.mask is None else lowering.tile(operation.mask)
    buffer = lowering.new_buffer(result)
    lowering.store_tile(
        lowering.splat(lowering.constant(0, element), shape_of(result.type)), buffer
    )
    with lowering.rows((*source.shape, 1)) as indices:
        position = lowering.position(source.shape, indices)
        with lowering.when(None if mask is None else mask.piece(position, 1)):
            number = _index(lowering, source.piece(position, 1), IndexCastUIOp)
            count = lowering.load(buffer, [number], 1, element)
            total = lowering.emit(arith.AddiOp(count, lowering.constant(1, element))).result
            lowering.store(total, buffer, [number])
    lowering.define_stored(result, buffer)


def _assume(operation: Operation, lowering: Vectors) -> None:
    """What is assumed is of no use to a CPU's compiler."""
    source, result = operation.operands[0], operation.results[0]
    lowering.define(result, lowering.meaning(source))


RULES: dict[str, Rule] = {
    "core.assume": _assume,
    GatherOp.name: _gather,
    HistogramOp.name: _histogram,
}
