"""Loads, stores and pointers.

Source: SPIR-V specification, section 3.49.8 (Memory Instructions).
"""

from __future__ import annotations

from xtile.dialects.spirv.instruction import Instruction
from xtile.dialects.spirv.rules.types import (
    Rule,
    constant_of,
    for_all,
    require_kind,
    require_pointer,
    require_same,
    require_values,
    result_of,
    selected_part,
)
from xtile.dialects.spirv.types import PointerType
from xtile.dialects.spirv.words import ArgumentError


def _load(instruction: Instruction) -> None:
    pointer, *_ = require_values(instruction, 1)
    if isinstance(pointer, PointerType):
        require_same(result_of(instruction), pointer.pointee, "the result")


def _store(instruction: Instruction) -> None:
    pointer, stored, *_ = require_values(instruction, 2)
    if isinstance(pointer, PointerType):
        require_same(stored, pointer.pointee, "operand 2")


def _variable(instruction: Instruction) -> None:
    pointer = require_pointer(result_of(instruction), "the result")
    if instruction.arguments[0] != pointer.storage_class.data:
        raise ArgumentError(f"the storage class is not that of {pointer}")


def _access_chain(indices_from: int) -> Rule:
    """The result points to what the indices select; those before only move the pointer."""

    def check(instruction: Instruction) -> None:
        result = require_pointer(result_of(instruction), "the result")
        base = require_pointer(require_values(instruction, indices_from)[0], "operand 1")
        for index, value in enumerate(instruction.values[1:]):
            require_kind(value.type, "integers", f"operand {index + 2}")
        selected = base.pointee
        for value in instruction.values[indices_from:]:
            selected = selected_part(selected, constant_of(value))
        require_same(result.pointee, selected, "what the result points to")
        if result.storage_class != base.storage_class:
            raise ArgumentError(f"the result points to another storage class than {base}")

    return check


RULES: dict[str, Rule] = dict(
    (
        *for_all("Load", _load),
        *for_all("Store", _store),
        *for_all("Variable", _variable),
        *for_all("AccessChain InBoundsAccessChain", _access_chain(1)),
        *for_all("PtrAccessChain InBoundsPtrAccessChain", _access_chain(2)),
    )
)
"""The rule of each instruction."""
