"""Functions of a component, its row and its column."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
    VectorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.core import MapOp, YieldOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_vectors.elementwise import piece_type
from xtile.translate.core_to_vectors.kinds import is_plain_map
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_vectors.matrix import Matrix, Place
from xtile.translate.core_to_xegpu.copying import emit_on


def _map(operation: MapOp, lowering: Vectors) -> None:
    if is_plain_map(operation):
        _map_pieces(operation, lowering)
    else:
        _map_components(operation, lowering)


# --- as vectors ---


def _map_pieces(operation: MapOp, lowering: Vectors) -> None:
    body = operation.body.block
    is_flat = not body.args[0].uses and not body.args[1].uses
    sources = [lowering.matrix(source) for source in operation.sources]
    for number, result in enumerate(operation.mapped):

        def compute(
            place: Place, width: int, pieces: list[SSAValue], number: int = number
        ) -> SSAValue:
            return _Body(lowering, place, width).run(body, pieces)[number]

        element = lowering.component_type(result.type)
        lowering.define_matrix(result, lowering.computed(sources, element, compute, is_flat))


class _Body:
    """The body of a map on neighbouring components of a row.

    Args:
        lowering: Where to emit.
        place: The first component.
        width: The number of components.
    """

    def __init__(self, lowering: Vectors, place: Place, width: int) -> None:
        self._lowering = lowering
        self._place = place
        self._width = width
        self._vectors: dict[SSAValue, SSAValue] = {}

    def run(self, body: Block, components: list[SSAValue]) -> list[SSAValue]:
        """What the body yields for the components of each matrix."""
        row, column, *values = body.args
        if row.uses:
            self._lowering.define(row, self._lowering.as_value(self._place.row))
        if column.uses:
            self._vectors[column] = self._columns(IndexType())
        self._vectors.update(zip(values, components, strict=True))
        return self._run_block(body)

    def _run_block(self, block: Block) -> list[SSAValue]:
        for operation in block.ops:
            if isinstance(operation, YieldOp | scf.YieldOp):
                return [self._vector(operand) for operand in operation.operands]
            self._run(operation)
        return []

    def _run(self, operation: Operation) -> None:
        if isinstance(operation, scf.IfOp):
            self._choose(operation)
        elif not any(operand in self._vectors for operand in operation.operands):
            self._lowering.translate(operation)
        elif operation.name == "arith.index_cast" and self._is_column(operation.operands[0]):
            result = operation.results[0]
            self._vectors[result] = self._columns(result.type)
        else:
            operands = [self._vector(operand) for operand in operation.operands]
            type_ = piece_type(operation.results[0].type, self._width)
            made = emit_on(operation, operands, [type_], self._lowering)
            self._vectors[operation.results[0]] = made[0]

    def _choose(self, operation: scf.IfOp) -> None:
        """Both sides are computed; they are arithmetic that cannot fail."""
        condition = self._vector(operation.cond)
        first = self._run_block(operation.true_region.block)
        second = self._run_block(operation.false_region.block)
        for result, a, b in zip(operation.results, first, second, strict=True):
            self._vectors[result] = self._lowering.select(condition, a, b)

    def _vector(self, value: SSAValue) -> SSAValue:
        """What a value is for each of the components."""
        if value in self._vectors:
            return self._vectors[value]
        return self._lowering.broadcast(self._lowering.value(value), self._width)

    def _is_column(self, value: SSAValue) -> bool:
        owner = value.owner
        return isinstance(owner, Block) and value in owner.args and owner.args.index(value) == 1

    def _columns(self, type_: Attribute) -> SSAValue:
        """The columns of the components, as integers of a type."""
        lowering = self._lowering
        first = lowering.as_value(self._place.column)
        if not isinstance(type_, IndexType):
            first = lowering.emit(arith.IndexCastOp(first, cast("Any", type_))).result
        if self._width == 1:
            return first
        numbers = _numbers(lowering, type_, self._width)
        return lowering.emit(arith.AddiOp(lowering.broadcast(first, self._width), numbers)).result


def _numbers(lowering: Vectors, type_: Attribute, width: int) -> SSAValue:
    """The vector 0, 1, ..."""
    assert isa(type_, IndexType | IntegerType)
    vector = VectorType(type_, [width])
    constant = DenseIntOrFPElementsAttr.from_list(vector, list(range(width)))
    return lowering.shared(
        ("numbers", vector), (), lambda: lowering.emit(arith.ConstantOp(constant)).result
    )


# --- one by one ---


def _map_components(operation: MapOp, lowering: Vectors) -> None:
    """A body with effects, or with control flow that vectors do not have."""
    buffers = [lowering.new_buffer(result) for result in operation.mapped]
    rows, columns = lowering.matrix(operation.sources[0]).shape
    with ExitStack() as stack:
        stored = [
            stack.enter_context(lowering.temporary(lowering.matrix(source)))
            for source in operation.sources
        ]
        row = stack.enter_context(lowering.loop(0, rows, name="row"))
        start = lowering.multiply(row, columns)
        column = stack.enter_context(lowering.loop(0, columns, name="column"))
        place = Place(lowering.add(start, column), row, column)
        _map_component(operation, lowering, stored, buffers, place)
    for result, buffer in zip(operation.mapped, buffers, strict=True):
        element = lowering.component_type(result.type)
        lowering.define(result, lowering.stored(buffer, (rows, columns), element))


def _map_component(
    operation: MapOp,
    lowering: Vectors,
    sources: list[Matrix],
    buffers: list[SSAValue],
    place: Place,
) -> None:
    row, column, *values = operation.body.block.args
    lowering.define(row, lowering.as_value(place.row))
    lowering.define(column, lowering.as_value(place.column))
    for value, source in zip(values, sources, strict=True):
        lowering.define(value, source.piece(place, 1))
    for inner in operation.body.block.ops:
        if not isinstance(inner, YieldOp):
            lowering.translate(inner)
            continue
        for value, buffer in zip(lowering.values(inner.values), buffers, strict=True):
            lowering.store(value, buffer, [place.flat])


RULES: dict[str, Rule] = {MapOp.name: _map}
