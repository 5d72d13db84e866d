"""Vectors, arrays and structures that are made of parts and taken apart.

Source: SPIR-V specification, section 3.49.12 (Composite Instructions).
"""

from __future__ import annotations

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xtile.dialects.spirv.instruction import Instruction
from xtile.dialects.spirv.rules.types import (
    Rule,
    component_of,
    for_all,
    require_same,
    require_values,
    result_of,
    selected_part,
)
from xtile.dialects.spirv.types import ArrayType, CooperativeMatrixType, StructType
from xtile.dialects.spirv.words import ArgumentError


def _literal_indices(instruction: Instruction) -> list[int]:
    return [argument for argument in instruction.arguments if isinstance(argument, int)]


def _extract(instruction: Instruction) -> None:
    (type, *_) = require_values(instruction, 1)
    for index in _literal_indices(instruction):
        _require_index(type, index)
        type = selected_part(type, index)
    require_same(result_of(instruction), type, "the result")


def _insert(instruction: Instruction) -> None:
    part, whole, *_ = require_values(instruction, 2)
    require_same(result_of(instruction), whole, "the result")
    for index in _literal_indices(instruction):
        _require_index(whole, index)
        whole = selected_part(whole, index)
    require_same(part, whole, "operand 1")


def _require_index(type: Attribute, index: int) -> None:
    count = None
    if isa(type, VectorType):
        count = type.get_shape()[0]
    elif isinstance(type, ArrayType):
        count = type.count.data
    if count is not None and not 0 <= index < count:
        raise ArgumentError(f"{type} has {count} components, but the index is {index}")


def _construct(instruction: Instruction) -> None:
    result = result_of(instruction)
    types = [value.type for value in instruction.values]
    if isinstance(result, CooperativeMatrixType):
        _require_list(types, [result.component_type])
    elif isinstance(result, ArrayType):
        _require_list(types, [result.element_type] * result.count.data)
    elif isinstance(result, StructType):
        _require_list(types, list(result.elements))
    elif isa(result, VectorType):
        count = sum(type.get_shape()[0] if isa(type, VectorType) else 1 for type in types)
        if count != result.get_shape()[0]:
            raise ArgumentError(f"{count} components cannot make {result}")
        for index, type in enumerate(types):
            require_same(component_of(type), result.element_type, f"part of operand {index + 1}")
    else:
        raise ArgumentError(f"expected a composite as the result, got {result}")


def _require_list(types: list[Attribute], expected: list[Attribute]) -> None:
    if len(types) != len(expected):
        raise ArgumentError(f"expected {len(expected)} parts, got {len(types)}")
    for index, (type, other) in enumerate(zip(types, expected, strict=True)):
        require_same(type, other, f"operand {index + 1}")


RULES: dict[str, Rule] = dict(
    (
        *for_all("CompositeExtract", _extract),
        *for_all("CompositeInsert", _insert),
        *for_all("CompositeConstruct", _construct),
    )
)
"""The rule of each instruction."""
