"""Types of operands that spirv-val does not look at.

These are the operands of Intel's block accesses and products of a subgroup's matrices, and what
branches give to blocks' arguments, which a binary has as `OpPhi`.

Source: SPV_INTEL_2d_block_io, SPV_INTEL_subgroup_matrix_multiply_accumulate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from xdsl.dialects.builtin import AnyFloat, IntegerType, VectorType, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.spirv.instruction import Instruction
from xtile.dialects.spirv.types import PointerType
from xtile.dialects.spirv.words import ArgumentError

Rule: TypeAlias = Callable[[Instruction], None]
"""Checks an instruction, and raises an `ArgumentError` if it is wrong."""


def check_types(instruction: Instruction) -> None:
    """Checks the types of an instruction's operands and result, if there is a rule for it.

    Raises:
        ArgumentError: They are not what the specification says.
    """
    rule = _RULES.get(instruction.entry.name)
    if rule is not None:
        rule(instruction)


def require_same(type: Attribute, expected: Attribute, what: str) -> None:
    """Checks that a type is what it must be, apart from the signedness of integers.

    Raises:
        ArgumentError: It is not.
    """
    if type != expected and _without_sign(type) != _without_sign(expected):
        raise ArgumentError(f"expected {expected} as {what}, got {type}")


def require_values(instruction: Instruction, count: int) -> list[Attribute]:
    """The types of an instruction's operands, which are at least `count`.

    Raises:
        ArgumentError: There are fewer.
    """
    if len(instruction.values) < count:
        raise ArgumentError(f"expected {count} values, got {len(instruction.values)}")
    return [value.type for value in instruction.values]


def _without_sign(type: Attribute) -> Attribute:
    """A type without the signedness of integers, which most instructions do not look at."""
    if isa(type, VectorType):
        return VectorType(_without_sign(type.element_type), type.get_shape())
    return IntegerType(type.width.data) if isa(type, IntegerType) else type


def _multiply(instruction: Instruction) -> None:
    """K Dim, Matrix A, Matrix B, Matrix C."""
    types = require_values(instruction, 4)
    _require_word(instruction.values[0], "K Dim", is_constant=True)
    for what, type in zip(("Matrix A", "Matrix B"), types[1:3], strict=True):
        element = type.element_type if isa(type, VectorType) else type
        if not isa(element, IntegerType | AnyFloat):
            raise ArgumentError(f"expected numbers as {what}, got {type}")
    require_same(types[3], instruction.result.type, "Matrix C")


_BLOCK = ("Element Size", "Block Width", "Block Height", "Block Count")
_SURFACE = ("Memory Width", "Memory Height", "Memory Pitch")


def _block_access(pointers: tuple[str, ...], has_destination: bool) -> Rule:
    """A block's sizes, the pointers, the surface's sizes, the coordinate, the destination."""
    count = len(_BLOCK) + len(pointers) + len(_SURFACE) + 1 + has_destination

    def check(instruction: Instruction) -> None:
        require_values(instruction, count)
        values = iter(instruction.values)
        for what in _BLOCK:
            _require_word(next(values), what, is_constant=True)
        for what in pointers:
            is_global = what.endswith("Base Pointer")
            _require_storage(next(values), what, "CrossWorkgroup" if is_global else "Function")
        for what in _SURFACE:
            _require_word(next(values), what)
        require_same(next(values).type, VectorType(i32, (2,)), "Coordinate")
        if has_destination:
            _require_storage(next(values), "Dst Pointer", "Function")

    return check


def _require_word(value: SSAValue, what: str, is_constant: bool = False) -> None:
    """Checks that a value is an integer of 32 bits, and a constant where it must be."""
    require_same(value.type, i32, what)
    owner = value.owner
    name = owner.entry.name if isinstance(owner, Instruction) else ""
    if is_constant and not name.startswith(("Constant", "SpecConstant")):
        raise ArgumentError(f"expected a constant as {what}")


def _require_storage(value: SSAValue, what: str, storage_class: str) -> None:
    """Checks that a value points to a class of memory."""
    if not isinstance(value.type, PointerType) or value.type.storage_class.data != storage_class:
        raise ArgumentError(f"{what} points to {storage_class}, got {value.type}")


_load = _block_access(("Src Base Pointer",), has_destination=True)

_RULES: dict[str, Rule] = {
    "Subgroup2DBlockLoadINTEL": _load,
    "Subgroup2DBlockLoadTransformINTEL": _load,
    "Subgroup2DBlockLoadTransposeINTEL": _load,
    "Subgroup2DBlockPrefetchINTEL": _block_access(("Src Base Pointer",), has_destination=False),
    "Subgroup2DBlockStoreINTEL": _block_access(
        ("Src Pointer", "Dst Base Pointer"), has_destination=False
    ),
    "SubgroupMatrixMultiplyAccumulateINTEL": _multiply,
}
"""The rule of each instruction."""
