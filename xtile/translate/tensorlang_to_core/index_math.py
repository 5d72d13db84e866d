"""Arithmetic on `index` values that folds what is known."""

from __future__ import annotations

from typing import TypeAlias

from xdsl.ir import SSAValue

from xtile.dialects.tensorlang.types import INDEX
from xtile.dialects.tensorlang.verifier.constants import integer_of
from xtile.rewrite.rebuilder import Rebuilder
from xtile.translate.tensorlang_to_core.casts import convert
from xtile.translate.tensorlang_to_core.emit import emit

Number: TypeAlias = SSAValue | int
"""An `index` value, or a number that is known."""


def as_value(r: Rebuilder, number: Number) -> SSAValue:
    """A number as an `index` value."""
    return r.index(number) if isinstance(number, int) else number


def as_number(r: Rebuilder, old: SSAValue) -> Number:
    """What a value of the source, of any integer type, is as an `index`."""
    known = integer_of(old)
    if known is not None:
        return known
    value = r.value(old)
    return r.shared(("as index", value), (value,), lambda: convert(r, value, INDEX))


def _emit(r: Rebuilder, name: str, a: Number, b: Number) -> SSAValue:
    return emit(r, name, [as_value(r, a), as_value(r, b)], INDEX)


def _wrapped(number: int) -> int:
    """A number as the 64 bits of an `index` hold it."""
    return (number + 2**63) % 2**64 - 2**63


def total(r: Rebuilder, a: Number, b: Number) -> Number:
    """A + b."""
    if isinstance(a, int) and isinstance(b, int):
        return _wrapped(a + b)
    if 0 in (a, b):
        return b if a == 0 else a
    return _emit(r, "arith.addi", a, b)


def difference(r: Rebuilder, a: Number, b: Number) -> Number:
    """A - b."""
    if isinstance(a, int) and isinstance(b, int):
        return _wrapped(a - b)
    return a if b == 0 else _emit(r, "arith.subi", a, b)


def product(r: Rebuilder, a: Number, b: Number) -> Number:
    """A b."""
    if isinstance(a, int) and isinstance(b, int):
        return _wrapped(a * b)
    if 0 in (a, b):
        return 0
    if 1 in (a, b):
        return b if a == 1 else a
    return _emit(r, "arith.muli", a, b)


def quotient(r: Rebuilder, a: Number, b: Number) -> Number:
    """A / b without the fraction; neither is negative."""
    if isinstance(a, int) and isinstance(b, int) and b != 0:
        return a // b
    return a if b == 1 else _emit(r, "arith.divui", a, b)


def quotient_up(r: Rebuilder, a: Number, b: int) -> Number:
    """A / b rounded up; neither is negative."""
    return -(-a // b) if isinstance(a, int) else _emit(r, "arith.ceildivui", a, b)


def remainder(r: Rebuilder, a: Number, b: Number) -> Number:
    """The remainder of a / b; neither is negative."""
    return 0 if b == 1 else _emit(r, "arith.remui", a, b)


def larger(r: Rebuilder, a: Number, b: Number) -> Number:
    """The larger of a and b."""
    if isinstance(a, int) and isinstance(b, int):
        return max(a, b)
    return _emit(r, "arith.maxsi", a, b)


def smaller(r: Rebuilder, a: Number, b: Number) -> Number:
    """The smaller of a and b."""
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    return _emit(r, "arith.minsi", a, b)
