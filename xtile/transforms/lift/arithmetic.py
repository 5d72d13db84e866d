"""Arithmetic of work-items: the same on vectors, along the axes of the operands."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from xtile.dialects.effects import may_fail
from xtile.dialects.shapes import bits_of
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.shapes import BitCastOp
from xtile.rewrite.facts import constant_of
from xtile.rewrite.rebuilder import again, copy
from xtile.rewrite.tile_emitter import shape_of, with_shape
from xtile.text.source import spelling_of
from xtile.transforms.lift.widening import Wide, Widening, sizes_of

_DIALECTS = ("arith", "math", "ub")


def elementwise(operation: Operation, widening: Widening) -> None:
    """The same operation on all elements; what is the same for all stays what it was.

    Raises:
        DiagnosticError: The operation is none on each element.
    """
    kernel = widening.kernel
    if operation.dialect_name() not in _DIALECTS or operation.regions:
        name = spelling_of(operation)
        raise kernel.error(f"{name} of work-items has no counterpart on tiles")
    operands = [widening.wide(operand) for operand in operation.operands]
    is_guarded = widening.mask is not None and may_fail(operation)
    if not is_guarded and not widening.divergence.of_all(operation.operands):
        copy(operation, kernel)
        return
    if is_guarded:
        operands[1] = _not_zero(widening, operands[1])
    if operation.name in _OF_ONE and constant_of(operation.operands[1]) == 1:
        widening.define(operation.results[0], operands[0])
        return
    values, axes = _aligned(operation, operands, widening)
    shape = list(sizes_of(operands).values())
    new = again(
        operation, values, [with_shape(value_type(each.type), shape) for each in operation.results]
    )
    for old, result in zip(operation.results, kernel.emit(new).results, strict=True):
        widening.define(old, Wide((result,), axes))


def bitcast(operation: Operation, widening: Widening) -> None:
    """The same bits as numbers of another type; a matrix's own last dimension is the last one."""
    (given,), (result,) = operation.operands, operation.results
    wide, element = widening.wide(given), value_type(result.type)
    if bits_of(element) == bits_of(value_type(given.type)):
        widening.define(result, widening.computed(arith.BitcastOp, wide, type=element))
        return
    shape = [*list(wide.sizes.values())[:-1], shape_of(result.type)[-1]]
    made = widening.kernel.compute(BitCastOp, [wide.value], with_shape(element, shape))
    widening.define(result, Wide((made,), wide.axes))


_OF_ONE = frozenset({"arith.divsi", "arith.divui", "arith.muli"})
"""Operations that give the first operand where the second one is 1."""


def _aligned(
    operation: Operation, operands: Sequence[Wide], widening: Widening
) -> tuple[list[SSAValue], tuple[int, ...]]:
    """Operands with the same axes, and these; a condition for all may stay one."""
    first, *others = operands
    if operation.name == "arith.select" and not first.axes:
        aligned = widening.together(others)
        return [first.value, *(each.value for each in aligned)], aligned[0].axes
    aligned = widening.together(operands)
    return [each.value for each in aligned], aligned[0].axes


def _not_zero(widening: Widening, divisor: Wide) -> Wide:
    """A divisor that is 1 instead of 0: only those that do not divide may have that."""
    if constant_of(divisor.value) not in (None, 0):
        return divisor
    one, zero = (widening.number(number, divisor.element) for number in (1, 0))
    return widening.select(widening.compared("eq", divisor, zero), one, divisor)


# --- the parts of complex numbers ---


def create(operation: Operation, widening: Widening) -> None:
    """A complex number is two vectors."""
    parts = [widening.wide(operand) for operand in operation.operands]
    if not widening.divergence.of_all(operation.operands):
        copy(operation, widening.kernel)
        return
    real, imaginary = widening.together(parts)
    widening.define(operation.results[0], Wide((real.value, imaginary.value), real.axes))


def real_part(operation: Operation, widening: Widening) -> None:
    """The first of the two vectors."""
    _part(operation, widening, 0)


def imaginary_part(operation: Operation, widening: Widening) -> None:
    """The second of the two vectors."""
    _part(operation, widening, 1)


def _part(operation: Operation, widening: Widening, number: int) -> None:
    wide = widening.wide(operation.operands[0])
    widening.define(operation.results[0], Wide((wide.parts[number],), wide.axes))
