"""Constants, and arithmetic on each component."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.core.levels import is_for_lanes
from xtile.rewrite.rebuilder import Rule, RuleTable
from xtile.text.source import spelling_of
from xtile.translate.core_to_vectors.kinds import is_elementwise
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_vectors.tile import Position, Tile, shape_of
from xtile.translate.core_to_xegpu import constants
from xtile.translate.core_to_xegpu.constants import carried_number
from xtile.translate.core_to_xegpu.copying import emit_on, refuse_direction
from xtile.translate.core_to_xegpu.lowering import carried_type


def copy_or_compute(operation: Operation, lowering: Vectors) -> None:
    """Arithmetic of tiles is done on their parts; any other operation is emitted again."""
    if lowering.plan.tiles.isdisjoint((*operation.operands, *operation.results)):
        _copy(operation, lowering)
    elif is_elementwise(operation):
        compute(operation, lowering)
    elif is_for_lanes(operation):
        on_whole_vectors(operation, lowering)
    else:
        raise lowering.error(f"{spelling_of(operation)} on tiles cannot be compiled for a CPU")


def _copy(operation: Operation, lowering: Vectors) -> None:
    operands = lowering.values(operation.operands)
    results = emit_on(operation, operands, operation.result_types, lowering)
    for old, new in zip(operation.results, results, strict=True):
        lowering.define(old, new)


def on_whole_vectors(operation: Operation, lowering: Vectors) -> None:
    """Emits an operation, and those in its regions, on vectors that a work-item holds as a whole.

    That is for operations without a loop over components: SPIR-V gets code for each of them.
    """
    used = (operand for each in operation.walk() for operand in each.operands)
    with lowering.whole(used), lowering.using(_ON_WHOLE_VECTORS):
        operands = lowering.values(operation.operands)
        results = emit_on(operation, operands, operation.result_types, lowering)
    for old, new in zip(operation.results, results, strict=True):
        lowering.define_whole(old, new)


_ON_WHOLE_VECTORS = RuleTable(otherwise=_copy, keeps_rounding=True)


def compute(operation: Operation, lowering: Vectors) -> None:
    """Computes each component of a tile from those in the same position."""
    refuse_direction(operation, lowering)
    operands = [_operand(lowering, operand, operation) for operand in operation.operands]
    if len(operation.results) > 1:
        # Each result computes the operands again.
        operands = [lowering.in_memory(operand) for operand in operands]
    for number, result in enumerate(operation.results):
        _define(operation, lowering, operands, number, result)


def _define(
    operation: Operation, lowering: Vectors, operands: list[Tile], number: int, result: SSAValue
) -> None:
    element = lowering.component_type(result.type)

    def compute_piece(position: Position, width: int, pieces: list[SSAValue]) -> SSAValue:
        types = [lowering.piece_type(each.type, width) for each in operation.results]
        return emit_on(operation, pieces, types, lowering)[number]

    lowering.define_tile(result, lowering.computed(operands, element, compute_piece))


def _operand(lowering: Vectors, operand: SSAValue, operation: Operation) -> Tile:
    """A tile, or the condition by which `arith.select` chooses whole tiles."""
    if isinstance(operand.type, VectorType):
        return lowering.tile(operand)
    return lowering.splat(lowering.value(operand), shape_of(operation.results[0].type))


def _constant(operation: Operation, lowering: Vectors) -> None:
    attribute = operation.properties["value"]
    if not isinstance(attribute, DenseIntOrFPElementsAttr):
        constants.RULES[operation.name](operation, lowering)
        return
    result = operation.results[0]
    type_ = cast("VectorType[Attribute]", result.type)
    numbers = cast("tuple[float]", attribute.get_values())
    if len(set(map(repr, numbers))) > 1:
        _table(operation, numbers, lowering)
        return
    number = carried_number(numbers[0], type_.element_type)
    scalar = lowering.constant(number, carried_type(type_.element_type))
    lowering.define(result, lowering.splat(scalar, shape_of(type_)))


def _table(operation: Operation, numbers: Sequence[float], lowering: Vectors) -> None:
    """A constant whose components differ: a vector of a work-item, or a tile in memory."""
    result = operation.results[0]
    if not lowering.is_tile(result):
        copy_or_compute(operation, lowering)
        return
    element = cast("VectorType[Attribute]", result.type).element_type
    carried = lowering.component_type(result.type)
    buffer = lowering.new_buffer(result)
    for i, number in enumerate(numbers):
        constant = lowering.constant(carried_number(number, element), carried)
        lowering.store(constant, buffer, [i])
    lowering.define_stored(result, buffer)


RULES: dict[str, Rule] = {arith.ConstantOp.name: _constant}
