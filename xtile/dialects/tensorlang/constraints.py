"""What an operand or result of an instruction may be, as IRDL constraints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from typing_extensions import TypeVar, override
from xdsl.ir import Attribute
from xdsl.irdl import AttrConstraint, BaseAttr, IntConstraint, VerificationContext
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.tensorlang.types import (
    BOOL,
    I32,
    INDEX,
    INTEGER_TYPES,
    NUMBER_TYPES,
    CoopmatrixType,
    GroupType,
    MemrefType,
    type_text,
)


@dataclass(frozen=True)
class TypeAmong(AttrConstraint):
    """One of certain types, or any instance of certain type classes.

    `description` says it in words, for diagnostics: "a number".
    """

    description: str
    types: frozenset[Attribute] = frozenset()
    classes: tuple[type[Attribute], ...] = ()

    def allows(self, attribute: Attribute) -> bool:
        """Whether `attribute` is such a type."""
        return isinstance(attribute, self.classes) or attribute in self.types

    @override
    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if not self.allows(attr):
            raise VerifyException(f"expected {self.description}, but got {type_text(attr)}")

    @override
    def mapping_type_vars(
        self, type_var_mapping: Mapping[TypeVar, AttrConstraint | IntConstraint]
    ) -> AttrConstraint:
        return self


_NUMBERS = frozenset(NUMBER_TYPES.values())

NUMBER = TypeAmong("a number", _NUMBERS)
INTEGER = TypeAmong("an integer", INTEGER_TYPES)
BOOLEAN = TypeAmong("a bool", frozenset({BOOL}))
INDEX_ONLY = TypeAmong("an index", frozenset({INDEX}))
I32_ONLY = TypeAmong("an i32", frozenset({I32}))
NUMBER_OR_MATRIX = TypeAmong("a number or a coopmatrix", _NUMBERS, (CoopmatrixType,))
SCALAR_OR_MATRIX = TypeAmong(
    "a bool, a number or a coopmatrix", _NUMBERS | {BOOL}, (CoopmatrixType,)
)
MEMREF_OR_GROUP = TypeAmong("a memref or a group", frozenset(), (MemrefType, GroupType))
NUMBER_OR_MEMREF = TypeAmong("a number or a memref", _NUMBERS, (MemrefType,))
MEMREF: AttrConstraint[MemrefType] = BaseAttr(MemrefType)
COOPMATRIX: AttrConstraint[CoopmatrixType] = BaseAttr(CoopmatrixType)


def description(constraint: AttrConstraint) -> str:
    """`constraint` in words, e.g. `a number`."""
    if isinstance(constraint, TypeAmong):
        return constraint.description
    return "a memref" if constraint is MEMREF else "a coopmatrix"
