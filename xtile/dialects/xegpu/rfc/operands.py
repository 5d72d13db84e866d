"""The values of the operands in the RFC's form, whose types say what each of them is."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IndexType,
    IntegerType,
    VectorType,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import UnresolvedOperand

from xtile.dialects.xegpu.rfc.operation_text import Indices, OperationText
from xtile.dialects.xegpu.types import TensorDescType
from xtile.text.source import Span


def resolve(text: OperationText, *counts: int) -> list[SSAValue]:
    """Returns the values of the operands outside of square brackets.

    Their own types must be the ones that are written, which may stand in another order. The types
    of indices and of an accumulator may be left out. `uint8` and `int8` do not tell MLIR's `i8` and
    `ui8` apart.

    Args:
        text: The operation.
        counts: How many operands it may have; any number if none is given.

    Raises:
        ParseError: There are other operands or other types.
    """
    if counts and len(text.operands) not in counts:
        expected = " or ".join(str(count) for count in counts)
        text.error(f"{text.spelling} has {len(text.operands)} operands; it takes {expected}")
    unknown = [*text.types, *(IndexType() for _ in text.operands)]
    values = [
        _value(text, operand, unknown[position]) for position, operand in enumerate(text.operands)
    ]
    _check_types(text, values)
    return values


def resolve_indices(text: OperationText, indices: Indices) -> list[SSAValue]:
    """Returns the values of the operands in square brackets.

    Raises:
        ParseError: One is no index.
    """
    return [text.parser.resolve_operand(operand, IndexType()) for operand in indices.operands]


def constants(indices: Indices) -> DenseArrayBase:
    """Returns a list in square brackets as the dialect has it beside the operands."""
    return DenseArrayBase.from_list(i64, indices.constants)


def dynamic(count: int) -> DenseArrayBase:
    """Returns what stands beside a list of operands only."""
    return DenseArrayBase.from_list(i64, [DYNAMIC_INDEX] * count)


def descriptor_of(text: OperationText, value: SSAValue) -> TensorDescType:
    """Returns the type of an operand that must be a descriptor.

    Raises:
        ParseError: It is something else.
    """
    if not isinstance(value.type, TensorDescType):
        text.error(f"{text.spelling} takes a tensor_desc, not {value.type}")
    return value.type


def take_descriptor(text: OperationText, values: list[SSAValue]) -> SSAValue:
    """Removes and returns the one operand that is a descriptor.

    Raises:
        ParseError: There is not exactly one.
    """
    found = [value for value in values if isinstance(value.type, TensorDescType)]
    if len(found) != 1:
        text.error(f"{text.spelling} takes one tensor_desc, but has {len(found)}")
    values.remove(found[0])
    return found[0]


def take_mask(text: OperationText, values: list[SSAValue]) -> SSAValue:
    """Removes and returns the one operand that is a mask.

    Raises:
        ParseError: There is not exactly one.
    """
    found = [value for value in values if _is_mask(value.type)]
    if len(found) != 1:
        text.error(f"{text.spelling} takes one mask, a vector of i1, but has {len(found)}")
    values.remove(found[0])
    return found[0]


def _value(text: OperationText, operand: UnresolvedOperand, written: Attribute) -> SSAValue:
    """Returns the value of an operand; one that is defined later has the type that is written."""
    defined = text.parser.ssa_values.get(operand.operand_name)
    if defined is not None and operand.index < len(defined):
        return defined[operand.index]
    return text.parser.resolve_operand(operand, written)


def _check_types(text: OperationText, values: list[SSAValue]) -> None:
    """Raises an error if the types that are written are not those of the operands."""
    if not text.types and text.result_type is None:
        return
    left = list(text.types)
    for operand, value in zip(text.operands, values, strict=True):
        match = next((written for written in left if _is_same(written, value.type)), None)
        if match is not None:
            left.remove(match)
        elif not isinstance(value.type, IndexType) and value.type != text.result_type:
            position = Span(operand.span.start, operand.span.end)
            written = f"it is written as {left[0]}" if left else "its type is not written"
            text.error(f"the operand is of type {value.type}, but {written}", position)
    others = [written for written in left if not isinstance(written, IndexType)]
    if others:
        text.error(f"the type {others[0]} is written, but no operand has it")


def _is_same(written: Attribute, actual: Attribute) -> bool:
    """Whether a type that is written may be the type of an operand."""
    return written == actual or _without_sign(written) == _without_sign(actual)


def _without_sign(type: Attribute) -> Attribute:
    """Returns a number's or a vector's type with integers that have no sign."""
    if isinstance(type, IntegerType):
        return IntegerType(type.bitwidth)
    if isinstance(type, VectorType):
        vector = cast("VectorType[Attribute]", type)
        element_type = _without_sign(vector.element_type)
        return VectorType(element_type, vector.get_shape(), vector.scalable_dims)
    return type


def _is_mask(type: Attribute) -> bool:
    if isinstance(type, VectorType):
        type = cast("VectorType[Attribute]", type).element_type
    return type == IntegerType(1)
