"""What the operands of upstream's dialects may be, for the modules that complete xDSL's.

Source: MLIR (LLVM 22), `IR/CommonTypeConstraints.td`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from typing_extensions import TypeVar, override
from xdsl.dialects.builtin import (
    AnyFloat,
    IndexType,
    IntegerType,
    MemRefType,
    Signedness,
    TensorType,
    UnrankedMemRefType,
    UnrankedTensorType,
    VectorType,
)
from xdsl.ir import Attribute
from xdsl.irdl import AttrConstraint, IntConstraint, VerificationContext
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa


@dataclass(frozen=True)
class TypeWhere(AttrConstraint):
    """A type for which something holds; `description` says it in words for messages."""

    description: str
    holds: Callable[[Attribute], bool]

    @override
    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if not self.holds(attr):
            raise VerifyException(f"expected {self.description}, got {attr}")

    @override
    def mapping_type_vars(
        self, type_var_mapping: Mapping[TypeVar, AttrConstraint | IntConstraint]
    ) -> AttrConstraint:
        return self


def element_type(type: Attribute) -> Attribute:
    """Returns the element type of a vector, tensor or memref; any other type itself."""
    if isa(type, VectorType | TensorType | UnrankedTensorType | MemRefType | UnrankedMemRefType):
        return type.element_type
    return type


def value_type(type: Attribute) -> Attribute:
    """Returns the element type of a vector or tensor; any other type itself."""
    if isa(type, VectorType | TensorType | UnrankedTensorType):
        return type.element_type
    return type


def is_signless_integer(type: Attribute) -> bool:
    """Whether this is an integer such as `i32`, neither signed nor unsigned."""
    return isa(type, IntegerType) and type.signedness.data is Signedness.SIGNLESS


def is_float(type: Attribute) -> bool:
    """Whether this is a floating point type."""
    return isa(type, AnyFloat)


def is_index(type: Attribute) -> bool:
    """Whether this is `index`."""
    return isinstance(type, IndexType)


def is_signless_integer_or_float(type: Attribute) -> bool:
    """Whether this is a signless integer or a floating point type."""
    return is_signless_integer(type) or is_float(type)


def is_signless_integer_or_index(type: Attribute) -> bool:
    """Whether this is a signless integer or `index`."""
    return is_signless_integer(type) or is_index(type)


def like(holds: Callable[[Attribute], bool]) -> Callable[[Attribute], bool]:
    """Extends a condition on scalars to vectors and tensors of such scalars."""
    return lambda type: holds(value_type(type))


SIGNLESS_INTEGER_OR_FLOAT = TypeWhere("a signless integer or a float", is_signless_integer_or_float)
SIGNLESS_INTEGER_LIKE = TypeWhere(
    "a signless integer, an index, or a vector or tensor of them",
    like(is_signless_integer_or_index),
)
FLOAT_LIKE = TypeWhere("a float, or a vector or tensor of floats", like(is_float))
