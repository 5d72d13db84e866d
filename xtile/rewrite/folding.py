"""Folds arithmetic on constants, where the result is defined.

Integers wrap around in their width; `index` has 64 bits. A division by zero and a shift by the
width or more are left as they are: they are mistakes of the program, which stay visible.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
)
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from xtile.dialects.number_attributes import says_how_to_round

INDEX_WIDTH = 64

Number = int | float


def width_of(type_: Attribute) -> int | None:
    """Bits of an integer or index; None for other types."""
    if isinstance(type_, IndexType):
        return INDEX_WIDTH
    return type_.width.data if type(type_) is IntegerType else None


def wrap(number: int, width: int) -> int:
    """The signed number with the lowest `width` bits of another."""
    bits = number & ((1 << width) - 1)
    return bits - (1 << width) if bits >> (width - 1) else bits


def _unsigned(number: int, width: int) -> int:
    return number & ((1 << width) - 1)


def _quotient(a: int, b: int, width: int) -> int | None:
    if b == 0:
        return None
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a: int, b: int, width: int) -> int | None:
    quotient = _quotient(a, b, width)
    return None if quotient is None else a - quotient * b


def _unsigned_quotient(a: int, b: int, width: int) -> int | None:
    return None if b == 0 else _unsigned(a, width) // _unsigned(b, width)


def _unsigned_remainder(a: int, b: int, width: int) -> int | None:
    return None if b == 0 else _unsigned(a, width) % _unsigned(b, width)


def _shift(shift: Callable[[int, int, int], int]) -> Callable[[int, int, int], int | None]:
    return lambda a, b, width: shift(a, b, width) if 0 <= b < width else None


_INTEGER: dict[str, Callable[[int, int, int], int | None]] = {
    "arith.addi": lambda a, b, width: a + b,
    "arith.subi": lambda a, b, width: a - b,
    "arith.muli": lambda a, b, width: a * b,
    "arith.divsi": _quotient,
    "arith.remsi": _remainder,
    "arith.divui": _unsigned_quotient,
    "arith.remui": _unsigned_remainder,
    "arith.andi": lambda a, b, width: a & b,
    "arith.ori": lambda a, b, width: a | b,
    "arith.xori": lambda a, b, width: a ^ b,
    "arith.shli": _shift(lambda a, b, width: a << b),
    "arith.shrsi": _shift(lambda a, b, width: a >> b),
    "arith.shrui": _shift(lambda a, b, width: _unsigned(a, width) >> b),
    "arith.maxsi": lambda a, b, width: max(a, b),
    "arith.minsi": lambda a, b, width: min(a, b),
    "arith.maxui": lambda a, b, width: max(a, b, key=lambda x: _unsigned(x, width)),
    "arith.minui": lambda a, b, width: min(a, b, key=lambda x: _unsigned(x, width)),
}
"""What each operation on integers computes; None where it is not defined."""

_PREDICATES: Sequence[Callable[[int, int], bool]] = (
    lambda a, b: a == b,
    lambda a, b: a != b,
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
)
"""Upstream's comparisons of integers by number; from 6 on, they are unsigned."""

_FIRST_UNSIGNED_PREDICATE = 6

_FLOAT: dict[str, Callable[[float, float], float]] = {
    "arith.addf": lambda a, b: a + b,
    "arith.subf": lambda a, b: a - b,
    "arith.mulf": lambda a, b: a * b,
}
"""Operations on floats; in double precision they are exact enough to be rounded once more."""

_CASTS = frozenset({"arith.index_cast", "arith.extsi", "arith.trunci"})


def constant_number(value: SSAValue) -> Number | None:
    """The number that a scalar constant is; None for anything else."""
    if not isinstance(value, OpResult) or value.op.name != arith.ConstantOp.name:
        return None
    attribute = value.op.properties.get("value")
    if isinstance(attribute, IntegerAttr):
        return cast("IntegerAttr[IntegerType]", attribute).value.data
    if isinstance(attribute, FloatAttr):
        return cast("FloatAttr[AnyFloat]", attribute).value.data
    return None


def fold(operation: Operation, operands: Sequence[SSAValue]) -> SSAValue | Attribute | None:
    """What an operation on these operands is: one of them, a constant, or neither."""
    if operation.dialect_name() != "arith" or len(operation.results) != 1:
        return None
    if says_how_to_round(operation):
        return None
    numbers = [constant_number(operand) for operand in operands]
    simpler = _identity(operation.name, operands, numbers)
    if simpler is not None:
        return simpler
    if None in numbers or not numbers:
        return None
    return fold_numbers(operation, cast("list[Number]", numbers))


def fold_numbers(operation: Operation, numbers: list[Number]) -> Attribute | None:
    """The constant that an operation of `arith` computes of numbers; None if it is not defined."""
    result_type = operation.results[0].type
    name = operation.name
    width = width_of(operation.operands[0].type)
    if width is not None and all(isinstance(number, int) for number in numbers):
        return _fold_integers(operation, cast("list[int]", numbers), width)
    function = _FLOAT.get(name)
    if function is None:
        return None
    a, b = cast("list[float]", numbers)
    rounded = _rounded(function(a, b), result_type)
    return None if rounded is None else FloatAttr(rounded, cast(AnyFloat, result_type))


def _fold_integers(operation: Operation, numbers: list[int], width: int) -> Attribute | None:
    result_type = operation.results[0].type
    result_width = width_of(result_type)
    if result_width is None:
        return None
    result: int | None = None
    if operation.name in _INTEGER:
        result = _INTEGER[operation.name](numbers[0], numbers[1], width)
    elif operation.name in _CASTS:
        result = numbers[0]
    elif operation.name == "arith.extui":
        result = _unsigned(numbers[0], width)
    elif isinstance(operation, arith.CmpiOp):
        predicate = operation.predicate.value.data
        if predicate >= _FIRST_UNSIGNED_PREDICATE:
            numbers = [_unsigned(number, width) for number in numbers]
        result = int(_PREDICATES[predicate](numbers[0], numbers[1]))
    if result is None:
        return None
    return IntegerAttr(wrap(result, result_width), cast(IntegerType, result_type))


def _identity(
    name: str, operands: Sequence[SSAValue], numbers: Sequence[Number | None]
) -> SSAValue | None:
    """The operand that the result is, where one constant operand is enough to know it."""
    if name == "arith.select":
        if operands[1] is operands[2]:
            return operands[1]
        return None if numbers[0] is None else operands[1 if numbers[0] else 2]
    if len(operands) != 2:
        return None
    if numbers[1] is not None and _is_neutral(name, cast("int", numbers[1])):
        return operands[0]
    if numbers[0] is not None and _is_neutral(name, cast("int", numbers[0]), on_left=True):
        return operands[1]
    absorbs = name in ("arith.muli", "arith.andi")
    if absorbs and 0 in numbers:
        return operands[list(numbers).index(0)]
    return None


def _is_neutral(name: str, number: int, on_left: bool = False) -> bool:
    """Whether an operation with the number returns its other operand."""
    if name in ("arith.addi", "arith.ori", "arith.xori"):
        return number == 0
    if name == "arith.muli":
        return number == 1
    if on_left:
        return False
    if name in ("arith.divsi", "arith.divui"):
        return number == 1
    return name in ("arith.subi", "arith.shli", "arith.shrsi", "arith.shrui") and number == 0


def _rounded(number: float, type_: Attribute) -> float | None:
    """A double rounded to a type; None for types that are not folded."""
    try:
        if isinstance(type_, Float64Type):
            return number
        if isinstance(type_, Float32Type):
            return struct.unpack("<f", struct.pack("<f", number))[0]
        if isinstance(type_, Float16Type):
            return struct.unpack("<e", struct.pack("<e", number))[0]
    except OverflowError:
        return None
    return None
