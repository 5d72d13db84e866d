"""How floats are rounded where upstream's text has no word for it (docs/core-form.md, "Numbers").

LLVM 22's `arith` has a rounding mode on casts only. They are discardable attributes of upstream's
operations, so that passes which know nothing of them still read the text, and so whoever translates
them says that it knows them: `RuleTable` refuses them otherwise. The flags of
`fastmath` are upstream's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from xdsl.dialects.builtin import (
    Float4E2M1FNType,
    Float6E2M3FNType,
    Float6E3M2FNType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float32Type,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    VectorType,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa
from xdsl.utils.str_enum import StrEnum

ROUNDING_ATTRIBUTE = "core.rounding"
"""The attribute with the direction in which a result is rounded."""

FLUSH_ATTRIBUTE = "core.flush_to_zero"
"""The attribute by which subnormal operands and results of f32 are zeros of the same sign."""

SATURATE_ATTRIBUTE = "core.saturate"
"""The attribute of a cast by which what is too large becomes the largest number of the type."""

NUMBER_ATTRIBUTES = frozenset({ROUNDING_ATTRIBUTE, FLUSH_ATTRIBUTE, SATURATE_ATTRIBUTE})

ROUNDED = frozenset(
    {"arith.addf", "arith.divf", "arith.mulf", "arith.subf", "math.fma", "math.sqrt"}
)
"""The operations that may say in which direction they round."""

FLUSHED = ROUNDED | {
    "arith.maximumf",
    "arith.maxnumf",
    "arith.minimumf",
    "arith.minnumf",
    "math.exp2",
    "math.rsqrt",
}
"""The operations of which subnormal operands and results may be zeros."""

SATURATED = frozenset({"arith.truncf"})
"""The operations that may say that they saturate."""

LARGEST_SATURATED: Mapping[type[Attribute], float] = {
    Float8E4M3FNType: 448.0,
    Float8E4M3FNUZType: 240.0,
    Float8E5M2FNUZType: 57344.0,
    Float8E5M2Type: 57344.0,
}
"""The largest number of each type that saturates and has NaN."""

NARROW_FLOATS = (
    Float4E2M1FNType,
    Float6E2M3FNType,
    Float6E3M2FNType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
)
"""The types of floats with 4, 6 and 8 bits; f8E8M0FNU has scales only."""


class Rounding(StrEnum):
    """A direction, by upstream's names; without one results are rounded to nearest even."""

    DOWNWARD = "downward"
    TOWARD_ZERO = "toward_zero"
    UPWARD = "upward"


def says_how_to_round(operation: Operation) -> bool:
    """Whether an operation has one of the attributes."""
    return bool(operation.attributes) and not NUMBER_ATTRIBUTES.isdisjoint(operation.attributes)


def rounding_of(operation: Operation) -> Rounding | None:
    """The direction in which the result is rounded; None: to nearest even."""
    attribute = operation.attributes.get(ROUNDING_ATTRIBUTE)
    return Rounding(attribute.data) if isinstance(attribute, StringAttr) else None


def flushes(operation: Operation) -> bool:
    """Whether subnormal operands and results are zeros."""
    return FLUSH_ATTRIBUTE in operation.attributes


def saturates(operation: Operation) -> bool:
    """Whether what is too large becomes the largest number of the type."""
    return SATURATE_ATTRIBUTE in operation.attributes


def problem_of(operation: Operation) -> str | None:
    """What is wrong with the attributes of an operation that has some; None if nothing is."""
    for name in sorted(NUMBER_ATTRIBUTES & operation.attributes.keys()):
        having = _HAVING[name]
        if operation.name not in having:
            return f"{operation.name} has no {name}; only {', '.join(sorted(having))} have"
    rounding = operation.attributes.get(ROUNDING_ATTRIBUTE)
    known = [StringAttr(member) for member in Rounding]
    if rounding is not None and rounding not in known:
        return f"{ROUNDING_ATTRIBUTE} must be one of {', '.join(map(str, known))}"
    flush = operation.attributes.get(FLUSH_ATTRIBUTE)
    type_ = operation.results[0].type
    element = type_.element_type if isa(type_, VectorType) else type_
    if flush is not None and not (isinstance(flush, UnitAttr) and isinstance(element, Float32Type)):
        return f"{FLUSH_ATTRIBUTE} is a unit attribute of operations on f32"
    saturate = operation.attributes.get(SATURATE_ATTRIBUTE)
    if saturate is not None and not (isinstance(saturate, UnitAttr) and _is_saturated(operation)):
        return (
            f"{SATURATE_ATTRIBUTE} is a unit attribute of casts to nearest of types with 4, 6 and "
            "8 bits, and to f8E8M0FNU also toward zero"
        )
    return None


def _is_saturated(operation: Operation) -> bool:
    type_ = operation.results[0].type
    element = type_.element_type if isa(type_, VectorType) else type_
    if isinstance(element, Float8E8M0FNUType):
        return direction_of_cast(operation) in (None, Rounding.TOWARD_ZERO)
    return isinstance(element, NARROW_FLOATS) and "roundingmode" not in operation.properties


def direction_of_cast(operation: Operation) -> Rounding | None:
    """The direction in which an `arith.truncf` rounds; None: to nearest, or by default."""
    mode = operation.properties.get("roundingmode")
    return _DIRECTIONS.get(mode.value.data) if isa(mode, IntegerAttr) else None


_DIRECTIONS = {1: Rounding.DOWNWARD, 2: Rounding.UPWARD, 3: Rounding.TOWARD_ZERO}
"""The directions by the numbers of `arith`'s rounding modes."""

_HAVING = {
    FLUSH_ATTRIBUTE: FLUSHED,
    ROUNDING_ATTRIBUTE: ROUNDED,
    SATURATE_ATTRIBUTE: SATURATED,
}
"""The operations that may have each attribute."""


def allows_approximation(operation: Operation) -> bool:
    """Whether a function or a quotient may be approximated (`fastmath<afn>`)."""
    return has_flag(operation, FastMathFlag.APPROX_FUNC)


def has_flag(operation: Operation, flag: FastMathFlag) -> bool:
    """Whether an operation has a flag of `fastmath`."""
    flags = operation.properties.get("fastmath")
    return flags is not None and flag in cast(Any, flags).data
