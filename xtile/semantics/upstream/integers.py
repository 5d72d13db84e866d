"""Arithmetic on integers, by the name that the `arith` dialect gives it.

Source: MLIR (LLVM 22), `Dialect/Arith/IR/ArithOps.td`; docs/semantics.md, "Upstream dialects".
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from xtile.semantics.upstream.numbers import Number
from xtile.semantics.values import Value

Binary: TypeAlias = Callable[[Value, Value], Value]
Meaning: TypeAlias = Callable[[Number], Binary]
"""Gives the function for numbers of one type."""

# Its functions take anything, which the type checker cannot say.
_OPERATOR: Any = operator


def _signed(function: Binary) -> Meaning:
    """The meaning of a function of signed numbers."""

    def meaning(type: Number) -> Binary:
        if type.is_exact_width:
            return function
        return lambda a, b: type.wrapped(function(type.signed(a), type.signed(b)))

    return meaning


def _unsigned(function: Binary) -> Meaning:
    """The meaning of a function of unsigned numbers."""

    def meaning(type: Number) -> Binary:
        return lambda a, b: type.wrapped(function(type.unsigned(a), type.unsigned(b)))

    return meaning


def _bitwise(function: Binary) -> Meaning:
    """The meaning of a function that treats each bit alike, and so never leaves the type."""
    return lambda type: function


def quotient(a: Value, b: Value) -> Value:
    """The quotient rounded towards zero; the smallest integer divided by -1 gives itself."""
    return (a - np.fmod(a, b)) // b


def _ceiling_quotient(a: Value, b: Value) -> Value:
    """The quotient rounded towards positive infinity."""
    floor = a // b
    return floor + (a != floor * b).astype(floor.dtype)


BINARY: dict[str, Meaning] = {
    "addi": _signed(_OPERATOR.add),
    "subi": _signed(_OPERATOR.sub),
    "muli": _signed(_OPERATOR.mul),
    "andi": _bitwise(_OPERATOR.and_),
    "ori": _bitwise(_OPERATOR.or_),
    "xori": _bitwise(_OPERATOR.xor),
    "maxsi": _signed(np.maximum),
    "maxui": _unsigned(np.maximum),
    "minsi": _signed(np.minimum),
    "minui": _unsigned(np.minimum),
}
"""Functions that have a result for all operands."""

DIVISIONS: dict[str, Meaning] = {
    "divsi": _signed(quotient),
    "divui": _unsigned(_OPERATOR.floordiv),
    "ceildivsi": _signed(_ceiling_quotient),
    "ceildivui": _unsigned(_ceiling_quotient),
    "floordivsi": _signed(_OPERATOR.floordiv),
    "remsi": _signed(np.fmod),
    "remui": _unsigned(_OPERATOR.mod),
}
"""Functions that have no result where the second operand is 0."""

SHIFTS: dict[str, Meaning] = {
    "shli": _unsigned(_OPERATOR.lshift),
    "shrui": _unsigned(_OPERATOR.rshift),
    "shrsi": _signed(_OPERATOR.rshift),
}
"""Functions that have no result where the second operand is not below the width."""


def _relation(compare: Binary, sign: Callable[[Number, Value], Value]) -> Meaning:
    """The meaning of a comparison of signed or of unsigned numbers."""
    return lambda type: lambda a, b: compare(sign(type, a), sign(type, b))


COMPARISONS: dict[str, Meaning] = {
    "eq": _bitwise(np.equal),
    "ne": _bitwise(np.not_equal),
    "slt": _relation(np.less, Number.signed),
    "sle": _relation(np.less_equal, Number.signed),
    "sgt": _relation(np.greater, Number.signed),
    "sge": _relation(np.greater_equal, Number.signed),
    "ult": _relation(np.less, Number.unsigned),
    "ule": _relation(np.less_equal, Number.unsigned),
    "ugt": _relation(np.greater, Number.unsigned),
    "uge": _relation(np.greater_equal, Number.unsigned),
}
"""The comparisons, in the order of the numbers of `arith.cmpi`'s predicate."""


def extended_product(type: Number, a: Value, b: Value, is_signed: bool) -> tuple[Value, Value]:
    """The lower and the upper half of a product, which has twice as many bits."""
    # Python's integers have any width, and numpy has none of 128 bits.
    sign = type.signed if is_signed else type.unsigned
    product = np.asanyarray(sign(a)).astype(object) * np.asanyarray(sign(b)).astype(object)
    return _from_python(type, product), _from_python(type, product >> type.bits)


def extended_sum(type: Number, a: Value, b: Value) -> tuple[Value, Value]:
    """The sum, and whether it does not fit into the width as an unsigned number."""
    total = BINARY["addi"](type)(a, b)
    return total, np.less(type.unsigned(total), type.unsigned(a))


def _from_python(type: Number, values: Any) -> Value:
    low = np.asanyarray(values & (2**64 - 1)).astype(np.uint64)
    return type.wrapped(low.astype(np.int64)[()])
