"""What operands and results may be.

Source: Triton 3.9, `TritonTypes.td`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from typing_extensions import override
from xdsl.dialects.builtin import TensorType, i1, i8, i32, i64
from xdsl.ir import Attribute
from xdsl.irdl import AttrConstraint, VerificationContext
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.triton.operation import element_of, width_of
from xtile.dialects.triton.tt.types import PointerType, TensorDescType, is_float, is_integer


@dataclass(frozen=True)
class _Value(AttrConstraint[Attribute]):
    """A scalar or a tensor of some elements.

    Attributes:
        words: What it is, for messages.
        holds: Whether an element type is one of them.
        scalar: Whether it may be a scalar.
        tensor: Whether it may be a tensor.
    """

    words: str
    holds: Callable[[Attribute], bool]
    scalar: bool = True
    tensor: bool = True

    @override
    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        is_tensor = isinstance(attr, TensorType)
        if not (self.tensor if is_tensor else self.scalar) or not self.holds(element_of(attr)):
            raise VerifyException(f"expected {self.words}, but got {attr}")

    @override
    def mapping_type_vars(self, type_var_mapping: object) -> AttrConstraint[Attribute]:
        return self


def is_pointer(type_: Attribute) -> bool:
    """Whether a type is a pointer."""
    return isinstance(type_, PointerType)


def is_element(type_: Attribute) -> bool:
    """Whether tensors may have such elements."""
    return is_float(type_) or is_integer(type_) or is_pointer(type_)


def _is_number(type_: Attribute) -> bool:
    return is_float(type_) or is_integer(type_)


def _is_scaled(type_: Attribute) -> bool:
    return is_float(type_) or type_ == i8


def _is_offset(type_: Attribute) -> bool:
    return width_of(type_) in (16, 32)


VALUE = _Value("a float, an integer, a pointer or a tensor of them", is_element)
TENSOR = _Value("a tensor of floats, integers or pointers", is_element, scalar=False)
NUMBER_TENSOR = _Value("a tensor of floats or integers", _is_number, scalar=False)
FLOAT = _Value("a float or a tensor of floats", is_float)
FLOAT_TENSOR = _Value("a tensor of floats", is_float, scalar=False)
SCALED_TENSOR = _Value("a tensor of floats or i8", _is_scaled, scalar=False)
INTEGER = _Value("an integer or a tensor of integers", is_integer)
INTEGER_TENSOR = _Value("a tensor of integers", is_integer, scalar=False)
BOOL = _Value("i1 or a tensor of i1", lambda type_: type_ == i1)
I32 = _Value("i32", lambda type_: type_ == i32, tensor=False)
I64_LIKE = _Value("i64 or a tensor of i64", lambda type_: type_ == i64)
OFFSETS = _Value("a tensor of i16 or i32", _is_offset, scalar=False)
POINTER = _Value("a pointer or a tensor of pointers", is_pointer)
SCALAR_POINTER = _Value("a pointer", is_pointer, tensor=False)
DESCRIPTOR = _Value(
    "a tensor descriptor, !tt.tensordesc",
    lambda type_: isinstance(type_, TensorDescType),
    tensor=False,
)
