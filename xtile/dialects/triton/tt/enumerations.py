"""The enumerations of the dialect: a keyword in the text, a 32-bit number in a property.

A member's keyword is its name in lower case.

Source: Triton 3.9, `TritonAttrDefs.td` and `TritonAttrEnums.td`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TypeVar

from xdsl.dialects.builtin import IntegerAttr, IntegerType, i32
from xdsl.ir import Attribute

EnumT = TypeVar("EnumT", bound=IntEnum)


class MemSemantic(IntEnum):
    """How an atomic access is ordered with others."""

    RELAXED = 1
    ACQUIRE = 2
    RELEASE = 3
    ACQ_REL = 4


class MemSyncScope(IntEnum):
    """With whom an atomic access is ordered."""

    GPU = 1
    CTA = 2
    SYS = 3


class EvictionPolicy(IntEnum):
    """How soon a cache line may be evicted."""

    EVICT_NORMAL = 1
    EVICT_FIRST = 2
    EVICT_LAST = 3


class CacheModifier(IntEnum):
    """Which caches an access goes through."""

    NONE = 1
    CA = 2
    CG = 3
    WB = 4
    CS = 5
    WT = 6
    CV = 7


class PaddingOption(IntEnum):
    """What lies beyond the edges of what a descriptor describes."""

    ZERO = 1
    NAN = 2


class RMWOp(IntEnum):
    """How memory and operand are combined."""

    AND = 1
    OR = 2
    XOR = 3
    ADD = 4
    FADD = 5
    MAX = 6
    MIN = 7
    UMAX = 8
    UMIN = 9
    EXCH = 10


class DescriptorReduceKind(IntEnum):
    """How memory and a tensor are combined through a descriptor."""

    ADD = 1
    MIN = 2
    MAX = 3
    INC = 4
    DEC = 5
    AND = 6
    OR = 7
    XOR = 8


class ProgramIDDim(IntEnum):
    """A dimension of the grid."""

    X = 0
    Y = 1
    Z = 2


class RoundingMode(IntEnum):
    """How a float is rounded: toward zero, or to the nearest, ties to even."""

    RTZ = 0
    RTNE = 1


class PropagateNan(IntEnum):
    """Whether NaN of an operand reaches the result."""

    NONE = 0
    ALL = 0xFFFF


class InputPrecision(IntEnum):
    """How a product of f32 is computed."""

    TF32 = 0
    TF32X3 = 1
    IEEE = 2
    BF16X3 = 3
    BF16X6 = 4


class ScaleDotElemType(IntEnum):
    """The elements of an operand of a scaled product."""

    E4M3 = 0
    E5M2 = 1
    E2M3 = 2
    E3M2 = 3
    E2M1 = 4
    BF16 = 5
    FP16 = 6


def keyword(member: IntEnum) -> str:
    """How the text spells a member."""
    return member.name.lower()


def keywords(enumeration: type[IntEnum]) -> dict[str, IntEnum]:
    """The members by their spellings."""
    return {keyword(member): member for member in enumeration}


def number(member: IntEnum) -> IntegerAttr[IntegerType]:
    """The property that holds a member."""
    return IntegerAttr(int(member), i32)


def member(enumeration: type[EnumT], attribute: Attribute | None, default: EnumT) -> EnumT:
    """The member that a property holds; the default where there is none.

    Raises:
        ValueError: There is no such member.
    """
    if attribute is None:
        return default
    if not isinstance(attribute, IntegerAttr):
        raise ValueError(f"expected a number of {enumeration.__name__}, but got {attribute}")
    return enumeration(attribute.value.data)
