"""What rules say about types, with the words for messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from xdsl.dialects.builtin import AnyFloat, IntegerType, VectorType, i1, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.spirv.instruction import Instruction
from xtile.dialects.spirv.types import (
    ArrayType,
    CooperativeMatrixType,
    PointerType,
    StructType,
)
from xtile.dialects.spirv.words import ArgumentError

Rule: TypeAlias = Callable[[Instruction], None]
"""Checks an instruction, and raises an `ArgumentError` if it is wrong."""


def for_all(names: str, rule: Rule) -> Iterable[tuple[str, Rule]]:
    """One rule for several instructions, as the items of a table."""
    return ((name, rule) for name in names.split())


def component_of(type: Attribute) -> Attribute:
    """The type of a vector's or a cooperative matrix's components; another type itself."""
    if isa(type, VectorType):
        return type.element_type
    return type.component_type if isinstance(type, CooperativeMatrixType) else type


def shape_of(type: Attribute) -> tuple[object, ...]:
    """What two types have in common that differ in the type of components only."""
    if isa(type, VectorType):
        return ("vector", *type.get_shape())
    if isinstance(type, CooperativeMatrixType):
        return type.scope, type.rows, type.columns
    return ()


def is_integer(type: Attribute) -> bool:
    """Whether a type is an integer with more than one bit."""
    return isa(type, IntegerType) and type.width.data > 1


def is_float(type: Attribute) -> bool:
    """Whether a type is a floating-point type."""
    return isa(type, AnyFloat)


def is_boolean(type: Attribute) -> bool:
    """Whether a type is `i1`."""
    return type == i1


def is_number(type: Attribute) -> bool:
    """Whether a type is an integer or a float."""
    return is_integer(type) or is_float(type)


_KINDS: dict[str, Callable[[Attribute], bool]] = {
    "integers": is_integer,
    "floats": is_float,
    "booleans": is_boolean,
    "numbers": is_number,
}
"""The kinds of components, in the words of messages."""


def _without_sign(type: Attribute) -> Attribute:
    """A type without the signedness of integers, which most instructions do not look at."""
    component = component_of(type)
    if not isa(component, IntegerType):
        return type
    plain = IntegerType(component.width.data)
    if isa(type, VectorType):
        return VectorType(plain, type.get_shape())
    return type if isinstance(type, CooperativeMatrixType) else plain


def are_same(type: Attribute, other: Attribute) -> bool:
    """Whether two types are one, apart from the signedness of integers."""
    return type == other or _without_sign(type) == _without_sign(other)


def require_kind(type: Attribute, kind: str, what: str) -> None:
    """Checks the kind of a type's components.

    Raises:
        ArgumentError: It is another one.
    """
    if not _KINDS[kind](component_of(type)):
        raise ArgumentError(f"expected {kind} as {what}, got {type}")


def require_same(type: Attribute, expected: Attribute, what: str) -> None:
    """Checks that a type is what it must be, apart from the signedness of integers.

    Raises:
        ArgumentError: It is not.
    """
    if not are_same(type, expected):
        raise ArgumentError(f"expected {expected} as {what}, got {type}")


def require_shape(type: Attribute, other: Attribute, what: str) -> None:
    """Checks that a type has as many components as another one.

    Raises:
        ArgumentError: It has not.
    """
    if shape_of(type) != shape_of(other):
        raise ArgumentError(f"expected {what} with as many components as {other}, got {type}")


def require_pointer(type: Attribute, what: str) -> PointerType:
    """Checks that a type is a pointer.

    Raises:
        ArgumentError: It is not.
    """
    if not isinstance(type, PointerType):
        raise ArgumentError(f"expected a pointer as {what}, got {type}")
    return type


def require_values(instruction: Instruction, count: int) -> list[Attribute]:
    """The types of an instruction's operands, which are at least `count`.

    Raises:
        ArgumentError: There are fewer.
    """
    if len(instruction.values) < count:
        raise ArgumentError(f"expected {count} values, got {len(instruction.values)}")
    return [value.type for value in instruction.values]


def result_of(instruction: Instruction) -> Attribute:
    """The type of the result.

    Raises:
        ArgumentError: There is none.
    """
    if not instruction.results:
        raise ArgumentError("a result is missing")
    return instruction.result.type


def require_word(value: SSAValue, what: str, is_constant: bool = False) -> None:
    """Checks that a value is an integer of 32 bits, and a constant where it must be.

    Raises:
        ArgumentError: It is not.
    """
    if not are_same(value.type, i32):
        raise ArgumentError(f"expected {i32} as {what}, got {value.type}")
    owner = value.owner
    name = owner.entry.name if isinstance(owner, Instruction) else ""
    if is_constant and not name.startswith(("Constant", "SpecConstant")):
        raise ArgumentError(f"expected a constant as {what}")


def selected_part(type: Attribute, index: int | None) -> Attribute:
    """The part of a type that an index selects; None stands for one that is no constant.

    Raises:
        ArgumentError: There is no such part.
    """
    if isa(type, VectorType) or isinstance(type, ArrayType | CooperativeMatrixType):
        return type.element_type if isinstance(type, ArrayType) else component_of(type)
    if isinstance(type, StructType):
        if index is None or not 0 <= index < len(type.elements):
            raise ArgumentError(f"a member of {type} is selected by a constant, got {index}")
        return type.elements.data[index]
    raise ArgumentError(f"nothing can be selected in {type}")


def constant_of(value: SSAValue) -> int | None:
    """The number of an integer constant, or None."""
    owner = value.owner
    if isinstance(owner, Instruction) and owner.entry.name == "Constant":
        number = owner.arguments[0]
        return number if isinstance(number, int) else None
    return None
