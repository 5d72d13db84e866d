"""Constants, broadcasts, other shapes, and arithmetic on each component."""

from __future__ import annotations

from typing import cast

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.vector import ShapeCastOp
from xtile.dialects.vector.types import vector_of
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_vectors.matrix import Matrix, Place, shape_of
from xtile.translate.core_to_xegpu import constants
from xtile.translate.core_to_xegpu.constants import carried_number
from xtile.translate.core_to_xegpu.copying import emit_on
from xtile.translate.core_to_xegpu.lowering import carried_type


def copy_or_compute(operation: Operation, lowering: Vectors) -> None:
    """Arithmetic of matrices is done on their parts; any other operation is emitted again."""
    if any(lowering.is_matrix(value) for value in (*operation.operands, *operation.results)):
        compute(operation, lowering)
        return
    operands = lowering.values(operation.operands)
    results = emit_on(operation, operands, operation.result_types, lowering)
    for old, new in zip(operation.results, results, strict=True):
        lowering.define(old, new)


def compute(operation: Operation, lowering: Vectors) -> None:
    """Computes each component of a matrix from those in the same place."""
    result = operation.results[0]
    operands = [_operand(lowering, operand, result) for operand in operation.operands]

    def compute_piece(place: Place, width: int, pieces: list[SSAValue]) -> SSAValue:
        return emit_on(operation, pieces, [piece_type(result.type, width)], lowering)[0]

    element = lowering.component_type(result.type)
    lowering.define_matrix(result, lowering.computed(operands, element, compute_piece))


def _operand(lowering: Vectors, operand: SSAValue, result: SSAValue) -> Matrix:
    """A matrix, or the condition by which `arith.select` chooses whole matrices."""
    if isinstance(operand.type, VectorType):
        return lowering.matrix(operand)
    return lowering.splat(lowering.value(operand), shape_of(result.type))


def piece_type(type_: Attribute, width: int) -> Attribute:
    """The type of a part of a matrix, or of a vector of such scalars."""
    element = (
        cast("VectorType[Attribute]", type_).element_type
        if isinstance(type_, VectorType)
        else type_
    )
    return element if width == 1 else vector_of(element, width)


def _constant(operation: Operation, lowering: Vectors) -> None:
    attribute = operation.properties["value"]
    if not isinstance(attribute, DenseIntOrFPElementsAttr):
        constants.RULES[operation.name](operation, lowering)
        return
    result = operation.results[0]
    type_ = cast("VectorType[Attribute]", result.type)
    numbers = cast("tuple[float]", attribute.get_values())
    if len(set(map(repr, numbers))) > 1:
        copy_or_compute(operation, lowering)
        return
    number = carried_number(numbers[0], type_.element_type)
    scalar = lowering.constant(number, carried_type(type_.element_type))
    lowering.define(result, lowering.splat(scalar, shape_of(type_)))


def _broadcast(operation: Operation, lowering: Vectors) -> None:
    result = operation.results[0]
    scalar = lowering.value(operation.operands[0])
    lowering.define(result, lowering.splat(scalar, shape_of(result.type)))


def _shape_cast(operation: Operation, lowering: Vectors) -> None:
    """Components that follow each other row by row go on doing so."""
    source, result = operation.operands[0], operation.results[0]
    matrix = lowering.reshaped(lowering.matrix(source), shape_of(result.type))
    lowering.define(result, matrix)


RULES: dict[str, Rule] = {
    arith.ConstantOp.name: _constant,
    ShapeCastOp.name: _shape_cast,
    vector.BroadcastOp.name: _broadcast,
}
