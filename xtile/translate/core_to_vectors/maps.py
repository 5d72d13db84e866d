"""Functions of a component, its row and its column."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, cast

from typing_extensions import override
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    IndexType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xtile.dialects.core.subgroup import MapOp, YieldOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_vectors.bodies import Body
from xtile.translate.core_to_vectors.kinds import is_plain_body
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_vectors.shapes import consecutive
from xtile.translate.core_to_vectors.tile import Position, Tile


def _map(operation: MapOp, lowering: Vectors) -> None:
    if is_plain_body(operation.body.block):
        _map_pieces(operation, lowering)
    else:
        _map_components(operation, lowering)


# --- as vectors ---


def _map_pieces(operation: MapOp, lowering: Vectors) -> None:
    body = operation.body.block
    is_flat = not body.args[0].uses and not body.args[1].uses
    sources = [lowering.tile(source) for source in operation.sources]
    for number, result in enumerate(operation.mapped):

        def compute(
            position: Position, width: int, pieces: list[SSAValue], number: int = number
        ) -> SSAValue:
            return _Body(lowering, position, width, body, pieces).run(body)[number]

        element = lowering.component_type(result.type)
        lowering.define_tile(result, lowering.computed(sources, element, compute, is_flat))


class _Body(Body):
    """The body of a map on neighbouring components of a row.

    Args:
        lowering: Where to emit.
        position: The first component.
        width: The number of components.
        body: The body.
        components: What it gets of each tile.
    """

    def __init__(
        self,
        lowering: Vectors,
        position: Position,
        width: int,
        body: Block,
        components: list[SSAValue],
    ) -> None:
        row, column, *values = body.args
        super().__init__(lowering, width, dict(zip(values, components, strict=True)))
        self._position = position
        if row.uses:
            lowering.define(row, lowering.as_value(position.row))
        if column.uses:
            self.define(column, self._columns(IndexType()))

    @override
    def execute(self, operation: Operation) -> None:
        if operation.name == "arith.index_cast" and self._is_column(operation.operands[0]):
            result = operation.results[0]
            self.define(result, self._columns(result.type))
        else:
            super().execute(operation)

    def _is_column(self, value: SSAValue) -> bool:
        owner = value.owner
        return isinstance(owner, Block) and value in owner.args and owner.args.index(value) == 1

    def _columns(self, type_: Attribute) -> SSAValue:
        """The columns of the components, as integers of a type."""
        lowering = self._lowering
        first = lowering.as_value(self._position.column)
        if not isinstance(type_, IndexType):
            first = lowering.emit(arith.IndexCastOp(first, cast("Any", type_))).result
        return consecutive(lowering, first, self._width)


# --- one by one ---


def _map_components(operation: MapOp, lowering: Vectors) -> None:
    """A body with effects, or with control flow that vectors do not have."""
    buffers = [lowering.new_buffer(result) for result in operation.mapped]
    rows, columns = lowering.tile(operation.sources[0]).shape
    with ExitStack() as stack:
        stored = [
            stack.enter_context(lowering.temporary(lowering.tile(source)))
            for source in operation.sources
        ]
        row = stack.enter_context(lowering.loop(0, rows, name="row"))
        start = lowering.multiply(row, columns)
        column = stack.enter_context(lowering.loop(0, columns, name="column"))
        position = Position(lowering.add(start, column), (row, column))
        _map_component(operation, lowering, stored, buffers, position)
    for result, buffer in zip(operation.mapped, buffers, strict=True):
        element = lowering.component_type(result.type)
        lowering.define(result, lowering.stored(buffer, (rows, columns), element))


def _map_component(
    operation: MapOp,
    lowering: Vectors,
    sources: list[Tile],
    buffers: list[SSAValue],
    position: Position,
) -> None:
    row, column, *values = operation.body.block.args
    lowering.define(row, lowering.as_value(position.row))
    lowering.define(column, lowering.as_value(position.column))
    for value, source in zip(values, sources, strict=True):
        lowering.define(value, source.piece(position, 1))
    for inner in operation.body.block.ops:
        if not isinstance(inner, YieldOp):
            lowering.translate(inner)
            continue
        for value, buffer in zip(lowering.values(inner.values), buffers, strict=True):
            lowering.store(value, buffer, [position.flat])


RULES: dict[str, Rule] = {MapOp.name: _map}
