"""The enumerations of the dialect, spelled as its text spells them.

The bytecode has the position of a member in its enumeration, counted from 0.

Source: NVIDIA/cuda-tile 13.3.0, `AttrDefs.td`.
"""

from __future__ import annotations

from xdsl.utils.str_enum import StrEnum


class Signedness(StrEnum):
    """How an integer is interpreted."""

    UNSIGNED = "unsigned"
    SIGNED = "signed"


class IntegerOverflow(StrEnum):
    """What is promised about an integer result that its type cannot hold."""

    NONE = "none"
    NSW = "no_signed_wrap"
    NUW = "no_unsigned_wrap"
    NW = "no_wrap"


class RoundingMode(StrEnum):
    """How a result is rounded."""

    NEAREST_EVEN = "nearest_even"
    ZERO = "zero"
    NEGATIVE_INF = "negative_inf"
    POSITIVE_INF = "positive_inf"
    APPROX = "approx"
    FULL = "full"
    NEAREST_INT_TO_ZERO = "nearest_int_to_zero"
    NEAREST_AWAY = "nearest_away"


class ComparisonOrdering(StrEnum):
    """What a comparison with NaN gives: unordered is true, ordered is false."""

    UNORDERED = "unordered"
    ORDERED = "ordered"


class ComparisonPredicate(StrEnum):
    """What is compared."""

    EQUAL = "equal"
    NOT_EQUAL = "not_equal"
    LESS_THAN = "less_than"
    LESS_THAN_OR_EQUAL = "less_than_or_equal"
    GREATER_THAN = "greater_than"
    GREATER_THAN_OR_EQUAL = "greater_than_or_equal"


class AtomicRMWMode(StrEnum):
    """What an atomic update does with the old value and the operand."""

    AND = "and"
    OR = "or"
    XOR = "xor"
    ADD = "add"
    ADDF = "addf"
    MAX = "max"
    MIN = "min"
    UMAX = "umax"
    UMIN = "umin"
    XCHG = "xchg"


class MemoryScope(StrEnum):
    """From where there may be concurrent accesses."""

    TL_BLK = "tl_blk"
    DEVICE = "device"
    SYS = "sys"


class MemoryOrderingSemantics(StrEnum):
    """Whether there may be concurrent accesses, and what they establish."""

    WEAK = "weak"
    RELAXED = "relaxed"
    ACQUIRE = "acquire"
    RELEASE = "release"
    ACQ_REL = "acq_rel"


class PaddingValue(StrEnum):
    """What a load gives for elements outside of a tensor."""

    ZERO = "zero"
    NEG_ZERO = "neg_zero"
    NAN = "nan"
    POS_INF = "pos_inf"
    NEG_INF = "neg_inf"


class SymbolVisibility(StrEnum):
    """Who can name a global variable."""

    PUBLIC = "public"
    PRIVATE = "private"


def number_of(member: StrEnum) -> int:
    """The number of a member in the bytecode."""
    return list(type(member)).index(member)
