"""What stays what it is, with layouts, and what XeGPU has no words for."""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import ComplexType, IndexType, i64
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.core.pointers import PointerType, pointer_of
from xtile.dialects.number_attributes import (
    LARGEST_SATURATED,
    NUMBER_ATTRIBUTES,
    SATURATE_ATTRIBUTE,
    says_how_to_round,
)
from xtile.dialects.upstream import value_type
from xtile.rewrite.rebuilder import Rule, again, refuse_rounding
from xtile.rewrite.tile_emitter import shape_of, with_shape
from xtile.text.source import spelling_of
from xtile.translate.tiles_to_xegpu.lowering import ONE_BASE, Lowering, Points, bytes_of

_REASONS = {
    "core.atomic_compare_and_swap": "XeGPU has no compare-and-swap; use core.atomic_rmw",
    "core.print": "XeGPU has no printing of a work-group",
    "func.call": "XeGPU's vectors have layouts within one function; inline the function",
    "gpu.printf": "XeGPU has no printing of a work-group",
    "memref.copy": "XeGPU copies vectors; load and store them",
}
"""For each operation why it is refused."""

_STAYING = frozenset({"arith", "cf", "gpu", "math", "scf", "ub", "vector"})
"""Dialects whose operations stay what they are, unless a rule says otherwise."""


def copy(operation: Operation, lowering: Lowering) -> None:
    """Emits an operation of vectors and numbers again."""
    types = (*operation.operand_types, *operation.result_types)
    if any(isinstance(value_type(type_), ComplexType) for type_ in types):
        complex_ = f"{lowering.result_name} has no complex numbers; ask for level lane"
        raise lowering.error(f"{spelling_of(operation)} cannot be translated: {complex_}")
    if operation.dialect_name() not in _STAYING:
        name = spelling_of(operation)
        raise lowering.error(f"{name} cannot be translated to {lowering.result_name}")
    if says_how_to_round(operation):
        _saturate(operation, lowering)
        return
    if any(pointer_of(result.type) is not None for result in operation.results):
        _move_pointers(operation, lowering)
        return
    lowering.replace(
        operation,
        again(
            operation,
            lowering.values(operation.operands),
            regions=lowering.regions(operation),
        ),
    )


def _saturate(operation: Operation, lowering: Lowering) -> None:
    """A cast that saturates: its operand is limited before.

    Raises:
        DiagnosticError: The operation says something else of rounding, for which upstream's
            operations have no words.
    """
    said = NUMBER_ATTRIBUTES & operation.attributes.keys()
    (result,) = operation.results
    largest = LARGEST_SATURATED.get(type(value_type(result.type)))
    if largest is None or said - {SATURATE_ATTRIBUTE}:
        refuse_rounding(operation, lowering)
        return
    made = type(operation).create(
        operands=[_limited(lowering, lowering.value(operation.operands[0]), largest)],
        result_types=[result.type],
        properties=operation.properties.copy(),
        attributes={name: each for name, each in operation.attributes.items() if name not in said},
    )
    lowering.define(result, lowering.emit(made).results[0])


def _limited(lowering: Lowering, value: SSAValue, largest: float) -> SSAValue:
    """Numbers that are no larger than the largest one of another type; NaN stays."""
    for kind, limit in ((arith.MinimumfOp, largest), (arith.MaximumfOp, -largest)):
        value = lowering.compute(kind, [value, lowering.constant(limit, value.type)], value.type)
    return value


def _refuse(operation: Operation, lowering: Lowering) -> None:
    reason = _REASONS[operation.name]
    name = spelling_of(operation)
    raise lowering.error(f"{name} cannot be translated to {lowering.result_name}: {reason}")


def _poison(operation: Operation, lowering: Lowering) -> None:
    """Any number, or a vector of some; the text has no `ub.poison`, so it is 0."""
    (result,) = operation.results
    lowering.define(result, lowering.constant(0, lowering.type_of(result.type)))


def _assume(operation: Operation, lowering: Lowering) -> None:
    """The same value; nothing in XeGPU says what is known of it."""
    lowering.define(operation.results[0], lowering.meaning(operation.operands[0]))


def _nothing(operation: Operation, lowering: Lowering) -> None:
    """Nothing but the time depends on it."""


# --- tiles of pointers ---


def _move_pointers(operation: Operation, lowering: Lowering) -> None:
    """An operation that gives pointers other positions, or chooses among some.

    Raises:
        DiagnosticError: They are not counted from one pointer.
    """
    (result,) = operation.results
    given = [lowering.meaning(operand) for operand in operation.operands]
    if not shape_of(result.type) and not any(isinstance(each, Points) for each in given):
        made = _made(operation, lowering, given, lowering.type_of(result.type))
        lowering.define(result, made)
        return
    are_pointers = [pointer_of(operand.type) is not None for operand in operation.operands]
    pairs = list(zip(given, are_pointers, strict=True))
    bases = {_base(each, lowering) for each, is_pointer in pairs if is_pointer}
    if len(bases) != 1:
        raise lowering.error(
            "these pointers are counted from several pointers, and XeGPU's loads and stores have "
            "one base; choose among the values that are loaded"
        )
    operands = [_offsets(each, lowering) if is_pointer else each for each, is_pointer in pairs]
    offsets = _made(operation, lowering, operands, with_shape(IndexType(), shape_of(result.type)))
    (base,) = bases
    if shape_of(result.type):
        lowering.define(result, Points(base, offsets))
    else:
        size = bytes_of(cast("PointerType", result.type).pointee_type)
        moved = lowering.from_index(lowering.multiply(offsets, size), i64)
        lowering.define(result, lowering.emit(arith.AddiOp(base, moved)).result)


def _base(meaning: Any, lowering: Lowering) -> SSAValue:
    """The address that pointers are counted from."""
    if isinstance(meaning, Points):
        return meaning.base
    if shape_of(meaning.type):
        raise lowering.error(ONE_BASE)
    return meaning


def _offsets(meaning: Any, lowering: Lowering) -> SSAValue:
    """How far from there they are; a pointer itself is there."""
    return meaning.offsets if isinstance(meaning, Points) else lowering.index(0)


def _made(
    operation: Operation, lowering: Lowering, operands: list[SSAValue], type_: Attribute
) -> SSAValue:
    made = again(operation, operands, [type_])
    return lowering.emit(made).results[0]


RULES: dict[str, Rule] = {
    **dict.fromkeys(_REASONS, _refuse),
    "core.assume": _assume,
    "core.prefetch": _nothing,
    "ub.poison": _poison,
}
"""The rule of each operation, by name."""
