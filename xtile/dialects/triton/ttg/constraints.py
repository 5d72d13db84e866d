"""What operands and results of `ttg` may be.

Source: Triton 3.9, `TritonGPUTypes.td`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i32
from xdsl.ir import Attribute
from xdsl.irdl import BaseAttr, EqAttrConstraint
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.triton.encodings.encoding import DistributedEncodingAttr
from xtile.dialects.triton.operation import element_of, encoding_of, shape_of
from xtile.dialects.triton.ttg.types import AsyncTokenType, MemDescType
from xtile.layouts.linear import LayoutError, LinearLayout

TOKEN = EqAttrConstraint(AsyncTokenType())
MEMDESC = BaseAttr(MemDescType)
I32_NUMBER = IntegerAttr.constr(i32)
I32_NUMBERS = DenseArrayBase.constr(i32)


def layout_of(type_: Attribute) -> LinearLayout | None:
    """Which lane holds what of a tensor; None where that is not known."""
    encoding = encoding_of(type_)
    if not isinstance(encoding, DistributedEncodingAttr):
        return None
    try:
        return encoding.layout(shape_of(type_))
    except LayoutError:
        return None


def memdesc_of(type_: Attribute) -> MemDescType:
    """A type that the class of an operation lets be a view of local memory only."""
    assert isinstance(type_, MemDescType)
    return type_


def verify_same_elements(tensor_name: str, tensor: Attribute, memory: MemDescType) -> None:
    """Checks that a tensor has the shape and the elements of the memory that holds it.

    Raises:
        VerifyException: It has others.
    """
    if shape_of(tensor) != memory.get_shape() or element_of(tensor) != memory.element_type:
        raise VerifyException(
            f"{tensor_name} is {tensor}, but the memory is {memory}; they must have the same "
            "shape and "
            "the same elements"
        )
    if len(memory.layout_shape) != len(memory.get_shape()):
        raise VerifyException(
            f"{memory} holds several tensors; ttg.memdesc_index takes one of them"
        )


def verify_mutable(memory: MemDescType) -> None:
    """Checks that memory may be written after it is allocated."""
    if not memory.is_mutable:
        raise VerifyException(f"{memory} cannot be written; only mutable memory can")
